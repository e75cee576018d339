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
    """Information that an editor shows about the name at a position."""

    symbol: Annotated[SymbolInfo | None, Doc("the definition that the name at the position refers to; null if there is none")]
    reason: Annotated[str, Doc("why `symbol` is null; empty if `symbol` is given")]
    is_stale: Annotated[bool, Doc("true when the file changed since it was indexed, so positions may be wrong")]
    doc: str = ""
    callers: Annotated[
        list[SymbolInfo], Doc("callers of the symbol outside test code: the most certain first, then the nearest"), Size(3)
    ] = field(default_factory=list)
    caller_count: int = 0
    users: Annotated[
        list[SymbolInfo],
        Doc("code outside tests that uses a type or variable without calling it: the most certain first, then the nearest"),
        Size(3),
    ] = field(default_factory=list)
    user_count: int = 0
    tests: Annotated[list[SymbolInfo], Doc("tests that use the symbol directly, the most certain first, then the nearest"), Size(3)] = (
        field(default_factory=list)
    )
    test_count: int = 0
    test_helpers: Annotated[list[SymbolInfo], Doc("helper code of tests that uses the symbol, such as fixtures"), Size(3)] = field(
        default_factory=list
    )
    implementations: Annotated[
        list[SymbolInfo], Doc("subclasses of a class, or methods that implement or override a method, at any level"), Size(3)
    ] = field(default_factory=list)
    implementation_count: int = 0
    implementation_callers: Annotated[
        list[SymbolInfo], Doc("callers of the implementations, if the symbol is abstract and has no callers itself"), Size(3)
    ] = field(default_factory=list)
    implementation_caller_count: int = 0
    is_abstract: Annotated[bool, Doc("whether the symbol is a method that only subclasses implement")] = False
    known: Annotated[
        NearbyMemories, Doc("memories about the symbol; memories that a person or an agent wrote may also be about the code around it")
    ] = field(default_factory=NearbyMemories)
    moves_along: Annotated[list[CoAccessHit], Doc("files that often change together with the symbol's file"), Size(3)] = field(
        default_factory=list
    )
