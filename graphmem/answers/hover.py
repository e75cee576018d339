"""The answer about the name at a position, for hovers of editors."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import SymbolInfo
from graphmem.answers.history import CoAccessHit
from graphmem.answers.marks import Doc, Size
from graphmem.answers.memory import NearbyMemories
from graphmem.answers.plain import answer


@answer
class Hover:
    """What an editor shows about the name at a position."""

    symbol: Annotated[SymbolInfo | None, Doc("the definition that the name at the position means; null if there is none")]
    reason: Annotated[str, Doc("why `symbol` is null; else empty")]
    is_stale: Annotated[bool, Doc("the file changed since it was indexed, so positions may be wrong")]
    doc: str = ""
    callers: Annotated[list[SymbolInfo], Doc("symbols that call it, without tests, the most confident first"), Size(3)] = field(
        default_factory=list
    )
    caller_count: int = 0
    tests: Annotated[list[SymbolInfo], Doc("tests with an edge to it, the most confident first"), Size(3)] = field(default_factory=list)
    test_count: int = 0
    known: Annotated[NearbyMemories, Doc("memories about the symbol and the code around it")] = field(default_factory=NearbyMemories)
    moves_along: Annotated[list[CoAccessHit], Doc("files that usually change together with its file"), Size(3)] = field(
        default_factory=list
    )
