"""The graph of a branch, stored as its differences from the main branch.

Rows of files that are equal on both branches come from the main branch's database (the base). For the files that differ, `Layer` gives the
branch's own rows. A branch has no memories of its own, and shows the memories of the base. For each link of a memory to code, the state is
computed again from the code of the branch. Writes of code and memories are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from graphmem.errors import StoreBusyError
from graphmem.knowledge import AboutRow, KnowledgeDelta
from graphmem.model import EdgeRow, GraphDelta, HandlesRow
from graphmem.runtime.arrow import pc
from graphmem.store.base import (
    CoAccessRow,
    FlowRow,
    GraphCounts,
    GraphStore,
    GraphTables,
    KeyRow,
    Knowledge,
    LinkRow,
    ModuleRow,
    StoredModule,
    StoredRows,
)
from graphmem.store.overlays.overlay_layer import Judging, Layer, OverlayFeed, OwnRows
from graphmem.store.tables.arrow_rows import node_slices
from graphmem.store.tables.tables import NodeTable
from graphmem.store.writes.anchors import judged

_EDGE_ORDER: Final = [("kind", "ascending"), ("src", "ascending"), ("dst", "ascending")]


class OverlayStore:
    """The read-only graph of a branch, with the main branch's memories.

    The interface is `GraphStore`. Thread-safe.

    Args:
        base: the store of the project's main branch, which stays open.
        read: returns the graph rows of files with given digests (hashes of the rows).
        layer: the state of the branch.
    """

    local: Final = None
    cypher: Final = None

    def __init__(
        self,
        base: GraphStore,
        read: Callable[[Iterable[str]], OwnRows],
        layer: Layer,
    ) -> None:
        self.engine = base.engine
        self.notes: list[str] = []
        self.feed = OverlayFeed()
        self._base, self._read = base, read
        self._judging = Judging({}, {}, {}, ())
        self.layer = layer
        self._derived: dict[str, str] = {}
        self._modules: tuple[int, list[StoredModule]] = (0, [])
        self._knowledge_generation = 1

    def become(self, layer: Layer) -> None:
        """Replace the state of the branch by `layer`, as after a push."""
        self.layer = layer

    def keep_own(self, own: Mapping[str, str]) -> None:
        """Read more files from the branch's own rows, not from the main branch.

        `own` maps the paths of these files to digests (hashes of the rows). Call this before the main branch changes the files, so that the
        branch keeps the old version.
        """
        self.layer = self.layer._replace(own={**own, **self.layer.own})

    def judge(self, judging: Judging) -> None:
        """Set how links from memories to code differ on the branch."""
        self._judging = judging

    def memories_changed(self) -> None:
        """Tell the readers of the branch that the project's memories changed."""
        self._knowledge_generation += 1
        self.feed.on_knowledge(self._knowledge_generation)

    # ---- reading

    def generation(self) -> int:
        """Return the counter of changes of the branch's code."""
        return self.layer.generation

    def knowledge_generation(self) -> int:
        """Return a counter that grows when the project's memories change."""
        return self._knowledge_generation

    def meta(self) -> dict[str, str]:
        """Return the metadata of the branch and of the main branch, by name.

        If both have a value of the same name, the value of the branch is returned.
        """
        return dict(sorted({**self._base.meta(), **self.layer.meta, **self._derived}.items()))

    def tables(self) -> GraphTables:
        """Return the code graph of the branch as Arrow tables."""
        layer = self.layer
        base, own = self._base.tables(), self._rows(layer.own)
        paths = pa.array(sorted(layer.own), pa.string())
        files, symbols = (_merged(table, paths, rows) for table, rows in ((base.files, own.files), (base.symbols, own.symbols)))
        unresolved = _merged(base.unresolved, paths, own.unresolved)
        left = pa.concat_arrays([_only(table, paths)["id"].combine_chunks() for table in (base.files, base.symbols)])
        edges = base.edges.filter(pc.invert(pc.is_in(base.edges["src"], left)))
        edges = pa.concat_tables([edges, _table(own.edges, edges.schema)]).sort_by(_EDGE_ORDER).combine_chunks()
        known = pc.is_in(pa.array(sorted(own.externals), pa.string()), base.externals["id"].combine_chunks()).to_pylist()
        new = [own.externals[one] for one, is_known in zip(sorted(own.externals), known, strict=True) if not is_known]
        externals = pa.concat_tables([base.externals, _table(new, base.externals.schema)])
        externals = externals.filter(pc.is_in(externals["id"], edges["dst"].combine_chunks())).sort_by("id").combine_chunks()
        return GraphTables(layer.generation, files, symbols, externals, edges, unresolved)

    def chunks(self, ids: Sequence[str] | None = None) -> pa.Table:
        """Return all chunks, or those with given ids, with text, sorted by id.

        A chunk is a piece of a file that is searched and embedded.
        """
        own = self.layer.own
        rows = self._rows(own).chunks
        wanted = set(ids) if ids is not None else None
        found = _without(self._base.chunks(ids), pa.array(sorted(own), pa.string()))
        mine = [row for row in rows if wanted is None or row.id in wanted]
        return pa.concat_tables([found, _table(mine, found.schema)]).sort_by("id").combine_chunks()

    def packed_chunks(self) -> Iterator[pa.Table]:
        """Yield all chunks with compressed texts, in several tables.

        A chunk is a piece of a file that is searched and embedded.
        """
        own = self.layer.own
        paths = pa.array(sorted(own), pa.string())
        for piece in self._base.packed_chunks():
            yield _without(piece, paths)
        for piece in node_slices(NodeTable.CHUNK, self._rows(own).chunks):
            yield piece.rename_columns(["packed" if name == "text" else name for name in piece.column_names])

    def file_hashes(self) -> dict[str, str]:
        """Map the path of each file, ascending, to the hash of its content."""
        own = self.layer.own
        found = {path: content for path, content in self._base.file_hashes().items() if path not in own}
        found.update((row.path, row.content_hash) for row in self._rows(own).files)
        return dict(sorted(found.items()))

    def framework_keys(self) -> list[KeyRow]:
        """Return framework keys, such as routes, with their handler functions."""
        return sorted(self.layer.keys, key=lambda row: (row.kind, row.name, row.symbol_id))

    def counts(self) -> GraphCounts:
        """Return the numbers of edges, call sites and unresolved calls."""
        tables = self.tables()
        groups = tables.edges.group_by(["kind", "rule", "source", "confidence"]).aggregate([([], "count_all")])
        edges = groups.rename_columns(["kind", "rule", "source", "confidence", "edges"]).to_pylist()
        calls = tables.edges.filter(pc.equal(tables.edges["kind"], "CALLS"))
        calls = calls.append_column("sites", pc.add(pc.count_substring(calls["lines"], ","), 1))
        of_rule = calls.group_by(["rule"]).aggregate([([], "count_all"), ("sites", "sum")])
        rules = of_rule.rename_columns(["rule", "edges", "sites"]).to_pylist()
        reasons = tables.unresolved.group_by(["reason"]).aggregate([([], "count_all")]).rename_columns(["reason", "sites"]).to_pylist()
        return GraphCounts(
            sorted(edges, key=lambda row: (row["kind"], -row["edges"], row["rule"], row["source"], row["confidence"])),
            sorted(rules, key=lambda row: (-row["sites"], row["rule"])),
            int(pc.sum(tables.files["call_sites"]).as_py() or 0),
            sorted(reasons, key=lambda row: (-row["sites"], row["reason"])),
        )

    def edges_from(self, paths: Iterable[str]) -> list[EdgeRow]:
        """Return the edges that begin in files, sorted by (kind, src, dst).

        `paths` are the files.
        """
        wanted, own = set(paths), self.layer.own
        mine = self._rows({path: own[path] for path in wanted & own.keys()}).edges
        return sorted([*self._base.edges_from(sorted(wanted - own.keys())), *mine], key=lambda row: row[:3])

    def rows_of(self, paths: Sequence[str], chunks_of: Sequence[str]) -> StoredRows:
        """Return the rows of the files `paths` on the branch, without edges.

        Chunks are returned only for the files in `chunks_of`.
        """
        own = self.layer.own
        base = self._base.rows_of([path for path in paths if path not in own], [path for path in chunks_of if path not in own])
        mine = self._rows({path: own[path] for path in own.keys() & {*paths, *chunks_of}})
        asked, chunked = set(paths), set(chunks_of)
        return StoredRows(
            sorted([*base.files, *(row for row in mine.files if row.path in asked)]),
            sorted([*base.symbols, *(row for row in mine.symbols if row.path in asked)]),
            sorted([*base.chunks, *(row for row in mine.chunks if row.path in chunked)]),
            sorted([*base.unresolved, *(row for row in mine.unresolved if row.path in asked)]),
            sorted([*base.occurrences, *(row for row in mine.occurrences if row.path in asked)]),
        )

    def places(self, files: Sequence[str]) -> dict[str, bytes]:
        """Return, for each file by id, where it uses names, as packed bytes.

        Unknown files are left out.
        """
        own = {row.id: row.places for row in self._rows(self.layer.own).occurrences if row.id in files}
        gone = {one for one in files if (state := self._judging.states.get(one)) is not None and state.gone}
        return {**self._base.places([one for one in files if one not in own and one not in gone]), **own}

    def knowledge(self, ids: Sequence[str] | None = None) -> Knowledge:
        """Return the project's memories, with links as they are on the branch.

        With `ids`, only the memories with these ids are returned.
        """
        found = self._base.knowledge(ids)
        return found._replace(generation=self._knowledge_generation, about=self._judged(found))

    def memory_links(self) -> list[LinkRow]:
        """Return all links of memories to code, sorted by memory, target and role."""
        return sorted(LinkRow(row.memory_id, row.target_id, row.role, str(row.anchor)) for row in self.knowledge().about)

    def memory_count(self) -> int:
        """Return the number of memories of any status."""
        return self._base.memory_count()

    def remembered_names(self) -> dict[str, str]:
        """Map ids of removed code, to which memories still link, to names.

        The names of code that only the branch lacks are included.
        """
        judging = self._judging
        there = {id_ for id_, state in judging.states.items() if not state.gone}
        return {one: name for one, name in {**self._base.remembered_names(), **judging.names}.items() if one not in there}

    def modules(self) -> tuple[int, list[StoredModule]]:
        """Return the modules (groups of files) derived from the branch's code."""
        return self._modules

    def vectors(self, model: str) -> pa.Table:
        """Return the vectors of one embedding model, sorted by text_hash.

        The vectors are read from the main branch's database, which also stores the vectors of the branch's texts.
        """
        return self._base.vectors(model)

    def vector_models(self) -> dict[str, int]:
        """Map the id of each embedding model to its number of stored vectors."""
        return self._base.vector_models()

    # ---- writing

    def apply(self, delta: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Raise an error, because only `graphmem push` changes a branch."""
        raise _only_pushes()

    def replace(self, full: GraphDelta, meta: Mapping[str, str] | None = None) -> int:
        """Raise an error, because only `graphmem push` changes a branch."""
        raise _only_pushes()

    def apply_knowledge(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, meta: Mapping[str, str] | None = None) -> int:
        """Raise an error, because memories are written to the project itself."""
        raise _only_pushes()

    def put_modules(self, generation: int, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]]) -> None:
        """Hold the modules (groups of files) in memory; nothing is stored."""
        path_of = {row["id"]: row["path"] for row in self.tables().files.select(["id", "path"]).to_pylist()}
        rows = [StoredModule(one.id, one.name, one.path, sorted(path_of[file] for file in one.files if file in path_of)) for one in modules]
        self._modules = generation, sorted(rows)

    def put_flows(self, generation: int, flows: Sequence[FlowRow]) -> None:
        """Do nothing, because no query of a branch reads stored flows.

        Only Cypher queries read stored flows, and a branch has no Cypher queries.
        """

    def put_co_accessed(self, mark: str, rows: Sequence[CoAccessRow]) -> None:
        """Do nothing, because no query of a branch reads pairs of changed files.

        Only Cypher queries read the stored pairs of files that often change together, and a branch has no Cypher queries.
        """

    def put_handles(self, mark: str, project: str, rows: Sequence[HandlesRow]) -> None:
        """Do nothing, because each push contains the branch's framework keys.

        Framework keys are, for example, routes with their handler functions.
        """

    def put_vectors(self, model: str, dim: int, rows: pa.Table) -> None:
        """Add vectors of texts, keyed by text_hash, to the main branch's database.

        `dim` is the length of the vectors of `model`.
        """
        self._base.put_vectors(model, dim, rows)

    def forget_vectors(self, model: str) -> int:
        """Delete nothing, because the vectors belong to the main branch; return 0."""
        return 0

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Keep the metadata `values` in memory until the branch is closed."""
        self._derived = {**self._derived, **values}

    def queued_writes(self) -> int:
        """Return the number of waiting writes: 0, because branches get none."""
        return 0

    def close(self) -> None:
        """Stop telling readers about changes of the branch. Idempotent.

        The main branch is not closed.
        """
        self.feed.close()

    # ---- inside

    def _rows(self, own: Mapping[str, str]) -> OwnRows:
        return self._read(sorted(filter(None, own.values())))

    def _judged(self, found: Knowledge) -> list[AboutRow]:
        """Return the links of memories to code as they are on the branch.

        `found` has the links of the main branch.
        """
        judging = self._judging
        links: dict[tuple[str, str, str], AboutRow] = {}
        for row in found.about:
            target = judging.moves.get(row.target_id, row.target_id)
            if target in judging.states:
                link: tuple[Any, ...] = (row.memory_id, target, row.role, row.confidence, row.body_hash, row.commit_sha, row.anchor)
                anchor = judged(link, judging.states[target], moved=target != row.target_id)[-1]
                row = row._replace(target_id=target, anchor=anchor)
            links.setdefault((row.memory_id, row.target_id, row.role), row)
        memories = {row.id for row in found.memories}
        for row in judging.added:
            if row.memory_id in memories:
                links.setdefault((row.memory_id, row.target_id, row.role), row)
        return [links[key] for key in sorted(links)]


def _table(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Return rows as an Arrow table with the columns of `schema`."""
    return pa.Table.from_pylist([row._asdict() for row in rows], schema=schema)


def _only(table: pa.Table, paths: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["path"], paths))


def _without(table: pa.Table, paths: pa.Array) -> pa.Table:
    return table.filter(pc.invert(pc.is_in(table["path"], paths)))


def _merged(table: pa.Table, paths: pa.Array, rows: Sequence[object]) -> pa.Table:
    """Return `table` with `rows` in place of the rows of the files `paths`.

    The result is sorted by id.
    """
    return pa.concat_tables([_without(table, paths), _table(rows, table.schema)]).sort_by("id").combine_chunks()


def _only_pushes() -> StoreBusyError:
    return StoreBusyError("the code of a branch changes only by `graphmem push`; push the branch again", path="", owner=None)
