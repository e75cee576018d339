"""Limit the memory for parsed files; release the least recently used.

In a large project, the results of parsing all files do not fit into memory. After a file is resolved, the least recently used results are
released. Their next use reads them again (`FileEntry.rest`). Answers of type inference, symbols and indexes by name stay in memory. So a
file is seldom read again while other files are resolved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from graphmem.parsing.facts import FileFacts
from graphmem.resolution.files.file_entry import FileEntry, RestingEntry

BUDGET_BYTES: Final = 400 << 20
"""Approximate memory for all facts with their indexes. It is enough for about 2,000 files."""

_FILE_BYTES: Final = 8_000
_TERM_BYTES: Final = 110
_DEFINITION_BYTES: Final = 1_200
_ROW_BYTES: Final = 260  # of a binding, a reference or an import, with its share of the indexes

ReadFacts = Callable[[str, str, str], FileFacts]
"""Reads facts by path, content hash and language; the facts are equal at every call."""


class Shelf:
    """The parsed files that are in memory, least recently used first.

    A file counts as used if type inference has cached new answers for it.

    Args:
        read: reads a file's results that were released; None keeps all in memory.
        budget: memory in bytes above which results are released; None for `BUDGET_BYTES`.

    Attributes:
        reads: number of files that were read again.
    """

    def __init__(self, read: ReadFacts | None, budget: int | None = None) -> None:
        self.reads = 0
        self._read = read
        self._budget = BUDGET_BYTES if budget is None else budget
        self._awake: dict[FileEntry, tuple[int, int]] = {}  # with approximate bytes, and the number of answers when it was looked at
        self._bytes = 0

    def put(self, entry: FileEntry) -> None:
        """Add a parsed file that is in memory, as the most recently used."""
        if self._read is None:
            return
        self.drop(entry)
        if not isinstance(entry, RestingEntry):
            self._take(entry, _size(entry.facts))

    def drop(self, entry: FileEntry) -> None:
        """Forget a file that was removed or replaced."""
        size, _ = self._awake.pop(entry, (0, 0))
        self._bytes -= size

    def trim(self) -> None:
        """Release the least recently used files until the budget is met.

        Type inference must not be running, and the caller must not hold parts of a file's results. At least one file stays in memory.
        """
        while self._bytes > self._budget and len(self._awake) > 1:
            oldest, (size, answers) = next(iter(self._awake.items()))
            self.drop(oldest)
            if len(oldest.memo) == answers:
                oldest.rest(self._again)
            else:
                self._take(oldest, size)

    def divide(self, read: ReadFacts, processes: int) -> None:
        """Prepare this object for use in one of several forked processes.

        The memory budget is divided by `processes`, and `read` reads parsed files in this process. The memory of files
        that were loaded before the fork is shared, and is counted for a process only after the process uses the files.
        """
        self._read = read
        self._budget //= processes
        self.clear()

    def clear(self) -> None:
        """Forget which files are in memory, but do not release their results.

        The results of these files then stay in RAM, because `trim` releases only the results of files that this object knows.
        """
        self._awake.clear()
        self._bytes = 0

    def _take(self, entry: FileEntry, size: int) -> None:
        self._awake[entry] = (size, len(entry.memo))
        self._bytes += size

    def _again(self, entry: FileEntry) -> FileFacts:
        assert self._read is not None  # noqa: S101 - otherwise no file rests
        facts = self._read(entry.path, entry.content_hash, entry.language)
        self.reads += 1
        self._take(entry, _size(facts))
        return facts


def _size(facts: FileFacts) -> int:
    rows = len(facts.bindings) + len(facts.references) + len(facts.imports)
    return _FILE_BYTES + _TERM_BYTES * len(facts.terms) + _DEFINITION_BYTES * len(facts.definitions) + _ROW_BYTES * rows
