"""Answers about contracts between programs."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class ContractPlace:
    """A place that offers, declares or asks for something."""

    project: Annotated[str, Doc("name of another project of the organisation; empty for this one")]
    path: str
    line: int
    name: Annotated[str, Doc("qualified name of the definition; empty in a schema file")]
    confidence: Annotated[float, Doc("of the link to the contract; 1 for a place that offers it")]


@answer
class Contract:
    """Something that one program offers to others."""

    kind: Annotated[str, Doc("http, grpc, topic, graphql or field")]
    name: Annotated[str, Doc("verb and path, `package.Service/Method`, topic, or `Message.field`")]
    change: Annotated[str, Doc("removed or changed since the base revision; empty without one")]
    offered: Annotated[list[ContractPlace], Doc("where it is implemented or declared"), Size(3)]
    asked: Annotated[list[ContractPlace], Doc("where it is used, other projects last"), Size(10)]


@answer
class ContractsAnswer:
    """Contracts, the most used first."""

    contracts: Annotated[list[Contract], Size(20)]
    count: Annotated[int, Doc("number of contracts, of which the list may have fewer")]
    projects: Annotated[list[str], Doc("other projects that were asked, by root")]
    notes: Annotated[list[str], Doc("why the answer may be incomplete"), Size(2)]
