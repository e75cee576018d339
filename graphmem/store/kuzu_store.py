"""The database of a project, in a file of the engine kuzu or ladybug.

A read runs in any thread: it holds the lock `gate` shared, and runs a named query on its own connection. A write is queued by any thread;
the writer's thread runs it as one transaction, or writes a new file that replaces the old one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError, DiskFullError
from graphmem.model import GraphDelta, HandlesRow
from graphmem.runtime.files.vault import read_mark, vault_of
from graphmem.runtime.process.limits import refusal
from graphmem.store.base import HANDLES_OF, AskedRows, CoAccessRow, FlowRow, ModuleRow
from graphmem.store.cypher.cypher_sandbox import CypherSandbox
from graphmem.store.engine import times
from graphmem.store.engine.engine import Engine
from graphmem.store.file import files
from graphmem.store.file.building import Keep, OpenOptions
from graphmem.store.file.changing import StoreChanges
from graphmem.store.file.dump import write_dump
from graphmem.store.file.lock import DatabaseLock
from graphmem.store.file.opening import resolve
from graphmem.store.file.reading import StoreReads, checked_meta
from graphmem.store.tables.meta_names import CO_ACCESSED_OF, FLOWS_OF, MODULES_OF
from graphmem.store.tables.sealed_rows import sealed, sealed_meta
from graphmem.store.tables.tables import EmbeddingTable
from graphmem.store.writes import derived, embeddings
from graphmem.store.writes.write_knowledge import check_delta

if TYPE_CHECKING:
    import pyarrow as pa

    from graphmem.knowledge import KnowledgeDelta
    from graphmem.store.base import CypherQueries, GraphStore, LocalFile

BUFFER_POOL_BYTES: Final = 256 << 20  # pages the engine keeps in memory; its own default is 80 % of the machine
MAX_DB_BYTES: Final = 8 << 30  # address space for the file; its own default, 8 TiB, fails at the sixteenth database
QUERY_S: Final = 30.0  # default time limit of a read


def open_store(
    path: str | os.PathLike[str],
    engine: str = "kuzu",
    buffer_pool_bytes: int = BUFFER_POOL_BYTES,
    max_db_bytes: int = MAX_DB_BYTES,
    read_only: bool = False,
    query_timeout_s: float = QUERY_S,
    keep: Keep | None = None,
    at_rest: bool = False,
) -> GraphStore:
    """Open the database at a path, or create it.

    Args:
        path: path of the database file; its log and lock file are next to it.
        engine: kuzu or ladybug; a process can only use one of them.
        buffer_pool_bytes: memory that the engine may use for pages.
        max_db_bytes: address space in bytes to reserve for the file, a power of two.
        read_only: share the database with other readers; nothing is created or migrated. A database in a read-only directory is opened this
            way, too.
        query_timeout_s: default time limit of one read.
        at_rest: leave a properly closed file closed until the engine is needed; see `store.file.resting`.
        keep: a function that is called before a schema change. The arguments are the first new schema version, the meta values, and a
            function that writes a dump into a directory. If `keep` raises, the database stays unchanged.

    Raises:
        StoreBusyError: this or another process has the database open.
        SchemaTooNewError, MigrationError: another version of graphmem or of the engine created it.
        DatabaseDamagedError: the file is not a database, or is incomplete.
        BadInputError, SettingsError: an argument is invalid, or the directory cannot be written.
        NotIndexedError: nothing exists at the path, and `read_only` was given.
    """
    if buffer_pool_bytes < 64 << 20:
        raise BadInputError(f"buffer_pool_bytes is {buffer_pool_bytes:,}; use at least {64 << 20:,} (64 MiB)", argument="buffer_pool_bytes")
    if max_db_bytes < buffer_pool_bytes or max_db_bytes & (max_db_bytes - 1):
        raise BadInputError(
            f"max_db_bytes is {max_db_bytes:,}; use a power of two that is not smaller than buffer_pool_bytes ({buffer_pool_bytes:,})",
            argument="max_db_bytes",
        )
    resolved = resolve(Path(path))
    read_only = read_only or (not os.access(resolved.parent, os.W_OK) and os.access(resolved, os.R_OK))
    options = OpenOptions(Engine(engine), buffer_pool_bytes, max_db_bytes, read_only, keep, at_rest)
    try:
        lock = DatabaseLock(resolved, engine, shared=read_only)
    except IsADirectoryError as error:
        raise BadInputError(
            f"{error.filename} is a directory where the lock file of the index should be; rename or delete the directory",
            argument="path",
            path=str(error.filename),
        ) from error
    except OSError as error:
        if (refused := refusal(error, f"opening {resolved}", resolved.parent)) is not None and not isinstance(refused, BadInputError):
            raise refused from error
        raise BadInputError(
            f"the directory {resolved.parent} of the index cannot be written to ({error.strerror}); make it writable, or keep the "
            "index in another directory with --db",
            argument="path",
            path=str(resolved),
        ) from error
    try:
        return KuzuStore(resolved, options, lock, query_timeout_s)
    except BaseException:
        lock.release()
        raise


class KuzuStore(StoreReads, StoreChanges):
    """An open database file; the interface is `GraphStore`. Thread-safe.

    Attributes:
        path: resolved path of the database file.
        engine: the engine and its memory sizes.
        notes: one sentence for each file that was quarantined (renamed because it was unusable) at open or at recovery.
    """

    def __init__(self, path: Path, options: OpenOptions, lock: DatabaseLock, query_timeout_s: float) -> None:
        self._vault, self._reads_sealed = vault_of(path.parent), read_mark(path.parent) is not None
        super().__init__(path, options, lock)
        self._query_timeout_s = query_timeout_s
        self._sandbox = CypherSandbox(
            path, options.engine.name, options.max_db_bytes, self.copy_to, lambda: (self.generation(), self.knowledge_generation())
        )
        if not options.read_only:
            self._sandbox.close()  # a copy left by a crash

    feed: Final = None

    @property
    def local(self) -> LocalFile:
        """The object with the operations on the database file: this store."""
        return self

    @property
    def cypher(self) -> CypherQueries:
        """The object that runs user-written queries: this store."""
        return self

    def close(self) -> None:
        """Finish queued writes, checkpoint, close and unlock. Idempotent."""
        if not self._closed and os.getpid() == self._pid:  # inherited objects of a forked child belong to its parent
            self._sandbox.close()
        super().close()

    def ask(self, query: str, params: Mapping[str, object], *, most_rows: int, timeout_s: float) -> AskedRows:
        """Run a user-written query on a copy of the database, in another process.

        For the arguments, see `CypherQueries.ask`.
        """
        self._check_open()
        return self._sandbox.ask(query, params, most_rows, timeout_s)

    def apply(self, delta: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of the code; return the new counter of changes.

        `meta` has values to store in the same transaction. The commit is atomic. See `GraphWrites.apply`.
        """
        return self._write(lambda: self._apply(delta, checked_meta(meta)))

    def replace(self, full: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Replace the whole code graph; return the new counter of changes.

        `full` is the new graph, and `meta` has values to store with it.
        """
        return self._write(lambda: self._rebuild(full, checked_meta(meta), keep_code=False))

    def apply_knowledge(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of memories and sessions; return the new counter.

        `meta` has values to store in the same transaction. The counter is the number of committed changes of memories and sessions. See
        `GraphWrites.apply_knowledge`.

        Raises:
            BadInputError: the change contradicts itself, leads to a memory or session that does not exist, has a value that cannot be
                stored, or the vectors are from another model than the memories name.
            DiskFullError: the disk has too little room; nothing was written.
        """
        check_delta(delta)
        delta = delta if self._vault is None else sealed(delta, self._vault)
        checked_vectors, checked = embeddings.checked_for(delta, vectors), sealed_meta(checked_meta(meta), self._vault)
        return self._write(lambda: self._apply_knowledge(delta, checked_vectors, checked))

    def compact(self) -> int:
        """Rewrite the database file to free the space of deleted rows.

        Returns the new counter of code changes.
        """
        return self._write(lambda: self._rebuild(GraphDelta.empty(), {}, keep_code=True))

    def copy_to(self, target: Path) -> None:
        """Write a complete copy of the database file to `target`, on disk.

        Reads continue during the copy, and writes wait.

        Raises:
            DiskFullError: the disk has too little room; no part of the copy remains.
        """
        self._write(lambda: self._copy_to(target))

    def dump(self, folder: Path) -> dict[str, int]:
        """Write a consistent snapshot as engine-independent files.

        See `store.file.dump`. Reads and writes continue.

        Returns:
            Number of rows of each table.
        """
        with self._read_only() as (connection, meta):
            return write_dump(connection, self._catalog, folder, meta)

    def exchange(self, new: Path) -> int:
        """Replace this database by another one, atomically.

        The old content is deleted.

        Args:
            new: a closed file of this engine, on the same disk. The counters of changes in the new file are set above those of the replaced
                database. So data derived from either database is recognised as outdated.

        Returns:
            The counter of code changes.

        Raises:
            DatabaseDamagedError, SchemaTooNewError, MigrationError: the new file cannot be used; nothing was changed.
        """
        return self._write(lambda: self._exchange(new.resolve()))

    def put_vectors(self, model: str, dim: int, rows: pa.Table) -> None:
        """Add vectors of texts, keyed by text_hash; existing vectors are kept.

        `dim` is the length of the vectors of `model`. See `embeddings.checked_vectors` for the limits.
        """
        checked = embeddings.checked_vectors(model, dim, rows)
        if len(checked):
            self._write(lambda: self._put_vectors(model, EmbeddingTable(dim), checked))

    def forget_vectors(self, model: str) -> int:
        """Delete all vectors of one embedding model; return how many were deleted.

        The vectors are deleted in batches, so that other writes can run in between.
        """
        gone = 0
        for table, rows in embeddings.doomed(self._ask, self._vector_tables, model):
            self._write(partial(self._forget_vectors, table, rows))
            gone += len(rows)
        return gone

    def put_modules(self, generation: int, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]]) -> None:
        """Replace the stored modules (groups of files) and their dependencies.

        `generation` is the graph's number of changes for which they were computed.
        """
        meta = {MODULES_OF: str(generation)}
        self._write(lambda: self._transact(lambda change: derived.put_modules(change, modules, depends_on, times.now()), meta))

    def put_flows(self, generation: int, flows: Sequence[FlowRow]) -> None:
        """Replace the stored flows (paths of calls from entry points).

        `generation` is the graph's number of changes for which they were computed.
        """
        self._write(lambda: self._transact(lambda change: derived.put_flows(change, flows), {FLOWS_OF: str(generation)}))

    def put_co_accessed(self, mark: str, rows: Sequence[CoAccessRow]) -> None:
        """Replace the stored pairs of files that often change together by `rows`.

        `mark` identifies the history from which the pairs were computed.
        """
        self._write(lambda: self._transact(lambda change: derived.put_co_accessed(change, rows), {CO_ACCESSED_OF: mark}))

    def put_handles(self, mark: str, project: str, rows: Sequence[HandlesRow]) -> None:
        """Replace the stored names that frameworks use, such as routes, by `rows`.

        `mark` is a hash of `rows`.
        """
        self._write(lambda: self._transact(lambda change: derived.put_handles(change, project, rows), {HANDLES_OF: mark}))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Store `values` in the metadata of the database, such as `indexed_at`.

        The counters of changes do not grow.
        """
        checked = sealed_meta(checked_meta(values), self._vault)
        if checked:
            self._write(lambda: self._transact(lambda _: None, checked))

    def move_to(self, root: str) -> None:
        """Record the root of a project that was moved; see `LocalFile`."""
        try:
            self.set_meta({"root": root})
        except (BadInputError, DiskFullError) as error:
            if isinstance(error, BadInputError) and not self._reads_only:
                raise
            self._moved_to, self._shown_meta = root, None

    def queued_writes(self) -> int:
        """Return how many writes wait until earlier writes are done."""
        return self._writer.waiting()

    def waste(self) -> int:
        """Return by how many bytes the file grew since it was last rewritten.

        `compact` frees about as many bytes.
        """
        self._check_open()
        return max(0, files.size_of(self._file) - self._state.compact_bytes)

    def __enter__(self) -> KuzuStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
