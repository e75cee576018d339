"""Apply a change of the code to the database, in an open transaction.

The engine requires this order: removed edges, removed nodes, new and changed nodes, new and changed edges. DETACH DELETE is never used,
because it leaves edges behind on kuzu.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.model import ChunkRow, GraphDelta, PackedChunkRow
from graphmem.store.tables.arrow_rows import node_slices, wanted
from graphmem.store.tables.paired_queries import DELETED_NODES, FEW, PairedQueries
from graphmem.store.tables.tables import CODE_NODES, KNOWLEDGE_PAIRS, NodeTable, Pair, RelTable
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes.anchors import Following
from graphmem.store.writes.write_edges import EdgeChanges, LabelOf, ends, label_lookup, once
from graphmem.store.writes.write_nodes import CREATES, write_nodes

FEW_MOVES: Final = 8  # up to this number chunks are moved one by one, more by a join
INFLATES_TO: Final = 3  # times as many characters, for code and prose alike


def apply_delta(transaction: Transaction, delta: GraphDelta, moment: datetime) -> bool:
    """Apply a change of the code to the database, and update memories' links.

    Args:
        transaction: an open transaction, which the caller commits.
        delta: a complete change; see `GraphDelta`.
        moment: current time. Removed code that memories link to is kept as stale since this time.

    Returns:
        Whether a link of a memory was moved, or its state changed.

    Raises:
        BadInputError: an id or an edge is repeated, or an edge leads to a node that does not exist.
    """
    rows: dict[NodeTable, tuple[Sequence[Any], Sequence[str]]] = {
        NodeTable.CHUNK: (delta.chunks, delta.removed_chunks),
        NodeTable.UNRESOLVED: (delta.unresolved, delta.removed_unresolved),
        NodeTable.OCCURRENCES: (delta.occurrences, delta.removed_occurrences),
        NodeTable.SYMBOL: (delta.symbols, delta.removed_symbols),
        NodeTable.EXTERNAL: (delta.externals, delta.removed_externals),
        NodeTable.FILE: (delta.files, delta.removed_files),
    }
    for label, (added, removed) in rows.items():
        once(f"{label} ids", [row[0] for row in added])
        once(f"removed {label} ids", removed)
    before: dict[NodeTable, Mapping[str, Any]] = {
        NodeTable.SYMBOL: delta.before.symbols,
        NodeTable.EXTERNAL: {},
        NodeTable.FILE: delta.before.files,
    }
    knowledge = Following(transaction, delta)
    edges = EdgeChanges(delta, _labels(transaction, delta))
    edges.delete(transaction)
    chunks = _move_chunks(transaction, delta)
    _replace_nodes(transaction, NodeTable.CHUNK, chunks, delta.removed_chunks)
    _replace_nodes(transaction, NodeTable.UNRESOLVED, delta.unresolved, delta.removed_unresolved)
    _replace_nodes(transaction, NodeTable.OCCURRENCES, delta.occurrences, delta.removed_occurrences)
    for label in (NodeTable.SYMBOL, NodeTable.EXTERNAL, NodeTable.FILE):
        again = {row[0] for row in rows[label][0]}
        _remove_nodes(transaction, label, [one for one in rows[label][1] if one not in again], knowledge.held(label), moment)
        write_nodes(transaction, label, rows[label][0], before[label])
    knowledge.finish()
    edges.write(transaction)
    _link_chunks(transaction, [(row.id, row.symbol_id) for row in chunks if row.symbol_id])
    return knowledge.changed


def drop_unknown_stale(transaction: Transaction, label: NodeTable, ids: Collection[str]) -> None:
    """Delete those of the nodes `ids` that are stale and no longer needed.

    A stale node is removed code that was kept because a memory linked to the code. The node is no longer needed when no memory links to it.
    """
    if label not in CODE_NODES or not ids:
        return
    if len(ids) <= FEW:
        states = transaction.each("target_state", {"label": label}, [{"id": one} for one in sorted(ids)])
    else:
        states = transaction.run("target_states", label=label, rows=wanted(sorted(ids))).rows
    stale = [row[0] for row in states if row and row[1]]
    held = {row[3] for row in _edges_left(transaction, label, stale)}
    gone = [one for one in stale if one not in held]
    DELETED_NODES.write(transaction, gone, label=label)


def weight(delta: GraphDelta) -> tuple[int, int]:
    """Return the size of a change of code.

    The result is (number of rows, number of characters in chunk texts).
    """
    texts = (len(row.packed) * INFLATES_TO if isinstance(row, PackedChunkRow) else len(row.text) for row in delta.chunks)
    return sum(len(rows) for rows in delta if rows is not delta.before), sum(texts)


def _labels(transaction: Transaction, delta: GraphDelta) -> LabelOf:
    if not delta.edges and not delta.removed_edges:
        return label_lookup((), ())
    files = {row.id for row in delta.files}
    externals = {row.id for row in delta.externals}
    files.update(transaction.arrow("ids_of", label=NodeTable.FILE)["id"].to_pylist())
    externals.update(transaction.arrow("ids_of", label=NodeTable.EXTERNAL)["id"].to_pylist())
    return label_lookup(files, externals)


def _replace_nodes(transaction: Transaction, label: NodeTable, added: Sequence[Any], removed: Sequence[str]) -> None:
    """Delete and create nodes: chunks, unresolved calls or name positions.

    `removed` are ids to delete. `added` are rows; if a row with the same id is stored, it is deleted first. No edge from another node leads
    to these nodes.
    """
    gone = sorted({*removed, *(row[0] for row in added)})
    if label is NodeTable.CHUNK:
        _UNLINKED_CHUNKS.write(transaction, gone)
    DELETED_NODES.write(transaction, gone, label=label)
    for rows in node_slices(label, added):
        transaction.run(CREATES[label], rows=rows)


def _move_chunks(transaction: Transaction, delta: GraphDelta) -> list[ChunkRow | PackedChunkRow]:
    """Update the lines of chunks that only moved; return the other chunks.

    A chunk that only moved has the same text on other lines. The returned chunks of `delta` are new or changed and still have to be
    written.
    """
    moved = [row for row in delta.chunks if delta.only_moved(row)]
    numbers = [{"id": row.id, "start_line": row.start_line, "end_line": row.end_line} for row in moved]
    _MOVED_CHUNKS.write(transaction, numbers)
    gone = {row.id for row in moved}
    return [row for row in delta.chunks if row.id not in gone]


def _moved_table(numbers: Sequence[Mapping[str, object]]) -> pa.Table:
    return pa.table({("wanted" if name == "id" else name): pa.array([one[name] for one in numbers]) for name in numbers[0]})


def _remove_nodes(transaction: Transaction, label: NodeTable, ids: list[str], held: Collection[str], moment: datetime) -> None:
    """Delete the nodes `ids` with their edges, except the nodes in `held`.

    Memories link to the nodes in `held`. These nodes are kept and marked as stale (code that was removed) since `moment`.
    """
    if not ids:
        return
    kept = set(held).intersection(ids)
    _sweep(transaction, label, ids, kept)
    if kept:
        transaction.run("mark_stale", label=label, rows=wanted(sorted(kept)), moment=moment)
    gone = [one for one in ids if one not in kept]
    DELETED_NODES.write(transaction, gone, label=label)


def _sweep(transaction: Transaction, label: NodeTable, ids: list[str], kept: Collection[str]) -> None:
    """Delete remaining edges of removed nodes, so that they can be deleted.

    The database deletes only nodes without edges. Edges between code were deleted before. Edges of modules, flows and memories may remain.
    A node in `kept` stays in the database, so it keeps its links with memories.
    """
    left = _edges_left(transaction, label, ids)
    for kind, src_label, dst_label, node_id, outward in sorted(left):
        pair = Pair(RelTable(kind), NodeTable(src_label), NodeTable(dst_label))
        if pair in KNOWLEDGE_PAIRS and node_id in kept:
            continue
        transaction.run("delete_edges_from" if outward else "delete_edges_to", **ends(pair), id=node_id)


def _edges_left(transaction: Transaction, label: NodeTable, ids: Sequence[str]) -> list[list[Any]]:
    """List the edges that nodes still have, one row for each edge and node.

    `ids` are the nodes. A row is (kind of edge, label of the source, label of the destination, id of the node, outward). `outward` is true
    if the edge begins at the node.
    """
    if len(ids) <= FEW:
        return [row for one in ids for row in transaction.run("edges_left_one", label=label, id=one).rows]
    return transaction.run("edges_left", label=label, rows=wanted(ids)).rows


def _link_chunks(transaction: Transaction, links: list[tuple[str, str]]) -> None:
    if not links:
        return
    if len(links) <= FEW:
        created = sum(row[0] for row in transaction.each("link_chunk", {}, [{"chunk_id": a, "symbol_id": b} for a, b in links]))
    else:
        chunk_ids, symbol_ids = zip(*links, strict=True)
        rows = pa.table({"chunk_id": pa.array(chunk_ids, pa.string()), "target_id": pa.array(symbol_ids, pa.string())})
        created = transaction.run("link_chunks", rows=rows).rows[0][0]
    if created != len(links):
        raise BadInputError(
            f"{len(links) - created} chunks of text belong to symbols that are not in the graph; add these symbols to the same write",
            argument="chunks",
        )


_UNLINKED_CHUNKS: Final = PairedQueries("unlink_chunk", "unlink_chunks", lambda one: {"id": one}, wanted)
_MOVED_CHUNKS: Final = PairedQueries("move_chunk", "move_chunks", lambda one: one, _moved_table, few=FEW_MOVES)
