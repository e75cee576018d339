"""The planned changes of one write of memories."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from datetime import datetime

    from graphmem.answers import Remembered
    from graphmem.embedding.base import F32
    from graphmem.knowledge import KnowledgeDelta, MemoryRow
    from graphmem.memory.journal.records import Event
    from graphmem.memory.texts.similar import Thresholds
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.memories.index import MemoryIndex


class Plan(NamedTuple):
    """The plan of one write of memories: changes, audit events and results."""

    delta: KnowledgeDelta
    events: list[Event]
    before: dict[str, MemoryRow]  # previous rows of the delta
    results: list[Remembered]  # one for each draft, in order
    vectors: dict[str, F32]  # text hash -> vector of `model`
    model: str
    texts: dict[str, str]  # memory id -> contextual text, of memories that have no vector yet


class Surroundings(NamedTuple):
    """The data for planning a write: existing memories, code and time."""

    memories: MemoryIndex
    view: GraphView | None
    project: str
    now: datetime
    model: str  # of the vectors in the index, "" when there are none
    thresholds: Thresholds


class Taken:
    """The short ids of memories in the index, together with those in `more`."""

    def __init__(self, index: MemoryIndex, more: Container[str] = ()) -> None:
        self._index = index
        self._more = more

    def __contains__(self, short: object) -> bool:
        return short in self._more or self._index.by_short_id(str(short)) is not None


def outcome_counts(results: Sequence[Remembered]) -> dict[str, int]:
    """Map each outcome of a write, such as "added", to its number of memories."""
    return dict(sorted(Counter(result.outcome for result in results).items()))
