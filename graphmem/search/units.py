"""Divide chunks into ranked units: symbols with their own lines.

The rest of a chunk outside every symbol is a unit as well. A chunk has the size that an embedding model reads, and may hold several small
functions or a part of a large one. Chunks are found first. Their lines are then divided among their symbols, and each symbol is ranked by
its own words, so that a function does not match by the words of its neighbour. An inner function in the same chunk belongs to its
enclosing function: no other code can call it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, NamedTuple

from graphmem.model import SymbolKind
from graphmem.projection.arrays import NODE_KINDS
from graphmem.projection.graph import GraphView
from graphmem.projection.text import normalise
from graphmem.projection.words import Entry
from graphmem.search.fusion import Fused

_BODIES: Final = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_HOLDERS: Final = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM})
_FOUND: Final = _BODIES | _HOLDERS | {SymbolKind.TYPE}
_MOST_KEPT: Final = 6_000  # divided chunks of a graph, about 14 MB
_lock: Final = Lock()
SURE: Final = 0.3  # confidence above which a name is intended: then a variable or inner function is a unit as well


class Segment(NamedTuple):
    """Lines of a chunk that belong to one unit."""

    unit: str  # id of a node or of the chunk
    text: str
    numbers: Sequence[int] = ()  # of its lines in the file; a repeated signature has numbers before the chunk's first line
    words: str | None = None  # the normalised text; None before a search by words needs it


class Units(NamedTuple):
    """The candidates as units, by the id of a node or chunk."""

    entries: dict[str, Entry]  # chunk -> its entry
    segments: dict[str, list[Segment]]  # chunk -> its lines by unit
    best: dict[str, Segment]  # unit -> its lines in its best chunk


class Voted(NamedTuple):
    """A fused candidate, raised by votes: other good hits in its file."""

    hit: Fused
    score: float
    boost: float
    boosted_by: str


def divided(view: GraphView, entries: Iterable[Entry], named: Mapping[int, float], *, divide: bool, most: int) -> dict[str, list[Segment]]:
    """Divide the lines of each chunk among units.

    Segments of one chunk have different units.

    Args:
        view: the graph of the chunks.
        entries: the chunks with their texts, best first.
        named: the nodes that the query names, with their confidence.
        divide: False keeps each chunk whole, for the symbol at which it was cut.
        most: number of segments after which no chunk is divided and the remaining chunks are dropped. Code of many tiny functions
            has ten in a chunk, and each costs as much as a large one.
    """
    symbols_of: dict[str, _Symbols] = {}
    segments: dict[str, list[Segment]] = {}
    count = 0
    around_named = {view.path(node) for node, sure in named.items() if sure > SURE}
    kept: dict[tuple[str, str], list[Segment]] = view.divided_chunks
    for entry in entries:
        if count >= most:
            break
        key = entry.id, entry.text_hash
        own = kept.get(key) if divide and entry.path not in around_named else None
        if own is None:
            if divide and entry.path not in symbols_of:
                symbols_of[entry.path] = _Symbols(view, entry.path)
            own = _segments(view, entry, symbols_of[entry.path], named) if divide else [_whole(view, entry)]
            own = [segment._replace(words=normalise(segment.text)) for segment in own]
            if divide and entry.path not in around_named:
                _keep(kept, key, own)
        segments[entry.id] = own
        count += len(own)
    return segments


def _keep(kept: dict[tuple[str, str], list[Segment]], key: tuple[str, str], segments: list[Segment]) -> None:
    """Cache a divided chunk; drop the oldest one if the cache is full."""
    with _lock:
        if len(kept) >= _MOST_KEPT:
            del kept[next(iter(kept))]
        kept[key] = segments


class _Symbols:
    """Symbols of a file by line, enclosing ones first.

    They are plain numbers, because every chunk scans them.
    """

    def __init__(self, view: GraphView, path: str) -> None:
        nodes = view.by_path(path)
        self.nodes: list[int] = nodes.tolist()
        self.starts: list[int] = view.start_line[nodes].tolist()
        self.ends: list[int] = view.end_line[nodes].tolist()

    def inside(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return (node, first line, last line) of symbols within given lines."""
        rows = range(bisect_left(self.starts, first), bisect_right(self.starts, last))
        return [(self.nodes[row], self.starts[row], self.ends[row]) for row in rows if self.ends[row] <= last]


def _whole(view: GraphView, entry: Entry) -> Segment:
    return _all_of(entry, entry.symbol if entry.symbol in view.index_of else entry.id)


def _all_of(entry: Entry, unit: str) -> Segment:
    text = entry.text
    count = text.count("\n") + 1
    before = _before(entry, count)
    return Segment(unit, text, range(before, before + count))


def _before(entry: Entry, lines: int) -> int:
    """Return the line number in the file at which a chunk's text begins.

    A part of a definition begins with its repeated signature, so that its first lines have numbers before the part.
    """
    return entry.start_line - max(0, lines - (entry.end_line - entry.start_line + 1))


def _segments(view: GraphView, entry: Entry, symbols: _Symbols, named: Mapping[int, float]) -> list[Segment]:
    own = _enclosing(view, entry)
    inside = [
        (view.ids[node], first, last)
        for node, first, last in symbols.inside(entry.start_line, entry.end_line)
        if named.get(node, 0.0) > SURE or _stands_alone(view, node, entry)
    ]
    if not inside:
        return [_all_of(entry, own)]
    lines = entry.text.split("\n")
    before = _before(entry, len(lines))
    owner = [own] * len(lines)
    for unit, first, last in inside:  # enclosing ones are first, so that each line ends with the innermost
        end = min(last - before + 1, len(lines))
        owner[first - before : end] = [unit] * (end - first + before)
    of_unit: dict[str, list[int]] = {}
    for at, unit in enumerate(owner):
        of_unit.setdefault(unit, []).append(at)
    segments = [Segment(unit, "\n".join([lines[at] for at in rows]), [before + at for at in rows]) for unit, rows in of_unit.items()]
    # Blank lines and brackets between definitions belong to no unit.
    return [segment for segment in segments if any(map(str.isalnum, segment.text))]


def _enclosing(view: GraphView, entry: Entry) -> str:
    """Return the id of the innermost definition that contains a whole chunk.

    The chunk's own id if no definition contains it.
    """
    node = view.index_of.get(entry.symbol, -1) if entry.symbol else -1
    while node >= 0 and _kind(view, node) != SymbolKind.MODULE:
        if view.start_line[node] <= entry.start_line and view.end_line[node] >= entry.end_line:
            return view.ids[node]
        node = int(view.parent[node])
    return entry.id


def _stands_alone(view: GraphView, node: int, entry: Entry) -> bool:
    """Whether a definition is ranked as a unit of its own.

    Variables are not units of their own, nor are definitions inside a function of the same chunk.
    """
    kind, parent = _kind(view, node), int(view.parent[node])
    if kind not in _FOUND:
        return False
    around = _kind(view, parent) if parent >= 0 else SymbolKind.MODULE
    if around in _BODIES:
        return bool(view.start_line[parent] < entry.start_line or view.end_line[parent] > entry.end_line)
    # A type parameter is a type as well, on the first line of its owner.
    return kind != SymbolKind.TYPE or around == SymbolKind.MODULE


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
