"""Lock a journal that several worktrees of a repository share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmem.runtime.worktree import is_shared, journal_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from graphmem.memory.journal.journal import Journal


class JournalTurns:
    """The lock by which worktrees of a repository share a journal.

    If no other worktree shares the journal, nothing is locked.

    Args:
        data_dir: the index directory of this worktree.
        place: the directory of the journal.
        follow: reads the new memories of the other worktrees.
    """

    def __init__(self, data_dir: Path, place: Path, follow: Callable[[], None]) -> None:
        self._data_dir = data_dir
        self._place = place
        self._follow = follow
        self._journal: Journal | None = None
        self._depth = 0  # of nested turns
        self._stamp: tuple[object, ...] = ()  # of the journal as it was read

    def opened(self, journal: Journal) -> None:
        """Note the journal's current state, to detect later changes."""
        self._journal = journal
        self._stamp = journal.stamp()

    @property
    def is_behind(self) -> bool:
        """Whether another worktree changed the journal since this one read it."""
        return is_shared(self._data_dir, self._place) and self._journal is not None and self._journal.stamp() != self._stamp

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the journal against other worktrees while the block runs.

        First, new memories of the other worktrees are read.
        """
        if self._depth or not is_shared(self._data_dir, self._place):
            yield
            return
        with journal_lock(self._place):
            self._depth += 1
            try:
                if self._journal is not None and self._journal.stamp() != self._stamp:
                    self._follow()
                yield
            finally:
                self._depth -= 1
                if self._journal is not None:
                    self._stamp = self._journal.stamp()
