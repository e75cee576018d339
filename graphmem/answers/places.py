"""Answers about positions in the text of files."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import SymbolInfo
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import EdgeKind, OccurrenceRole


@answer
class TextRange:
    """A range of characters in one line; columns are 0-based, ends exclusive."""

    line: Annotated[int, Doc("1-based")]
    column: Annotated[int, Doc("first column, in characters (code points)")]
    end_column: int
    utf16_column: Annotated[int, Doc("first column, in UTF-16 code units, as editors count")]
    utf16_end_column: int
    utf8_column: Annotated[int, Doc("first column, in bytes of UTF-8")]
    utf8_end_column: int


@answer
class Occurrence:
    """A name in the text of a file and the symbol that it means."""

    range: TextRange
    text: Annotated[str, Doc("the name as written; an alias differs from the symbol's name")]
    role: OccurrenceRole
    symbol: Annotated[SymbolInfo, Doc("the most likely meaning")]
    confidence: Annotated[float, Doc("confidence that the name means `symbol`; 1 for definitions")]
    kinds: Annotated[list[EdgeKind], Doc("kinds of the edges at this site; empty for definitions"), Size(3)] = field(default_factory=list)
    enclosing: Annotated[SymbolInfo | None, Doc("the innermost definition around the name; null outside any definition")] = None
    others: Annotated[list[SymbolInfo], Doc("other possible meanings, most likely first"), Size(10)] = field(default_factory=list)


@answer
class SymbolAt:
    """The symbol that a position in a file is on."""

    path: str
    symbol: Annotated[SymbolInfo | None, Doc("the definition that the name at the position means; null if there is none")]
    reason: Annotated[str, Doc("why `symbol` is null; else empty")]
    occurrence: Annotated[Occurrence | None, Doc("the name at the position")]
    enclosing: Annotated[SymbolInfo | None, Doc("the innermost definition around the position")]
    is_stale: Annotated[bool, Doc("the file changed since it was indexed, so positions may be wrong")]


@answer
class Occurrences:
    """All occurrences of symbols in a file, by position."""

    path: str
    occurrences: Annotated[list[Occurrence], Size(1000)]
    reason: Annotated[str, Doc("why `occurrences` is empty; else an empty text")]
    is_stale: Annotated[bool, Doc("the file changed since it was indexed, so positions may be wrong")]


@answer
class Usage:
    """A place where the name of a symbol stands."""

    path: str
    range: TextRange
    text: Annotated[str, Doc("the name as written; an alias differs from the symbol's name")]
    role: OccurrenceRole
    confidence: Annotated[float, Doc("confidence that the name means the symbol; 1 for definitions")]
    enclosing: Annotated[SymbolInfo | None, Doc("the innermost definition around the name; null outside any definition")] = None


@answer
class Usages:
    """The places of a symbol's name: its definition, imports and uses."""

    symbol: SymbolInfo
    usages: Annotated[list[Usage], Doc("the file of the definition first, then by file and position"), Size(100)]
    total: Annotated[int, Doc("number of places, of which `usages` may list fewer")]
    stale_files: Annotated[list[str], Doc("files that changed since they were indexed, so their positions may be wrong")] = field(
        default_factory=list
    )
