"""Store which parts of other files were read to resolve each file.

To resolve a file means to find the definitions to which its names refer. An input is a part of another file that was read for this. Each
input is identified by a string, its key. A group is a set of inputs. Resolution takes most of the time of an index run. A new process reads
the stored inputs of each file, called its dependencies, and the results of parsing in the last run (see `parsing.facts_cache`). So it
resolves only files that a change can affect. The dependencies are in one SQLite file. If this file is missing, all files are resolved
again. If it is damaged, it is replaced by an empty one, with a note.
"""

from __future__ import annotations

import marshal
import sqlite3
import sys
import zlib
from array import array
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.model import HandlesRow
from graphmem.resolution.resolver import Dependencies
from graphmem.runtime.files.checksums import MISMATCH, SIDES, Proof, proof, seal, unseal
from graphmem.runtime.files.sqlite_file import private_file
from graphmem.runtime.texts.compression import deflate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

# Only the same version of Python can read it, because `marshal` wrote it.
FORMAT: Final = f"4 marshal {marshal.version} python {sys.version_info[0]}.{sys.version_info[1]} {sys.byteorder}"
_NUMBERS: Final = "i"  # 4 bytes; groups are negative
_BATCH: Final = 50_000  # keys or groups in one row; bounds the memory of a large project


class PackedDependencies(NamedTuple):
    """Dependencies of all files, as the bytes that the SQLite file stores.

    Dependencies are the parts of other files that were read to resolve a file. As objects (`Dependencies`), they would take many times the
    memory in a large project.
    """

    keys: list[bytes]  # in batches, in order
    groups: list[bytes]  # the same
    inputs: dict[str, bytes]  # by path


def pack(dependencies: Dependencies) -> PackedDependencies:
    """Serialise the dependencies of files; `unpack` reads them back."""
    inputs = {path: packed_numbers(numbers) for path, numbers in dependencies.inputs.items()}
    return PackedDependencies(list(_batches(dependencies.keys)), list(_batches(dependencies.groups)), inputs)


def unpack(packed: PackedDependencies) -> Dependencies:
    """Return the dependencies that were given to `pack`."""
    keys = [key for data in packed.keys for key in _unpacked(data)]
    groups = [one for data in packed.groups for one in _unpacked(data)]
    return Dependencies(keys, groups, {path: frozenset(numbers_of(data)) for path, data in packed.inputs.items()})


def packed_numbers(numbers: Iterable[int]) -> bytes:
    """Serialise the numbers of the inputs on which a file's edges depend.

    An input is a part of another file. A number may also stand for a group, which is a set of inputs. `numbers_of` reads the numbers back.
    """
    return deflate(array(_NUMBERS, sorted(numbers)).tobytes())


def numbers_of(data: bytes) -> array[int]:
    """Return the numbers that were given to `packed_numbers`, ascending."""
    return array(_NUMBERS, zlib.decompress(data))


class Inputs:
    """The file that stores the dependencies of all files. Not thread-safe.

    Args:
        path: the SQLite file; created if missing, emptied if damaged or of another format.

    Attributes:
        notes: one sentence for each time that stored data could not be used.
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
        """Close the file of dependencies. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            seal(self.path)

    def load(self, run: str, layout: str) -> Dependencies | None:
        """Return the dependencies of all files, as an index run stored them.

        Dependencies are the parts of other files that were read to resolve a file. `run` is the index run, and `layout` identifies the
        project's layout, such as its import directories. The result is None if the stored data is damaged, or belongs to another run or
        layout.
        """
        if self._connection is None:
            return None
        try:
            if self._state() != (run, layout):
                return None
            keys = [key for (data,) in self._connection.execute("SELECT data FROM keys ORDER BY first") for key in _unpacked(data)]
            groups = [one for (data,) in self._connection.execute("SELECT data FROM groups ORDER BY first") for one in _unpacked(data)]
            number = [*range(len(keys)), *range(-len(groups) - 1, 0)].__getitem__  # so that equal numbers are one object
            rows = self._connection.execute("SELECT path, data FROM inputs")
            return Dependencies(keys, groups, {path: frozenset(map(number, numbers_of(data))) for path, data in rows})
        except (sqlite3.Error, zlib.error, ValueError, EOFError, TypeError, IndexError) as error:
            self._failed(error)
            return None

    def handles(self) -> list[HandlesRow] | None:
        """Return (function, framework key) rows of all files, ascending.

        A framework key is a route's path, an event or a command that a function handles. The result is None if the file cannot be read.
        """
        if self._connection is None:
            return None
        try:
            rows = self._connection.execute("SELECT data FROM handles").fetchall()
            return sorted({HandlesRow._make(row) for (data,) in rows for row in _unpacked(data)})
        except (sqlite3.Error, zlib.error, ValueError, EOFError, TypeError) as error:
            self._failed(error)
            return None

    def handling(self, paths: Iterable[str]) -> bool:
        """Whether a function in one of the files `paths` is known to a framework.

        The framework knows it by a key: a route's path, an event or a command.
        """
        if self._connection is None:
            return False
        try:
            found = {path for (path,) in self._connection.execute("SELECT path FROM handles")}
        except sqlite3.Error as error:
            self._failed(error)
            return False
        return not found.isdisjoint(paths)

    def save(self, run: str, layout: str, dependencies: PackedDependencies, handles: Mapping[str, Sequence[HandlesRow]]) -> None:
        """Replace all stored dependencies and framework keys by those of `run`.

        A framework key is a route's path, an event or a command that a function handles.

        Args:
            run: the index run.
            layout: identifies the project's layout, such as its import directories.
            dependencies: the dependencies of all files.
            handles: the framework keys of all files, by path of the file.
        """
        self._write(run, layout, (0, 0), dependencies, handles, None)

    def follow(
        self,
        run: str,
        layout: str,
        first: tuple[int, int],
        dependencies: PackedDependencies,
        handles: Mapping[str, Sequence[HandlesRow]],
        removed: Iterable[str],
    ) -> None:
        """Add the changes of a run to the data that the previous run stored.

        An input is a part of a file that was read to resolve another file. Each input has a key, a string. A group is a set of inputs.

        Args:
            run: the new run.
            layout: the project's layout, such as its import directories; it must be that of the previous run.
            first: (number of keys, number of groups) that the file already has; the new ones are numbered from there.
            dependencies: additional keys and groups, and the dependencies of the resolved files.
            handles: framework keys of functions (such as routes) in the resolved files, by path.
            removed: paths of deleted files.
        """
        self._write(run, layout, first, dependencies, handles, removed)

    def _write(
        self,
        run: str,
        layout: str,
        first: tuple[int, int],
        dependencies: PackedDependencies,
        handles: Mapping[str, Sequence[HandlesRow]],
        removed: Iterable[str] | None,
    ) -> None:
        if self._connection is None:
            return
        try:
            with self._connection as transaction:
                unseal(transaction)
                if removed is None:
                    for table in ("keys", "groups", "inputs", "handles"):
                        transaction.execute(f"DELETE FROM {table}")  # noqa: S608 - names above
                else:
                    gone = [(path,) for path in removed]
                    transaction.executemany("DELETE FROM inputs WHERE path = ?", gone)
                    transaction.executemany("DELETE FROM handles WHERE path = ?", [*gone, *((path,) for path in dependencies.inputs)])
                for table, begin, values in (("keys", first[0], dependencies.keys), ("groups", first[1], dependencies.groups)):
                    transaction.executemany(f"INSERT INTO {table} VALUES (?, ?)", enumerate(values, begin))  # noqa: S608 - as above
                transaction.executemany("INSERT OR REPLACE INTO inputs VALUES (?, ?)", dependencies.inputs.items())
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
        """Add a note about an error, and empty the file if it is damaged."""
        self.notes.append(f"The saved dependencies of edges ({self.path}) cannot be used ({error}); everything is resolved again")
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


def _batches(values: Sequence[object]) -> Iterator[bytes]:
    for at in range(0, len(values), _BATCH):
        yield deflate(marshal.dumps(list(values[at : at + _BATCH])))


def _connected(path: Path) -> sqlite3.Connection:
    if path.exists() and proof(path) is Proof.DAMAGED:
        raise sqlite3.DatabaseError(MISMATCH)
    connection = sqlite3.connect(private_file(path), timeout=5, check_same_thread=False)
    try:
        # No durability is needed: lost data is computed again.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "format" not in tables or connection.execute("SELECT value FROM format").fetchall() != [(FORMAT,)]:
            with connection:
                unseal(connection)
                for table in ("format", "state", "keys", "groups", "inputs", "handles"):
                    connection.execute(f"DROP TABLE IF EXISTS {table}")
                connection.execute("CREATE TABLE format (value TEXT NOT NULL)")
                connection.execute("INSERT INTO format VALUES (?)", (FORMAT,))
                connection.execute("CREATE TABLE state (run TEXT NOT NULL, layout TEXT NOT NULL)")
                connection.execute("CREATE TABLE keys (first INTEGER PRIMARY KEY, data BLOB NOT NULL)")
                connection.execute("CREATE TABLE groups (first INTEGER PRIMARY KEY, data BLOB NOT NULL)")
                connection.execute("CREATE TABLE inputs (path TEXT PRIMARY KEY, data BLOB NOT NULL)")
                connection.execute("CREATE TABLE handles (path TEXT PRIMARY KEY, data BLOB NOT NULL)")  # of files that have some
    except sqlite3.Error:
        connection.close()
        raise
    return connection
