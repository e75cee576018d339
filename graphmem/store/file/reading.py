"""Read a database file: named queries, consistent snapshots, and caches.

Counters of changes and other metadata are cached, so that they can be read without opening the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import BadInputError, DeadlineError
from graphmem.model import EdgeRow
from graphmem.store.base import GraphCounts, GraphTables, KeyRow, Knowledge, LinkRow, StoredModule, StoredRows
from graphmem.store.engine import times
from graphmem.store.engine.engine import Connection
from graphmem.store.file.live_file import BUSY_S, LiveFile
from graphmem.store.reads.of_files import edges_of, rows_of_files
from graphmem.store.reads.pieces import Pieces
from graphmem.store.reads.read_knowledge import read_knowledge
from graphmem.store.reads.snapshot import chunk_table, graph_tables
from graphmem.store.tables.arrow_rows import wanted
from graphmem.store.tables.meta_names import GENERATION, KNOWLEDGE, MODULES_OF, OWN
from graphmem.store.tables.sealed_rows import unsealed, unsealed_meta
from graphmem.store.tables.tables import EmbeddingTable
from graphmem.store.writes import derived, embeddings

if TYPE_CHECKING:
    import pyarrow as pa


FEW_FILES: Final = 4  # so many are read one by one, by the primary key
_OF_MEMORIES: Final = frozenset({"memory_links", "named_symbols", "named_files"})  # these queries do not wait for a change of the code


class StoreReads(LiveFile):
    """The methods that read a database file. Thread-safe."""

    _query_timeout_s: float
    _reads_sealed: bool  # texts of memories may be encrypted
    _vector_tables: list[EmbeddingTable]
    _shown_meta: tuple[Mapping[str, str], dict[str, str]] | None = None  # the stored values, and the answer of `meta` for them
    _moved_to: str = ""  # the project's root, if a moved index cannot record it

    def generation(self) -> int:
        """Return the counter of committed graph changes; 0 in a new database."""
        self._check_open()
        return int(self._meta.get(GENERATION, "0"))

    def knowledge_generation(self) -> int:
        """Return the counter of committed changes of memories and sessions.

        The counter is 0 in a new database.
        """
        self._check_open()
        return int(self._meta.get(KNOWLEDGE, "0"))

    def read(self, query: str, /, *, timeout_s: float | None = None, **params: object) -> list[dict[str, Any]]:
        """Run a named query; return its rows in the query's order.

        A row maps columns to values. Times are aware, in UTC.

        Args:
            query: name of the query.
            timeout_s: time limit in seconds; None for the store's own limit, 0 for no limit.
            **params: parameters and placeholders of the query.

        Raises:
            QueryParameterError: the query is unknown or writes, or parameters are missing or unknown.
            DeadlineError: the query took longer than its limit.
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

    def file_hashes(self) -> dict[str, str]:
        """Return the content hash of each file, by path in ascending order."""
        return {row["path"]: row["content_hash"] for row in self.read("file_hashes")}

    def framework_keys(self) -> list[KeyRow]:
        """Return framework keys, such as routes, with their handler functions.

        The keys are sorted by kind, name and symbol.
        """
        return [KeyRow(**row) for row in self.read("framework_keys")]

    def counts(self) -> GraphCounts:
        """Return the numbers of edges, call sites and unresolved calls."""
        sites = sum(row["call_sites"] for row in self.read("file_totals"))
        return GraphCounts(self.read("edge_counts"), self.read("call_rules"), sites, self.read("unresolved_counts"))

    def memory_links(self) -> list[LinkRow]:
        """Return all links of memories to code, sorted by memory, target and role."""
        return [LinkRow(**row) for row in self.read("memory_links")]

    def remembered_names(self) -> dict[str, str]:
        """Return names of removed code to which memories still link.

        The result maps the id of each such symbol or file to its name, for example "src/app.py:Cart.total".
        """
        gone = {row["id"]: f"{row['path']}:{row['qualname']}" for row in self.read("named_symbols")}
        return gone | {row["id"]: row["path"] for row in self.read("named_files")}

    def tables(self) -> GraphTables:
        """Return the code graph as Arrow tables, all from one moment.

        Stale rows are left out: rows of removed code that memories still link to.
        """
        with self._snapshot() as (ask, meta):
            return graph_tables(ask, int(meta.get(GENERATION, "0")))

    def chunks(self, ids: Sequence[str] | None = None) -> pa.Table:
        """Return all chunks, or those with given ids, with text, sorted by id.

        A chunk is a piece of a file that is searched and embedded.
        """
        return chunk_table(self._ask, ids)

    def packed_chunks(self) -> Iterator[pa.Table]:
        """Yield all chunks, in the order in which the database file stores them.

        A chunk is a piece of code or of a document. Each yielded table is an Arrow table of bounded size. The column `packed` has the
        prefix and the text of each chunk, compressed.
        """
        for piece in Pieces(self._ask).live_chunks():
            yield piece.rename_columns(["packed" if name == "text" else name for name in piece.column_names])

    def edges_from(self, paths: Iterable[str]) -> list[EdgeRow]:
        """Return the edges that begin in files, sorted by (kind, src, dst).

        `paths` are the files.
        """
        with self._snapshot() as (ask, _):
            return edges_of(ask, set(paths))

    def rows_of(self, paths: Sequence[str], chunks_of: Sequence[str]) -> StoredRows:
        """Return the stored rows of the files `paths`, without edges.

        See `StoredRows`. Chunks are returned only for the files in `chunks_of`.
        """
        with self._snapshot() as (ask, _):
            return rows_of_files(ask, set(paths), set(chunks_of))

    def places(self, files: Sequence[str]) -> dict[str, bytes]:
        """Return, for each file by id, where it uses names, as packed bytes.

        Unknown files are left out.
        """
        if len(files) > FEW_FILES:
            rows = self.read("occurrences_by_ids", rows=wanted(sorted(set(files))))
        else:
            rows = [row for one in dict.fromkeys(files) for row in self.read("occurrences_in", id=one)]
        return {row["id"]: bytes(row["places"]) for row in rows}

    def knowledge(self, ids: Sequence[str] | None = None) -> Knowledge:
        """Return memories (all, or those with the given `ids`), with their links.

        Sessions are returned, too; see `GraphReads.knowledge`.
        """
        if not self.knowledge_generation():
            return Knowledge(0, [], [], [], [], [])  # nothing was ever written, so the file need not be opened
        with self._snapshot(of_code=False) as (ask, meta):
            found = read_knowledge(ask, int(meta.get(KNOWLEDGE, "0")), ids)
        return unsealed(found) if self._reads_sealed else found

    def modules(self) -> tuple[int, list[StoredModule]]:
        """Return the generation of the stored modules, and the modules.

        A module is a group of related files. The generation is the code's counter of changes when the modules were computed; it is 0 if no
        modules are stored. The modules are sorted by id.
        """
        generation = int(self.meta().get(MODULES_OF, "0"))
        return generation, derived.stored_modules(self.read("module_rows"), self.read("module_files"))

    def vectors(self, model: str) -> pa.Table:
        """Return the stored vectors of one embedding model, sorted by text_hash.

        The columns are text_hash and vector. If the model has no vectors, the result has no rows, and its vector column has dimension 1.
        """
        with self._snapshot() as (ask, _):
            return embeddings.of_model(Pieces(ask).vectors, self._vector_tables, model)

    def vector_models(self) -> dict[str, int]:
        """Map the id of each embedding model to the number of its stored vectors.

        If the file is closed because it was idle, the recorded numbers are returned without opening the file.
        """
        self._check_open()
        if self._at_rest:
            return dict(self._counts.vectors)
        return embeddings.models(self._ask, self._vector_tables)

    def meta(self) -> dict[str, str]:
        """Return the metadata of the database by name, except internal values.

        The values are short strings, such as `project` and `indexed_at`.
        """
        self._check_open()
        known = self._shown_meta
        if known is None or known[0] is not self._meta:
            stored = self._meta
            sealed = {name: value for name, value in sorted(stored.items()) if not name.startswith(OWN)}
            shown = unsealed_meta(sealed)
            moved = {"root": self._moved_to} if self._moved_to else {}
            if shown != sealed:  # encrypted values are decrypted for each caller, and not kept
                return shown | moved
            known = self._shown_meta = (stored, shown | moved)
        return dict(known[1])

    @contextmanager
    def _reading(
        self, query: str, params: Mapping[str, object], timeout_s: float | None
    ) -> Iterator[tuple[Connection, str, dict[str, object]]]:
        named = self._catalog[query]
        if named.writes and "LOAD FROM $rows" not in named.text:
            raise BadInputError(
                f"the query {query} ({named.where}) changes the database, and only reading is allowed here; use a query that only reads",
                argument="query",
            )
        text, values = named.bind(params)
        seconds = self._query_timeout_s if timeout_s is None else timeout_s
        if query not in _OF_MEMORIES:
            self._announcements.wait(BUSY_S)
        with self._passage() as connection:
            connection.set_timeout(seconds)
            try:
                yield connection, text, values
            except DeadlineError as error:
                raise DeadlineError(
                    f"the query {query} did not finish within {seconds:g} s; request fewer results, or raise the time limit",
                    seconds=seconds,
                ) from error

    def _ask(self, query: str, **values: object) -> pa.Table:
        with self._reading(query, values, 0) as (connection, text, params):
            return connection.arrow(text, params)

    @contextmanager
    def _snapshot(self, *, of_code: bool = True) -> Iterator[tuple[Callable[..., pa.Table], Mapping[str, str]]]:
        """Open a snapshot for a `with` block; yield (query function, metadata).

        The metadata is the counters and settings in the table `Meta`, as the snapshot has them. Checkpoints wait while the snapshot is
        open. If `of_code` is true, the snapshot begins only after an announced change is committed; see `LocalFile.announced`.
        """
        with self._read_only(of_code=of_code) as (connection, meta):

            def ask(query: str, **values: object) -> pa.Table:
                text, params = self._catalog[query].bind(values)
                return connection.arrow(text, params)

            yield ask, meta

    @contextmanager
    def _read_only(self, *, of_code: bool = True) -> Iterator[tuple[Connection, dict[str, str]]]:
        """Open a read-only transaction for a block; yield (it, metadata).

        The metadata is the counters and settings in the table `Meta`. See `_snapshot` about checkpoints and `of_code`.
        """
        if of_code:
            self._announcements.wait(BUSY_S)
        with self._passage() as connection:
            connection.set_timeout(0)
            connection.rows("BEGIN TRANSACTION READ ONLY")
            try:
                yield connection, dict(connection.rows(*self._catalog["meta_all"].bind({})).rows)
            finally:
                connection.end_reading()


def checked_meta(values: Mapping[str, str] | None) -> dict[str, str]:
    """Return the metadata `values` that a caller stores, if all is valid.

    Raises:
        BadInputError: a name or a value is not a string, or the name is reserved for the store.
    """
    for name, value in (values or {}).items():
        if not isinstance(name, str) or not isinstance(value, str) or name.startswith(OWN):
            raise BadInputError(
                f"invalid metadata {name!r} = {value!r}; the value must be a string, and the name must be a string that does not begin "
                f"with {OWN!r}",
                argument="meta",
            )
    return dict(values or {})
