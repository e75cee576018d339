"""Fill a new database file with a code graph and the existing memories.

COPY is ten times faster than other loading, and the file is compact. But the engine cannot run COPY in a transaction. So the rows are
copied into a new file that no reader sees. Then `files.put_in_place` atomically replaces the database by the new file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from graphmem.errors import BadInputError, GraphMemError
from graphmem.model import EdgeRow, GraphDelta
from graphmem.runtime.arrow import pc
from graphmem.runtime.process.heap import give_back
from graphmem.store.file.migrate import migrate, table_names
from graphmem.store.reads.pieces import Pieces
from graphmem.store.tables.arrow_rows import SLICE, TIMESTAMP, edge_table, node_slices
from graphmem.store.tables.tables import (
    ALL_PAIRS,
    CARRIED_NODES,
    CHUNK_OF,
    CODE_NODES,
    CODE_PAIRS,
    DERIVED_PAIRS,
    KNOWLEDGE_PAIRS,
    EmbeddingTable,
    NodeTable,
    Pair,
)
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes.anchors import ANCHORED, GONE, State, follow, real_moves, states
from graphmem.store.writes.embeddings import pieces
from graphmem.store.writes.knowledge_edges import links_of_table
from graphmem.store.writes.write_edges import ends, label_lookup, no_such_pair
from graphmem.store.writes.write_nodes import CREATES

if TYPE_CHECKING:
    from graphmem.store.engine.engine import Connection, RawDatabase
    from graphmem.store.file.migrate import Migration
    from graphmem.store.tables.catalog import Catalog

HELD_BYTES: Final = 2 << 20  # Arrow data a connection may hold before it is renewed
PIECE_BYTES: Final = 64 << 20  # rows passed to the engine between two checkpoints; until then all of them stay in its buffer pool
_PAIRS_OF: Final = {pair: [other for other in ALL_PAIRS if other.edge is pair.edge] for pair in ALL_PAIRS}


class Content:
    """The content of a new database file: that of `old`, changed by `delta`.

    Args:
        delta: the change of the code, or with `keep_code` False the whole code.
        old: a connection to the existing database; None if there is none.
        catalog: the named queries.
        keep_code: whether the code in `old` is kept and changed by `delta`.
        moment: current time. Removed code that memories link to is kept as stale since this time.

    Attributes:
        knowledge_changed: whether a link of a memory was moved, or its state changed. The value is known after `edges` was consumed.
        schema: the migrations that create tables for these rows; None for all migrations.
    """

    schema: tuple[Migration, ...] | None = None

    def __init__(self, delta: GraphDelta, old: Connection | None, catalog: Catalog, *, keep_code: bool, moment: datetime) -> None:
        self._delta = delta
        self._old = old
        if old is not None:
            self._read = Pieces.of(old, catalog)
        self._keep_code = keep_code and old is not None
        self._moment = moment.replace(tzinfo=None)
        self._fresh: dict[NodeTable, pa.ChunkedArray] = {}  # ids of the delta's rows
        self._live: dict[NodeTable, set[str]] = {}  # made when it is used: a set takes five times the memory of its column
        self._stale: dict[NodeTable, set[str]] = {}
        self._chunk_links: list[pa.Table] = []
        self._known = self._known_code()
        self._now: dict[str, State] = {}
        self._moves: dict[str, str] = {}
        if self._known:
            self._now = states(delta)
            self._moves = real_moves(delta, self._now)
            self._known = {label: {self._moves.get(one, one) for one in known} for label, known in self._known.items()}
        self.knowledge_changed = False

    def nodes(self) -> Iterator[tuple[NodeTable | EmbeddingTable, pa.Table]]:
        """Yield (node table, some of its rows), until all rows were yielded.

        Read this iterator to its end before calling `edges`.
        """
        for label in CODE_NODES:
            for table in self._code_nodes(label):
                yield label, table
        if self._old is None:
            return
        for label in CARRIED_NODES:
            yield label, pa.concat_tables(self._read.nodes(label))
        for name in sorted(table_names(self._old)):
            if table := EmbeddingTable.parse(name):
                give_back()
                # In one piece: COPY of several pieces corrupts the file, and statements are three to four times slower.
                yield table, pa.concat_tables(self._read.vectors(table)).combine_chunks()

    def edges(self) -> Iterator[tuple[Pair, pa.Table]]:
        """Yield (edge table with the node tables of both ends, edges).

        There is one item for each combination of edge table and node tables. The edges are an Arrow table. Its columns are the ids of the
        two ends, then the properties of the edge.
        """
        yield CHUNK_OF, self._linked_chunks()
        fresh = self._delta_edges()
        written = self._written_edges() if self._keep_code else {}
        for pair in CODE_PAIRS:
            parts = fresh.pop(pair, [edge_table([])])
            if self._keep_code:
                parts.append(self._kept_edges(pair, written.get(pair.edge, set())))
            yield pair, pa.concat_tables(parts)
        if self._old is None:
            return
        for pair in DERIVED_PAIRS:
            yield pair, self._between(pa.concat_tables(self._read.edges(pair)), pair, self._live_ids)
        for pair in KNOWLEDGE_PAIRS:
            table = self._followed(pa.concat_tables(self._read.edges(pair)), pair)
            yield pair, self._between(table, pair, lambda label: self._live_ids(label) | self._stale[label])

    # ---- nodes

    def _code_nodes(self, label: NodeTable) -> Iterator[pa.Table]:
        self._stale[label] = set()
        seen: list[pa.ChunkedArray] = []
        for table in node_slices(label, _rows(self._delta, label)):
            seen.append(table["id"])
            if label is NodeTable.CHUNK:
                self._chunk_links.append(table.select(["id", "symbol_id"]))
            yield table
        ids = self._fresh[label] = pa.chunked_array([piece for column in seen for piece in column.chunks], pa.string())
        if pc.count_distinct(ids).as_py() != len(ids):
            raise BadInputError(f"two {label} rows of the change have the same id; use each id once", argument=str(label))
        if self._keep_code or self._known.get(label):
            old = pa.concat_tables(self._read.nodes(label))
            live = self._live_ids(label)
            if self._keep_code:
                gone = live | set(_removed(self._delta, label))
                kept = old.filter(pc.and_(pc.is_null(old["stale_at"]), pc.invert(_among(old["id"], gone))))
                live |= set(kept["id"].to_pylist())
                if label is NodeTable.CHUNK:
                    self._chunk_links.append(kept.select(["id", "symbol_id"]))
                yield from _slices(kept)
            stale = old.filter(_among(old["id"], self._known.get(label, set()) - live))
            since = pc.coalesce(stale["stale_at"], pa.scalar(self._moment, TIMESTAMP))
            self._stale[label] = set(stale["id"].to_pylist())
            self._now.update(dict.fromkeys(self._stale[label], GONE))
            yield stale.set_column(stale.column_names.index("stale_at"), "stale_at", since)

    def _known_code(self) -> dict[NodeTable, set[str]]:
        """Return the ids of the code nodes to which memories link, by node table."""
        found: dict[NodeTable, set[str]] = defaultdict(set)
        if self._old is not None:
            for pair in KNOWLEDGE_PAIRS:
                code = [(label, column) for label, column in ((pair.src, "src"), (pair.dst, "dst")) if label in CODE_NODES]
                if code:
                    table = pa.concat_tables(self._read.edges(pair))
                    for label, column in code:
                        found[label] |= set(table[column].to_pylist())
        return found

    # ---- edges

    def _delta_edges(self) -> dict[Pair, list[pa.Table]]:
        """Map each pair of node tables to the edges that the change adds.

        The edges are Arrow tables, because tuples would need ten times the memory.
        """
        rows: dict[Pair, list[EdgeRow]] = defaultdict(list)
        tables: dict[Pair, list[pa.Table]] = defaultdict(list)
        pairs = {(pair.edge.value, pair.src, pair.dst): pair for pair in CODE_PAIRS}
        label_of = label_lookup(self._live_ids(NodeTable.FILE), self._live_ids(NodeTable.EXTERNAL))
        for row in self._delta.edges:
            pair = pairs.get((row.kind, label_of(row.src), label_of(row.dst)))
            if pair is None:
                raise no_such_pair(row, label_of)
            rows[pair].append(row)
            if len(rows[pair]) == SLICE:
                tables[pair].append(edge_table(rows.pop(pair)))
        for pair, some in rows.items():
            tables[pair].append(edge_table(some))
        for pair, parts in tables.items():
            if pc.count_distinct(_keys(pa.concat_tables(parts))).as_py() != sum(map(len, parts)):
                raise BadInputError(
                    f"the change contains several {pair.edge} edges between the same nodes with the same key; merge them into one",
                    argument="edges",
                )
        return tables

    def _written_edges(self) -> dict[str, set[str]]:
        """Map each kind of edge to the edges that the change writes or removes.

        An edge is given as one string: the id of its source followed by the id of its destination.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for kind, src, dst, *_ in self._delta.edges:
            found[kind].add(src + dst)
        for kind, src, dst in self._delta.removed_edges:
            found[kind].add(src + dst)
        return found

    def _kept_edges(self, pair: Pair, written: set[str]) -> pa.Table:
        old = self._between(pa.concat_tables(self._read.edges(pair)), pair, self._live_ids)
        return old.filter(pc.invert(_among(_keys(old), written))) if written and len(old) else old

    def _linked_chunks(self) -> pa.Table:
        """Return a link from each chunk to the symbol that contains the chunk.

        A chunk of a removed symbol has no link.
        """
        none = pa.table({"id": pa.array([], pa.string()), "symbol_id": pa.array([], pa.string())})
        links = pa.concat_tables([none, *self._chunk_links])
        links = links.filter(pc.not_equal(links["symbol_id"], ""))
        if self._keep_code:
            links = links.filter(_among(links["symbol_id"], self._live_ids(NodeTable.SYMBOL)))
        return links.rename_columns(["src", "dst"])

    def _live_ids(self, label: NodeTable) -> set[str]:
        """Return the ids of nodes of one table in the new file, except stale ones.

        A stale node is removed code that is kept because a memory links to it.
        """
        if label not in self._live:
            self._live[label] = set(self._fresh[label].to_pylist())
        return self._live[label]

    def _between(self, table: pa.Table, pair: Pair, present: Callable[[NodeTable], Collection[str]]) -> pa.Table:
        """Return the edges of `table` whose ends exist.

        `present` returns the ids of the existing nodes of a table. Ends that are not code, such as memories, are not checked.
        """
        for label, column in ((pair.src, "src"), (pair.dst, "dst")):
            if label in CODE_NODES and len(table):
                table = table.filter(_among(table[column], present(label)))
        return table

    def _followed(self, table: pa.Table, pair: Pair) -> pa.Table:
        """Return the links of memories to code, updated for the changed code.

        A link to moved code leads to the new place. The state of each link, such as "suspect" (the code changed), is set; see `anchors`.
        """
        links = links_of_table(table) if self._now and {pair.src, pair.dst} & set(ANCHORED) else []
        stays, moved = follow(links, pair, self._moves, self._now)
        if not moved and stays == links:
            return table
        self.knowledge_changed = True
        columns = zip(table.schema, zip(*stays, *moved, strict=True), strict=True)
        return pa.table({field.name: pa.array(some, field.type) for field, some in columns})


def fill(database: RawDatabase, catalog: Catalog, content: Content, meta: Mapping[str, str], further: Mapping[str, str]) -> None:
    """Fill an empty database file with `content`.

    Args:
        database: a new database that only this function uses.
        catalog: the named queries.
        content: the rows to write; they are iterated once.
        meta: all metadata to store.
        further: more metadata, stored only if links of memories changed.

    Raises:
        BadInputError: an edge leads to a node that does not exist.
        DiskFullError, LimitError: as the engine reports; the file is then unusable.
    """
    connection = _renewed(database, database.connect())
    migrate(connection, catalog, database.path, content.schema)
    before: NodeTable | EmbeddingTable | None = None
    pinned = 0  # bytes of rows since the last checkpoint
    for label, table in content.nodes():
        if label != before or pinned + table.nbytes > PIECE_BYTES:
            connection.rows("CHECKPOINT")  # rows in the file need no memory
            pinned = 0
        before = label
        pinned += table.nbytes
        if connection.held_bytes > HELD_BYTES:
            connection = _renewed(database, connection)
        _load_nodes(connection, catalog, label, table, by_copy=content.schema is not None)
        del table
    for pair, table in content.edges():
        for piece in pieces(table, PIECE_BYTES) if len(table) else ():
            connection = _renewed(database, connection)
            if pinned + piece.nbytes > PIECE_BYTES:
                connection.rows("CHECKPOINT")
                pinned = 0
            pinned += piece.nbytes
            _copy_edges(connection, catalog, pair, piece)
        del table
    connection = _renewed(database, connection)
    if content.schema is not None:
        migrate(connection, catalog, database.path)
    with Transaction(connection, catalog) as transaction:
        said = {**meta, **further} if content.knowledge_changed else meta
        transaction.each("meta_put", {}, [{"name": name, "value": value} for name, value in sorted(said.items())])
    connection.rows("CHECKPOINT")


def _load_nodes(connection: Connection, catalog: Catalog, label: NodeTable | EmbeddingTable, table: pa.Table, *, by_copy: bool) -> None:
    if not len(table):
        return
    if isinstance(label, EmbeddingTable):
        connection.rows(*catalog["create_embedding_table"].bind({"table": label, "dim": label.dim}))
        connection.rows(*catalog["copy_embeddings"].bind({"table": label, "rows": table}))
    elif label in CREATES and not by_copy:  # its query names the columns of the newest schema
        # As fast as COPY, in a third of the memory, and its pieces do not corrupt the file as pieces of COPY do.
        connection.rows(*catalog[CREATES[label]].bind({"rows": table}))
    else:
        connection.rows(*catalog["copy_nodes"].bind({"label": label, "rows": table}))


def _renewed(database: RawDatabase, connection: Connection) -> Connection:
    """Return a new connection in place of `connection`, to free its memory.

    The old one holds the memory of the rows that were loaded through it.
    """
    connection = database.renew(connection)
    connection.use_threads(1)  # COPY keeps buffers for each thread: two threads need 40 MB more and save 0.05 s
    give_back(between=True)
    return connection


def _copy_edges(connection: Connection, catalog: Catalog, pair: Pair, table: pa.Table) -> None:
    if len(_PAIRS_OF[pair]) == 1:
        query = catalog["copy_edges"].bind({"edge": pair.edge, "rows": table})
    else:
        query = catalog["copy_edges_between"].bind({**ends(pair), "rows": table})
    try:
        connection.rows(*query)
    except GraphMemError as error:
        if "Unable to find primary key value" in error.facts.get("reason", ""):
            raise BadInputError(
                f"an edge {pair.edge} of the change leads to a node that is neither in the change nor in the graph "
                f"({error.facts['reason']}); "
                "add the missing node to the change",
                argument="edges",
            ) from error
        raise


def _rows(delta: GraphDelta, label: NodeTable) -> Sequence[Any]:
    lists: dict[NodeTable, Sequence[Any]] = {
        NodeTable.FILE: delta.files,
        NodeTable.SYMBOL: delta.symbols,
        NodeTable.EXTERNAL: delta.externals,
        NodeTable.CHUNK: delta.chunks,
        NodeTable.UNRESOLVED: delta.unresolved,
        NodeTable.OCCURRENCES: delta.occurrences,
    }
    return lists[label]


def _removed(delta: GraphDelta, label: NodeTable) -> Sequence[str]:
    lists = {
        NodeTable.FILE: delta.removed_files,
        NodeTable.SYMBOL: delta.removed_symbols,
        NodeTable.EXTERNAL: delta.removed_externals,
        NodeTable.CHUNK: delta.removed_chunks,
        NodeTable.UNRESOLVED: delta.removed_unresolved,
        NodeTable.OCCURRENCES: delta.removed_occurrences,
    }
    return lists[label]


def _slices(table: pa.Table) -> Iterator[pa.Table]:
    return (table.slice(at, SLICE) for at in range(0, len(table), SLICE))


def _keys(edges: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(edges["src"], edges["dst"], "")


def _among(column: pa.ChunkedArray, values: Collection[str]) -> pa.ChunkedArray:
    return pc.is_in(column, pa.array(values, pa.string()))
