"""The graph store over kuzu, and over its fork ladybug: one implementation, the engine is an argument.

reads:  any thread → gate (shared) → a connection of its own → named query
writes: any thread → queue → writer thread → one transaction, or a new file that takes the old one's place
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from graphmem._heap import give_back
from graphmem.errors import BadInputError, DatabaseDamagedError, DeadlineError, DiskFullError, LimitError, StoreBusyError, StoreClosedError
from graphmem.model import EdgeRow, GraphDelta
from graphmem.store import derived, embeddings, files, times
from graphmem.store.base import AskedRows, CoAccessRow, EngineInfo, FlowRow, GraphTables, Knowledge, ModuleRow, StoredModule, StoredRows
from graphmem.store.catalog import load_catalog
from graphmem.store.cypher_aside import CypherAside
from graphmem.store.delta import apply_delta, weight
from graphmem.store.dump import write_dump
from graphmem.store.engine import Connection, Engine, RawDatabase
from graphmem.store.files import beside, damaged
from graphmem.store.gate import Gate
from graphmem.store.large_knowledge import delta_bytes, write_copy
from graphmem.store.lock import DatabaseLock, read_record
from graphmem.store.migrate import table_names
from graphmem.store.of_files import edges_of, rows_of_files
from graphmem.store.opening import CHECKPOINT, DATABASE, GENERATION, KNOWLEDGE, NEXT, OpenOptions, build, open_current, prepare, resolve
from graphmem.store.read_knowledge import read_knowledge
from graphmem.store.readers import Readers
from graphmem.store.rebuild import HELD_BYTES, Content
from graphmem.store.snapshot import chunk_table, graph_tables, packed_chunk_table
from graphmem.store.tables import EmbeddingTable
from graphmem.store.transaction import CommitError, Transaction
from graphmem.store.write_knowledge import apply_knowledge, check_delta
from graphmem.store.writer import Writer

if TYPE_CHECKING:
    from datetime import datetime

    import pyarrow as pa

    from graphmem.knowledge import KnowledgeDelta
    from graphmem.store.base import GraphStore

_Answer = TypeVar("_Answer")

BUFFER_POOL_BYTES: Final = 256 << 20  # pages the engine keeps in memory; its own default is 80 % of the machine
MAX_DB_BYTES: Final = 8 << 30  # address space for the file; its own default, 8 TiB, fails at the sixteenth database
MAX_READERS: Final = 8
QUEUED_WRITES: Final = 32
BUSY_S: Final = 30.0  # how long a call waits for a place, a connection or the gate before it says busy
QUERY_S: Final = 30.0  # time a read may take when the caller does not say
WAL_BYTES: Final = 16 << 20  # the writer brings the file up to date when the log is longer
# A change above either is written as a new file: that is faster from about a sixth of the graph on, and a
# transaction of it would not fit into the buffer pool (see docs/decisions/0001-engine.md).
LARGE_SHARE: Final = 6
LARGE_ROWS: Final = 20_000
LARGE_TEXT_BYTES: Final = 8 << 20
ROW_BYTES: Final = 200  # of a row in the file, on the safe side
VECTOR_BYTES: Final = 16 << 20  # of vectors that go into the transaction of their memories
_COUNTERS: Final = (GENERATION, KNOWLEDGE, CHECKPOINT)
_OWN: Final = "store."  # names in Meta that belong to the store

# After these the open database object is not to be trusted, not even to be closed.
_BREAKING: Final = (DiskFullError, LimitError, DatabaseDamagedError, CommitError)


def open_store(
    path: str | os.PathLike[str],
    engine: str = "kuzu",
    buffer_pool_bytes: int = BUFFER_POOL_BYTES,
    max_db_bytes: int = MAX_DB_BYTES,
    read_only: bool = False,
    query_timeout_s: float = QUERY_S,
) -> GraphStore:
    """Open the database at a path, making it when there is none.

    Args:
        path: of the database file; its log and lock lie beside it.
        engine: kuzu or ladybug; a process can only use one of them.
        buffer_pool_bytes: memory for pages.
        max_db_bytes: address space for the file, a power of two.
        read_only: share the database with other readers; nothing is created or migrated.
        query_timeout_s: time one read may take unless its call says otherwise.

    Raises:
        StoreBusyError: this or another process has it open.
        SchemaTooNewError, MigrationError: another graphmem or engine version made it.
        DatabaseDamagedError: it is no database, or not whole.
        BadInputError, SettingsError: an argument cannot be meant, or the folder cannot be written to.
        NotIndexedError: nothing is there, and reading only was asked for.
    """
    if buffer_pool_bytes < 64 << 20 or max_db_bytes < buffer_pool_bytes or max_db_bytes & (max_db_bytes - 1):
        raise BadInputError(
            f"buffer_pool_bytes ({buffer_pool_bytes:,}) must be 64 MiB or more, max_db_bytes ({max_db_bytes:,}) a power of two above it",
            argument="buffer_pool_bytes",
        )
    resolved = resolve(Path(path))
    options = OpenOptions(Engine(engine), buffer_pool_bytes, max_db_bytes, read_only)
    try:
        lock = DatabaseLock(resolved, engine, shared=read_only)
    except OSError as error:
        raise BadInputError(
            f"{resolved.parent} cannot be written to ({error.strerror}); make it writable or keep the index elsewhere with --db",
            argument="path",
            path=str(resolved),
        ) from error
    try:
        return KuzuStore(resolved, options, lock, query_timeout_s)
    except BaseException:
        lock.release()
        raise


class KuzuStore:
    """An open database; see `store.base.GraphStore` for the promises. Thread-safe.

    Attributes:
        path: resolved path of the database file.
        engine: which engine, with its sizes.
        notes: what had to be put aside when it was opened or recovered, one sentence each.
    """

    def __init__(self, path: Path, options: OpenOptions, lock: DatabaseLock, query_timeout_s: float) -> None:
        spec = options.engine
        self.path = str(path)
        self.engine = EngineInfo(spec.name, spec.version, spec.spec.storage_version, options.buffer_pool_bytes, options.max_db_bytes)
        self._file = path
        self._options = options
        self._lock = lock
        self._catalog = load_catalog()
        self._query_timeout_s = query_timeout_s
        self._gate = Gate()
        self._pid = os.getpid()
        self._failure: BaseException | None = None
        self._aside = CypherAside(
            path, spec.name, options.max_db_bytes, self.copy_to, lambda: (self.generation(), self.knowledge_generation())
        )
        self._closed = False
        self._at_rest = False
        self._used = time.monotonic()  # when somebody last needed the engine
        self.notes = prepare(path, options, self._catalog, lock.previous)
        self._attach(open_current(path, options, self._catalog))
        lock.note_file()
        # What the file says without its log. The log may hold a higher number, of a checkpoint that a crash kept from happening.
        self._checkpointed = int(self._meta[CHECKPOINT])
        if lock.previous is not None and files.size_of(beside(path, ".wal")):
            self._checkpointed = min(self._checkpointed, lock.previous.checkpoint)
        remembered = lock.previous.compact if lock.previous is not None else 0
        self._compact_bytes = min(remembered, files.size_of(path)) or files.size_of(path)
        if not options.read_only:
            self._aside.close()  # what a crash left
        self._say_open()
        self._writer = Writer(f"graphmem-writer-{path.name}", QUEUED_WRITES, BUSY_S)

    def _attach(self, database: RawDatabase) -> None:
        self._database = database
        self._readers = Readers(database, MAX_READERS)
        self._connection = database.connect()
        names = table_names(self._connection)
        self._vector_tables = [table for name in sorted(names) if (table := EmbeddingTable.parse(name)) is not None]
        self._meta = dict(self._connection.rows(*self._catalog["meta_all"].bind({})).rows)

    # ---- reading

    def generation(self) -> int:
        """Counter of committed changes of the graph; 0 in a new database."""
        self._check_open()
        return int(self._meta.get(GENERATION, "0"))

    def read(self, query: str, /, *, timeout_s: float | None = None, **params: Any) -> list[dict[str, Any]]:
        """Rows of a named read query, in its declared order; times are aware, in UTC.

        Args:
            query: its name.
            timeout_s: time it may take; the store's own when not given, 0 for any.
            **params: its parameters and fills.

        Raises:
            QueryParameterError: no such query, one that writes, or missing or extra parameters.
            DeadlineError: it took longer.
            StoreClosedError: the store is closed, or was opened before a fork.
        """
        with self._reading(query, params, timeout_s) as (connection, text, values):
            columns, types, rows = connection.rows(text, values)
        stamps = [at for at, kind in enumerate(types) if kind.startswith("TIMESTAMP")]
        for row in rows:
            for at in stamps:
                if row[at] is not None:
                    row[at] = times.from_naive_utc(row[at])
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def read_arrow(self, query: str, /, *, timeout_s: float | None = None, **params: Any) -> pa.Table:
        """The same as an Arrow table; its times are naive UTC."""
        with self._reading(query, params, timeout_s) as (connection, text, values):
            return connection.arrow(text, values)

    def ask(self, query: str, params: Mapping[str, Any], *, most_rows: int, timeout_s: float) -> AskedRows:
        """Rows of a query that a person wrote, read from a copy in another process; see `GraphStore.ask`."""
        self._check_open()
        return self._aside.ask(query, params, most_rows, timeout_s)

    def tables(self) -> GraphTables:
        """The snapshot for the `graph` projection."""
        with self._snapshot() as (ask, meta):
            return graph_tables(ask, int(meta.get(GENERATION, "0")))

    def chunks(self, ids: Sequence[str] | None = None) -> pa.Table:
        """Chunk rows with text, all or those ids, sorted by id."""
        return chunk_table(self._ask, ids)

    def packed_chunks(self) -> pa.Table:
        """All chunk rows, sorted by id, prefix and text deflated in `packed`."""
        return packed_chunk_table(self._ask)

    def edges_from(self, paths: Iterable[str]) -> list[EdgeRow]:
        """Edges whose source lies in these files, by (kind, src, dst)."""
        with self._snapshot() as (ask, _):
            return edges_of(ask, set(paths))

    def rows_of(self, paths: Sequence[str], chunks_of: Sequence[str]) -> StoredRows:
        """Everything the graph holds of these files; chunks only of `chunks_of`."""
        with self._snapshot() as (ask, _):
            return rows_of_files(ask, set(paths), set(chunks_of))

    def knowledge_generation(self) -> int:
        """Counter of committed changes of layer 3; 0 in a new database."""
        self._check_open()
        return int(self._meta.get(KNOWLEDGE, "0"))

    def knowledge(self, ids: Sequence[str] | None = None) -> Knowledge:
        """Everything of layer 3, or what belongs to these memories."""
        with self._snapshot() as (ask, meta):
            return read_knowledge(ask, int(meta.get(KNOWLEDGE, "0")), ids)

    def modules(self) -> tuple[int, list[StoredModule]]:
        """The generation the stored modules are of, and the modules. See `GraphStore.modules`."""
        generation = int(self.meta().get(derived.MODULES_OF, "0"))
        return generation, derived.stored_modules(self.read("module_rows"), self.read("module_files"))

    def vectors(self, model: str) -> pa.Table:
        """(text_hash, vector) of a model, sorted by text_hash; dimension 1 and no rows when it has none."""
        return embeddings.of_model(self._ask, self._vector_tables, model)

    def meta(self) -> dict[str, str]:
        """Small facts about the database, without the store's own."""
        self._check_open()
        return {name: value for name, value in sorted(self._meta.items()) if not name.startswith(_OWN)}

    # ---- writing

    def apply(self, delta: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a delta and meta values in one step; the new generation. See `GraphStore.apply`."""
        return self._write(lambda: self._apply(delta, _checked_meta(meta)))

    def replace(self, full: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a whole new code graph in place of the old one; the new generation."""
        return self._write(lambda: self._rebuild(full, _checked_meta(meta), keep_code=False))

    def apply_knowledge(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of layer 3 in one transaction; the new knowledge generation. See `GraphStore.apply_knowledge`.

        Raises:
            BadInputError: the delta contradicts itself, leads to a memory or session that is not there, holds a value that
                cannot be stored, or its vectors are not of the one model its memories name.
            DiskFullError: there is no room for it; nothing of it was written.
        """
        check_delta(delta)
        checked_vectors, checked = embeddings.checked_for(delta, vectors), _checked_meta(meta)
        return self._write(lambda: self._apply_knowledge(delta, checked_vectors, checked))

    def compact(self) -> int:
        """Write everything into a new file: rows that were deleted keep their place in the old one."""
        return self._write(lambda: self._rebuild(GraphDelta.empty(), {}, keep_code=True))

    def copy_to(self, target: Path) -> None:
        """A copy of the file as of now, complete and on disk; reads go on, writes wait.

        Raises:
            DiskFullError: there is no room for it; nothing of it is left.
        """
        self._write(lambda: self._copy_to(target))

    def dump(self, folder: Path) -> dict[str, int]:
        """Everything of one moment as files that no engine had a part in; see `store.dump`. Reads and writes go on.

        Returns:
            Rows by table.
        """
        with self._passage() as connection:
            connection.set_timeout(0)
            connection.rows("BEGIN TRANSACTION READ ONLY")
            try:
                meta = dict(connection.rows(*self._catalog["meta_all"].bind({})).rows)
                return write_dump(connection, self._catalog, folder, meta)
            finally:
                connection.end_reading()

    def exchange(self, new: Path) -> int:
        """Let another database take this one's place, in one step; what was here is gone.

        Args:
            new: a closed file of this engine, on the same disk. Its counters are set above those of what it replaces, so that
                whatever was derived from either is known to be of another generation.

        Returns:
            The generation of the code graph.

        Raises:
            DatabaseDamagedError, SchemaTooNewError, MigrationError: it cannot be used; nothing was changed.
        """
        return self._write(lambda: self._exchange(new.resolve()))

    def put_vectors(self, model: str, dim: int, rows: pa.Table) -> None:
        """Add vectors by text_hash; those that are there stay. See `embeddings.checked_vectors` for what is refused."""
        checked = embeddings.checked_vectors(model, dim, rows)
        if len(checked):
            self._write(lambda: self._put_vectors(model, EmbeddingTable(dim), checked))

    def put_modules(self, generation: int, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]]) -> None:
        """Keep modules and their dependencies in place of those before."""
        meta = {derived.MODULES_OF: str(generation)}
        self._write(lambda: self._transact(lambda change: derived.put_modules(change, modules, depends_on, times.now()), meta))

    def put_flows(self, generation: int, flows: Sequence[FlowRow]) -> None:
        """Keep flows in place of those before."""
        self._write(lambda: self._transact(lambda change: derived.put_flows(change, flows), {derived.FLOWS_OF: str(generation)}))

    def put_co_accessed(self, mark: str, rows: Sequence[CoAccessRow]) -> None:
        """Keep edges between files that move together in place of those before."""
        self._write(lambda: self._transact(lambda change: derived.put_co_accessed(change, rows), {derived.CO_ACCESSED_OF: mark}))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set small facts, without touching the generation."""
        checked = _checked_meta(values)
        if checked:
            self._write(lambda: self._transact(lambda _: None, checked))

    def queued_writes(self) -> int:
        """Writes that wait for their turn."""
        return self._writer.waiting()

    def waste(self) -> int:
        """What the file grew since it was last written as a whole; about what `compact` would give back of it."""
        self._check_open()
        return max(0, files.size_of(self._file) - self._compact_bytes)

    def checkpoint(self) -> None:
        """Bring the file up to date, when no read is running."""
        self._write(self._checkpoint)

    def rest(self, unused_s: float) -> bool:
        """Close the file until somebody needs it, if nobody did for so long: an open engine holds 100 to 350 MB.

        The lock stays, and says what it says of a file that was closed. Generations and meta are known without the engine; the next
        read or write opens it again, a tenth of a second to a third.

        Returns:
            Whether it was closed now.

        Raises:
            DiskFullError, StoreBusyError: the file could not be brought up to date; it is open as before.
        """
        if self._options.read_only or self._at_rest or time.monotonic() - self._used < unused_s:
            return False
        self._check_open()
        return self._writer.run(lambda: self._rest(unused_s))

    def close(self) -> None:
        """Finish queued writes, bring the file up to date, close, let others in. Twice is once."""
        if self._closed or os.getpid() != self._pid:
            return  # a forked child has nothing to close: touching the handle would hang it
        self._closed = True
        self._aside.close()
        self._writer.stop()
        try:
            if self._failure is None and not self._at_rest:
                with self._gate.exclusive(BUSY_S):
                    if self._options.read_only:
                        self._database.close()
                    else:
                        if beside(self._file, ".wal").exists():
                            self._checkpointed += 1
                            self._put_meta({CHECKPOINT: str(self._checkpointed)})
                        self._connection.rows("CHECKPOINT")
                        self._database.close()
                if not self._options.read_only:
                    self._say(clean=True, log=0, checksum=files.checksum(self._file))
        except DiskFullError as error:
            self._database.abandon()
            raise DiskFullError(
                f"the disk is full: what was written stays in the log beside {self.path} and is merged when there is room; "
                "nothing is lost, make room",
                path=self.path,
            ) from error
        except (*_BREAKING, StoreBusyError):
            self._database.abandon()  # a write failed, or reads are still running
            raise
        finally:
            self._lock.release()

    def __enter__(self) -> KuzuStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- on the writer's thread

    def _apply(self, delta: GraphDelta, meta: Mapping[str, str]) -> int:
        rows, text_bytes = weight(delta)
        if rows + text_bytes == 0:
            return self._transact(lambda _: None, {**meta, **self._next_generation()})
        stored = self._stored_nodes()
        large = rows > LARGE_ROWS or text_bytes > LARGE_TEXT_BYTES
        if stored == 0 or (large and rows * LARGE_SHARE > stored):
            return self._rebuild(delta, meta, keep_code=True)
        moment = times.now()
        try:
            return self._transact(lambda transaction: self._changed_code(transaction, delta, moment), {**meta, **self._next_generation()})
        except LimitError:  # the change does not fit into the buffer pool as one transaction
            return self._rebuild(delta, meta, keep_code=True)

    def _changed_code(self, transaction: Transaction, delta: GraphDelta, moment: datetime) -> dict[str, str]:
        return self._next_knowledge() if apply_delta(transaction, delta, moment) else {}

    def _next_knowledge(self) -> dict[str, str]:
        return {KNOWLEDGE: str(int(self._meta.get(KNOWLEDGE, "0")) + 1)}

    def _put_vectors(self, model: str, table: EmbeddingTable, rows: pa.Table) -> None:
        self._transact(lambda transaction: embeddings.put(transaction, model, table, rows, self._vector_tables), {})
        self._note_table(table)

    def _note_table(self, table: EmbeddingTable) -> None:
        if table not in self._vector_tables:
            self._vector_tables = [*self._vector_tables, table]

    def _apply_knowledge(self, delta: KnowledgeDelta, vectors: embeddings.Vectors | None, meta: Mapping[str, str]) -> int:
        last: pa.Table | None = None
        if vectors is not None:
            # Nobody sees a vector whose text nobody has, so of many all but the last pieces may come before: the buffer pool is small.
            *first, last = embeddings.pieces(vectors.rows, VECTOR_BYTES)
            for piece in first:
                self._put_vectors(vectors.model, vectors.table, piece)

        def change(transaction: Transaction) -> None:
            apply_knowledge(transaction, delta, times.now(), self._vector_tables)
            if vectors is not None:
                embeddings.put(transaction, vectors.model, vectors.table, last, self._vector_tables)

        following = {**meta, **self._next_knowledge()}
        try:
            self._transact(change, following)
        except LimitError:  # the change does not fit into the buffer pool as one transaction
            self._rewrite_knowledge(delta, vectors, following)
        if vectors is not None:
            self._note_table(vectors.table)
        return int(self._meta[KNOWLEDGE])

    def _rewrite_knowledge(self, delta: KnowledgeDelta, vectors: embeddings.Vectors | None, meta: Mapping[str, str]) -> None:
        """Let a copy with the change take the file's place; reads wait meanwhile."""
        files.check_room(self._file, 2 * self._file.stat().st_size + delta_bytes(delta))
        following = str(self._checkpointed + 1)
        with self._gate.exclusive(BUSY_S), self._reopened({CHECKPOINT: following}):
            write_copy(self._file, self._options, self._catalog, delta, vectors, self._vector_tables, meta, times.now())
            files.put_in_place(beside(self._file, NEXT), self._file)
        self._lock.note_file()
        self._say_open()

    def _next_generation(self) -> dict[str, str]:
        return {GENERATION: str(int(self._meta[GENERATION]) + 1)}

    def _transact(self, change: Callable[[Transaction], Mapping[str, str] | None], meta: Mapping[str, str]) -> int:
        """One transaction of a change, of Meta and of what the change adds to Meta; the generation of the code graph."""
        log = beside(self._file, ".wal")
        with self._on_the_live_file(whole=files.size_of(log)), Transaction(self._connection, self._catalog) as transaction:
            meta = {**meta, **(change(transaction) or {})}
            transaction.each("meta_put", {}, [{"name": name, "value": value} for name, value in sorted(meta.items())])
        self._meta = {**self._meta, **meta}
        if self._connection.held_bytes > HELD_BYTES:
            self._connection = self._database.renew(self._connection)
        self._say_open()
        if files.size_of(log) > WAL_BYTES:
            try:
                self._checkpoint()
            except (DiskFullError, StoreBusyError) as error:  # the change is committed; the next one tries again
                self._note(f"the log grows, it could not be merged: {error}")
        return int(self._meta[GENERATION])

    def _rebuild(self, delta: GraphDelta, meta: Mapping[str, str], *, keep_code: bool) -> int:
        """Write a new file beside the old one and let it take its place; a crash leaves one of them, whole."""
        rows, text_bytes = weight(delta)
        files.check_room(self._file, max(self._file.stat().st_size, rows * ROW_BYTES + text_bytes))
        changed = {**self._meta, **meta, **self._next_generation(), CHECKPOINT: str(self._checkpointed + 1)}
        if self._stored_nodes() or self._anything_to_carry():
            self._build(delta, self._connection, changed, keep_code)
            with self._gate.exclusive(BUSY_S), self._reopened({}):
                files.put_in_place(beside(self._file, NEXT), self._file)
        else:
            unused = (
                (self._meta[GENERATION], self._meta[CHECKPOINT]) == ("0", "0") and not self._vector_tables and KNOWLEDGE not in self._meta
            )
            # Nothing to read and nothing to take over: the old file is closed first, whose handle is 90 MB of memory.
            with self._gate.exclusive(BUSY_S), self._reopened({}):
                self._build(delta, None, changed, keep_code, onto_copy=unused)
                files.put_in_place(beside(self._file, NEXT), self._file)
        self._lock.note_file()
        self._compact_bytes = files.size_of(self._file)
        self._say_open()
        return int(self._meta[GENERATION])

    def _build(
        self, delta: GraphDelta, old: Connection | None, meta: Mapping[str, str], keep_code: bool, *, onto_copy: bool = False
    ) -> None:
        content = Content(delta, old, self._catalog, keep_code=keep_code, moment=times.now())
        build(self._file, self._options, self._catalog, content, meta, self._next_knowledge(), onto_copy=onto_copy)

    def _copy_to(self, target: Path) -> None:
        self._checkpoint()
        files.check_room(target, self._file.stat().st_size)
        try:
            shutil.copyfile(self._file, target)
            files.sync(target)
        except OSError as error:
            target.unlink(missing_ok=True)
            raise DiskFullError(f"there is no room for a copy at {target} ({error}); make room and try again", path=str(target)) from error

    def _exchange(self, new: Path) -> int:
        files.check_header(new, self._options.engine.spec, self._options.engine.name)
        database = open_current(new, self._options, self._catalog)
        try:
            connection = database.connect()
            meta = dict(connection.rows(*self._catalog["meta_all"].bind({})).rows)
            above = {name: str(max(int(meta.get(name, "0")), int(self._meta.get(name, "0"))) + 1) for name in _COUNTERS}
            with Transaction(connection, self._catalog) as transaction:
                transaction.each("meta_put", {}, [{"name": name, "value": value} for name, value in sorted(above.items())])
            connection.rows("CHECKPOINT")
            database.close()
        except BaseException:
            database.abandon()
            raise
        with self._gate.exclusive(BUSY_S), self._reopened({}):
            files.put_in_place(new, self._file)
        self._lock.note_file()
        self._compact_bytes = files.size_of(self._file)
        self._say_open()
        return int(self._meta[GENERATION])

    def _stored_nodes(self) -> int:
        return sum(row[1] for row in self._connection.rows(*self._catalog["code_node_counts"].bind({})).rows)

    def _anything_to_carry(self) -> bool:
        tables = self._vector_tables
        asked = [self._catalog["carried_count"].bind({}), *(self._catalog["embedding_count"].bind({"table": table}) for table in tables)]
        return any(self._connection.rows(*query).rows[0][0] for query in asked)

    @contextmanager
    def _reopened(self, meta: Mapping[str, str]) -> Iterator[None]:
        """The file up to date and closed inside, open again after, whatever happens; the caller holds the gate."""
        with self._on_the_live_file(gated=True):
            self._put_meta(meta)
            self._connection.rows("CHECKPOINT")  # closing would do it, too, but ends the process when it fails
            self._database.close()
        try:
            yield
        finally:
            files.remove(beside(self._file, NEXT))
            self._open_again()

    def _put_meta(self, values: Mapping[str, str]) -> None:
        for name, value in sorted(values.items()):
            self._connection.rows(*self._catalog["meta_put"].bind({"name": name, "value": value}))
        self._meta = {**self._meta, **values}

    def _open_again(self) -> None:
        try:
            self._attach(open_current(self._file, self._options, self._catalog))
        except BaseException as error:
            self._failure = error
            raise
        if not files.size_of(beside(self._file, ".wal")):
            self._checkpointed = int(self._meta[CHECKPOINT])

    @contextmanager
    def _on_the_live_file(self, gated: bool = False, whole: int | None = None) -> Iterator[None]:
        """After a failed write: abandon the database object and open the file again, as it was before.

        The engine would go on with a half-written log, and closing it ends the process. Opening a log that was torn in
        the middle of a large transaction ends it, too, now and then (K11), so what follows `whole` bytes is cut off.

        Args:
            gated: the caller holds the gate.
            whole: length of the log when the transaction began; not given for a checkpoint, which is not in the log alone.
        """
        try:
            yield
        except _BREAKING:
            with nullcontext() if gated else self._gate.exclusive(BUSY_S):
                self._database.abandon()
                if whole is not None:
                    files.cut(beside(self._file, ".wal"), whole)
                self._open_again()
            raise

    def _checkpoint(self) -> None:
        """Bring the file up to date and open it anew, when nobody reads.

        With a read open the engine waits seconds and gives up. And kuzu's memory is wrong after a
        checkpoint when edges were created and deleted again since the last one (the next read ends the
        process) while the file is right, so nothing reads on the old handle.
        """
        if not beside(self._file, ".wal").exists():
            return
        files.check_room(self._file, 2 * beside(self._file, ".wal").stat().st_size)
        following = str(self._checkpointed + 1)
        with self._gate.exclusive(BUSY_S), self._reopened({CHECKPOINT: following}):
            pass
        self._say_open()

    def _rest(self, unused_s: float) -> bool:
        if self._at_rest or time.monotonic() - self._used < unused_s:
            return False  # somebody came first
        with self._gate.exclusive(BUSY_S):
            with self._on_the_live_file(gated=True):
                if beside(self._file, ".wal").exists():
                    files.check_room(self._file, 2 * files.size_of(beside(self._file, ".wal")))
                    self._put_meta({CHECKPOINT: str(self._checkpointed + 1)})
                    self._connection.rows("CHECKPOINT")
                    self._checkpointed += 1
                self._database.close()
            self._at_rest = True
        self._say(clean=True, log=0, checksum=files.checksum(self._file))
        give_back()
        return True

    def _wake(self) -> None:
        """Open the file again, as whoever opens an index would: what happened to its bytes meanwhile is found."""
        with self._gate.exclusive(BUSY_S):
            if not self._file.exists():
                raise damaged(self._file, "it was moved or deleted while it was closed because nobody needed it")
            self.notes = [*self.notes, *prepare(self._file, self._options, self._catalog, read_record(self._file))]
            self._say_open()
            self._open_again()
            self._at_rest = False

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes = [*self.notes, sentence]

    def _say_open(self) -> None:
        log = files.size_of(beside(self._file, ".wal"))
        self._say(clean=False, log=log)

    def _say(self, *, clean: bool, log: int, checksum: int = 0) -> None:
        self._lock.write(
            clean=clean,
            database=self._meta[DATABASE],
            checkpoint=self._checkpointed,
            log=log,
            compact=self._compact_bytes,
            checksum=checksum,
        )

    def _write(self, job: Callable[[], _Answer]) -> _Answer:
        self._check_open()
        if self._options.read_only:
            raise BadInputError(f"{self.path} was opened for reading only; open it for writing", argument="read_only")

        def guarded() -> _Answer:
            self._check_open()
            if self._at_rest:
                self._wake()
            try:
                return job()
            finally:
                self._used = time.monotonic()

        return self._writer.run(guarded)

    # ---- asking

    def _check_open(self) -> None:
        if os.getpid() != self._pid:
            raise StoreClosedError("this store was opened before a fork and cannot be used in the child; open it there, or use spawn")
        if self._failure is not None:
            raise StoreClosedError(f"the database could not be opened again after a failed write ({self._failure}); open it anew")
        if self._closed:
            raise StoreClosedError("the store is closed; open it again")

    @contextmanager
    def _reading(self, query: str, params: Mapping[str, Any], timeout_s: float | None) -> Iterator[tuple[Connection, str, dict[str, Any]]]:
        named = self._catalog[query]
        if named.writes and "LOAD FROM $rows" not in named.text:
            raise BadInputError(f"{query} ({named.where}) changes the database; reads take read queries", argument="query")
        text, values = named.bind(params)
        seconds = self._query_timeout_s if timeout_s is None else timeout_s
        with self._passage() as connection:
            connection.set_timeout(seconds)
            try:
                yield connection, text, values
            except DeadlineError as error:
                raise DeadlineError(f"{query} did not finish in {seconds:g} s; ask for less, or allow more", seconds=seconds) from error

    @contextmanager
    def _passage(self) -> Iterator[Connection]:
        self._check_open()
        while True:
            self._used = time.monotonic()
            if self._at_rest:
                self._write(lambda: None)  # the writer opens it, like whoever comes with a write
            with self._gate.shared(BUSY_S):
                self._check_open()
                if self._at_rest:
                    continue
                try:
                    with self._readers.one(BUSY_S) as connection:
                        yield connection
                finally:
                    self._used = time.monotonic()
                return

    def _ask(self, query: str, **values: Any) -> pa.Table:
        with self._reading(query, values, 0) as (connection, text, params):
            return connection.arrow(text, params)

    @contextmanager
    def _snapshot(self) -> Iterator[tuple[Callable[..., pa.Table], Mapping[str, str]]]:
        """Several reads of one moment, and Meta as it was then. The gate keeps checkpoints away as long as it is open."""
        with self._passage() as connection:
            connection.set_timeout(0)
            connection.rows("BEGIN TRANSACTION READ ONLY")
            try:
                meta = dict(connection.rows(*self._catalog["meta_all"].bind({})).rows)

                def ask(query: str, **values: Any) -> pa.Table:
                    text, params = self._catalog[query].bind(values)
                    return connection.arrow(text, params)

                yield ask, meta
            finally:
                connection.end_reading()


def _checked_meta(values: Mapping[str, str] | None) -> dict[str, str]:
    for name, value in (values or {}).items():
        if not isinstance(name, str) or not isinstance(value, str) or name.startswith(_OWN):
            raise BadInputError(f"meta takes texts under names that do not begin with {_OWN!r}, not {name!r}: {value!r}", argument="meta")
    return dict(values or {})
