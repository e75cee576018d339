"""Divide the lines of chunks among symbols, so that symbols are ranked.

The ranked items are units: a symbol with its own lines, or the rest of a chunk outside every symbol. A chunk has the size that an embedding
model reads. It may hold several small functions or a part of a large one. Search first finds chunks. This module divides the lines of each
chunk among its symbols. Each symbol is then ranked by its own words, so that a function does not match by the words of its neighbour. Lines
of a function inside another function of the same chunk belong to the outer function, because no other code can call the inner one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.model import SymbolKind
from graphmem.projection.arrays import NODE_KINDS
from graphmem.projection.graph import GraphView
from graphmem.projection.stem_numbers import I64, LINE, unpacked
from graphmem.projection.words import Entry
from graphmem.search.fusion import Fused

_BODIES: Final = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_HOLDERS: Final = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM})
_FOUND: Final = _BODIES | _HOLDERS | {SymbolKind.TYPE}
SURE: Final = 0.3  # confidence above which a name is intended: then a variable or inner function is a unit as well


class Segment(NamedTuple):
    """Lines of a chunk that belong to one unit, such as a function."""

    unit: str  # id of a node or of the chunk
    chunk: str
    owners: Sequence[int]  # for each line of the chunk, a number of its unit
    number: int  # number of this unit

    @property
    def rows(self) -> list[int]:
        """The positions of its lines in the text of the chunk, from 0."""
        return [row for row, number in enumerate(self.owners) if number == self.number]


class StemsOfUnits(NamedTuple):
    """The words of all units, stored as stem numbers in text order."""

    units: list[str]
    stems: I64
    owner: I64  # position in `units` of the unit that each word belongs to


class Units:
    """The candidates of a search as units: symbols, or chunks without symbols.

    Attributes:
        entries: for each chunk its entry in the word index, with its text.
        segments: for each chunk its lines by unit; segments of one chunk have different units.
        stems: the words of the units.
        nodes: the node of each unit that is a symbol.
        best: for each unit its lines in its best chunk.
    """

    def __init__(self, entries: dict[str, Entry], segments: dict[str, list[Segment]], stems: StemsOfUnits, nodes: dict[str, int]) -> None:
        self.entries = entries
        self.segments = segments
        self.stems = stems
        self.nodes = nodes
        self.best: dict[str, Segment] = {}
        self._lines: dict[str, list[str]] = {}

    def lines(self, segment: Segment) -> list[str]:
        """Return the texts of the lines in a segment."""
        if segment.chunk not in self._lines:
            self._lines[segment.chunk] = self.entries[segment.chunk].text.split("\n")
        lines = self._lines[segment.chunk]
        return [lines[row] for row in segment.rows]

    def path(self, view: GraphView, unit: str) -> str:
        """Return the path of the file that contains a unit."""
        node = self.nodes.get(unit)
        return view.path(node) if node is not None else self.entries[unit].path

    def rows_with(self, segment: Segment, numbers: I64) -> dict[int, set[int]]:
        """Return the lines of a segment that have some of the given stems.

        The result maps a line's number in the file to the stem numbers of `numbers` in that line.
        """
        entry = self.entries[segment.chunk]
        stems = unpacked(entry.stems)
        at = np.flatnonzero(np.isin(stems, numbers))
        found: dict[int, set[int]] = {}
        if len(at):
            row_of = np.cumsum(stems == LINE)
            before = _first_line(entry, int(row_of[-1]) + 1)
            for row, stem in zip(row_of[at].tolist(), stems[at].tolist(), strict=True):
                if segment.owners[row] == segment.number and before + row >= entry.start_line:
                    found.setdefault(before + row, set()).add(stem)
        return found

    def numbered(self, segment: Segment) -> Iterable[tuple[int, str]]:
        """Return the lines of a segment with their numbers in the file.

        If the chunk continues a definition, it begins with a repetition of the signature, which is left out.
        """
        entry = self.entries[segment.chunk]
        lines = self.lines(segment)
        before = _first_line(entry, len(self._lines[segment.chunk]))
        return [(before + row, line) for row, line in zip(segment.rows, lines, strict=True) if before + row >= entry.start_line]

    def texts(self) -> Iterable[tuple[str, str]]:
        """Yield (unit, text) for each unit and each chunk that contains it.

        The text has the unit's lines in that chunk.
        """
        for segments in self.segments.values():
            for segment in segments:
                yield segment.unit, "\n".join(self.lines(segment))


class Voted(NamedTuple):
    """A candidate with its score, raised by other good hits in its file."""

    hit: Fused
    score: float
    boost: float
    boosted_by: str


def divided(view: GraphView, entries: Sequence[Entry], named: Mapping[int, float], *, divide: bool, most: int) -> Units:
    """Divide the lines of each chunk among units.

    Args:
        view: the graph of the chunks.
        entries: the chunks with their texts, best first.
        named: the nodes named in the query, each with a confidence.
        divide: False assigns each whole chunk to the symbol from which it was cut.
        most: maximum number of segments. Once it is reached, the remaining chunks are dropped. Tiny functions make many segments in a
            chunk, and each costs as much as a large one.
    """
    every, ends, line, counts = _lines_of(entries)
    worded = np.zeros(sum(counts) + 1, np.bool_)
    worded[line[~ends]] = True
    has_word = worded.tolist()
    symbols_of: dict[str, _Symbols] = {}
    segments: dict[str, list[Segment]] = {}
    owners: list[int] = []  # for each line, the position of its unit
    units: dict[str, int] = {}
    nodes: dict[str, int] = {}
    count = 0
    for entry, lines in zip(entries, counts, strict=True):
        if count >= most:
            break
        if divide:
            if entry.path not in symbols_of:
                symbols_of[entry.path] = _Symbols(view, entry.path)
            ids, of_line = _painted(view, entry, lines, symbols_of[entry.path], named, nodes)
        else:
            node = view.index_of.get(entry.symbol)
            ids, of_line = [entry.id if node is None else entry.symbol], [0] * lines
            nodes |= {} if node is None else {entry.symbol: node}
        shown = list(dict.fromkeys(of_line))
        if len(shown) > 1:
            with_words = set(compress(of_line, has_word[len(owners) : len(owners) + lines]))
            shown = [one for one in shown if one in with_words or _has_letters(entry, of_line, one)]
        own = segments[entry.id] = [Segment(ids[one], entry.id, of_line, one) for one in shown]
        position = [-1] * len(ids)
        for one in own:
            position[one.number] = units.setdefault(one.unit, len(units))
        owners += map(position.__getitem__, of_line)
        count += len(own)
    owners += [-1] * (len(worded) - len(owners))
    owner = np.asarray(owners, np.int64)[line]
    words = ~ends & (owner >= 0)
    return Units({entry.id: entry for entry in entries}, segments, StemsOfUnits(list(units), every[words], owner[words]), nodes)


def _lines_of(entries: Sequence[Entry]) -> tuple[I64, npt.NDArray[np.bool_], I64, list[int]]:
    """Return the stem numbers of all chunks, with line ends, as one array.

    The other results are: for each element whether it is a line end, for each element its line, and for each chunk the number of its lines.
    """
    parts = [part for entry in entries for part in (unpacked(entry.stems), _LINE_END)]
    every = np.concatenate(parts, dtype=np.int64) if parts else np.empty(0, np.int64)
    ends = every == LINE
    after = np.cumsum(ends)
    last = np.cumsum([len(part) for part in parts], dtype=np.int64)[1::2] - 1
    return every, ends, after - ends, np.diff(after[last], prepend=0).tolist()


_LINE_END: Final = np.full(1, LINE, np.uint16)


def _has_letters(entry: Entry, of_line: Sequence[int], number: int) -> bool:
    """Whether any line of a chunk's unit `number` has a letter or a digit.

    `of_line` has the number of the unit for each line. Lines without an indexed word may have letters, such as encoded data. Lines without
    letters, such as blank lines between definitions, belong to no unit.
    """
    lines = entry.text.split("\n")
    return any(any(map(str.isalnum, lines[row])) for row, one in enumerate(of_line) if one == number)


class _Symbols:
    """The symbols of a file that can be ranked, enclosing symbols first."""

    def __init__(self, view: GraphView, path: str) -> None:
        self._view = view
        self._symbols = view.symbols_in(path)

    def inside(self, entry: Entry, named: Mapping[int, float]) -> list[tuple[int, int, int]]:
        """Return (node, first line, last line) of the symbols in a chunk.

        Only symbols that end within the chunk are returned.
        """
        nodes, starts, ends, kinds, _ = self._symbols
        last = entry.end_line
        return [
            (nodes[row], starts[row], ends[row])
            for row in range(bisect_left(starts, entry.start_line), bisect_right(starts, last))
            if ends[row] <= last and (named.get(nodes[row], 0.0) > SURE or (_IS_FOUND[kinds[row]] and self._stands_alone(row, entry)))
        ]

    def _stands_alone(self, row: int, entry: Entry) -> bool:
        """Whether the definition `row` is ranked as a separate unit.

        A definition inside a function is not, if the chunk `entry` also has that function.
        """
        view, parent = self._view, self._symbols.parents[row]
        around = _kind(view, parent) if parent >= 0 else SymbolKind.MODULE
        if around in _BODIES:
            return bool(view.start_line[parent] < entry.start_line or view.end_line[parent] > entry.end_line)
        # A type parameter is a type as well, on the first line of its owner.
        return NODE_KINDS[self._symbols.kinds[row]] != SymbolKind.TYPE or around == SymbolKind.MODULE


def _first_line(entry: Entry, lines: int) -> int:
    """Return the line number in the file at which a chunk's text begins.

    A chunk that continues a definition begins with a copy of the signature. The result is the number of the first line after the copy,
    minus the number of copied lines.
    """
    return entry.start_line - max(0, lines - (entry.end_line - entry.start_line + 1))


def _painted(
    view: GraphView, entry: Entry, count: int, symbols: _Symbols, named: Mapping[int, float], nodes: dict[str, int]
) -> tuple[list[str], list[int]]:
    """Return the units of a chunk, and for each line the position of its unit.

    The node of each unit that is a symbol is added to `nodes`.
    """
    around = _enclosing(view, entry)
    own = view.ids[around] if around >= 0 else entry.id
    if around >= 0:
        nodes[own] = around
    of_line = [0] * count
    units = {own: 0}
    before = _first_line(entry, count)
    for node, first, last in symbols.inside(entry, named):  # enclosing ones are first, so that each line ends with the innermost
        unit = view.ids[node]
        nodes[unit] = node
        number = units.setdefault(unit, len(units))
        end = min(last - before + 1, count)
        of_line[first - before : end] = [number] * (end - first + before)
    return list(units), of_line


def _enclosing(view: GraphView, entry: Entry) -> int:
    """Return the innermost definition that encloses a whole chunk, or -1."""
    node = view.index_of.get(entry.symbol, -1) if entry.symbol else -1
    while node >= 0 and _kind(view, node) != SymbolKind.MODULE:
        if view.start_line[node] <= entry.start_line and view.end_line[node] >= entry.end_line:
            return int(node)
        node = int(view.parent[node])
    return -1


def is_inner(view: GraphView, node: int) -> bool:
    """Whether a node is inside a function."""
    parent = int(view.parent[node])
    return parent >= 0 and _kind(view, parent) in _BODIES


def is_function(view: GraphView, node: int) -> bool:
    """Whether a node is a function or a method."""
    return _kind(view, node) in _BODIES


def is_class(view: GraphView, node: int) -> bool:
    """Whether a node contains other definitions, as a class does."""
    return _kind(view, node) in _HOLDERS


def _kind(view: GraphView, node: int) -> str:
    return NODE_KINDS[int(view.kind[node])]


_IS_FOUND: Final = [kind in _FOUND for kind in NODE_KINDS]
