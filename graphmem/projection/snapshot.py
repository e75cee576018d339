"""The bundle of projections, of one generation, that a reader uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from graphmem.projection.graph import GraphView
from graphmem.projection.memories import MemoryIndex
from graphmem.projection.vectors import VectorIndex
from graphmem.projection.words import WordIndex


class Snapshot(NamedTuple):
    """An immutable bundle of projections that a reader uses.

    Graph and words have the same generation, except while words are built for the first time.
    """

    generation: int
    graph: GraphView
    words: WordIndex | None
    words_note: str  # why `words` is None
    vectors: VectorIndex | None
    vectors_note: str  # why `vectors` is None
    covered: tuple[int, int]  # chunks with a vector, chunks
    memories: MemoryIndex | None
    memories_note: str  # why `memories` is None
    report_damage: Callable[[WordIndex, float], Snapshot | None]  # takes a damaged word index, and seconds to wait for another one
