"""Bounded tables of a session's counts: files, edits, commands, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from graphmem.observe.counts.acts import Act
from graphmem.observe.texts.words import is_expected_of_a_test

ENTRY_BYTES: Final = 600  # estimated size of one entry without its key, as Python objects
Mark = tuple[int, int]  # place of evidence: ordinal of the act, step

K = TypeVar("K")
V = TypeVar("V")


class Table(dict[K, V], Generic[K, V]):
    """A mapping with a limited number of entries and an estimated size.

    Args:
        limit: greatest number of entries; a full table drops the half with the lower rank.
        rank: returns the significance of a value; among equal values, older entries are removed first. None ranks by age.
        bytes_each: estimated size of an entry without its key.
    """

    def __init__(self, limit: int, rank: Callable[[V], float] | None = None, bytes_each: int = ENTRY_BYTES) -> None:
        super().__init__()
        self.limit = limit
        self.rank = rank
        self.bytes_each = bytes_each
        self.cost = 0
        self.dropped = 0

    def add(self, key: K, value: V) -> V:
        """Store a value under a key and return the value.

        If the table is full, the half of its entries with the lower rank is removed first.
        """
        if len(self) >= self.limit:
            self.halve()
        self[key] = value
        self.cost += self.bytes_each + (len(key) if isinstance(key, (str, tuple)) else 8)
        return value

    def halve(self) -> None:
        """Remove the lower-ranked half of the table's entries."""
        rank = self.rank
        keys = list(self) if rank is None else sorted(self, key=lambda key: rank(self[key]))
        going = keys[: (len(keys) + 1) // 2]
        for key in going:
            del self[key]
        self.dropped += len(going)
        self.cost = self.cost * len(self) // max(1, len(keys))


class FileUse:
    """Counts of the reads and edits of one file in a session."""

    __slots__ = (
        "added", "edits", "first_at", "first_n", "first_step", "last_at", "last_n", "last_step", "reads",
        "removed", "reverted", "tokens",
    )  # fmt: skip

    def __init__(self, act: Act) -> None:
        self.reads = self.edits = self.added = self.removed = self.reverted = self.tokens = 0
        self.first_at = self.last_at = act.at
        self.first_step = self.last_step = act.step
        self.first_n = self.last_n = 0  # acts that read or edited it; 0: only listed

    def used(self, act: Act) -> None:
        """Count one more read or edit of the file."""
        self.first_at, self.last_at = min(self.first_at, act.at), max(self.last_at, act.at)
        if not self.first_n:
            self.first_n, self.first_step, self.first_at = act.n, act.step, act.at
        self.last_n, self.last_step = act.n, act.step


class EditMark:
    """One edit of one file, kept to detect that it is undone later."""

    __slots__ = ("after", "at", "before", "n", "path", "step", "undone")

    def __init__(self, act: Act, path: str) -> None:
        self.n, self.step, self.at, self.path = act.n, act.step, act.at, path
        self.before, self.after = act.before, act.after
        self.undone: Mark | None = None


class CommandUse:
    """Counts of the runs of one command line in a session."""

    __slots__ = ("action", "failures", "label", "last_exit", "last_step", "runs", "seconds")

    def __init__(self, act: Act) -> None:
        self.action, self.label = act.action, act.label
        self.runs = self.failures = self.last_step = 0
        self.seconds = 0.0
        self.last_exit: int | None = None


class ErrorUse:
    """Occurrences of one error in a session, and whether it was fixed.

    Two errors are the same if their fingerprints (normalised texts) match; see `words.same_error`.
    """

    __slots__ = ("command", "edits_at", "expected", "fix_files", "fixed_at", "label", "marks", "message", "times")

    def __init__(self, act: Act) -> None:
        self.message, self.label, self.command = act.error, act.label, act.command
        self.times = 0
        self.marks: list[Mark] = []
        self.fixed_at: Mark | None = None
        self.fix_files: tuple[str, ...] = ()
        self.edits_at = 0  # the session's number of edits at its last occurrence
        self.expected = act.action == "test" and is_expected_of_a_test(act.error)
