"""The files that are known to have changed since they were indexed.

Answers list these files, so that readers notice outdated facts. The list is only in memory. The watcher of files fills it, after comparing
every file with the index (docs/decisions/0007-stale-at-once.md).
"""

from __future__ import annotations

import threading
from collections.abc import Collection


class StaleFiles:
    """The paths of files that changed since they were indexed.

    Thread-safe. Reading the sorted paths is cheap.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[str, int] = {}
        self._count = 0
        self._paths: list[str] = []

    def now(self) -> int:
        """Return a number for the current moment, to be passed to `settle`.

        Call `now` before an index run, and pass the number to `settle` after the run. Then `settle` does not unmark files that were marked
        during the run, because these have a larger number. The number counts the calls of `mark` without `moment`.
        """
        with self._lock:
            return self._count

    def mark(self, paths: Collection[str], moment: int | None = None) -> None:
        """Mark files as changed since they were indexed.

        Args:
            paths: paths of the files, from the root, with '/'.
            moment: None for a change that happens now. If an index run found the change, `moment` is the result of `now` before the run.
                Then `settle` unmarks the files after the run.
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
        """Unmark files that an index run has read.

        A file that was marked after the run began stays marked.

        Args:
            moment: result of `now` before the run read any file.
            paths: the files that the run read; None for every file.
        """
        with self._lock:
            looked_at = self._marks.keys() if paths is None else self._marks.keys() & set(paths)
            for path in [path for path in looked_at if self._marks[path] <= moment]:
                del self._marks[path]
            self._paths = sorted(self._marks)

    def paths(self) -> list[str]:
        """The paths of the files marked as changed, in ascending order."""
        return self._paths
