"""Read a graph in PostgreSQL; each read sees one consistent snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from graphmem.model import ChunkRow, EdgeRow, FileRow, OccurrencesRow, SymbolRow, UnresolvedRow
from graphmem.runtime.arrow import pc
from graphmem.store.base import GraphCounts, GraphTables, KeyRow, Knowledge, LinkRow, StoredModule, StoredRows
from graphmem.store.postgres.connections import Connections
from graphmem.store.postgres.knowledge import read_knowledge
from graphmem.store.tables.arrow_rows import full_lines, full_texts, model_rows
from graphmem.store.tables.meta_names import GENERATION, KNOWLEDGE, MODULES_OF, OWN
from graphmem.store.tables.sealed_rows import unsealed
from graphmem.store.writes import derived
from graphmem.store.writes.embeddings import vector_schema


class PostgresReads:
    """The methods that read a project's graph in PostgreSQL. Thread-safe."""

    _connections: Connections
    _meta: Mapping[str, str]

    def generation(self) -> int:
        """Return the counter of committed graph changes that this server knows."""
        return int(self._known().get(GENERATION, "0"))

    def knowledge_generation(self) -> int:
        """Return the counter of committed changes of memories and sessions.

        The counter is 0 in a new database.
        """
        return int(self._known().get(KNOWLEDGE, "0"))

    def meta(self) -> dict[str, str]:
        """Return the metadata of the database by name, except internal values.

        The values are short strings, such as `project` and `indexed_at`.
        """
        return {name: value for name, value in sorted(self._known().items()) if not name.startswith(OWN)}

    def tables(self) -> GraphTables:
        """Return the code graph as Arrow tables, all from one moment.

        Stale rows are left out: rows of removed code that memories still link to.
        """
        with self._connections.snapshot() as queries:
            meta = dict(queries.rows("meta_all"))
            files, symbols = (_sorted(queries.ask(query, paths=None)) for query in ("files_of", "symbols_of"))
            externals, unresolved = _sorted(queries.ask("externals")), _sorted(queries.ask("unresolved_of", paths=None))
            edges = queries.ask("all_edges")
        self._saw(meta)
        return GraphTables(
            int(meta.get(GENERATION, "0")), files, symbols, externals, _live_edges(edges, (files, symbols, externals)), unresolved
        )

    def chunks(self, ids: Sequence[str] | None = None) -> pa.Table:
        """Return all chunks, or those with given ids, with text, sorted by id.

        A chunk is a piece of a file that is searched and embedded.
        """
        with self._connections.snapshot() as queries:
            found = queries.ask("chunks_of", paths=None) if ids is None else queries.ask("chunks_by_ids", ids=sorted(set(ids)))
        return _sorted(full_texts(found))

    def packed_chunks(self) -> Iterator[pa.Table]:
        """Yield a single table of all chunks, sorted by id.

        The texts stay compressed.
        """
        with self._connections.snapshot() as queries:
            table = queries.ask("chunks_of", paths=None).sort_by("id")
            self._saw(dict(queries.rows("meta_all")))
        yield table.rename_columns(["packed" if name == "text" else name for name in table.column_names])

    def file_hashes(self) -> dict[str, str]:
        """Return the content hash of each file, by path in ascending order."""
        with self._connections.snapshot() as queries:
            return dict(queries.rows("file_hashes"))

    def framework_keys(self) -> list[KeyRow]:
        """Return framework keys, such as routes, with their handler functions.

        The keys are sorted by kind, name and symbol.
        """
        with self._connections.snapshot() as queries:
            return [KeyRow(*row) for row in queries.rows("framework_keys")]

    def counts(self) -> GraphCounts:
        """Return the numbers of edges, call sites and unresolved calls."""
        with self._connections.snapshot() as queries:
            edges, calls, unresolved = (queries.ask(query).to_pylist() for query in ("edge_counts", "call_rules", "unresolved_counts"))
            return GraphCounts(edges, calls, queries.column("call_sites")[0], unresolved)

    def memory_links(self) -> list[LinkRow]:
        """Return all links of memories to code, sorted by memory, target and role."""
        with self._connections.snapshot() as queries:
            return [LinkRow(*row) for row in queries.rows("memory_links")]

    def memory_count(self) -> int:
        """Return the number of memories of any status."""
        with self._connections.snapshot() as queries:
            return int(queries.column("memory_count")[0])

    def remembered_names(self) -> dict[str, str]:
        """Return names of removed code to which memories still link.

        The result maps the id of each such symbol or file to its name, for example "src/app.py:Cart.total".
        """
        with self._connections.snapshot() as queries:
            gone = {one: f"{path}:{qualname}" for one, path, qualname in queries.rows("named_symbols")}
            return gone | dict(queries.rows("named_files"))

    def edges_from(self, paths: Iterable[str]) -> list[EdgeRow]:
        """Return the edges that begin in files, sorted by (kind, src, dst).

        `paths` are the files.
        """
        with self._connections.snapshot() as queries:
            found = queries.ask("edges_of", paths=sorted(set(paths)))
        return sorted(model_rows(EdgeRow, full_lines(found)), key=lambda row: row[:3])

    def rows_of(self, paths: Sequence[str], chunks_of: Sequence[str]) -> StoredRows:
        """Return the stored rows of the files `paths`, without edges.

        See `StoredRows`. Chunks are returned only for the files in `chunks_of`.
        """
        wanted = sorted(set(paths))
        with self._connections.snapshot() as queries:
            return StoredRows(
                files=sorted(model_rows(FileRow, queries.ask("files_of", paths=wanted))),
                symbols=sorted(model_rows(SymbolRow, queries.ask("symbols_of", paths=wanted))),
                chunks=sorted(model_rows(ChunkRow, full_texts(queries.ask("chunks_of", paths=sorted(set(chunks_of)))))),
                unresolved=sorted(model_rows(UnresolvedRow, queries.ask("unresolved_of", paths=wanted))),
                occurrences=sorted(model_rows(OccurrencesRow, queries.ask("occurrences_of", paths=wanted))),
            )

    def places(self, files: Sequence[str]) -> dict[str, bytes]:
        """Map ids of files to the positions of the names that they use.

        Unknown files are left out. The positions of a file are bytes; `graphmem.runtime.texts.places` unpacks them.
        """
        with self._connections.snapshot() as queries:
            return {str(one): bytes(places) for one, places in queries.rows("occurrences_in", ids=sorted(set(files)))}

    def knowledge(self, ids: Sequence[str] | None = None) -> Knowledge:
        """Return memories (all, or those with the given `ids`), with their links.

        Sessions are returned, too; see `GraphReads.knowledge`.
        """
        with self._connections.snapshot() as queries:
            return unsealed(read_knowledge(queries, int(dict(queries.rows("meta_all")).get(KNOWLEDGE, "0")), ids))

    def modules(self) -> tuple[int, list[StoredModule]]:
        """Return the generation of the stored modules, and the modules.

        A module is a group of related files. The generation is the code's counter of changes when the modules were computed; it is 0 if no
        modules are stored. The modules are sorted by id.
        """
        with self._connections.snapshot() as queries:
            generation = int(dict(queries.rows("meta_all")).get(MODULES_OF, "0"))
            rows, files = (queries.ask(query).to_pylist() for query in ("module_rows", "module_files"))
        return generation, derived.stored_modules(rows, files)

    def vectors(self, model: str) -> pa.Table:
        """Return the stored vectors of one embedding model, sorted by text_hash."""
        with self._connections.snapshot() as queries:
            found = queries.ask("vectors_of", model=model)
        if not len(found):
            return vector_schema(1).empty_table()
        dim = found["dim"][0].as_py()
        found = found.filter(pc.equal(found["dim"], dim))
        flat = np.frombuffer(b"".join(found["vec"].to_pylist()), np.float32)
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat), dim)
        return pa.Table.from_arrays([found["text_hash"].combine_chunks(), vectors], schema=vector_schema(dim))

    def vector_models(self) -> dict[str, int]:
        """Map the id of each embedding model to the number of its stored vectors."""
        with self._connections.snapshot() as queries:
            return dict(queries.rows("vector_models"))

    def _saw(self, meta: Mapping[str, str]) -> None:
        """Receive metadata that was read from the database; do nothing.

        A subclass overrides this method to update its cached values, because another server may have changed the values.
        """

    def _known(self) -> Mapping[str, str]:
        self._connections.check_open()
        return self._meta


def _sorted(table: pa.Table) -> pa.Table:
    return table.sort_by("id").combine_chunks()


def _live_edges(edges: pa.Table, nodes: Sequence[pa.Table]) -> pa.Table:
    """Return the edges whose two ends are both among given nodes.

    `nodes` are tables of all current nodes, without removed code to which memories link. The result is sorted by (kind, src, dst).
    """
    ids = pa.concat_arrays([table["id"].combine_chunks() for table in nodes])
    ids = ids.take(pc.sort_indices(ids))
    ranks = [pc.fill_null(pc.index_in(edges[end], ids), -1).to_numpy() for end in ("src", "dst")]
    kinds = pc.rank(edges["kind"], tiebreaker="dense").to_numpy()
    live = (ranks[0] >= 0) & (ranks[1] >= 0)
    order = np.lexsort((ranks[1], ranks[0], kinds))
    return full_lines(edges.take(pa.array(order[live[order]]))).combine_chunks()
