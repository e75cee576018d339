"""List of memories in the order of their creation times."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Final

_MANY: Final = 64  # entries above which sorting everything is faster than inserting one by one


class Timeline:
    """A list of memories, sorted by creation time and then by id.

    Not thread-safe: the caller must hold a lock.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[int, str]] = []  # (created_at in microseconds, id)

    def add(self, entries: Sequence[tuple[int, str]]) -> None:
        """Insert new memories into this list, at the places of their times.

        Each entry is (creation time in microseconds, id of the memory).
        """
        if len(entries) > _MANY:
            self._entries = sorted([*self._entries, *entries])
        else:
            for entry in entries:
                insort(self._entries, entry)

    def remove(self, entry: tuple[int, str]) -> None:
        """Remove a memory's entry from this list; the memory itself is kept.

        The entry is (creation time in microseconds, id of the memory).
        """
        del self._entries[self.place(entry)]

    def place(self, entry: tuple[int, str]) -> int:
        """Return the position of a memory's entry in this list.

        The entry is (creation time in microseconds, id of the memory).
        """
        return bisect_left(self._entries, entry)

    def between(self, first: int, last: int) -> list[tuple[int, str]]:
        """Return the memories created from `first` to `last`, oldest first.

        The times are in microseconds since 1970.

        Each memory is (creation time in microseconds, id).
        """
        return self._entries[bisect_left(self._entries, (first, "")) : bisect_left(self._entries, (last, ""))]

    def ends(self) -> tuple[int, int] | None:
        """Return (creation time of the oldest memory, of the newest memory).

        The times are in microseconds. The result is None if the list is empty.
        """
        return (self._entries[0][0], self._entries[-1][0]) if self._entries else None

    def walk(self, place: int, step: int, count: int, passes: Callable[[str], bool]) -> list[str]:
        """Return ids of the memories created just after or before one memory.

        The nearest come first.

        Args:
            place: position of that memory, which is not returned.
            step: 1 for later memories, -1 for earlier ones.
            count: the maximum number.
            passes: returns whether a memory matches the filter.
        """
        found: list[str] = []
        at = place + step
        while len(found) < count and 0 <= at < len(self._entries):
            one = self._entries[at][1]
            if passes(one):
                found.append(one)
            at += step
        return found
