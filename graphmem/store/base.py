"""What the rest of graphmem may ask of a graph database: the only interface of the store.

Two engines implement it (`kuzu`, `ladybug`), one suite in tests/stores runs on both. Both take their queries from
`queries/cypher` by name (see catalog); nobody outside this package sees Cypher or a driver object.

Callers take the narrowest protocol they need: `GraphReads`, `GraphWrites`, or `GraphStore` for both. A new engine implements these two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, MemoryRow, RelatesRow, SessionRow
from graphmem.model import ChunkRow, EdgeRow, FileRow, GraphDelta, HandlesRow, OccurrencesRow, SymbolRow, UnresolvedRow

HANDLES_OF: Final = "handles"  # meta: what the stored keys of frameworks were made from


class EngineInfo(NamedTuple):
    """Which engine, and what of it matters to `doctor`."""

    name: str  # kuzu | ladybug
    version: str
    storage_version: int
    buffer_pool_bytes: int
    max_db_bytes: int


class GraphTables(NamedTuple):
    """Everything the `graph` projection needs, as Arrow, in one consistent snapshot.

    Columns are those of the rows in `graphmem.model`, without texts of chunks; only live rows
    (`stale_at` is null); every table sorted by id, edges by (kind, src, dst).
    """

    generation: int
    files: pa.Table
    symbols: pa.Table
    externals: pa.Table
    edges: pa.Table  # kind src dst confidence source rule line lines
    unresolved: pa.Table


class StoredRows(NamedTuple):
    """Rows of some files, each list sorted by id."""

    files: list[FileRow]
    symbols: list[SymbolRow]
    chunks: list[ChunkRow]
    unresolved: list[UnresolvedRow]
    occurrences: list[OccurrencesRow]


class Knowledge(NamedTuple):
    """Layer 3 in one consistent snapshot, each list sorted by id (edges by their ends)."""

    generation: int  # of the knowledge
    memories: list[MemoryRow]
    about: list[AboutRow]
    relates: list[RelatesRow]
    sessions: list[SessionRow]
    learnt: list[LearntRow]


class StoredModule(NamedTuple):
    """A module of layer 2 with what it held when it was last worked out, as far as that is still there."""

    id: str
    name: str
    path: str
    paths: list[str]  # of its files, ascending


class ModuleRow(NamedTuple):
    """A module to be kept."""

    id: str
    name: str
    path: str
    summary: str
    files: list[str]  # ids


class FlowRow(NamedTuple):
    """A flow to be kept."""

    id: str
    name: str
    kind: str  # of its entry point
    confidence: float
    entry: str  # id of the symbol it starts at
    steps: list[tuple[str, float, str, int]]  # symbol id, confidence, rule, line; in order


class CoAccessRow(NamedTuple):
    """Two files that move together, seen from the first; the other direction is a row of its own."""

    src: str  # id of a file
    dst: str
    sessions: int  # changes that touched both, commits among them
    confidence: float  # share of the changes of the first that touched the second too
    last_seen_at: datetime  # aware


class KeyRow(NamedTuple):
    """A key of a framework with a function that handles it."""

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
    """A link of a memory to code."""

    memory_id: str
    target_id: str
    role: str
    anchor: str


class GraphCounts(NamedTuple):
    """What the code graph holds, for `doctor`."""

    edges: list[dict[str, Any]]  # kind rule source confidence edges
    calls: list[dict[str, Any]]  # rule edges sites
    call_sites: int
    unresolved: list[dict[str, Any]]  # reason sites


class AskedRows(NamedTuple):
    """The answer to a query that a person wrote."""

    columns: list[str]
    rows: list[list[Any]]  # values as JSON has them
    cut: bool  # there are more


class GraphReads(Protocol):
    """What reading a graph takes. Any thread may call it."""

    def generation(self) -> int:
        """Counter of committed changes of the graph; 0 in a new database."""

    def knowledge_generation(self) -> int:
        """Counter of committed changes of layer 3, anchors that an index run moved among them; 0 in a new database."""

    def tables(self) -> GraphTables:
        """The snapshot for the `graph` projection."""

    def chunks(self, ids: Sequence[str] | None = None) -> pa.Table:
        """Chunk rows with text, all or those ids, sorted by id."""

    def packed_chunks(self) -> pa.Table:
        """Columns of PackedChunkRow, all rows, sorted by id."""

    def file_hashes(self) -> dict[str, str]:
        """Content hash of every file by path, paths ascending."""

    def framework_keys(self) -> list[KeyRow]:
        """Keys of frameworks and who handles them, by kind, name and symbol."""

    def counts(self) -> GraphCounts:
        """How many edges, call sites and unresolved sites there are."""

    def memory_links(self) -> list[LinkRow]:
        """Every link of a memory to code, by memory, target and role."""

    def memory_count(self) -> int:
        """How many memories there are, of any status."""

    def remembered_names(self) -> dict[str, str]:
        """Names of code that memories are about and the graph does not have, or not any more, by id."""

    def edges_from(self, paths: Iterable[str]) -> list[EdgeRow]:
        """Edges whose source lies in these files."""

    def rows_of(self, paths: Sequence[str], chunks_of: Sequence[str]) -> StoredRows:
        """What the graph holds of these files, but for edges; chunks only of `chunks_of`. Unknown paths are passed over."""

    def places(self, file: str) -> bytes:
        """Packed occurrences in the file with this id; empty if none are known. See `graphmem.runtime.places`."""

    def knowledge(self, ids: Sequence[str] | None = None) -> Knowledge:
        """Everything of layer 3, or what belongs to these memories."""

    def modules(self) -> tuple[int, list[StoredModule]]:
        """The generation of the code that the stored modules were worked out from (0 for none), and the modules by id."""

    def vectors(self, model: str) -> pa.Table:
        """(text_hash string, vector fixed_size_list<float32>) of a model, sorted by text_hash."""

    def vector_models(self) -> dict[str, int]:
        """How many vectors each model has, by its id."""

    def meta(self) -> dict[str, str]:
        """Small facts about the database: project, root, extraction version, indexed_at and the like."""


class GraphWrites(Protocol):
    """What changing a graph takes. Any thread may call it; each write is one step."""

    def apply(self, delta: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a delta (and meta values) in one step and return the new generation.

        Into an empty graph this is a bulk COPY that is invisible until complete; otherwise one
        transaction. A crash at any moment leaves the old or the new graph, never a mixture.
        """

    def replace(self, full: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Commit a whole new code graph in place of the old one (memories are kept and re-anchored)."""

    def apply_knowledge(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, meta: Mapping[str, str] | None = None) -> int:
        """Commit a change of layer 3 in one transaction and return the new knowledge generation.

        Args:
            delta: what changes; ids of ABOUT targets that are in no table are left out, but for those in `delta.files`. The
                anchor of each link is judged against the stored code (see `store.anchors`), whatever the row says.
            vectors: (text_hash, vector) of the memories' one `embedding_model`, committed with them.
            meta: meta values to set with it.

        Ten thousand memories are one call; the code graph's generation does not change. Applying a delta again changes nothing.

        Raises:
            BadInputError: the delta contradicts itself or leads to a memory or session that is not there.
            DiskFullError: the disk refused it; nothing was written.
        """

    def put_modules(self, generation: int, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]]) -> None:
        """Keep modules and their dependencies in place of those before. Does not change the generation of the code."""

    def put_flows(self, generation: int, flows: Sequence[FlowRow]) -> None:
        """Keep flows in place of those before; a step whose symbol is gone is passed over."""

    def put_co_accessed(self, mark: str, rows: Sequence[CoAccessRow]) -> None:
        """Keep edges between files that move together in place of those before; files that are gone are passed over.

        Args:
            mark: which history they were derived from, kept in `meta` as "co_accessed".
            rows: one for each direction.
        """

    def put_handles(self, mark: str, project: str, rows: Sequence[HandlesRow]) -> None:
        """Keep the keys of frameworks and who handles them in place of those before; a handler that is gone is passed over.

        Args:
            mark: what they were made from, kept in `meta` as "handles".
            project: part of the keys' ids.
            rows: distinct.
        """

    def put_vectors(self, model: str, dim: int, rows: pa.Table) -> None:
        """Add vectors by text_hash; existing ones are kept. Does not change the generation."""

    def forget_vectors(self, model: str) -> int:
        """Delete the vectors of a model; how many there were. Does not change the generation."""

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some of them, without touching the generation."""

    def queued_writes(self) -> int:
        """Writes that wait for their turn."""


class LocalFile(Protocol):
    """What the file of an embedded engine can do besides. An engine that is a server has none."""

    path: str
    proven: bool  # when it was opened, each byte of the file was what it was when it was closed

    def compact(self) -> int:
        """Write everything into a new file, without the room that deleted rows still take; the new generation."""

    def waste(self) -> int:
        """About how many bytes of the file `compact` would give back: what it grew since it was last written as a whole."""

    def copy_to(self, target: Path) -> None:
        """A copy of the file as of now, complete and on disk; reads go on, writes wait."""

    def dump(self, folder: Path) -> dict[str, int]:
        """Everything of one moment as files that no engine had a part in; rows by table. Reads and writes go on."""

    def exchange(self, new: Path) -> int:
        """Let another closed database of this engine, on this disk, take this one's place; the new generation."""

    def checkpoint(self) -> None:
        """Bring the file up to date; called by the owner in idle moments and before close."""

    def held_changes(self) -> int:
        """Changes of the code whose memory a checkpoint would give back."""

    def rest(self, unused_s: float) -> bool:
        """Close the file until somebody needs it, if nobody did for so long; whether it was closed now."""


class CypherQueries(Protocol):
    """Queries that a person wrote."""

    def ask(self, query: str, params: Mapping[str, Any], *, most_rows: int, timeout_s: float) -> AskedRows:
        """Rows of a query that a person wrote; see `store.cypher_filter` for what may be written, `store.cypher_sandbox` for how it runs.

        Raises:
            BadInputError: it may not run, the engine cannot make sense of it, or it ended the process it ran in.
            LimitError: it wants more memory than it may have, or the answer is too large.
            DeadlineError: it took longer than `timeout_s`.
            StoreBusyError: another one is running.
        """


class GraphStore(GraphReads, GraphWrites, Protocol):
    """An open store: it reads and writes. What else it can do, it has as a capability or not; callers ask for `None`."""

    engine: EngineInfo
    notes: list[str]  # what had to be put aside when it was opened, one sentence each; for `doctor`

    @property
    def local(self) -> LocalFile | None:
        """The file of an embedded engine."""

    @property
    def cypher(self) -> CypherQueries | None:
        """What answers people's own queries."""

    def close(self) -> None:
        """Finish queued writes, checkpoint, close. Twice is once."""
