"""A link between code that uses a contract and code that offers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from graphmem.contracts.rows import ContractRow

MOST: Final = 3


class Link(NamedTuple):
    """A link from code that uses a contract to the code that offers it.

    For example, from `fetch("/carts")` to the handler of the route `GET /carts`.
    """

    asks: ContractRow
    offers: ContractRow
    rule: str  # endpoint | rpc | topic | program
    confidence: float
