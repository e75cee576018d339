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
    callers: Annotated[int, Doc("number of symbols outside test code that call the symbol")]
    tests: Annotated[int, Doc("number of tests that use the symbol directly; helpers such as fixtures do not count")]
    memories: Annotated[int, Doc("number of current memories about the symbol")]
    traps: Annotated[int, Doc("number of memories about the symbol that are warnings: traps (gotchas), error patterns and dead ends")]
    suspect: Annotated[
        list[str],
        Doc("short id and title of each memory that may be outdated, because the symbol changed after the memory was written"),
        Size(1),
    ]
    users: Annotated[int, Doc("number of symbols outside test code that use the symbol without calling it, as a type or a variable")] = 0


@answer
class FileOutline:
    """The symbols of a file, in the order of their lines."""

    path: str
    entries: Annotated[list[OutlineEntry], Doc("the symbols of the file, without the symbol that stands for the whole file"), Size(50)]
    state: IndexState
