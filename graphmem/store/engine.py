"""The two engines behind one face: the only module that imports kuzu or ladybug.

ladybug is the maintained fork of kuzu with the same language and the same Python calls; what differs is
in `ENGINES` and in a few lines here. Both cannot live in one process (the second import breaks the
interpreter), so the engine is chosen before either is imported.
"""

from __future__ import annotations

import contextlib
import ctypes

# kuzu uses importlib.util without importing it.
import importlib.util
import os
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.errors import BadInputError, GraphMemError, ResourceError, SettingsError
from graphmem.runtime.limits import free_address_space, out_of_memory
from graphmem.store.engine_errors import translated
from graphmem.store.times import to_naive_utc

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import pyarrow as pa


class EngineSpec(NamedTuple):
    """What differs between the engines before one is opened."""

    module: str
    magic: bytes  # first four bytes of a database file
    storage_version: int  # the next eight, little-endian; files of another version are not opened
    install: str
    options: Mapping[str, Any]  # for Database()
    # A torn tail of the write-ahead log is what a crash leaves. kuzu drops it; ladybug has to be told to.
    lenient: Mapping[str, Any]


ENGINES: Final = {
    "kuzu": EngineSpec("kuzu", b"KUZU", 39, "pip install kuzu==0.11.3", {}, {}),
    "ladybug": EngineSpec(
        "ladybug", b"LBUG", 49, "pip install ladybug==0.22.0", {"backend": "pybind"}, {"throw_on_wal_replay_failure": False}
    ),
}


ENGINE_ERRORS: Final = (RuntimeError, MemoryError)  # the bindings raise nothing else when the engine fails
PIECE_ROWS: Final = 250_000  # of an Arrow table
LEAST_DB_BYTES: Final = 64 << 20  # of address space, for a file that is nearly empty
OWN_BYTES: Final = 512 << 20  # of address space that an engine and one query take beside it, measured: 490 MB with one thread
ROOMY_BYTES: Final = 2 << 30  # with less address space left than this, an engine makes do with one thread


def _least(path: Path) -> int:
    """Address space that a file and its log need at least, a power of two."""
    least = LEAST_DB_BYTES
    held = sum(one.stat().st_size for one in (path, path.with_name(path.name + ".wal")) if one.exists())
    while least < 2 * held:
        least <<= 1
    return least


def _sizes(path: Path, wanted: int, room: int | None) -> Iterator[int]:
    """Address space to reserve for a file, largest first: what was asked for, or what this process may have and the file fits into.

    Half of what is left is for everything else that the process does.
    """
    least, size = _least(path), wanted
    while room is not None and size > max(least, room // 2):
        size >>= 1
    yield size
    while size > least:
        size >>= 1
        yield size


class Rows(NamedTuple):
    """A drained result."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]


class Engine:
    """One of the engines, imported.

    Args:
        name: kuzu or ladybug.

    Raises:
        SettingsError: the name is unknown, the package is missing or stores another format than the
            pinned one, or this process already uses the other engine.
    """

    def __init__(self, name: str) -> None:
        if name not in ENGINES:
            raise SettingsError(f"there is no engine {name!r}; use {' or '.join(ENGINES)}", setting="engine", value=name, origin="")
        for other in ENGINES:
            if other != name and ENGINES[other].module in sys.modules:
                raise SettingsError(
                    f"this process already uses {other}, and the two engines cannot share one; open {name} databases in another process",
                    setting="engine",
                    value=name,
                    origin="",
                )
        self.name = name
        self.spec = ENGINES[name]
        self.reserved_bytes = 0  # of address space, for the file that was opened last
        self.pool_bytes = 0  # of its buffer pool
        try:
            self._module: ModuleType = importlib.import_module(self.spec.module)
        except ImportError as error:
            raise SettingsError(
                f"the engine {name} is not installed: {self.spec.install}", setting="engine", value=name, origin=""
            ) from error
        self.version: str = self._module.__version__
        found = int(self._module.Database.get_storage_version())
        if found != self.spec.storage_version:
            raise SettingsError(
                f"{name} {self.version} stores format {found}, graphmem is made for {self.spec.storage_version}: {self.spec.install}",
                setting="engine",
                value=name,
                origin="",
            )

    def open(self, path: Path, *, buffer_pool_bytes: int, max_db_bytes: int, read_only: bool = False) -> RawDatabase:
        """Open or create a database file.

        Automatic checkpoints are off: one that meets an open read waits, fails, and takes the commit
        that caused it along. The store checkpoints when nobody reads.

        Raises:
            DatabaseDamagedError, StoreBusyError, DiskFullError, ResourceError: what the engine says.
        """
        room = free_address_space()
        if room is not None and room < _least(path) + OWN_BYTES:  # what the engine does when it runs out of it can end the process
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
        """A connection object of the engine to a database object of the engine."""
        return self._module.Connection(raw)

    def prepare(self, connection: Any, text: str) -> Any:
        """A statement planned once, for parameters that come later."""
        # Connection.prepare() of kuzu warns that it is deprecated; the object it returns is not.
        return self._module.PreparedStatement(connection, text, {})

    def translate(self, error: BaseException, path: Path, text: str = "") -> GraphMemError:
        """The engine's words as one of ours; see `engine_errors`."""
        return translated(self.name, error, path, self.reserved_bytes, text, pool_bytes=self.pool_bytes)


_open: Final[weakref.WeakSet[RawDatabase]] = weakref.WeakSet()


class RawDatabase:
    """An open database object of the engine, with its connections."""

    def __init__(self, engine: Engine, raw: Any, path: Path) -> None:
        self.engine = engine
        self.path = path
        self._raw = raw
        self._connections: list[Connection] = []
        _open.add(self)
        # Closing must not write: when that fails the destructor throws, which ends the process. Checkpoints are asked for.
        self.connect().rows("CALL force_checkpoint_on_close=false")

    def connect(self) -> Connection:
        """A connection; one thread uses it at a time."""
        try:
            connection = Connection(self.engine, self.engine.connect(self._raw), self.path)
        except ENGINE_ERRORS as error:
            raise self.engine.translate(error, self.path) from error
        self._connections.append(connection)
        return connection

    def renew(self, connection: Connection) -> Connection:
        """A new connection in place of one that holds on to much memory."""
        self._connections.remove(connection)
        connection.close()
        return self.connect()

    def close(self) -> None:
        """Close every connection and the file; what is only in the log stays there.

        Raises:
            DiskFullError, GraphMemError: the engine could not; this object has been abandoned.
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
        """Let go without closing, for good.

        After a failed write the engine's destructor throws, and that ends the whole process. The
        objects get a reference nobody owns, so no destructor runs: not now, not when the interpreter
        exits. The file lock stays with the process, which may open the file again.
        """
        _open.discard(self)
        for item in (self._raw, *(part for connection in self._connections for part in connection.parts())):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
        self._connections.clear()


class Connection:
    """A connection; every result is drained and closed before the next statement.

    Attributes:
        held_bytes: Arrow data it was given. The engine keeps every table it was given as a parameter
            until the connection is closed, so whoever gives it much renews it now and then.
    """

    def __init__(self, engine: Engine, raw: Any, path: Path) -> None:
        self.engine = engine
        self.raw = raw
        self._path = path
        self._prepared: dict[str, Any] = {}
        self._timeout_ms = 0
        self.held_bytes = 0

    def set_timeout(self, seconds: float) -> None:
        """Time one statement may take from now on; 0 for any."""
        wanted = max(1, round(seconds * 1000)) if seconds else 0
        if wanted != self._timeout_ms:
            self.raw.set_query_timeout(wanted)
            self._timeout_ms = wanted

    def use_threads(self, count: int) -> None:
        """How many threads one statement may use from now on."""
        self.raw.set_max_threads_for_exec(count)

    def rows(self, text: str, params: Mapping[str, Any] | None = None) -> Rows:
        """Run one statement and take its rows; times are naive UTC."""
        with self._run(text, params) as result:
            columns, types = result.get_column_names(), result.get_column_data_types()
            return Rows(columns, types, result.get_all())

    def first_rows(self, text: str, params: Mapping[str, Any], most: int) -> Rows:
        """Run one statement and take its first rows; times are naive UTC."""
        found: list[list[Any]] = []
        with self._run(text, params) as result:
            while len(found) < most and result.has_next():
                found.append(result.get_next())
            return Rows(result.get_column_names(), result.get_column_data_types(), found)

    def arrow(self, text: str, params: Mapping[str, Any] | None = None) -> pa.Table:
        """Run one statement and take its rows as Arrow.

        The engine allocates a whole piece before it fills it, ten million rows unless told otherwise: 15 GB for vectors of 384 numbers.
        Where the system refuses so much, the process ends.
        """
        with self._run(text, params) as result:
            return result.get_as_arrow(max(1, min(result.get_num_tuples(), PIECE_ROWS)))

    def each_rows(self, text: str, parameters: Sequence[Mapping[str, Any]]) -> list[list[list[Any]]]:
        """Run one statement for each set of plain parameters, planned once; all rows of each."""
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
        """End a read transaction; a failed statement has ended it already."""
        self._end("COMMIT")

    def roll_back(self) -> None:
        """Undo a transaction. A statement that failed in the engine has done so already, one that never reached it has not."""
        self._end("ROLLBACK")

    def _end(self, statement: str) -> None:
        try:
            self.rows(statement)
        except GraphMemError as error:
            if "No active transaction" not in error.facts.get("reason", ""):
                raise

    def parts(self) -> list[Any]:
        """Every object of the engine that this holds."""
        return [self.raw, *self._prepared.values()]

    def close(self) -> None:
        """Close; the prepared statements first, because they point into the connection."""
        self._prepared.clear()
        self.raw.close()

    @contextlib.contextmanager
    def _run(self, query: Any, params: Mapping[str, Any] | None) -> Iterator[Any]:
        values = {name: _to_engine(name, value) for name, value in (params or {}).items()}
        self.held_bytes += sum(value.nbytes for value in values.values() if hasattr(value, "nbytes"))
        text = query if isinstance(query, str) else ""
        with self._translated(text):
            result = self.raw.execute(query, values)
            if isinstance(result, list):  # several statements: the catalog does not let them through
                for one in result:
                    one.close()
                raise RuntimeError("several statements in one call")
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
        # An Arrow table: the engine stops reading at the first empty piece of a column, without a word.
        return value.combine_chunks()
    if isinstance(value, (list, tuple)) and not value:
        # The engine would guess the type of the items and fail on the first comparison.
        raise BadInputError(f"{name} is an empty list; there is nothing to ask for", argument=name)
    return value


def _after_fork() -> None:
    """In a forked child: the engine's threads are the parent's, and a destructor that waits for them ends or hangs the child."""
    for database in list(_open):
        database.abandon()


os.register_at_fork(after_in_child=_after_fork)
