"""Dependencies of every file's edges, kept between processes.

Resolution takes most of the time of an index run. With the facts of the last run (see `parsing.facts_cache`) and these dependencies, a new
process resolves only the files that a change can affect. The data is one SQLite file. Without it a run only resolves all files again, so a
damaged file is replaced by an empty one, with a note.
"""

from __future__ import annotations

import marshal
import sqlite3
import sys
import zlib
from array import array
from typing import TYPE_CHECKING, Any, Final

from graphmem.model import HandlesRow
from graphmem.runtime.checksums import SIDES, Proof, proof, seal, unseal
from graphmem.runtime.compression import deflate
from graphmem.runtime.sqlite_file import private_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from graphmem.resolution.fingerprint import Key

# Only the same version of Python can read it, because `marshal` wrote it.
FORMAT: Final = f"3 marshal {marshal.version} python {sys.version_info[0]}.{sys.version_info[1]} {sys.byteorder}"
_NUMBERS: Final = "I"  # unsigned, 4 bytes


class Inputs:
    """Stored result of `Resolver.dependencies`. For one thread at a time.

    Args:
        path: the SQLite file; created if missing, emptied if damaged or of another format.

    Attributes:
        notes: one sentence each time stored data could not be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = _connected(path)
        except (sqlite3.Error, OSError) as error:
            self._failed(error)

    def close(self) -> None:
        """Close the file. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            seal(self.path)

    def load(self, run: str, layout: str) -> tuple[list[Key], dict[str, frozenset[int]]] | None:
        """Dependencies that a run stored.

        None if the stored data is of another run or layout.
        """
        if self._connection is None:
            return None
        try:
            if self._state() != (run, layout):
                return None
            keys = [key for (data,) in self._connection.execute("SELECT data FROM keys ORDER BY first") for key in _unpacked(data)]
            rows = self._connection.execute("SELECT path, data FROM inputs").fetchall()
            return keys, {path: frozenset(array(_NUMBERS, zlib.decompress(data))) for path, data in rows}
        except (sqlite3.Error, zlib.error, ValueError, EOFError, TypeError) as error:
            self._failed(error)
            return None

    def handles(self) -> list[HandlesRow] | None:
        """Framework names of functions in all files, ascending; None if unknown."""
        if self._connection is None:
            return None
        try:
            rows = self._connection.execute("SELECT data FROM handles").fetchall()
            return sorted({HandlesRow._make(row) for (data,) in rows for row in _unpacked(data)})
        except (sqlite3.Error, zlib.error, ValueError, EOFError, TypeError) as error:
            self._failed(error)
            return None

    def handling(self, paths: Iterable[str]) -> bool:
        """Whether a framework knows a function of one of these files by name."""
        if self._connection is None:
            return False
        try:
            found = {path for (path,) in self._connection.execute("SELECT path FROM handles")}
        except sqlite3.Error as error:
            self._failed(error)
            return False
        return not found.isdisjoint(paths)

    def save(
        self, run: str, layout: str, keys: Sequence[Key], inputs: Mapping[str, frozenset[int]], handles: Mapping[str, Sequence[HandlesRow]]
    ) -> None:
        """Replace all stored data by the data of a run."""
        self._write(run, layout, 0, keys, inputs, handles, None)

    def follow(
        self,
        run: str,
        layout: str,
        keys: Sequence[Key],
        first: int,
        inputs: Mapping[str, frozenset[int]],
        handles: Mapping[str, Sequence[HandlesRow]],
        removed: Iterable[str],
    ) -> None:
        """Store the changes of a run; the file must hold the run before it.

        Args:
            run: the new run.
            layout: the unchanged layout.
            keys: new keys.
            first: number of the first new key.
            inputs: dependencies of the resolved files.
            handles: framework names of functions in the resolved files that have some.
            removed: deleted files.
        """
        self._write(run, layout, first, keys, inputs, handles, removed)

    def _write(
        self,
        run: str,
        layout: str,
        first: int,
        keys: Sequence[Key],
        inputs: Mapping[str, frozenset[int]],
        handles: Mapping[str, Sequence[HandlesRow]],
        removed: Iterable[str] | None,
    ) -> None:
        if self._connection is None:
            return
        rows = ((path, deflate(array(_NUMBERS, sorted(numbers)).tobytes())) for path, numbers in inputs.items())
        try:
            with self._connection as transaction:
                unseal(transaction)
                if removed is None:
                    transaction.execute("DELETE FROM keys")
                    transaction.execute("DELETE FROM inputs")
                    transaction.execute("DELETE FROM handles")
                else:
                    gone = [(path,) for path in removed]
                    transaction.executemany("DELETE FROM inputs WHERE path = ?", gone)
                    transaction.executemany("DELETE FROM handles WHERE path = ?", [*gone, *((path,) for path in inputs)])
                if keys:
                    transaction.execute("INSERT INTO keys VALUES (?, ?)", (first, deflate(marshal.dumps(list(keys)))))
                transaction.executemany("INSERT OR REPLACE INTO inputs VALUES (?, ?)", rows)
                said = ((path, deflate(marshal.dumps(list(map(tuple, some))))) for path, some in handles.items() if some)
                transaction.executemany("INSERT OR REPLACE INTO handles VALUES (?, ?)", said)
                transaction.execute("DELETE FROM state")
                transaction.execute("INSERT INTO state VALUES (?, ?)", (run, layout))
        except sqlite3.Error as error:
            self._failed(error)

    def _state(self) -> tuple[str, str] | None:
        assert self._connection is not None  # noqa: S101 - the callers looked
        row = self._connection.execute("SELECT run, layout FROM state").fetchone()
        return None if row is None else (row[0], row[1])

    def _failed(self, error: Exception) -> None:
        """Invalidate the file after an error."""
        self.notes.append(f"What edges were made from ({self.path}) cannot be used ({error}); everything is resolved again")
        self.close()
        if not isinstance(error, sqlite3.OperationalError | OSError):
            for side in ("", *SIDES):
                self.path.with_name(self.path.name + side).unlink(missing_ok=True)
            try:
                self._connection = _connected(self.path)
            except (sqlite3.Error, OSError):
                self.close()


def _unpacked(data: bytes) -> list[Any]:
    found: list[Any] = marshal.loads(zlib.decompress(data))  # noqa: S302 - our own bytes; zlib's checksum refuses damaged ones
    return found


def _connected(path: Path) -> sqlite3.Connection:
    if path.exists() and proof(path) is Proof.DAMAGED:
        raise sqlite3.DatabaseError("its bytes do not match its checksum")
    connection = sqlite3.connect(private_file(path), timeout=5, check_same_thread=False)
    try:
        # No durability is needed: lost data is computed again.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "format" not in tables or connection.execute("SELECT value FROM format").fetchall() != [(FORMAT,)]:
            with connection:
                unseal(connection)
                for table in ("format", "state", "keys", "inputs", "handles"):
                    connection.execute(f"DROP TABLE IF EXISTS {table}")
                connection.execute("CREATE TABLE format (value TEXT NOT NULL)")
                connection.execute("INSERT INTO format VALUES (?)", (FORMAT,))
                connection.execute("CREATE TABLE state (run TEXT NOT NULL, layout TEXT NOT NULL)")
                connection.execute("CREATE TABLE keys (first INTEGER PRIMARY KEY, data BLOB NOT NULL)")
                connection.execute("CREATE TABLE inputs (path TEXT PRIMARY KEY, data BLOB NOT NULL)")
                connection.execute("CREATE TABLE handles (path TEXT PRIMARY KEY, data BLOB NOT NULL)")  # of files that have some
    except sqlite3.Error:
        connection.close()
        raise
    return connection
