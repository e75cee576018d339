"""Cache the results of parsing, to avoid parsing files after a restart.

The results (facts) are compressed rows of one SQLite file, found by the content of the file. Chunks are not cached: the graph has those of
unchanged files, and changed files are parsed anyway. A damaged cache is emptied and reported, and the files are parsed again.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.facts import FileFacts
from graphmem.parsing.packing import FORMAT, ParsedFile, collector_paused, extraction_key, unpack_facts
from graphmem.runtime.files.checksums import MISMATCH, SIDES, Proof, proof, seal, unseal
from graphmem.runtime.files.sqlite_file import private_file

_MATCH: Final = "path = ? AND content_hash = ? AND origin = ?"
_PAGE_SIZE: Final = 1024  # bytes; entries take a few kilobytes, and half of an entry's last page is lost


class FactsCache:
    """A cache of the results of parsing a project's files. Not thread-safe.

    Args:
        path: the SQLite file; created when missing, replaced if damaged or of another format.
        project: name of the project; entries of other projects are never used.

    Attributes:
        notes: one sentence for each time that stored data could not be used.
    """

    def __init__(self, path: Path, project: str) -> None:
        self.path = path
        self.project = project
        self.notes: list[str] = []
        self._origins: dict[str, bytes] = {}
        self._connection: sqlite3.Connection | None = None
        self._open()

    def __enter__(self) -> FactsCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache file. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            seal(self.path)

    def get(self, file: FoundFile) -> FileFacts | None:
        """Return the cached results of parsing a file; None if not cached.

        The cache finds the results by the file's path, content hash and language.
        """
        with collector_paused():
            return self._get(file)

    def missing(self, files: Iterable[FoundFile]) -> list[FoundFile]:
        """Return the files whose results of parsing are not in the cache.

        Only the keys of the cache are read, not the results.
        """
        try:
            there = set(self._select("SELECT path, content_hash, origin FROM facts", ()))
        except sqlite3.Error as error:
            self._failed(error)
            there = set()
        return [file for file in files if (file.path, bytes.fromhex(file.content_hash), self._origin(file.language)) not in there]

    def put_many(self, parsed: Iterable[ParsedFile]) -> bool:
        """Store the results of parsing files, in one transaction.

        Return whether they were stored. If the write fails, the cache is not changed, and the attribute `notes` gets the reason.
        """
        rows = (
            (
                one.head.path,
                bytes.fromhex(one.head.content_hash),
                self._origin(one.head.language),
                one.packed.facts,
            )
            for one in parsed
        )
        return self._execute_many("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", rows)

    def prune(self, keep: Iterable[tuple[str, str]], only: Iterable[str] | None = None) -> int:
        """Delete the cache entries of files that are not in `keep`.

        Args:
            keep: (path, content hash) of the current files.
            only: paths to which the deletion is limited; None for all paths.

        Returns:
            Number of deleted entries.
        """
        kept = set(keep)
        try:
            every = "SELECT path, content_hash FROM facts"
            rows = (
                self._select(every, ())
                if only is None
                else (row for path in only for row in self._select(f"{every} WHERE path = ?", (path,)))
            )
            gone = [row for row in rows if (row[0], row[1].hex()) not in kept]
        except sqlite3.Error as error:
            self._failed(error)
            return 0
        return len(gone) if not gone or self._execute_many("DELETE FROM facts WHERE path = ? AND content_hash = ?", gone) else 0

    def _origin(self, language: str) -> bytes:
        """Return a hash of the project and of the code that parses a language.

        The hash is stored with each cache entry. Entries with a different hash, for instance from an older version of the code, are not
        used.
        """
        found = self._origins.get(language)
        if found is None:
            parts = f"{extraction_key(language)}\x1f{self.project}"
            found = self._origins[language] = blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return found

    def _get(self, file: FoundFile) -> FileFacts | None:
        key = (file.path, bytes.fromhex(file.content_hash), self._origin(file.language))
        try:
            row = next(self._select(f"SELECT facts FROM facts WHERE {_MATCH}", key), None)  # noqa: S608 - a literal above
        except sqlite3.Error as error:
            self._failed(error)
            return None
        if row is None:
            return None
        try:
            return unpack_facts(row[0])
        except (zlib.error, ValueError, EOFError, TypeError) as error:
            self.notes.append(f"The entry for {file.path} in {self.path} is damaged ({error}); the file is parsed again")
            return None

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = _connected(self.path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self.notes.append(f"The cache of parsed files ({self.path}) was damaged ({error}) and starts empty")
                self._remove_files()
                self._connection = _connected(self.path)
        except (sqlite3.Error, OSError) as error:
            self.notes.append(f"The cache of parsed files ({self.path}) cannot be used ({error}); files are parsed at every start")

    def _remove_files(self) -> None:
        for side in ("", *SIDES):
            Path(f"{self.path}{side}").unlink(missing_ok=True)

    def _select(self, statement: str, values: tuple[str | bytes, ...]) -> Iterator[tuple[Any, ...]]:
        return iter(()) if self._connection is None else self._connection.execute(statement, values)

    def _execute_many(self, statement: str, rows: Iterable[tuple[object, ...]]) -> bool:
        if self._connection is None:
            return False
        try:
            with self._connection as transaction:
                unseal(transaction)
                transaction.executemany(statement, rows)
        except sqlite3.Error as error:
            self._failed(error)
            return False
        return True

    def _failed(self, error: sqlite3.Error) -> None:
        self.notes.append(f"The cache of parsed files ({self.path}) failed ({error}); files are parsed again")
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            self.close()
            self._remove_files()
            self._open()


def _connected(path: Path) -> sqlite3.Connection:
    if path.exists() and proof(path) is Proof.DAMAGED:
        raise sqlite3.DatabaseError(MISMATCH)
    connection = sqlite3.connect(private_file(path), timeout=5, check_same_thread=False)
    try:
        _prepare(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")  # only has an effect on a new file
    # Durability is not needed: files of a lost transaction are parsed again.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name IN ('facts', 'format') ORDER BY name").fetchall()
    if tables == [("facts",), ("format",)] and connection.execute("SELECT value FROM format").fetchall() == [(FORMAT,)]:
        return
    with connection:
        unseal(connection)
        connection.execute("DROP TABLE IF EXISTS facts")
        connection.execute("DROP TABLE IF EXISTS format")
        connection.execute("CREATE TABLE format (value TEXT NOT NULL)")
        connection.execute("INSERT INTO format VALUES (?)", (FORMAT,))
        connection.execute(
            "CREATE TABLE facts (path TEXT NOT NULL, content_hash BLOB NOT NULL, origin BLOB NOT NULL, "
            "facts BLOB NOT NULL, PRIMARY KEY (path, content_hash, origin))"
        )
