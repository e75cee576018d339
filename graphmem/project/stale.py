"""Which files are known to have changed since they were indexed, so that no answer passes an old truth off as today's.

Kept in memory: the knowledge comes from watching, and whoever starts watching compares every file with the index
first (docs/decisions/0007-stale-at-once.md).
"""

from __future__ import annotations

import threading
from collections.abc import Collection


class StaleFiles:
    """A set of paths with the order in which they were marked. Thread-safe; reading it costs next to nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[str, int] = {}
        self._count = 0
        self._paths: list[str] = []

    def now(self) -> int:
        """The moment after every mark made so far, and before every later one."""
        with self._lock:
            return self._count

    def mark(self, paths: Collection[str], moment: int | None = None) -> None:
        """These files have changed.

        Args:
            paths: from the root, with '/'.
            moment: for what a run that began then found out by itself, so that its end settles it; default: a new one.
        """
        with self._lock:
            if moment is None:
                self._count += 1
                self._marks.update(dict.fromkeys(paths, self._count))
            else:
                for path in paths:
                    self._marks.setdefault(path, moment)
            self._paths = sorted(self._marks)

    def settle(self, moment: int, paths: Collection[str] | None) -> None:
        """A run that began at this moment has brought files up to date; what was marked later has changed again.

        Args:
            moment: from `now`, before the run looked at a file.
            paths: what it looked at; None: everything.
        """
        with self._lock:
            looked_at = self._marks.keys() if paths is None else self._marks.keys() & set(paths)
            for path in [path for path in looked_at if self._marks[path] <= moment]:
                del self._marks[path]
            self._paths = sorted(self._marks)

    def paths(self) -> list[str]:
        """The files, ascending."""
        return self._paths
