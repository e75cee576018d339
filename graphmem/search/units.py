"""What is ranked: a symbol with the lines that are its own, or what is left of a chunk outside every symbol.

A chunk is cut to the size an embedding model reads: it may hold several small functions, or a part of a large one. Chunks are
found; their lines are then divided among the symbols they belong to, and each symbol is ranked by its own words, so that a
function is not found by what stands in its neighbour. What lies in a function that shares its chunk belongs to that function:
nobody can call it from elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from graphmem.model import SymbolKind
from graphmem.projection.arrays import NODE_KINDS
from graphmem.projection.graph import GraphView
from graphmem.projection.words import Entry
from graphmem.search.fusion import Fused

_BODIES: Final = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_HOLDERS: Final = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM})
_FOUND: Final = _BODIES | _HOLDERS | {SymbolKind.TYPE}
SURE: Final = 0.3  # a name that is surer than that is meant as one: then a variable or an inner function is a unit as well


class Segment(NamedTuple):
    """Lines of a chunk that belong to one unit."""

    unit: str  # a node's id or the chunk's
    text: str


class Units(NamedTuple):
    """Candidates as units: a node's id or a chunk's id."""

    entries: dict[str, Entry]  # chunk -> what stands behind it
    segments: dict[str, list[Segment]]  # chunk -> whose lines it holds
    best: dict[str, Segment]  # unit -> its lines in the best of its chunks


class Voted(NamedTuple):
    """A fused candidate with what its file added."""

    hit: Fused
    score: float
    boost: float
    boosted_by: str


def divided(view: GraphView, entries: Iterable[Entry], named: Mapping[int, float], *, divide: bool, most: int) -> dict[str, list[Segment]]:
    """Whose lines each chunk holds; several segments of one chunk never have the same unit.

    Args:
        view: the graph the chunks are of.
        entries: chunks with their texts, the best first.
        named: nodes the query names, and how sure that is.
        divide: False: a chunk belongs as a whole to the symbol it was cut at.
        most: segments after which no further chunk is divided and the rest are no candidates: code of many tiny functions has ten in
            a chunk, and each costs as much as a large one.
    """
    symbols_of: dict[str, _Symbols] = {}
    segments: dict[str, list[Segment]] = {}
    count = 0
    for entry in entries:
        if count >= most:
            break
        if divide and entry.path not in symbols_of:
            symbols_of[entry.path] = _Symbols(view, entry.path)
        segments[entry.id] = _segments(view, entry, symbols_of[entry.path], named) if divide else [_whole(view, entry)]
        count += len(segments[entry.id])
    return segments


class _Symbols:
    """Symbols of a file by line, enclosing ones first, as plain numbers: they are looked through once for each chunk."""

    def __init__(self, view: GraphView, path: str) -> None:
        nodes = view.by_path(path)
        self.nodes: list[int] = nodes.tolist()
        self.starts: list[int] = view.start_line[nodes].tolist()
        self.ends: list[int] = view.end_line[nodes].tolist()

    def inside(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """(node, first line, last line) of those that lie wholly in these lines."""
        rows = range(bisect_left(self.starts, first), bisect_right(self.starts, last))
        return [(self.nodes[row], self.starts[row], self.ends[row]) for row in rows if self.ends[row] <= last]


def _whole(view: GraphView, entry: Entry) -> Segment:
    return Segment(entry.symbol if entry.symbol in view.index_of else entry.id, entry.text)


def _segments(view: GraphView, entry: Entry, symbols: _Symbols, named: Mapping[int, float]) -> list[Segment]:
    own = _enclosing(view, entry)
    inside = [
        (view.ids[node], first, last)
        for node, first, last in symbols.inside(entry.start_line, entry.end_line)
        if named.get(node, 0.0) > SURE or _stands_alone(view, node, entry)
    ]
    if not inside:
        return [Segment(own, entry.text)]
    lines = entry.text.split("\n")
    # Before a part of a definition its signature is repeated.
    before = entry.start_line - max(0, len(lines) - (entry.end_line - entry.start_line + 1))
    owner = [own] * len(lines)
    for unit, first, last in inside:  # enclosing ones come first, so that each line ends with the innermost
        end = min(last - before + 1, len(lines))
        owner[first - before : end] = [unit] * (end - first + before)
    of_unit: dict[str, list[str]] = {}
    for unit, line in zip(owner, lines, strict=True):
        of_unit.setdefault(unit, []).append(line)
    segments = [Segment(unit, "\n".join(own_lines)) for unit, own_lines in of_unit.items()]
    # Blank lines and brackets between definitions are nobody's.
    return [segment for segment in segments if any(map(str.isalnum, segment.text))]


def _enclosing(view: GraphView, entry: Entry) -> str:
    """The innermost definition that holds all of a chunk's lines, or the chunk itself."""
    node = view.index_of.get(entry.symbol, -1) if entry.symbol else -1
    while node >= 0 and _kind(view, node) != SymbolKind.MODULE:
        if view.start_line[node] <= entry.start_line and view.end_line[node] >= entry.end_line:
            return view.ids[node]
        node = int(view.parent[node])
    return entry.id


def _stands_alone(view: GraphView, node: int, entry: Entry) -> bool:
    """A definition that is found for itself: not a variable, and not in a function that is in the same chunk."""
    kind, parent = _kind(view, node), int(view.parent[node])
    if kind not in _FOUND:
        return False
    around = _kind(view, parent) if parent >= 0 else SymbolKind.MODULE
    if around in _BODIES:
        return bool(view.start_line[parent] < entry.start_line or view.end_line[parent] > entry.end_line)
    # A parameter of a type is a type as well, in the first line of what it belongs to.
    return kind != SymbolKind.TYPE or around == SymbolKind.MODULE


def is_inner(view: GraphView, node: int) -> bool:
    """True of what is written inside a function."""
    parent = int(view.parent[node])
    return parent >= 0 and _kind(view, parent) in _BODIES


def is_function(view: GraphView, node: int) -> bool:
    """True of a function or a method."""
    return _kind(view, node) in _BODIES


def is_class(view: GraphView, node: int) -> bool:
    """True of a definition that holds others: a class or what other languages have in its place."""
    return _kind(view, node) in _HOLDERS


def _kind(view: GraphView, node: int) -> str:
    return NODE_KINDS[int(view.kind[node])]
