"""A shared/exclusive lock around the database file.

During an open read, a checkpoint waits for seconds and then fails, and a database file cannot be replaced. Therefore reads hold the lock
shared; checkpoints and replacements of the file hold it exclusively.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from graphmem.errors import StoreBusyError


class Gate:
    """A shared/exclusive lock; a waiting exclusive caller blocks new readers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._closed = False

    @contextlib.contextmanager
    def shared(self, timeout_s: float) -> Iterator[None]:
        """Lock the file for a `with` block that reads; other readers may, too.

        Raises:
            StoreBusyError: the exclusive holder took longer than `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: not self._closed, timeout_s):
                raise StoreBusyError(
                    "graphmem is rewriting the database file, so it cannot be read now; try again in a moment",
                    path="",
                    owner=None,
                    retry_after=1.0,
                )
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def exclusive(self, timeout_s: float) -> Iterator[None]:
        """Lock the file for a `with` block, alone, until its end.

        Only the writer's thread may call this. The lock is not reentrant, so the thread must not hold it already.

        Raises:
            StoreBusyError: readers held the lock longer than `timeout_s`.
        """
        with self._changed:
            self._closed = True
            deadline = time.monotonic() + timeout_s
            if not self._changed.wait_for(lambda: not self._inside, max(0.0, deadline - time.monotonic())):
                self._closed = False
                self._changed.notify_all()
                raise StoreBusyError(
                    f"the database could not be locked, because reads of it are still running after {timeout_s:g} s; try again",
                    path="",
                    owner=None,
                    retry_after=1.0,
                )
        try:
            yield
        finally:
            with self._changed:
                self._closed = False
                self._changed.notify_all()
