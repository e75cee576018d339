"""Read the whole code graph from the database as sorted Arrow tables.

All tables are from one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from graphmem.runtime.arrow import pc
from graphmem.store.base import GraphTables
from graphmem.store.tables.arrow_rows import full_lines, full_texts, wanted
from graphmem.store.tables.tables import CODE_PAIRS, NodeTable, Pair

if TYPE_CHECKING:
    import numpy.typing as npt

_NODE_QUERIES: Final = {NodeTable.FILE: "all_files", NodeTable.SYMBOL: "all_symbols", NodeTable.EXTERNAL: "all_externals"}
_EDGE_COLUMNS: Final = {
    "kind": pa.string(),
    "src": pa.string(),
    "dst": pa.string(),
    "confidence": pa.float64(),
    "source": pa.string(),
    "rule": pa.string(),
    "line": pa.int64(),
    "lines": pa.string(),
}
_FEW_CHUNKS: Final = 24  # up to this number by primary key, more by one join

Ask = Callable[..., pa.Table]  # (named query, **parameters and fills) -> rows


def graph_tables(ask: Ask, generation: int) -> GraphTables:
    """Return the code graph as Arrow tables, all from one moment.

    The engine returns edges with row numbers of their ends, and this function replaces the row numbers by ids. The replacement here takes a
    quarter of the time of a join in the engine. Sorting compares the ranks of the ids, not the strings.

    Args:
        ask: runs named queries in one read transaction.
        generation: counter of code changes in that transaction.
    """
    nodes = {label: ask(query) for label, query in _NODE_QUERIES.items()}
    return GraphTables(
        generation=generation,
        files=_sorted(nodes[NodeTable.FILE].drop_columns(["position"])),
        symbols=_sorted(nodes[NodeTable.SYMBOL].drop_columns(["position"])),
        externals=_sorted(nodes[NodeTable.EXTERNAL].drop_columns(["position"])),
        edges=_edges(ask, nodes),
        unresolved=_sorted(ask("all_unresolved")),
    )


def graph_edges(ask: Ask) -> pa.Table:
    """Return the edges of the code graph as an Arrow table, without its nodes."""
    return _edges(ask, {label: ask(query) for label, query in _NODE_QUERIES.items()})


def _edges(ask: Ask, nodes: Mapping[NodeTable, pa.Table]) -> pa.Table:
    ids = pa.concat_arrays([piece for table in nodes.values() for piece in table["id"].chunks] or [pa.array([], pa.string())])
    order = pc.sort_indices(ids)
    rank = np.empty(len(ids), np.int64)
    rank[order.to_numpy()] = np.arange(len(ids))
    ids = ids.take(order)
    ranks: dict[NodeTable, npt.NDArray[np.int64]] = {}
    start = 0
    for label, table in nodes.items():
        positions = table["position"].to_numpy()
        by_position = np.full(int(positions.max()) + 1 if len(positions) else 0, -1, np.int64)
        by_position[positions] = rank[start : start + len(table)]
        ranks[label] = by_position
        start += len(table)
    parts = []
    for kind in sorted({pair.edge for pair in CODE_PAIRS}):
        # A query of an empty table costs as much as one of a small table, and a new index has a dozen empty ones.
        pieces = [_ranked(ask, pair, ranks) for pair in CODE_PAIRS if pair.edge is kind and len(ranks[pair.src]) and len(ranks[pair.dst])]
        if not pieces:
            continue
        table = pa.concat_tables(pieces)
        src, dst = table["src"].to_numpy(), table["dst"].to_numpy()
        table = table.take(pa.array(np.lexsort((dst, src))))
        table = table.set_column(0, "src", ids.take(table["src"].combine_chunks()))
        table = table.set_column(1, "dst", ids.take(table["dst"].combine_chunks()))
        parts.append(full_lines(table).add_column(0, "kind", pa.repeat(pa.scalar(str(kind)), len(table))))
    schema = pa.schema(_EDGE_COLUMNS)
    return pa.concat_tables(parts).cast(schema).combine_chunks() if parts else schema.empty_table()


def _ranked(ask: Ask, pair: Pair, ranks: dict[NodeTable, npt.NDArray[np.int64]]) -> pa.Table:
    """Return the edges between two node tables, with ranks instead of ids.

    A rank is the position of an id among all sorted ids. Edges of removed nodes are left out.
    """
    table = ask("all_edges", **{"edge": pair.edge, "from": pair.src, "to": pair.dst})
    ends = []
    for label, column in ((pair.src, "src"), (pair.dst, "dst")):
        positions = table[column].to_numpy()
        known = ranks[label]
        inside = positions < len(known)
        ends.append(np.where(inside, known[np.where(inside, positions, 0)] if len(known) else -1, -1))
    table = table.set_column(0, "src", pa.array(ends[0], pa.int64())).set_column(1, "dst", pa.array(ends[1], pa.int64()))
    live = (ends[0] >= 0) & (ends[1] >= 0)
    return table if live.all() else table.filter(pa.array(live))


def chunk_table(ask: Ask, ids: Sequence[str] | None) -> pa.Table:
    """Return chunks with their text: all, or those with given ids.

    Unknown ids are left out.
    """
    if ids is None:
        table = ask("all_chunks")
    elif not ids:
        table = ask("chunk_by_id", chunk_id="")
    elif len(ids) <= _FEW_CHUNKS:
        table = pa.concat_tables([ask("chunk_by_id", chunk_id=one) for one in sorted(set(ids))])
    else:
        table = ask("chunks_by_ids", rows=wanted(sorted(set(ids))))
    return _sorted(full_texts(table))


def _sorted(table: pa.Table) -> pa.Table:
    return table.sort_by("id").combine_chunks()
