"""Divide the lines of chunks among symbols, so that symbols are ranked.

The ranked items are units: a symbol with its own lines, or the part of a chunk outside every symbol. A chunk has the size that an embedding
model reads. A chunk may hold several small functions or a part of a large one. Search first finds chunks. This module divides the lines of
each chunk among its symbols. Each symbol is then ranked by its own words, so that a function does not match by the words of its neighbour.
Lines of a function inside another function of the same chunk belong to the outer function, because no other code can call the inner one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.model import FUNCTION_KINDS, SymbolKind
from graphmem.projection.graph.arrays import NODE_KINDS
from graphmem.projection.graph.view import GraphView
from graphmem.projection.words.entries import Entry
from graphmem.projection.words.pieces import Piece, Pieces, Segment
from graphmem.projection.words.stem_numbers import I64, LINE, having, unpacked
from graphmem.search.fusion import Fused
from graphmem.search.units.facts import HOLDERS, Documentation, FactsOfUnits, UnitFacts, kind_of

_FOUND: Final = FUNCTION_KINDS | HOLDERS | {SymbolKind.TYPE}
SURE: Final = 0.3  # confidence above which a name is intended: then a variable or inner function is a unit as well
NOWHERE: Final = Pieces(most=0)  # a cache that keeps nothing
_BYTE: Final = 256  # units of a chunk whose numbers fit into bytes


class StemsOfUnits(NamedTuple):
    """The words of all units, stored as stem numbers in text order.

    A unit is a symbol, or the part of a chunk outside every symbol.
    """

    units: list[str]
    stems: I64
    owner: I64  # position in `units` of the unit that each word belongs to


class Units:
    """The candidates of a search as units: symbols, or chunks without symbols.

    Attributes:
        view: the code graph.
        entries: for each chunk its entry in the word index, with its text.
        segments: for each chunk its lines by unit; segments of one chunk have different units.
        stems: the words of the units.
        nodes: the node of each unit that is a symbol.
        best: for each unit, its lines in the chunk that ranks best.
    """

    def __init__(
        self,
        view: GraphView,
        entries: dict[str, Entry],
        segments: dict[str, list[Segment]],
        stems: StemsOfUnits,
        nodes: dict[str, int],
        *,
        kept: bool,
    ) -> None:
        self.view = view
        self._facts = FactsOfUnits(view, kept=kept)
        self._facts_of: dict[str, UnitFacts] = {}
        self.entries = entries
        self.segments = segments
        self.stems = stems
        self.nodes = nodes
        self.best: dict[str, Segment] = {}
        self._lines: dict[str, list[str]] = {}
        self._paths: dict[str, str] = {}

    def lines(self, segment: Segment) -> list[str]:
        """Return the texts of the lines in a segment."""
        if segment.chunk not in self._lines:
            self._lines[segment.chunk] = self.entries[segment.chunk].text.split("\n")
        lines = self._lines[segment.chunk]
        return [lines[row] for row in segment.rows]

    def facts(self, units: Collection[str]) -> dict[str, UnitFacts]:
        """Map the given units to facts about them, such as path and names.

        A unit is a symbol, or a chunk without a symbol. The result may have further units, from earlier calls.
        """
        if missing := [unit for unit in units if unit not in self._facts_of]:
            self._facts_of |= self._facts.of(missing, self.nodes, self.entries)
        return self._facts_of

    def documentation(self) -> dict[str, Documentation]:
        """Map each unit that is a symbol to its documentation."""
        return self._facts.documentation({unit: node for unit in self.stems.units if (node := self.nodes.get(unit)) is not None})

    def path(self, unit: str) -> str:
        """Return the path of the file that contains a symbol or chunk (unit)."""
        path = self._paths.get(unit)
        if path is None:
            node = self.nodes.get(unit)
            path = self._paths[unit] = self.view.path(node) if node is not None else self.entries[unit].path
        return path

    def rows_with(self, shown: Collection[str], numbers: Collection[int]) -> dict[str, dict[int, set[int]]]:
        """Return the lines of given units that have some of the given stems.

        A unit is a symbol, or a chunk without a symbol. The result maps each unit in `shown` to a dict. The dict maps line numbers in the
        file to stem numbers. Only the stems in `numbers` are included.
        """
        unit_of: list[str] = []  # for each line
        line_of: list[int] = []  # for each line, its number in the file; 0 for a repetition of the signature
        entries = []
        for chunk, segments in self.segments.items():
            names = {one.number: one.unit for one in segments if one.unit in shown}
            if names:
                entry = self.entries[chunk]
                entries.append(entry)
                owners = segments[0].owners
                unit_of += [names.get(owner, "") for owner in owners]
                before = _first_line(entry, len(owners))
                line_of += [row if row >= entry.start_line else 0 for row in range(before, before + len(owners))]
        found: dict[str, dict[int, set[int]]] = {}
        every, _, line, _ = _lines_of(entries)
        at = np.flatnonzero(having(every, numbers))
        for row, stem in zip(line[at].tolist(), every[at].tolist(), strict=True):
            if unit_of[row] and line_of[row]:
                found.setdefault(unit_of[row], {}).setdefault(line_of[row], set()).add(stem)
        return found

    def numbered(self, segment: Segment) -> Iterable[tuple[int, str]]:
        """Return the lines of a segment with their numbers in the file.

        A segment is a part of a chunk. If the chunk continues a definition, it repeats the signature first. These lines are left out.
        """
        entry = self.entries[segment.chunk]
        lines = self.lines(segment)
        before = _first_line(entry, len(self._lines[segment.chunk]))
        return [(before + row, line) for row, line in zip(segment.rows, lines, strict=True) if before + row >= entry.start_line]

    def texts(self, shown: Collection[str] | None = None) -> Iterable[tuple[str, str]]:
        """Yield (unit, text) for each unit and each chunk that contains it.

        A unit is a symbol, or a chunk without a symbol. The text has the unit's lines in that chunk. Only units in `shown` are included;
        None includes all.
        """
        for segments in self.segments.values():
            for segment in segments:
                if shown is None or segment.unit in shown:
                    yield segment.unit, "\n".join(self.lines(segment))


class Voted(NamedTuple):
    """A candidate whose score was raised by other good hits in the same file."""

    hit: Fused
    score: float
    boost: float
    boosted_by: str


def divided(
    view: GraphView,
    entries: Mapping[str, Entry],
    order: Sequence[str],
    named: Mapping[int, float],
    pieces: Pieces,
    *,
    divide: bool,
    most: int,
) -> Units:
    """Divide the lines of each chunk among units.

    A unit is a symbol, or the part of a chunk outside every symbol.

    Args:
        view: the graph of the chunks.
        entries: the chunks with their texts.
        order: ids of the chunks, best first.
        named: the nodes named in the query, each with a confidence.
        pieces: chunks that were divided for an earlier query; receives those that are divided now.
        divide: False assigns each whole chunk to the symbol from which it was cut.
        most: maximum number of segments. Once it is reached, the remaining chunks are dropped. Segments are counted instead of chunks,
            because a chunk of tiny functions has many segments, and each costs as much as a large one.
    """
    special = {view.path(node) for node, sure in named.items() if sure > SURE}
    usual = [chunk for chunk in order if entries[chunk].path not in special] if divide else []
    known = pieces.known(usual)
    unknown = [entries[chunk] for chunk in order if chunk not in known]
    made = {piece.entry.id: piece for piece in _divided(view, unknown, named, divide=divide)}
    pieces.add({chunk: made[chunk] for chunk in usual if chunk in made})
    segments: dict[str, list[Segment]] = {}
    units: dict[str, int] = {}
    nodes: dict[str, int] = {}
    number_of = view.index_of.get
    parts: list[Piece] = []
    place: list[int] = []  # for each segment, the position of its unit
    first: list[int] = []  # for each chunk, the number of segments before it
    for chunk in order:
        if len(place) >= most:
            break
        piece = known.get(chunk) or made[chunk]
        segments[chunk] = piece.segments
        first.append(len(place))
        place += [units.setdefault(one.unit, len(units)) for one in piece.segments]
        for symbol in piece.symbols:
            if symbol not in nodes and (node := number_of(symbol)) is not None:
                nodes[symbol] = node
        parts.append(piece)
    stems = np.concatenate([piece.stems for piece in parts], dtype=np.int64) if parts else np.empty(0, np.int64)
    within = np.concatenate([piece.owner for piece in parts], dtype=np.int64) if parts else np.empty(0, np.int64)
    within += np.repeat(np.asarray(first, np.int64), [len(piece.owner) for piece in parts])
    owner = np.asarray(place, np.int64)[within]
    return Units(view, dict(entries), segments, StemsOfUnits(list(units), stems, owner), nodes, kept=pieces is not NOWHERE)


def _divided(view: GraphView, entries: Sequence[Entry], named: Mapping[int, float], *, divide: bool) -> Iterator[Piece]:
    """Divide the lines of each chunk among units.

    A unit is a symbol, or the part of a chunk outside every symbol. `entries` are the chunks with their texts. For the other arguments, see
    `divided`.
    """
    if not entries:
        return
    every, ends, line, counts = _lines_of(entries)
    worded = np.zeros(sum(counts) + 1, np.bool_)
    worded[line[~ends]] = True
    has_word = worded.tolist()
    symbols_of: dict[str, _Symbols] = {}
    places: list[int] = []  # for each line, the position of its segment
    made: list[tuple[list[Segment], list[str]]] = []
    for entry, lines in zip(entries, counts, strict=True):
        nodes: dict[str, int] = {}
        if divide:
            if entry.path not in symbols_of:
                symbols_of[entry.path] = _Symbols(view, entry.path)
            ids, of_line = _units_by_line(view, entry, lines, symbols_of[entry.path], named, nodes)
        else:
            node = view.index_of.get(entry.symbol)
            ids, of_line = [entry.id if node is None else entry.symbol], [0] * lines
            nodes |= {} if node is None else {entry.symbol: node}
        if len(ids) == 1:  # most chunks
            made.append(([Segment(ids[0], entry.id, bytes(lines), 0)], list(nodes)))
            places += [0] * lines
            continue
        shown = list(dict.fromkeys(of_line))
        if len(shown) > 1:
            with_words = set(compress(of_line, has_word[len(places) : len(places) + lines]))
            shown = [one for one in shown if one in with_words or _has_letters(entry, of_line, one)]
        owners: Sequence[int] = bytes(of_line) if len(ids) <= _BYTE else of_line
        made.append(([Segment(ids[one], entry.id, owners, one) for one in shown], list(nodes)))
        position = dict(zip(shown, range(len(shown)), strict=True))
        places += [position.get(one, -1) for one in of_line]
    place = np.asarray([*places, -1], np.int64)[line]
    words = ~ends & (place >= 0)
    bounds = np.searchsorted(line[words], np.cumsum([0, *counts])).tolist()
    stems, owner = _small(every[words]), _small(place[words])
    for entry, (segments, symbols), (first, last) in zip(entries, made, pairwise(bounds), strict=True):
        yield Piece(entry, segments, symbols, stems[first:last].copy(), owner[first:last].copy())


def _small(numbers: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Convert numbers to the smallest integer type that can hold them."""
    highest = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.uint32)


def _lines_of(entries: Sequence[Entry]) -> tuple[I64, npt.NDArray[np.bool_], I64, list[int]]:
    """Return the words of the chunks `entries` in one array, with line ends.

    Returns:
        the id of each word's stem, with the id LINE at each line end;
        for each of these elements, whether it is a line end;
        for each of these elements, its line;
        for each chunk, how many lines it has.
    """
    parts = [part for entry in entries for part in (unpacked(entry.stems), _LINE_END)]
    every = np.concatenate(parts, dtype=np.int64) if parts else np.empty(0, np.int64)
    ends = every == LINE
    after = np.cumsum(ends)
    last = np.cumsum([len(part) for part in parts], dtype=np.int64)[1::2] - 1
    return every, ends, after - ends, np.diff(after[last], prepend=0).tolist()


_LINE_END: Final = np.full(1, LINE, np.uint16)


def _has_letters(entry: Entry, of_line: Sequence[int], number: int) -> bool:
    """Whether a symbol's lines in a chunk have a letter or a digit.

    Lines without any, such as blank lines between definitions, belong to no symbol. Letters count even in lines without an indexed word,
    such as lines of encoded data. `number` is the number of the symbol, and `of_line` has the number of the symbol for each line of the
    chunk.
    """
    lines = entry.text.split("\n")
    return any(any(map(str.isalnum, lines[row])) for row, one in enumerate(of_line) if one == number)


class _Symbols:
    """A file's symbols, of which some are ranked as separate search hits."""

    def __init__(self, view: GraphView, path: str) -> None:
        self._view = view
        self._symbols = view.symbols_in(path)

    def inside(self, entry: Entry, named: Mapping[int, float]) -> list[tuple[int, int, int]]:
        """Return (node, first line, last line) of the symbols in a chunk.

        A symbol must begin and end inside the chunk. It must also be ranked separately, or the query must name it (`named`). All other
        symbols are left out.
        """
        nodes, starts, ends, kinds, _ = self._symbols
        last = entry.end_line
        return [
            (nodes[row], starts[row], ends[row])
            for row in range(bisect_left(starts, entry.start_line), bisect_right(starts, last))
            if ends[row] <= last and (named.get(nodes[row], 0.0) > SURE or (_IS_FOUND[kinds[row]] and self._stands_alone(row, entry)))
        ]

    def _stands_alone(self, row: int, entry: Entry) -> bool:
        """Whether a definition is ranked as a search hit of its own.

        `row` is the definition. A definition inside a function is ranked separately only if the chunk `entry` does not contain the whole
        function.
        """
        view, parent = self._view, self._symbols.parents[row]
        around = kind_of(view, parent) if parent >= 0 else SymbolKind.MODULE
        if around in FUNCTION_KINDS:
            return bool(view.start_line[parent] < entry.start_line or view.end_line[parent] > entry.end_line)
        # A type parameter is a type as well, on the first line of its owner.
        return NODE_KINDS[self._symbols.kinds[row]] != SymbolKind.TYPE or around == SymbolKind.MODULE


def _first_line(entry: Entry, lines: int) -> int:
    """Return the line number in the file at which a chunk's text begins.

    A chunk that continues a definition begins with a copy of the signature. If a copy of two lines precedes line 40 of the file, the result
    is 38.
    """
    return entry.start_line - max(0, lines - (entry.end_line - entry.start_line + 1))


def _units_by_line(
    view: GraphView, entry: Entry, count: int, symbols: _Symbols, named: Mapping[int, float], nodes: dict[str, int]
) -> tuple[list[str], list[int]]:
    """Map each line of a chunk to the symbol that contains it.

    `count` is the number of lines in the chunk. `symbols` are the symbols of its file, and `named` are the symbols that the query names.
    The first list has the ids of the chunk's units. A unit is a symbol, or the lines outside symbols. The second list has, for each line,
    the position of the line's unit in the first list. The node of each unit that is a symbol is added to `nodes`.
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
    """Return the innermost definition that encloses a whole chunk; -1 if none."""
    node = view.index_of.get(entry.symbol, -1) if entry.symbol else -1
    while node >= 0 and kind_of(view, node) != SymbolKind.MODULE:
        if view.start_line[node] <= entry.start_line and view.end_line[node] >= entry.end_line:
            return int(node)
        node = int(view.parent[node])
    return -1


_IS_FOUND: Final = [kind in _FOUND for kind in NODE_KINDS]
