"""The answer about the symbols of a file."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import IndexState, SymbolInfo
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class OutlineEntry:
    """A symbol of a file, with what is known about it."""

    symbol: SymbolInfo
    callers: Annotated[int, Doc("symbols that call it, besides tests")]
    tests: Annotated[int, Doc("tests that are linked to it directly")]
    memories: Annotated[int, Doc("live memories about it")]
    traps: Annotated[int, Doc("traps among these memories")]
    suspect: Annotated[list[str], Doc("short ids and titles of memories that were written before its code changed"), Size(1)]


@answer
class FileOutline:
    """The symbols of a file, in the order of their lines."""

    path: str
    entries: Annotated[list[OutlineEntry], Doc("without the module itself"), Size(50)]
    state: IndexState
