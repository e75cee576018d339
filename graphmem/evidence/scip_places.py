"""Positions of names in a SCIP index, checked against the text of a file.

Columns are converted to characters of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.evidence import scip_format
from graphmem.evidence.scip_symbols import Symbol, parsed, spells

if TYPE_CHECKING:
    from graphmem.evidence.scip_definitions import Definitions

MATCHING: Final = 0.9
"""Minimum share of places of a document that fit the text; indexers and sources have different names for some definitions."""

_ENCODINGS: Final = {scip_format.UTF16: ("utf-16-le", 2), scip_format.UTF8: ("utf-8", 1), scip_format.UTF32: ("utf-32-le", 4)}
"""Encoding -> (codec, bytes of a unit), in the order of trial for an index without an encoding."""


class Fit(NamedTuple):
    """Counts of positions at which a file agrees, or not, with a SCIP index.

    The positions are those at which the index has a symbol. `right` counts the positions at which the file has the name of the symbol.
    `wrong` counts the positions at which the file has something else.
    """

    right: int
    wrong: int
    example: str  # of a place that does not fit

    @property
    def is_good(self) -> bool:
        """Whether the file is most likely the one that the SCIP index describes."""
        return self.right >= MATCHING * (self.right + self.wrong)


class Place(NamedTuple):
    """A position in a file at which the SCIP index has a symbol."""

    key: str  # its symbol; for a local symbol prefixed with the path
    symbol: Symbol
    text: str  # of the file at this place
    line: int  # 1-based
    column: int  # 0-based, in characters
    is_definition: bool
    last_line: int  # of the whole definition, 1-based; 0 if unknown


class Places:
    """The positions of symbols in one file, as a SCIP index has them.

    Args:
        raw: the document's message.
        path: path of the document's file.
        lines: lines of the document's file.
    """

    def __init__(self, raw: Any, path: str, lines: Sequence[str]) -> None:
        self._raw = raw
        self._path = path
        self._lines = lines
        self._shown = {one.symbol: one.display_name for one in raw.symbols if one.display_name}
        self._encoding = raw.position_encoding

    def fit(self) -> Fit:
        """Count the places whose text in the file agrees with the SCIP index.

        If the index does not say in which units it counts columns, the units with the best fit are used.
        """
        if self._encoding in _ENCODINGS:
            return self._fit()
        tried = []
        for encoding in list(_ENCODINGS)[:1] if all(line.isascii() for line in self._lines) else _ENCODINGS:
            self._encoding = encoding
            tried.append((self._fit(), encoding))
        best, self._encoding = max(tried, key=lambda one: one[0].right - one[0].wrong)
        return best

    def definitions(self) -> Iterator[Place]:
        """Yield the places of definitions in a file.

        A place is skipped if the source text has another identifier there, because the file has changed. Call `fit` first.
        """
        for occurrence in self._raw.occurrences:
            if occurrence.symbol_roles & scip_format.DEFINITION:
                place = self._place(occurrence)
                if place is not None and self._judge(place, occurrence.symbol) is not False:
                    yield place

    def uses(self, known: Definitions) -> Iterator[Place]:
        """Yield the places in a file that use symbols defined in the project.

        `known` has the definitions of the project. Call `fit` first.
        """
        for occurrence in self._raw.occurrences:
            if occurrence.symbol_roles & scip_format.DEFINITION:
                continue
            key = self._key(occurrence.symbol)
            if key not in known and parsed(key).owner_symbol not in known:  # an implicit constructor is known by its class
                continue
            place = self._place(occurrence)
            if place is not None and self._judge(place, occurrence.symbol) is not False:
                yield place

    def _key(self, symbol: str) -> str:
        return f"{self._path}\n{symbol}" if symbol.startswith("local ") else symbol

    def _fit(self) -> Fit:
        right = wrong = 0
        example = ""
        for occurrence in self._raw.occurrences:
            if occurrence.symbol.startswith("local ") and occurrence.symbol not in self._shown:
                continue  # it has no name to compare
            place = self._place(occurrence)
            verdict = self._judge(place, occurrence.symbol) if place is not None else None
            if place is not None and verdict is False:
                wrong += 1
                example = example or f"line {place.line:,} has {place.text[:40]!r}, the index {(place.symbol.name or 'a name')[:40]!r}"
            right += verdict is True
        return Fit(right, wrong, example)

    def _place(self, occurrence: Any) -> Place | None:
        """Convert an occurrence of the SCIP index to a place, in characters.

        The result is None for an empty range, or for a range of several lines.
        """
        span = occurrence.range
        if len(span) not in (3, 4) or (len(span) == 4 and span[2] != span[0]):
            return None
        line, start, end = span[0], span[1], span[-1]
        is_definition = bool(occurrence.symbol_roles & scip_format.DEFINITION)
        if line < 0 or start < 0 or start >= end or (line >= len(self._lines) and not is_definition):
            return None
        text = self._lines[line] if line < len(self._lines) else ""
        first, last = self._column(text, start), self._column(text, end)
        around = list(occurrence.enclosing_range) if is_definition else []
        last_line = around[-2 if len(around) == 4 else 0] + 1 if len(around) in (3, 4) else 0
        return Place(self._key(occurrence.symbol), parsed(occurrence.symbol), text[first:last], line + 1, first, is_definition, last_line)

    def _judge(self, place: Place, symbol: str) -> bool | None:
        """Whether a file has the name of `symbol` at a place; None if unclear.

        The result is True if the file has the name, or another spelling of it. The result is False if the place begins or ends inside a
        word, or if a definition has another name. It is None if a use has another name, because this may be an alias. It is also None if
        the symbol has no name, or stands for a module with another name.
        """
        if not place.text or self._cuts(place):
            return False
        if place.text == place.symbol.name:
            return True
        shown = self._shown.get(symbol, "")
        if place.symbol.is_module or not (place.symbol.name or shown):
            return None
        if place.text == shown or spells(place.symbol, place.text):
            return True
        return False if place.is_definition else None  # a use may have another name, from an import or a `using`

    def _cuts(self, place: Place) -> bool:
        """Whether a place begins or ends inside a word of the file.

        If so, the file differs from the file that was indexed.
        """
        line, first, last = self._lines[place.line - 1], place.column, place.column + len(place.text)
        starts_inside = first > 0 and _is_word(line[first]) and _is_word(line[first - 1])
        return starts_inside or (last < len(line) and _is_word(line[last]) and _is_word(line[last - 1]))

    def _column(self, text: str, column: int) -> int:
        """Convert a column of a SCIP position to characters.

        The index counts columns in units of its encoding, such as UTF-16 units. `text` is the line.
        """
        if self._encoding == scip_format.UTF32 or text.isascii():
            return column
        codec, width = _ENCODINGS[self._encoding]
        return len(text.encode(codec, "surrogatepass")[: width * column].decode(codec, "ignore"))


def _is_word(one: str) -> bool:
    return one.isalnum() or one == "_"
