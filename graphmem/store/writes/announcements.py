"""Announce a change of the code before it is committed.

Writes of other threads wait until an announced change is committed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graphmem.errors import StoreBusyError
from graphmem.store.writes.writer import RETRY_S


class Announcements:
    """The announced change of one database, of which there is at most one.

    Args:
        path: path of the database file, for messages.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._thread = 0  # the thread that has announced a change, until the change is committed
        self._highest = 0  # highest generation that was announced
        self._is_level = threading.Event()  # no change is announced
        self._is_level.set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the writes of other threads wait during a `with` block."""
        self._thread = threading.get_ident()
        self._is_level.clear()
        try:
            yield
        finally:
            self._thread = 0
            self._is_level.set()

    def announce(self, generation: int) -> int:
        """Return the number (generation) for the next change of the code.

        `generation` is the number of the last committed change. A number is returned only once, even if the announced change is not
        committed.
        """
        self._highest = max(self._highest, generation) + 1
        return self._highest

    def used(self) -> int:
        """Return the highest number of a change that is not free for another one.

        While a change is announced, its own number is free.
        """
        return self._highest - bool(self._thread)

    def wait(self, timeout_s: float | None) -> None:
        """Wait until a change that another thread announced is committed.

        Raises:
            StoreBusyError: the commit takes longer than `timeout_s`; None stands for no limit.
        """
        announcer = self._thread
        if announcer and announcer != threading.get_ident() and not self._is_level.wait(timeout_s):
            raise StoreBusyError(
                f"another write to the code graph has been running for more than {timeout_s:g} s; try again",
                path=self._path,
                owner=None,
                retry_after=RETRY_S,
            )
