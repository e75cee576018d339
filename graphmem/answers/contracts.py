"""Answers about contracts: network interfaces between programs."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import SYMBOL, Doc, GlobalId, Size
from graphmem.answers.plain import answer


@answer
class ContractPlace:
    """Code that offers, declares or uses a contract, such as an HTTP route."""

    project: Annotated[str, Doc("name of the project that contains this place, if it is another project; empty for this project")]
    path: str
    line: int
    name: Annotated[str, Doc("qualified name of the definition that offers, declares or uses the contract; empty in a schema file")]
    confidence: Annotated[
        float,
        Doc("confidence that this code uses the contract (network interface), 0 to 1; always 1 for code that implements or declares it"),
    ]


@answer
class Contract:
    """A route, procedure, topic or field that one program offers to others."""

    kind: Annotated[str, Doc("kind of the network interface (contract): http, grpc, topic (of messages), graphql or field (of a message)")]
    name: Annotated[str, Doc("name of the contract: HTTP verb and path, `package.Service/Method`, topic, or `Message.field`")]
    change: Annotated[str, Doc("change of the contract since the base revision: removed or changed; empty without a base revision")]
    offered: Annotated[list[ContractPlace], Doc("places in the code that implement or declare the contract"), Size(3)]
    asked: Annotated[list[ContractPlace], Doc("places in the code that use the contract; those in other projects last"), Size(10)]


@answer
class OutsideUse:
    """A contract, such as a route, between this project and another one."""

    kind: Annotated[str, Doc("kind of the network interface (contract): http, grpc or topic")]
    name: Annotated[str, Doc("name of the contract: HTTP verb and path, `package.Service/Method` or topic")]
    symbol: Annotated[
        str,
        Doc(
            "the symbol of this project at one end of the contract: in a list of dependents the symbol that offers the contract, in a "
            "list of dependencies the one that uses it"
        ),
        GlobalId(SYMBOL),
    ]
    place: Annotated[
        ContractPlace,
        Doc(
            "the code of the other project; its confidence is the confidence of the link, multiplied by the confidence "
            "of the path to `symbol`"
        ),
    ]


@answer
class ContractsAnswer:
    """Contracts between programs, such as routes; the most used come first."""

    contracts: Annotated[list[Contract], Size(20)]
    count: Annotated[int, Doc("total number of contracts; `contracts` may list fewer")]
    projects: Annotated[list[str], Doc("root directories of the other projects that were searched")]
    notes: Annotated[list[str], Doc("why the answer may be incomplete"), Size(2)]
