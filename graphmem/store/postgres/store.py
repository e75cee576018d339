"""The graph of a project in PostgreSQL.

A read runs in any thread, on its own connection, and sees one snapshot. Any thread may write; writes run one after the other, each in one
transaction. One server at a time writes to a project: it holds an advisory lock of the database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import BadInputError, GenerationChangedError, StoreBusyError
from graphmem.model import GraphDelta, HandlesRow, stable_id
from graphmem.runtime.files.vault import vault_of
from graphmem.store.base import HANDLES_OF, CoAccessRow, EngineInfo, FlowRow, ModuleRow
from graphmem.store.engine import times
from graphmem.store.file.lock import DatabaseLock
from graphmem.store.file.reading import checked_meta
from graphmem.store.postgres import derived, feed
from graphmem.store.postgres.code import apply_code, removing_the_rest
from graphmem.store.postgres.connections import SCHEMA, Connections, driver
from graphmem.store.postgres.feed import Feed
from graphmem.store.postgres.knowledge import apply_knowledge, put_vectors
from graphmem.store.postgres.reading import PostgresReads
from graphmem.store.postgres.tables import Queries
from graphmem.store.tables.meta_names import CO_ACCESSED_OF, DATABASE, FLOWS_OF, GENERATION, KNOWLEDGE, MODULES_OF, OWN
from graphmem.store.tables.sealed_rows import sealed, sealed_meta, unsealed_meta
from graphmem.store.writes import embeddings
from graphmem.store.writes.write_knowledge import check_delta

if TYPE_CHECKING:
    from datetime import datetime

    import psycopg
    import pyarrow as pa

    from graphmem.knowledge import KnowledgeDelta

HOME: Final = f"{OWN}home"  # meta: the index directory that wrote last
ROOT: Final = "root"  # meta: the project's directory, which is another one on each machine
_SCHEMA_DIGITS: Final = 24


def open_postgres(
    url: str, project: str, folder: Path | None = None, root: str = "", home: str = "", *, follow: bool = False
) -> PostgresStore:
    """Open the graph of a project in a PostgreSQL database, or create it.

    Args:
        url: `postgresql://…`, as libpq reads it.
        project: key of the project, the same for every server.
        folder: path of a file in the index directory. A lock on this file keeps other processes from the index directory. None to lock
            nothing.
        root: the project's directory on this machine; "" for the directory that was indexed.
        home: identity of the index directory, which is recorded as the last writer.
        follow: only read, and take over the changes of the server that writes.

    Raises:
        StoreUnreachableError: the database does not answer, or the driver is missing.
        StoreBusyError: another process has the index directory open, or another server writes to the project.
        BadInputError: the address is invalid.
    """
    lock = DatabaseLock(folder, "postgresql", shared=False) if folder is not None else None
    try:
        return PostgresStore(url, project, lock, root, home, follow=follow)
    except BaseException:
        if lock is not None:
            lock.release()
        raise


def schema_of(project: str) -> str:
    """Return the name of the PostgreSQL schema that a project's tables are in."""
    return f"graph_{stable_id('graph', project)[:_SCHEMA_DIGITS]}"


class PostgresStore(PostgresReads):
    """An open graph in PostgreSQL; the interface is `GraphStore`. Thread-safe.

    Attributes:
        engine: name and version of the server.
        notes: one sentence for each notable event while opening.
        database: identity of the graph; it changes when the graph is created again.
        before: identity of the index directory that wrote last; "" if the graph was never written.
        feed: the changes of the server that writes; None if this server writes.
    """

    local: Final = None
    cypher: Final = None

    def __init__(self, url: str, project: str, lock: DatabaseLock | None, root: str, home: str = "", *, follow: bool = False) -> None:
        self.notes: list[str] = []
        self._lock = lock
        self._own = {ROOT: root} if root else {}
        self._vault = vault_of(lock.path.parent) if lock is not None else None
        self._turn = threading.RLock()
        self._waiting = 0
        self._connections = Connections(url, schema_of(project))
        self._connections.migrate()
        self._meta: Mapping[str, str] = {}
        self._connection: psycopg.Connection[Any] | None = None if follow else self._writer()
        self._meta = self._read_meta()
        self.feed = Feed(self._connections, schema_of(project), project, self._meta, self._learn) if follow else None
        self.database, self.before = self._meta[DATABASE], self._meta.get(HOME, "")
        if home != self.before:
            self._derive(lambda *_: None, {HOME: home})
        version = self._connections.server_version
        self.engine = EngineInfo("postgresql", f"{version // 10_000}.{version % 10_000}", int(self._meta[SCHEMA]), 0, 0)
        if lock is not None:
            lock.write(clean=False, database=project, checkpoint=0, log=0)

    def close(self) -> None:
        """Wait for a write, close every connection and unlock. Idempotent."""
        if self.feed is not None:
            self.feed.close()
        with self._turn:
            self._connections.close()
            connection, self._connection = self._connection, None
            if connection is not None:
                self._connections.release(connection)
            if self._lock is not None:
                self._lock.release()

    def meta(self) -> dict[str, str]:
        """Return the metadata of the database, such as `project`, by name.

        The value `root` is the project's path on this machine.
        """
        return dict(sorted(unsealed_meta({**super().meta(), **self._own}).items()))

    def apply(self, delta: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of the code; return the new counter of changes.

        `meta` has metadata to store with the change.
        """

        def change(queries: Queries, moment: datetime) -> dict[str, str]:
            first = not queries.column("has_code")[0]
            following = self._next(GENERATION)
            feed.put(queries, int(following[GENERATION]), delta, first=first)
            return following | (self._next(KNOWLEDGE) if apply_code(queries, delta, moment) else {})

        return int(self._write(change, checked_meta(meta))[GENERATION])

    def replace(self, full: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Replace the whole code graph; return the new counter of changes.

        `full` is the new graph, and `meta` has values to store with it.
        """

        def change(queries: Queries, moment: datetime) -> dict[str, str]:
            followed = apply_code(queries, removing_the_rest(queries, full), moment)
            return self._next(GENERATION) | (self._next(KNOWLEDGE) if followed else {})

        return int(self._write(change, checked_meta(meta))[GENERATION])

    def apply_knowledge(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of memories, its vectors and its metadata.

        Returns the new counter of changes of memories.
        """
        check_delta(delta)
        delta = delta if self._vault is None else sealed(delta, self._vault)
        checked = embeddings.checked_for(delta, vectors)

        def change(queries: Queries, moment: datetime) -> dict[str, str]:
            apply_knowledge(queries, delta, checked, moment)
            return self._next(KNOWLEDGE)

        return int(self._write(change, sealed_meta(checked_meta(meta), self._vault))[KNOWLEDGE])

    def put_modules(self, generation: int, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]]) -> None:
        """Replace the stored modules (groups of files) and their dependencies.

        `generation` is the graph's number of changes for which they were computed.
        """
        self._derive(lambda queries, moment: derived.put_modules(queries, modules, depends_on, moment), {MODULES_OF: str(generation)})

    def put_flows(self, generation: int, flows: Sequence[FlowRow]) -> None:
        """Replace the stored flows (paths of calls from entry points).

        `generation` is the graph's number of changes for which they were computed.
        """
        self._derive(lambda queries, _: derived.put_flows(queries, flows), {FLOWS_OF: str(generation)})

    def put_co_accessed(self, mark: str, rows: Sequence[CoAccessRow]) -> None:
        """Replace the stored pairs of files that often change together by `rows`.

        `mark` identifies the history from which the pairs were computed.
        """
        self._derive(lambda queries, _: derived.put_co_accessed(queries, rows), {CO_ACCESSED_OF: mark})

    def put_handles(self, mark: str, project: str, rows: Sequence[HandlesRow]) -> None:
        """Replace the stored names that frameworks use, such as routes, by `rows`.

        `mark` is a hash of `rows`.
        """
        self._derive(lambda queries, _: derived.put_handles(queries, project, rows), {HANDLES_OF: mark})

    def put_vectors(self, model: str, dim: int, rows: pa.Table) -> None:
        """Add vectors of texts, keyed by text_hash; existing vectors are kept.

        `dim` is the length of the vectors of `model`.
        """
        checked = embeddings.checked_vectors(model, dim, rows)
        if len(checked):
            self._derive(lambda queries, _: put_vectors(queries, model, dim, checked), {})

    def forget_vectors(self, model: str) -> int:
        """Delete all vectors of one embedding model; return how many were deleted."""
        gone = 0

        def change(queries: Queries, _: datetime) -> None:
            nonlocal gone
            gone = queries.run("forget_vectors", model=model)

        self._derive(change, {})
        return gone

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Store `values` in the metadata of the database, such as `indexed_at`.

        The counters of changes do not grow.
        """
        if checked := sealed_meta(checked_meta(values), self._vault):
            self._derive(lambda *_: None, checked)

    def queued_writes(self) -> int:
        """Return how many writes wait until earlier writes are done."""
        return self._waiting

    # ---- inside

    def _learn(self, meta: Mapping[str, str]) -> None:
        self._meta = {GENERATION: "0", **meta}

    def _saw(self, meta: Mapping[str, str]) -> None:
        if self.feed is not None:
            self._learn(meta)

    def _derive(self, change: Callable[[Queries, datetime], object], meta: Mapping[str, str]) -> None:
        """Commit data derived from the code, such as modules, with metadata.

        `change` writes the data, and `meta` has the metadata. Nothing is written if another server is the writer.
        """
        if self.feed is not None:
            self._connections.check_open()
            return

        def changed(queries: Queries, moment: datetime) -> dict[str, str]:
            change(queries, moment)
            return {}

        self._write(changed, meta)

    def _write(self, change: Callable[[Queries, datetime], dict[str, str]], meta: Mapping[str, str]) -> Mapping[str, str]:
        """Run `change`, and commit it with metadata; return all metadata by name.

        `change` is called with an object that runs queries in the transaction, and with the current time. It writes the data, and returns
        further metadata to store. `meta` is other metadata to store.
        """
        self._connections.check_open()
        if self.feed is not None:
            raise StoreBusyError(
                f"this server only reads, and another server writes to {self._connections.shown}; send changes to that server",
                path=self._connections.shown,
                owner=None,
            )
        self._waiting += 1
        with self._turn:
            self._waiting -= 1
            self._connections.check_open()
            connection = self._live_writer()
            try:
                with connection.transaction():
                    queries = Queries(connection)
                    changed = {**meta, **change(queries, times.now().replace(tzinfo=None))}
                    for name, value in sorted(changed.items()):
                        queries.run("meta_put", name=name, value=value)
            except driver().Error as error:
                raise self._connections.refusal(error) from error
            except UnicodeEncodeError as error:
                raise BadInputError(
                    f"PostgreSQL cannot store a value to be written ({error}); correct that value", argument="value"
                ) from error
            self._meta = {**self._meta, **changed}
            with suppress(driver().Error):  # followers look every second, too
                Queries(connection).ask("ring")
            return self._meta

    def _next(self, counter: str) -> dict[str, str]:
        return {counter: str(int(self._meta.get(counter, "0")) + 1)}

    def _writer(self) -> psycopg.Connection[object]:
        """Return a connection that holds the project's write lock.

        Raises:
            StoreBusyError: another server holds the lock.
        """
        connection = self._connections.connect()
        try:
            if not Queries(connection).column("take_lock")[0]:
                who = Queries(connection).rows("lock_holder")
                where, since = who[0] if who else ("another server", "")
                at = f", {where}," if where and who else ", on the machine of the database," if since else ""
                verb, known = ("has been writing", f" since {since}") if since else ("is writing", "")
                raise StoreBusyError(
                    f"another server{at} {verb} to this project in {self._connections.shown}{known}; use that server, or stop it first",
                    path=self._connections.shown,
                    owner={"host": where, "since": since},
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _live_writer(self) -> psycopg.Connection[Any]:
        """Return the writer's connection; replace a broken one.

        Raises:
            GenerationChangedError: another server wrote meanwhile, or another node of the database took over without the last changes.
        """
        connection = self._connection
        if connection is not None and not connection.closed:
            with suppress(driver().Error):
                connection.execute("SELECT 1")
                return connection
        self._connection = connection = self._writer()
        found = self._read_meta()
        before, self._meta = self._meta, found
        names = (GENERATION, KNOWLEDGE)
        expected, has = ([int(one.get(name, "0")) for name in names] for one in (before, found))
        if expected != has:
            raise GenerationChangedError(
                f"another server changed the graph in {self._connections.shown} while this server could not reach the database, or another "
                "node of the database took over without the last changes; restart this server",
                expected=expected,
                found=has,
            )
        return connection

    def _read_meta(self) -> dict[str, str]:
        with self._connections.snapshot() as queries:
            found = dict(queries.rows("meta_all"))
        return {GENERATION: "0", **found}
