"""Link uses of contracts between programs with the code that offers them.

For example, `fetch("/carts")` is linked with the handler of the route `GET /carts`. A use and an offer with equal names are linked. If
several services offer the same name, words in the use select the service. Such words are the host, and the name of the variable that holds
the address. If they name no service, the use is linked with every candidate, and the confidence is divided among the links. A use with more
than `MOST` candidates is not linked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.contracts.endpoints import linked_endpoints
from graphmem.contracts.links import Link
from graphmem.contracts.mounting import bases, expanded
from graphmem.contracts.procedures import linked_procedures
from graphmem.contracts.programs import linked_programs
from graphmem.contracts.services import service_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from graphmem.contracts.rows import ContractRow


def link(rows: Iterable[ContractRow]) -> list[Link]:
    """Return links from code that uses a contract to code that offers it.

    A contract is, for example, an HTTP route. Of several links between the same two places, the most certain is kept. Links are sorted by
    path, symbol and line of the use.

    Args:
        rows: places that offer or use contracts; see `ContractRow`.
    """
    every = list(rows)
    offers, asks = expanded(every)
    found = [*linked_endpoints(offers, asks, bases(every)), *_topics(offers, asks), *linked_procedures(every), *linked_programs(every)]
    best: dict[tuple[str, str, int, str], Link] = {}
    for one in found:
        key = (one.asks.path, one.asks.symbol, one.asks.line, one.offers.symbol or one.offers.path)
        if key not in best or best[key].confidence < one.confidence:
            best[key] = one
    return [best[key] for key in sorted(best)]


def _topics(offers: Sequence[ContractRow], asks: Sequence[ContractRow]) -> list[Link]:
    by_name: dict[str, list[ContractRow]] = {}
    for row in offers:
        if row.kind == "topic":
            by_name.setdefault(row.name, []).append(row)
    return [
        Link(row, other, "topic", 0.9 if service_of(row.path) != service_of(other.path) else 0.8)
        for row in asks
        for other in (by_name.get(row.name, ()) if row.kind == "topic" else ())
        if (row.test or not other.test) and (row.path, row.line) != (other.path, other.line)
    ]
