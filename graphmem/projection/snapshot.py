"""Graph, words, vectors and memories that a reader uses together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from graphmem.projection.graph.view import GraphView
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.vectors import VectorIndex
from graphmem.projection.words.index import WordIndex


class Snapshot(NamedTuple):
    """Graph, words, vectors and memories of one state of the database.

    A reader uses them together; they do not change. Graph and words are of the same state, except while words are built for the first time.
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
