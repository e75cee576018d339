"""One interface to both database engines, kuzu and ladybug.

No other module imports kuzu or ladybug. ladybug is the maintained fork of kuzu, with the same query language and Python interface. The
differences of the two engines are in `ENGINES` and in a few lines of this module. One process cannot use both, because the second import
breaks the interpreter. So the engine is chosen before the import.
"""

from __future__ import annotations

import contextlib
import ctypes

# kuzu uses importlib.util without importing it.
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.errors import BadInputError, GraphMemError, ResourceError, SettingsError
from graphmem.runtime.process.limits import free_address_space, out_of_memory
from graphmem.runtime.process.system import after_fork
from graphmem.store.engine.engine_errors import translated
from graphmem.store.engine.engine_import import import_engine
from graphmem.store.engine.times import to_naive_utc

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import pyarrow as pa


class EngineSpec(NamedTuple):
    """Properties in which kuzu and ladybug differ, such as the file format.

    The properties are known before a database is opened.
    """

    module: str
    magic: bytes  # first four bytes of a database file
    storage_version: int  # the next eight, little-endian; files of another version are not opened
    install: str
    options: Mapping[str, Any]  # for Database()
    # A crash leaves a torn end of the write-ahead log. kuzu drops it; ladybug needs an option for that.
    lenient: Mapping[str, Any]


ENGINES: Final = {
    "kuzu": EngineSpec("kuzu", b"KUZU", 39, "pip install kuzu==0.11.3", {}, {}),
    "ladybug": EngineSpec(
        "ladybug", b"LBUG", 49, "pip install ladybug==0.22.0", {"backend": "pybind"}, {"throw_on_wal_replay_failure": False}
    ),
}


ENGINE_ERRORS: Final = (RuntimeError, MemoryError)  # the only exceptions of the bindings when the engine fails
PIECE_ROWS: Final = 250_000  # of an Arrow table
LEAST_DB_BYTES: Final = 64 << 20  # of address space, for a nearly empty file
OWN_BYTES: Final = 512 << 20  # of address space that an engine and one query need in addition, measured: 490 MB with one thread
ROOMY_BYTES: Final = 2 << 30  # with less free address space than this, an engine uses one thread


def _least(path: Path) -> int:
    """Return the smallest address space, in bytes, for a database and its log.

    The result is a power of two, and at least twice the size of both files together.
    """
    least = LEAST_DB_BYTES
    held = sum(one.stat().st_size for one in (path, path.with_name(path.name + ".wal")) if one.exists())
    while least < 2 * held:
        least <<= 1
    return least


def _sizes(path: Path, wanted: int, room: int | None) -> Iterator[int]:
    """Yield sizes of address space to try for a file, the largest first.

    The first size is `wanted`, or a half, a quarter and so on, so that it is at most half of `room`. `room` is the unused address space of
    this process; None means no limit. Each further size is half of the previous one. The last size is the smallest one with room for the
    file.
    """
    least, size = _least(path), wanted
    while room is not None and size > max(least, room // 2):
        size >>= 1
    yield size
    while size > least:
        size >>= 1
        yield size


class Rows(NamedTuple):
    """Result of a statement: column names, column types and all rows."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]


class Engine:
    """One of the two engines, imported.

    Args:
        name: kuzu or ladybug.

    Raises:
        SettingsError: the name is unknown, the package is missing or has another storage format than the pinned one, or this process
            already uses the other engine.
    """

    def __init__(self, name: str) -> None:
        if name not in ENGINES:
            raise SettingsError(f"unknown database engine {name!r}; use {' or '.join(ENGINES)}", setting="engine", value=name, origin="")
        for other in ENGINES:
            if other != name and ENGINES[other].module in sys.modules:
                raise SettingsError(
                    f"this process already uses the database engine {other}, and one process cannot run two engines; open {name} databases "
                    "in another process",
                    setting="engine",
                    value=name,
                    origin="",
                )
        self.name = name
        self.spec = ENGINES[name]
        self.reserved_bytes = 0  # of address space, for the last opened file
        self.pool_bytes = 0  # of its buffer pool
        try:
            self._module: ModuleType = import_engine(self.spec.module)
        except ImportError as error:
            raise SettingsError(
                f"the database engine {name} is not installed; {self.spec.install}", setting="engine", value=name, origin=""
            ) from error
        self.version: str = self._module.__version__
        found = int(self._module.Database.get_storage_version())
        if found != self.spec.storage_version:
            raise SettingsError(
                f"the installed {name} {self.version} stores format {found}, but graphmem needs format {self.spec.storage_version}; "
                f"{self.spec.install}",
                setting="engine",
                value=name,
                origin="",
            )

    def open(self, path: Path, *, buffer_pool_bytes: int, max_db_bytes: int, read_only: bool = False) -> RawDatabase:
        """Open or create a database file.

        `buffer_pool_bytes` limits the engine's memory, and `max_db_bytes` the size of the file. Automatic checkpoints are off. During an
        open read, such a checkpoint would wait, fail, and make the commit that caused it fail, too. The store makes checkpoints when no
        read is open.

        Raises:
            DatabaseDamagedError, StoreBusyError, DiskFullError, ResourceError: as the engine reports.
        """
        room = free_address_space()
        if room is not None and room < _least(path) + OWN_BYTES:  # an engine without address space can end the process
            raise out_of_memory(f"opening {path}", path)
        for size in _sizes(path, max_db_bytes, room):
            options = {
                "buffer_pool_size": min(buffer_pool_bytes, size),
                "max_db_size": size,
                "auto_checkpoint": False,
                "read_only": read_only,
                "max_num_threads": 0 if room is None or room > ROOMY_BYTES else 1,  # 0: as many as there are processors
                **self.spec.options,
            }
            self.reserved_bytes, self.pool_bytes = size, options["buffer_pool_size"]
            try:
                return RawDatabase(self, self._raw(path, options), path)
            except ResourceError as error:
                if "Mmap for size" not in error.facts.get("reason", "") or size <= _least(path):
                    raise
        raise AssertionError  # the smallest size was opened or refused

    def _raw(self, path: Path, options: dict[str, Any]) -> Any:
        try:
            return self._module.Database(str(path), **options)
        except ENGINE_ERRORS as error:
            if not self.spec.lenient or self.translate(error, path).code != "CONFLICT" or "WAL" not in str(error):
                raise self.translate(error, path) from error
        try:
            return self._module.Database(str(path), **options, **self.spec.lenient)
        except ENGINE_ERRORS as again:
            raise self.translate(again, path) from again

    def connect(self, raw: Any) -> Any:
        """Return an engine connection to `raw`, an open engine database."""
        return self._module.Connection(raw)

    def prepare(self, connection: Any, text: str) -> Any:
        """Return a planned statement, to run later with different parameters."""
        # Connection.prepare() of kuzu warns that it is deprecated; the object it returns does not.
        return self._module.PreparedStatement(connection, text, {})

    def translate(self, error: BaseException, path: Path, text: str = "") -> GraphMemError:
        """Convert an engine's exception to a graphmem error."""
        return translated(self.name, error, path, self.reserved_bytes, text, pool_bytes=self.pool_bytes)


_open: Final[weakref.WeakSet[RawDatabase]] = weakref.WeakSet()


class RawDatabase:
    """An open database object of the engine with its connections."""

    def __init__(self, engine: Engine, raw: Any, path: Path) -> None:
        self.engine = engine
        self.path = path
        self._raw = raw
        self._connections: list[Connection] = []
        _open.add(self)
        # Closing must not write: if the write fails, the destructor throws and ends the process. Checkpoints are explicit.
        self.connect().rows("CALL force_checkpoint_on_close=false")

    def connect(self) -> Connection:
        """Return a connection; one thread uses it at a time."""
        try:
            connection = Connection(self.engine, self.engine.connect(self._raw), self.path)
        except ENGINE_ERRORS as error:
            raise self.engine.translate(error, self.path) from error
        self._connections.append(connection)
        return connection

    def renew(self, connection: Connection) -> Connection:
        """Close a connection that holds much memory; return a new one instead."""
        self._connections.remove(connection)
        connection.close()
        return self.connect()

    def close(self) -> None:
        """Close every connection and the file; keep the write-ahead log.

        Raises:
            DiskFullError, GraphMemError: the engine could not close the file. This object is then abandoned.
        """
        try:
            while self._connections:
                self._connections.pop().close()
            self._raw.close()
            _open.discard(self)
        except ENGINE_ERRORS as error:
            self.abandon()
            raise self.engine.translate(error, self.path) from error

    def abandon(self) -> None:
        """Give up the database object without closing it.

        Use this after a failed write. The engine's objects are kept alive by a reference that is never released, because their destructor
        throws after a failed write, which ends the whole process. This process keeps the file lock, and may open the file again.
        """
        _open.discard(self)
        for item in (self._raw, *(part for connection in self._connections for part in connection.parts())):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
        self._connections.clear()


class Connection:
    """A connection to an open database.

    Every result is read fully and closed before the next statement.

    Attributes:
        held_bytes: size of the Arrow data that was passed as parameters. The engine keeps every such table until the connection is closed,
            so a caller that passes much data must renew the connection from time to time.
    """

    def __init__(self, engine: Engine, raw: Any, path: Path) -> None:
        self.engine = engine
        self.raw = raw
        self._path = path
        self._prepared: dict[str, Any] = {}
        self._timeout_ms = 0
        self.held_bytes = 0

    def set_timeout(self, seconds: float) -> None:
        """Set the time limit of each following statement, in seconds; 0 for none."""
        wanted = max(1, round(seconds * 1000)) if seconds else 0
        if wanted != self._timeout_ms:
            self.raw.set_query_timeout(wanted)
            self._timeout_ms = wanted

    def use_threads(self, count: int) -> None:
        """Let each following statement use at most `count` threads."""
        self.raw.set_max_threads_for_exec(count)

    def rows(self, text: str, params: Mapping[str, Any] | None = None) -> Rows:
        """Run one statement and return its rows; times are naive UTC.

        `params` are the parameters of the statement, by name.
        """
        with self._run(text, params) as result:
            columns, types = result.get_column_names(), result.get_column_data_types()
            return Rows(columns, types, result.get_all())

    def first_rows(self, text: str, params: Mapping[str, Any], most: int) -> Rows:
        """Run one statement and return at most `most` rows; times are naive UTC.

        `params` are the parameters of the statement, by name.
        """
        found: list[list[Any]] = []
        with self._run(text, params) as result:
            while len(found) < most and result.has_next():
                found.append(result.get_next())
            return Rows(result.get_column_names(), result.get_column_data_types(), found)

    def arrow(self, text: str, params: Mapping[str, Any] | None = None) -> pa.Table:
        """Run one statement and return its rows as Arrow.

        `params` are the parameters of the statement, by name. The result is read in small pieces. The engine allocates the memory of a
        whole piece before it reads the rows. By default, a piece has ten million rows, which is 15 GB for vectors of 384 numbers. If the
        system refuses that memory, the process ends.
        """
        with self._run(text, params) as result:
            return result.get_as_arrow(max(1, min(result.get_num_tuples(), PIECE_ROWS)))

    def each_rows(self, text: str, parameters: Sequence[Mapping[str, Any]]) -> list[list[list[Any]]]:
        """Run one statement for each parameter set; return the rows of each run.

        `parameters` has the parameter sets. The statement is planned once. Item 0 of the result has the rows of the first run.
        """
        prepared = self._prepared.get(text)
        if prepared is None:
            with self._translated(text):
                prepared = self._prepared[text] = self.engine.prepare(self.raw, text)
        found: list[list[list[Any]]] = []
        for values in parameters:
            with self._run(prepared, values) as result:
                found.append(result.get_all())
        return found

    def end_reading(self) -> None:
        """End a read transaction, unless a failed statement has ended it already."""
        self._end("COMMIT")

    def roll_back(self) -> None:
        """Undo a transaction, unless the engine has already undone it.

        If a statement fails in the engine, the engine itself undoes the transaction. A statement that fails before it reaches the engine
        leaves the transaction open.
        """
        self._end("ROLLBACK")

    def _end(self, statement: str) -> None:
        try:
            self.rows(statement)
        except GraphMemError as error:
            if "No active transaction" not in error.facts.get("reason", ""):
                raise

    def parts(self) -> list[Any]:
        """Return the engine's objects: the connection and its planned statements."""
        return [self.raw, *self._prepared.values()]

    def close(self) -> None:
        """Close the prepared statements, then the connection they belong to."""
        self._prepared.clear()
        self.raw.close()

    @contextlib.contextmanager
    def _run(self, query: Any, params: Mapping[str, Any] | None) -> Iterator[Any]:
        values = {name: _to_engine(name, value) for name, value in (params or {}).items()}
        self.held_bytes += sum(value.nbytes for value in values.values() if hasattr(value, "nbytes"))
        text = query if isinstance(query, str) else ""
        with self._translated(text):
            result = self.raw.execute(query, values)
            if isinstance(result, list):  # several statements: the catalog refuses them
                for one in result:
                    one.close()
                raise RuntimeError("a single call to the database must not contain several statements; run the statements one by one")
        try:
            with self._translated(text):
                yield result
        finally:
            result.close()

    @contextlib.contextmanager
    def _translated(self, text: str) -> Iterator[None]:
        try:
            yield
        except ENGINE_ERRORS as error:
            raise self.engine.translate(error, self._path, text) from error


def _to_engine(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return to_naive_utc(value, name)
    if hasattr(value, "combine_chunks"):
        # An Arrow table: the engine silently stops reading at the first empty piece of a column.
        return value.combine_chunks()
    if isinstance(value, (list, tuple)) and not value:
        # The engine would guess the type of the items and fail on the first comparison.
        raise BadInputError(f"the query parameter {name} is an empty list; pass at least one value", argument=name)
    return value


def _after_fork() -> None:
    """Drop the engine's objects in a forked child, without closing them.

    The engine's threads exist only in the parent. A destructor that waits for these threads would end or hang the child.
    """
    for database in list(_open):
        database.abandon()


after_fork(_after_fork)
