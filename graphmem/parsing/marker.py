"""Record the file being parsed, to find a file that crashes the process.

A few changed files are parsed in the indexing process, because starting a worker would take longer. A parser that runs out of stack crashes
the process. The path of the file that the process was parsing is then on disk. Later processes parse this file in a worker.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.sqlite_file import PRIVATE
from graphmem.runtime.process import system

FILE: Final = "parsing.json"
MOST: Final = 200  # most remembered files that ended a process; the newest stay

_log = logging.getLogger(__name__)


class Marker:
    """Records the path of the file that is being parsed, in a marker file.

    Args:
        descriptor: file descriptor of the marker file, open for writing. None if the file is not writable; then no path is recorded.
        suspects: paths of files that have ended a process, oldest first.
    """

    def __init__(self, descriptor: int | None, suspects: list[str]) -> None:
        self._descriptor = descriptor
        self._suspects = suspects
        self._known = frozenset(suspects)

    def is_suspect(self, path: str) -> bool:
        """Whether an earlier process ended while it parsed this file."""
        return path in self._known

    def at(self, path: str) -> None:
        """Write the path of the file that is parsed now; "" for no file.

        This is a single write to the marker file. After a crash, the marker file names this file or the previous one.
        """
        if self._descriptor is not None:
            data = sealed_json({"at": path, "suspects": self._suspects})
            system.write_at(self._descriptor, data, 0)
            os.ftruncate(self._descriptor, len(data))


@contextmanager
def marking(file: Path | None) -> Iterator[Marker]:
    """Open the marker file `file` for the duration of a `with` block.

    The marker file names the file that is being parsed. If `file` is None or not writable, no path is recorded and no file is suspect.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | system.OPEN, PRIVATE) if file is not None else None
    except OSError as error:
        _log.info("%s cannot be written, so a source that ends this process will end the next one, too: %s", file, error)
        descriptor = None
    try:
        marker = Marker(descriptor, _suspects(descriptor) if descriptor is not None else [])
        try:
            yield marker
        finally:
            marker.at("")
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _suspects(descriptor: int) -> list[str]:
    """Return the paths of files that have ended a process, oldest first.

    `descriptor` is the open marker file, which has the paths. If the previous process ended while it parsed a file, the path of this file
    is the last.
    """
    try:
        said = read_sealed_json(system.read_at(descriptor, 1 << 20, 0) or b"{}")
        listed = [one for one in said.get("suspects", ()) if isinstance(one, str)]
        last = said.get("at", "")
    except (ValueError, AttributeError, TypeError):
        return []  # the marker was truncated: its file can end a process at most once more
    if isinstance(last, str) and last:
        _log.warning("a process ended while it parsed %s; from now on that file is parsed in a process of its own", last)
        listed = [*(one for one in listed if one != last), last]
    return listed[-MOST:]
