"""Answers about positions in the text of files."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import SymbolInfo
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import EdgeKind, EdgeSource, OccurrenceRole


@answer
class TextRange:
    """A range of characters in one line; columns are 0-based, ends exclusive."""

    line: Annotated[int, Doc("line of the range in the source file, 1-based")]
    column: Annotated[int, Doc("first column of the range in the source line, in characters (code points)")]
    end_column: int
    utf16_column: Annotated[int, Doc("first column of the range in the source line, in UTF-16 code units, as editors count")]
    utf16_end_column: int
    utf8_column: Annotated[int, Doc("first column of the range in the source line, in bytes of UTF-8")]
    utf8_end_column: int


@answer
class Occurrence:
    """A name in the text of a file and the symbol that it means."""

    range: TextRange
    text: Annotated[str, Doc("the name as written in the file; an alias differs from the symbol's name")]
    role: OccurrenceRole
    symbol: Annotated[SymbolInfo, Doc("the symbol that the name most likely refers to")]
    confidence: Annotated[float, Doc("confidence that the name refers to `symbol`; 1 for definitions")]
    kinds: Annotated[
        list[EdgeKind],
        Doc("kinds of the graph edges that this use of the name creates; empty for definitions and for the qualifier `A` in `A.b`"),
        Size(3),
    ] = field(default_factory=list)
    enclosing: Annotated[SymbolInfo | None, Doc("the innermost definition around the name; null outside any definition")] = None
    others: Annotated[list[SymbolInfo], Doc("other symbols that the name may refer to, most likely first"), Size(10)] = field(
        default_factory=list
    )


@answer
class SymbolAt:
    """The symbol that a position in a file is on."""

    path: str
    symbol: Annotated[SymbolInfo | None, Doc("the definition that the name at the position refers to; null if there is none")]
    reason: Annotated[str, Doc("why `symbol` is null; empty if `symbol` is given")]
    occurrence: Annotated[Occurrence | None, Doc("the name at the position in the file; null if there is none, as in white space")]
    enclosing: Annotated[SymbolInfo | None, Doc("the innermost definition around the position; null outside any definition")]
    is_stale: Annotated[bool, Doc("true when the file changed since it was indexed, so positions may be wrong")]


@answer
class Occurrences:
    """All names in a file that refer to symbols, by position."""

    path: str
    occurrences: Annotated[list[Occurrence], Size(1000)]
    reason: Annotated[str, Doc("why the list `occurrences` is empty; empty if it has entries")]
    is_stale: Annotated[bool, Doc("true when the file changed since it was indexed, so positions may be wrong")]


@answer
class Usage:
    """A place in the code where the name of a symbol is written."""

    path: str
    range: TextRange
    text: Annotated[str, Doc("the name as written in the file; an alias differs from the symbol's name")]
    role: OccurrenceRole
    confidence: Annotated[float, Doc("confidence that the name refers to the symbol; 1 for definitions")]
    enclosing: Annotated[SymbolInfo | None, Doc("the innermost definition around the name; null outside any definition")] = None


@answer
class Usages:
    """The places of a symbol's name: its definition, imports and uses."""

    symbol: SymbolInfo
    usages: Annotated[
        list[Usage], Doc("the places that use the symbol: those in the file of its definition first, then by file and position"), Size(100)
    ]
    total: Annotated[int, Doc("total number of places that use the symbol; `usages` may list fewer")]
    possible: Annotated[int, Doc("number of further calls of the symbol's name whose target is not known; they may call the symbol")] = 0
    stale_files: Annotated[list[str], Doc("files that changed since they were indexed, so positions in them may be wrong")] = field(
        default_factory=list
    )


@answer
class EdgePlaces:
    """An edge between two symbols, with its places in the source."""

    src: Annotated[SymbolInfo, Doc("the symbol that depends on `dst`")]
    dst: SymbolInfo
    kind: EdgeKind
    confidence: float
    source: EdgeSource
    rule: str
    why: Annotated[str, Doc("explanation of the rule that found the edge")]
    lines: Annotated[list[int], Doc("numbers of the lines in the file of `src` on which it uses `dst`"), Size(5)]
    ranges: Annotated[
        list[TextRange],
        Doc("names in the file of `src` that make up the edge; empty for operators and other calls without a name"),
        Size(5),
    ]


@answer
class Edges:
    """All edges from one symbol or file to another, with their places."""

    edges: Annotated[list[EdgePlaces], Doc("the edges, sorted by path and line of `src`, then by kind")]
    total: Annotated[int, Doc("total number of edges found; `edges` may list fewer")]
    stale_files: Annotated[list[str], Doc("files that changed since they were indexed, so positions in them may be wrong")] = field(
        default_factory=list
    )
