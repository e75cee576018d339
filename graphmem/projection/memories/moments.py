"""Find memories of the in-memory index by their times of creation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from graphmem.projection.memories.rows import micros, moment
from graphmem.projection.memories.slots import MemorySlots


class Moment(NamedTuple):
    """A memory that was created shortly before or after another memory."""

    id: str
    steps: int  # memories from one to the other along the timeline
    gap_s: float  # seconds between the two
    together: bool  # learnt in the same session
    is_later: bool


class MemoryMoments(MemorySlots):
    """The part of the memory index that uses the creation times of memories."""

    def timeline(self, memory_id: str, before: int, after: int) -> list[str]:
        """Return ids of a memory and of the memories created before and after.

        The oldest comes first. At most `before` earlier and `after` later memories are returned, the nearest ones in time. Superseded and
        deprecated memories are left out. The result is empty if `memory_id` is unknown.
        """
        with self._lock:
            place = self._place(memory_id)
            if place is None:
                return []
            older = self._walk(place, -1, before)
            return [*reversed(older), memory_id, *self._walk(place, 1, after)]

    def years(self) -> tuple[int, int] | None:
        """Return the years in which the oldest and newest memory were made.

        The result is (first year, last year), or None if the index is empty.
        """
        with self._lock:
            ends = self._timeline.ends()
        return (moment(ends[0]).year, moment(ends[1]).year) if ends is not None else None

    def created_between(self, spans: Iterable[tuple[datetime, datetime]], most: int) -> dict[str, datetime]:
        """Return the memories that were created in given periods.

        The result maps ids to creation times. Each of `spans` is (begin, end). If a period has more than `most` memories, only its oldest
        `most` memories are returned. Superseded and deprecated memories are left out.
        """
        found: dict[str, datetime] = {}
        with self._lock:
            hidden = self._hidden()
            for first, last in spans:
                passed = (
                    (at, one)
                    for at, one in self._timeline.between(micros(first), micros(last))
                    if self._columns.live[slot := self._slot_of[one]] and slot not in hidden
                )
                found |= {one: moment(at) for at, one in islice(passed, most)}
        return found

    def moments(self, memory_id: str, reach: int = 1) -> list[Moment]:
        """Return the memories that were created just before and after a memory.

        At most `reach` are returned on each side, without superseded and deprecated ones. The nearest in time come first.
        """
        with self._lock:
            place = self._place(memory_id)
            if place is None:
                return []
            at = int(self._columns.created[self._slot_of[memory_id]])
            mine = self._learnt.get(memory_id, {}).keys()
            moments = []
            for step in (-1, 1):
                for steps, one in enumerate(self._walk(place, step, reach), 1):
                    gap = abs(int(self._columns.created[self._slot_of[one]]) - at) / 1e6
                    moments.append(Moment(one, steps, gap, bool(mine & self._learnt.get(one, {}).keys()), step > 0))
        return sorted(moments, key=lambda one: (one.gap_s, one.steps, one.id))

    def asking(self, memory_id: str) -> float:
        """Return how much of a memory's content consists of questions, 0 to 1.

        A share above 0 means that the memory asks something. The memory learnt after it may then be the answer.
        """
        with self._lock:
            slot = self._slot_of.get(memory_id)
            return float(self._columns.asks[slot]) if slot is not None else 0.0

    def _place(self, memory_id: str) -> int | None:
        slot = self._slot_of.get(memory_id)
        return None if slot is None else self._timeline.place((int(self._columns.created[slot]), memory_id))

    def _walk(self, place: int, step: int, count: int) -> list[str]:
        """Return ids of the memories created just before or after a position.

        `place` is the position of a memory in the order of creation. `step` 1 returns later memories, and -1 earlier ones. At most `count`
        are returned, nearest first. Superseded and deprecated memories, and those that the caller may not see, are left out.
        """
        hidden = self._hidden()

        def passes(one: str) -> bool:
            slot = self._slot_of[one]
            return bool(self._columns.live[slot]) and slot not in hidden

        return self._timeline.walk(place, step, count, passes)
