"""Keep parsed files of an interrupted first index for the next run.

A run may be killed, or run out of disk space or memory. The next run then continues with the files that are already parsed. Their facts
(definitions, uses of names, and so on) are in the cache. A SQLite file keeps their chunks (pieces of a file for search) and heads
(properties of a file, such as its hash). The SQLite file is deleted when a run finishes. If it is lost, the files are parsed again.
"""

from __future__ import annotations

import marshal
import sqlite3
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from graphmem.indexing.contracts import is_schema
from graphmem.parsing.language import languages
from graphmem.parsing.packing import FORMAT, Packed, ParsedFile, extraction_key
from graphmem.runtime.files.checksums import SIDES
from graphmem.runtime.files.sqlite_file import private_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from graphmem.parsing.discovery import FoundFile
    from graphmem.parsing.facts_cache import FactsCache

FILE: Final = "unfinished.sqlite"

LEAST_FILES: Final = 400
"""With fewer files, parsing them again takes less time than keeping them."""


class Unfinished:
    """The file that keeps the parsed files of an unfinished index run.

    Of each parsed file, the chunks and properties are stored.

    Args:
        path: the SQLite file; created when the first file is kept.
        project: name of the project, which is part of every id.
    """

    def __init__(self, path: Path, project: str) -> None:
        self._path = path
        self._project = project
        self._connection: sqlite3.Connection | None = None
        self._refused = False
        self._fresh: list[tuple[str, str, str, bytes, bytes, int, bytes]] = []

    def keep(self, one: ParsedFile) -> None:
        """Keep the chunks and properties of a parsed file in memory until `flush`."""
        if is_schema(one.head.path) and one.head.language not in languages():
            return  # its facts are in no cache
        packed = one.packed
        head = marshal.dumps(packed.head)
        key = (one.head.path, one.head.content_hash, self._origin(one.head.language))
        self._fresh.append((*key, head, packed.chunks, packed.chunk_count, _sum(head, packed.chunks)))

    def flush(self) -> None:
        """Write the files that were given to `keep` since the last flush.

        After a failed write, the SQLite file is deleted, and nothing more is kept.
        """
        rows, self._fresh = self._fresh, []
        if self._refused or not rows:
            return
        try:
            with self._opened() as transaction:
                transaction.executemany("INSERT OR REPLACE INTO parsed VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        except (sqlite3.Error, OSError):
            self._refused = True
            self.discard()

    def take(self, files: Iterable[FoundFile], cache: FactsCache) -> Iterator[ParsedFile]:
        """Yield the given files that an interrupted run has already parsed.

        The facts of these files are read from `cache` later. A file is left out if it has changed since it was parsed. It is also left out
        if its facts are lost, or if its stored data is damaged.
        """
        if not self._path.exists():
            return
        wanted = list(files)
        lost = {file.path for file in cache.missing([file for file in wanted if file.language in languages()])}
        try:
            select = "SELECT head, chunks, count, sum FROM parsed WHERE path = ? AND content_hash = ? AND origin = ?"
            for file in wanted:
                key = (file.path, file.content_hash, self._origin(file.language))
                row = self._opened().execute(select, key).fetchone() if file.path not in lost else None
                if row is not None and _sum(row[0], row[1]) == row[3]:
                    yield ParsedFile(packed=Packed(b"", row[1], row[2], marshal.loads(row[0])))  # noqa: S302 - our own bytes, and checked
        except (sqlite3.Error, OSError):
            self.discard()

    def discard(self) -> None:
        """Delete the file with the parsed files of a run. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        for side in ("", *SIDES):
            self._path.with_name(self._path.name + side).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, and keep it for the next run. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _origin(self, language: str) -> str:
        return f"{FORMAT}\x1f{extraction_key(language)}\x1f{self._project}"

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(private_file(self._path), timeout=5)
            self._connection = connection
            # No durability is needed: after a loss of power, files are parsed again.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS parsed (path TEXT PRIMARY KEY, content_hash TEXT NOT NULL, origin TEXT NOT NULL, "
                "head BLOB NOT NULL, chunks BLOB NOT NULL, count INTEGER NOT NULL, sum BLOB NOT NULL)"
            )
        return self._connection


def _sum(head: bytes, chunks: bytes) -> bytes:
    return blake2b(head + chunks, digest_size=8).digest()
