"""The order in which memories came. Part of the `memories` projection."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Final

_MANY: Final = 64  # entries above which sorting everything beats inserting one by one


class Timeline:
    """Memories by the time they were made, ties by id. Not thread-safe: the owner holds its lock."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, str]] = []  # (created_at in microseconds, id)

    def add(self, entries: Sequence[tuple[int, str]]) -> None:
        """Take in (microseconds, id) of memories that are not here."""
        if len(entries) > _MANY:
            self._entries = sorted([*self._entries, *entries])
        else:
            for entry in entries:
                insort(self._entries, entry)

    def remove(self, entry: tuple[int, str]) -> None:
        """Take out one that is here."""
        del self._entries[self.place(entry)]

    def place(self, entry: tuple[int, str]) -> int:
        """Where one that is here stands."""
        return bisect_left(self._entries, entry)

    def walk(self, place: int, step: int, count: int, passes: Callable[[str], bool]) -> list[str]:
        """The next ids that pass, from a place on, nearest first.

        Args:
            place: of the one to start from, which is left out.
            step: 1 for later ones, -1 for earlier ones.
            count: how many at most.
            passes: which count.
        """
        found: list[str] = []
        at = place + step
        while len(found) < count and 0 <= at < len(self._entries):
            one = self._entries[at][1]
            if passes(one):
                found.append(one)
            at += step
        return found
