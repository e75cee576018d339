"""Interface of the database with code and memories, for other packages.

Two embedded engines (`kuzu`, `ladybug`) and PostgreSQL (`store.postgres`) implement it, and one suite in tests/store runs on all of them.
The engines take their queries from `queries/cypher` by name (see catalog), PostgreSQL from `queries/postgres`. Cypher and driver objects
stay inside this package.

The graph has three layers. Layer 1 is the code. Layer 2 is derived from it, such as modules and flows. Layer 3 is the memories with their
sessions and links.

Callers use the narrowest protocol they need: `GraphReads`, `GraphWrites`, or `GraphStore` for both. A new engine implements `GraphReads`
and `GraphWrites`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, MemoryRow, RelatesRow, SessionRow
from graphmem.model import ChunkRow, EdgeRow, FileRow, GraphDelta, HandlesRow, OccurrencesRow, SymbolRow, UnresolvedRow

HANDLES_OF: Final = "handles"  # meta: the source of the stored framework keys


class EngineInfo(NamedTuple):
    """Name, version and memory limits of a database engine, as `doctor` shows."""

    name: str  # kuzu | ladybug
    version: str
    storage_version: int
    buffer_pool_bytes: int
    max_db_bytes: int


class GraphTables(NamedTuple):
    """The code graph as Arrow tables, all from one moment.

    The in-memory code graph is built from the tables. The columns are those of the rows in `graphmem.model`, without the texts of chunks
    (pieces of files). Rows of removed code (`stale_at` is not null) are left out. Every table is sorted by id, edges by (kind, src, dst).
    """

    generation: int
    files: pa.Table
    symbols: pa.Table
    externals: pa.Table
    edges: pa.Table  # kind src dst confidence source rule line lines
    unresolved: pa.Table


class StoredRows(NamedTuple):
    """The stored rows of given files, without edges.

    The rows are files, symbols, chunks (pieces of files), unresolved calls, and positions of names. There is one list for each type of row,
    sorted by id.
    """

    files: list[FileRow]
    symbols: list[SymbolRow]
    chunks: list[ChunkRow]
    unresolved: list[UnresolvedRow]
    occurrences: list[OccurrencesRow]


class Knowledge(NamedTuple):
    """Memories with their sessions and links, all from one moment.

    Lists of memories and sessions are sorted by id, lists of links by the ids of their ends.
    """

    generation: int  # of the knowledge
    memories: list[MemoryRow]
    about: list[AboutRow]
    relates: list[RelatesRow]
    sessions: list[SessionRow]
    learnt: list[LearntRow]


class StoredModule(NamedTuple):
    """A module (a group of files) as it was last computed and stored.

    `paths` has the paths of its files, without files that no longer exist.
    """

    id: str
    name: str
    path: str
    paths: list[str]  # of its files, ascending


class ModuleRow(NamedTuple):
    """A module (a group of files), ready to be written to the store."""

    id: str
    name: str
    path: str
    summary: str
    files: list[str]  # ids


class FlowRow(NamedTuple):
    """A flow (path of calls from an entry point), ready to be written."""

    id: str
    name: str
    kind: str  # of its entry point
    confidence: float
    entry: str  # id of the symbol it starts at
    steps: list[tuple[str, float, str, int]]  # symbol id, confidence, rule, line; in order


class CoAccessRow(NamedTuple):
    """Number of changes to one file (`src`) that also touched another (`dst`).

    The opposite direction (changes of `dst` that also touched `src`) is a row of its own.
    """

    src: str  # id of a file
    dst: str
    sessions: int  # changes that touched both, including commits
    confidence: float  # share of the first file's changes that touched the second too
    last_seen_at: datetime  # aware


class KeyRow(NamedTuple):
    """A framework key, such as a route, and the function that handles the key.

    The framework finds the function by the key.
    """

    id: str
    kind: str
    name: str
    framework: str
    symbol_id: str
    confidence: float
    source: str
    rule: str
    line: int


class LinkRow(NamedTuple):
    """A link of a memory to code: ids of both ends, role and state.

    A role is, for example, "about" or "impacts". The state tells whether the code still exists unchanged.
    """

    memory_id: str
    target_id: str
    role: str
    anchor: str


class GraphCounts(NamedTuple):
    """Numbers of edges, calls and unresolved calls, which `doctor` shows."""

    edges: list[dict[str, Any]]  # kind rule source confidence edges
    calls: list[dict[str, Any]]  # rule edges sites
    call_sites: int
    unresolved: list[dict[str, Any]]  # reason sites


class AskedRows(NamedTuple):
    """Column names and rows that a user-written query returned."""

    columns: list[str]
    rows: list[list[Any]]  # JSON values
    cut: bool  # more rows exist


class GraphReads(Protocol):
    """Interface for reading code and memories. Any thread may call it."""

    def generation(self) -> int:
        """Return the counter of committed graph changes; 0 in a new database."""

    def knowledge_generation(self) -> int:
        """Return the counter of committed changes of memories and sessions.

        An index run also counts if it changes the state of a link from a memory to code. The counter is 0 in a new database.
        """

    def tables(self) -> GraphTables:
        """Return the code graph as Arrow tables, all from one moment.

        Stale rows are left out: rows of removed code that memories still link to.
        """

    def chunks(self, ids: Sequence[str] | None = None) -> pa.Table:
        """Return all chunks, or those with given ids, with text, sorted by id.

        A chunk is a piece of a file that is searched and embedded.
        """

    def packed_chunks(self) -> Iterator[pa.Table]:
        """Yield all chunks with compressed texts, in pieces of bounded size.

        The columns are those of PackedChunkRow; the order is undefined. A commit between two pieces is visible in later pieces.
        """

    def file_hashes(self) -> dict[str, str]:
        """Return the content hash of each file, by path in ascending order."""

    def framework_keys(self) -> list[KeyRow]:
        """Return framework keys, such as routes, with their handler functions.

        A framework finds a function by its key. The keys are sorted by kind, name and symbol.
        """

    def counts(self) -> GraphCounts:
        """Return numbers of edges, calls and unresolved calls.

        Several calls of one function by another are one edge.
        """

    def memory_links(self) -> list[LinkRow]:
        """Return all links of memories to code, sorted by memory, target and role."""

    def memory_count(self) -> int:
        """Return the number of memories of any status."""

    def remembered_names(self) -> dict[str, str]:
        """Return names of removed code to which memories still link.

        The result maps the id of each such symbol or file to its name, for example "src/app.py:Cart.total".
        """

    def edges_from(self, paths: Iterable[str]) -> list[EdgeRow]:
        """Return the edges whose source is in one of the files `paths`."""

    def rows_of(self, paths: Sequence[str], chunks_of: Sequence[str]) -> StoredRows:
        """Return the stored rows of given files, without edges; see `StoredRows`.

        Chunks are returned only for the files in `chunks_of`. Unknown paths are ignored.
        """

    def places(self, files: Sequence[str]) -> dict[str, bytes]:
        """Map ids of files to the positions of the names that they use.

        Unknown files are left out. The positions of a file are bytes; `graphmem.runtime.texts.places` unpacks them.
        """

    def knowledge(self, ids: Sequence[str] | None = None) -> Knowledge:
        """Return memories with their sessions and links.

        If `ids` is given, only memories with these ids are returned, and only what belongs to them.
        """

    def modules(self) -> tuple[int, list[StoredModule]]:
        """Return the generation of the stored modules, and the modules.

        A module is a group of related files. The generation is the code's counter of changes when the modules were computed; it is 0 if no
        modules are stored. The modules are sorted by id.
        """

    def vectors(self, model: str) -> pa.Table:
        """Return the stored vectors of one embedding model, sorted by text_hash.

        The columns are text_hash (string) and vector (fixed_size_list<float32>).
        """

    def vector_models(self) -> dict[str, int]:
        """Map the id of each embedding model to the number of its stored vectors."""

    def meta(self) -> dict[str, str]:
        """Return the metadata of the database: short strings by name.

        Examples are `project`, `root` and `indexed_at` (time of the last index run).
        """


class GraphWrites(Protocol):
    """Write access to a graph.

    Any thread may call it. Each write is atomic.
    """

    def apply(self, delta: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of the code; return the new counter of changes.

        `meta` has metadata to store with the change. The commit is atomic: a crash at any time leaves the old or the new graph, never a
        mixture. An empty graph is filled by a bulk copy, which stays invisible until it is complete. Any other change is one transaction.
        """

    def replace(self, full: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Replace the whole code graph; return the new counter of changes.

        `meta` has values to store with the graph. Memories are kept. The state of each link from a memory to code is computed again from
        `full`.
        """

    def apply_knowledge(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of memories and sessions.

        Returns the new counter of such changes; the counter of code changes stays. The change, its vectors and its meta values become
        visible together. One call may write ten thousand memories. Applying the same change again has no effect on the memories.

        Args:
            delta: the change. Links to unknown code are left out, except links to files in `delta.files`. The state of each link is
                computed from the stored code (see `store.writes.anchors`); the state in the row is ignored.
            vectors: (text_hash, vector) rows of the `embedding_model` of the memories, committed with the change.
            meta: metadata to set, by name.

        Raises:
            BadInputError: the change contradicts itself, or leads to a memory or session that does not exist.
            DiskFullError: the disk is full; nothing was written.
        """

    def put_modules(self, generation: int, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]]) -> None:
        """Replace the stored modules (groups of files) and their dependencies.

        `generation` is the counter of code changes at which the modules were computed. This call does not change the counter. Each item of
        `depends_on` is (id of the dependent module, id of the needed module, number of edges).
        """

    def put_flows(self, generation: int, flows: Sequence[FlowRow]) -> None:
        """Replace the stored flows (paths of calls from entry points).

        `generation` is the counter of code changes at which the flows were computed. A step whose symbol no longer exists is left out.
        """

    def put_co_accessed(self, mark: str, rows: Sequence[CoAccessRow]) -> None:
        """Replace the stored pairs of files that often change together.

        A row with a file that no longer exists is left out.

        Args:
            mark: identifies the state of the change history from which the rows were derived; stored in `meta` as "co_accessed".
            rows: the pairs, with one row for each direction.
        """

    def put_handles(self, mark: str, project: str, rows: Sequence[HandlesRow]) -> None:
        """Replace the stored framework keys, such as routes, and their handlers.

        A framework finds a function (the handler) by a key. For example, the handler answers requests to a route. A row whose handler no
        longer exists is left out.

        Args:
            mark: hash of `rows`, stored in `meta` as "handles", by which callers notice whether the keys changed.
            project: name of the project, which is part of the keys' ids.
            rows: the keys with their handlers, without duplicates.
        """

    def put_vectors(self, model: str, dim: int, rows: pa.Table) -> None:
        """Add vectors of texts, keyed by text_hash; existing vectors are kept.

        `model` is the model's id, and `dim` the length of its vectors. The counters of changes do not grow.
        """

    def forget_vectors(self, model: str) -> int:
        """Delete all vectors of one embedding model; return how many were deleted.

        The counters of changes do not grow.
        """

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Store `values` in the metadata of the database, such as `indexed_at`.

        The counters of changes do not grow.
        """

    def queued_writes(self) -> int:
        """Return how many writes wait until earlier writes are done."""


class LocalFile(Protocol):
    """Operations on the file of an embedded engine.

    A store whose engine is a server lacks this interface.
    """

    path: str
    proven: bool  # at open, each byte of the file was the same as when it was closed

    def compact(self) -> int:
        """Rewrite the file without its deleted rows.

        Returns the new counter of code changes.
        """

    def waste(self) -> int:
        """Estimate the number of bytes that `compact` would free.

        The estimate is the number of bytes by which the file has grown since it was last rewritten as a whole.
        """

    def move_to(self, root: str) -> None:
        """Record the root of a project that was moved or copied.

        If the disk is full or can only be read, the root holds for this process alone, so that questions are answered.
        """

    def copy_to(self, target: Path) -> None:
        """Write a complete copy of the database file to `target`, on disk.

        Reads continue during the copy, and writes wait.
        """

    def dump(self, folder: Path) -> dict[str, int]:
        """Write a snapshot of the database in an engine-independent format.

        Returns the number of rows of each table, by its name. Reads and writes continue.
        """

    def exchange(self, new: Path) -> int:
        """Replace this database by the closed database file `new`.

        Returns the new counter of code changes. Both databases must be of the same engine and on the same disk.
        """

    def announced(self) -> AbstractContextManager[int]:
        """Announce a code change, so that readers see it before its commit.

        Use in a `with` block that calls `apply` with the change. The readers are those of the in-memory copies of the graph. The block gets
        the generation (counter of changes) that `apply` will return. Until the end of the block, reads of code from the database wait, and
        so do all writes by other threads. Reads of memories, `generation` and `meta` do not wait. If the block ends without `apply`, this
        generation is not used again while the store is open.
        """

    def checkpoint(self) -> None:
        """Merge the write-ahead log into the database file.

        The process that has the database open calls this when idle and before it closes the database.
        """

    def held_changes(self) -> int:
        """Return how many code changes the engine keeps in RAM.

        A checkpoint frees this memory.
        """

    def covered_chunks(self, model: str) -> int | None:
        """Return how many chunks have a vector of a model; None if unknown.

        The number was recorded by `record_covered`, perhaps in an earlier process, and nothing was written since.
        """

    def record_covered(self, generation: int, model: str, chunks: int) -> None:
        """Record how many chunks (pieces of files) have a vector of a model.

        The chunks are those of the code's `generation`. The next write forgets the number.
        """

    def rest(self, unused_s: float) -> bool:
        """Close the database file if nothing used it for `unused_s` seconds.

        Returns whether this call closed the file. The next use opens it again.
        """


class CypherQueries(Protocol):
    """Interface to run Cypher queries that users write."""

    def ask(self, query: str, params: Mapping[str, object], *, most_rows: int, timeout_s: float) -> AskedRows:
        """Return the rows of a user-written query.

        `params` are the query's parameters. At most `most_rows` rows are returned. See `store.cypher.cypher_filter` for the
        allowed language, `store.cypher.cypher_sandbox` for its execution.

        Raises:
            BadInputError: the query is not allowed, the engine rejects it, or it crashed the process that ran it.
            LimitError: the query needs more memory than allowed, or the answer is too large.
            DeadlineError: the query took longer than `timeout_s`.
            StoreBusyError: another user-written query is running.
        """


class Feed(Protocol):
    """Reports the changes that another server commits to a shared graph."""

    @property
    def note(self) -> str:
        """The fault that stops updates from the other server; "" without a fault."""

    def follow(self, on_code: Callable[[int, GraphDelta | None], object], on_knowledge: Callable[[int], object]) -> None:
        """Call back in a thread for each change of the code and of memories.

        `on_code` gets the new generation (counter of changes) of the code, and the change since the previous one. None instead of a change
        means that the whole graph must be read again. `on_knowledge` gets the new generation of the memories.
        """

    def close(self) -> None:
        """Stop reporting changes, and end the thread. Idempotent."""


class GraphStore(GraphReads, GraphWrites, Protocol):
    """Interface of an open database, for reads and writes.

    The attributes `local`, `cypher` and `feed` are None if the database lacks that capability, so callers check them.
    """

    engine: EngineInfo
    notes: list[str]  # what was quarantined at open, one sentence each; for `doctor`

    @property
    def local(self) -> LocalFile | None:
        """The operations on an embedded engine's file; None without such a file."""

    @property
    def cypher(self) -> CypherQueries | None:
        """The executor of user-written queries; None if not supported."""

    @property
    def feed(self) -> Feed | None:
        """The reporter of another server's changes; None if this process writes."""

    def close(self) -> None:
        """Finish queued writes, checkpoint, close. Idempotent."""
