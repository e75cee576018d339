"""Apply a change of the code graph in a transaction of PostgreSQL.

A changed row is deleted and inserted again. Tables have no foreign keys, so the ends of new edges are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.model import EdgeRow, GraphDelta
from graphmem.store.postgres.tables import Queries
from graphmem.store.tables.arrow_rows import SLICE, edge_table, node_slices
from graphmem.store.tables.tables import NodeTable
from graphmem.store.writes.anchors import ANCHORED, follow, real_moves, states
from graphmem.store.writes.derived import CO_ACCESSED, CO_ACCESSED_COLUMNS
from graphmem.store.writes.knowledge_edges import ABOUT, Link
from graphmem.store.writes.write_edges import PAIR_OF, label_lookup, no_such_pair, once

_ENDS: Final = (NodeTable.FILE, NodeTable.EXTERNAL, NodeTable.SYMBOL)


def apply_code(queries: Queries, delta: GraphDelta, moment: datetime) -> bool:
    """Apply a change of the code to the database, and update memories' links.

    Args:
        queries: queries in an open transaction, which the caller commits.
        delta: a complete change; see `GraphDelta`.
        moment: current time, naive UTC. Removed code that memories link to is kept as stale since this time.

    Returns:
        Whether a link of a memory was moved, or its state changed.

    Raises:
        BadInputError: an id or an edge is repeated, or an edge leads to a node that does not exist.
    """
    once("removed edges", delta.removed_edges)
    first = not queries.column("has_code")[0]
    changed = _follow(queries, delta)
    written: dict[NodeTable, tuple[Sequence[Any], Sequence[str]]] = {
        NodeTable.FILE: (delta.files, delta.removed_files),
        NodeTable.SYMBOL: (delta.symbols, delta.removed_symbols),
        NodeTable.EXTERNAL: (delta.externals, delta.removed_externals),
        NodeTable.CHUNK: (delta.chunks, delta.removed_chunks),
        NodeTable.UNRESOLVED: (delta.unresolved, delta.removed_unresolved),
        NodeTable.OCCURRENCES: (delta.occurrences, delta.removed_occurrences),
    }
    if not first:
        _delete_edges(queries, delta)
    known: dict[NodeTable, set[str]] = {}
    linked: set[str] = set()
    for label, (added, removed) in written.items():
        ids = {row[0] for row in added} if label in _ENDS or not first else set()
        if not first:
            _remove(queries, label, sorted(set(removed) - ids), moment)
            queries.run("delete_nodes", label=label, ids=sorted(ids))
        pieces = node_slices(label, added)
        queries.add(str(label), _noted(pieces, linked) if label is NodeTable.CHUNK else pieces)
        known[label] = ids
    _check_chunks(queries, linked, known[NodeTable.SYMBOL])
    if not first:
        ends = {end for row in delta.edges for end in row[1:3]} - set().union(*(known[label] for label in _ENDS))
        for label in _ENDS:
            known[label] |= _existing(queries, label, ends) if ends else set()
    queries.add("edge", _edges(delta.edges, known))
    return changed


def removing_the_rest(queries: Queries, full: GraphDelta) -> GraphDelta:
    """Return a change that makes the stored code equal to the graph `full`.

    The result is `full`, plus the ids of stored files, symbols and externals (names of used packages) to remove. This call itself deletes
    all stored chunks, unresolved calls, name positions and edges of the code.
    """
    removed = {label: set(queries.column("live_ids", label=label)) - {row[0] for row in rows} for label, rows in _nodes(full)}
    for label in (NodeTable.CHUNK, NodeTable.UNRESOLVED, NodeTable.OCCURRENCES):
        queries.run("delete_all", label=label)
    queries.run("delete_code_edges")
    return full._replace(
        removed_files=sorted(removed[NodeTable.FILE]),
        removed_symbols=sorted(removed[NodeTable.SYMBOL]),
        removed_externals=sorted(removed[NodeTable.EXTERNAL]),
    )


def _nodes(delta: GraphDelta) -> tuple[tuple[NodeTable, Sequence[Any]], ...]:
    return (NodeTable.FILE, delta.files), (NodeTable.SYMBOL, delta.symbols), (NodeTable.EXTERNAL, delta.externals)


def _noted(pieces: Iterable[pa.Table], linked: set[str]) -> Iterator[pa.Table]:
    """Pass on tables of chunks unchanged, and collect their symbols' ids.

    `pieces` are tables of chunks. When a table is yielded, the values of its column `symbol_id` are added to the set `linked`.
    """
    for piece in pieces:
        linked.update(piece["symbol_id"].to_pylist())
        yield piece


def _check_chunks(queries: Queries, linked: set[str], known: set[str]) -> None:
    missing = linked - known - {""}
    missing -= _existing(queries, NodeTable.SYMBOL, missing) if missing else set()
    if missing:
        raise BadInputError(
            f"{len(missing)} chunks of text belong to symbols that are not in the graph; add these symbols to the same write",
            argument="chunks",
        )


def _existing(queries: Queries, label: NodeTable, ids: set[str]) -> set[str]:
    return set(queries.column("existing", label=label, ids=sorted(ids)))


def _delete_edges(queries: Queries, delta: GraphDelta) -> None:
    keys = sorted({*delta.removed_edges, *(row[:3] for row in delta.edges)})
    if keys:
        kinds, srcs, dsts = map(list, zip(*keys, strict=True))
        queries.run("delete_edges", kinds=kinds, srcs=srcs, dsts=dsts)


def _remove(queries: Queries, label: NodeTable, ids: list[str], moment: datetime) -> None:
    """Delete the nodes `ids` and their edges, or mark them as stale (removed).

    A node is marked instead of deleted if a memory links to the node. Then the node is stale since `moment`.
    """
    if not ids:
        return
    held: set[str] = set()
    if label in ANCHORED:
        queries.run("sweep", ids=ids)
        held = set(queries.column("held", label=str(label), ids=ids))
        queries.run("mark_stale", label=label, ids=sorted(held), moment=moment)
    queries.run("delete_nodes", label=label, ids=[one for one in ids if one not in held])


def _edges(rows: Sequence[EdgeRow], known: dict[NodeTable, set[str]]) -> Iterator[pa.Table]:
    """Check the new edges and yield them as Arrow tables.

    `known` maps each node table to the ids of the nodes that exist.

    Raises:
        BadInputError: an end of an edge does not exist, or the schema does not allow edges of its kind between nodes of these tables.
    """
    label_of = label_lookup(known[NodeTable.FILE], known[NodeTable.EXTERNAL])
    symbols = known[NodeTable.SYMBOL]
    remaining = iter(rows)
    while some := list(islice(remaining, SLICE)):
        for row in some:
            labels = label_of(row.src), label_of(row.dst)
            if (row.kind, *labels) not in PAIR_OF:
                raise no_such_pair(row, label_of)
            if any(label is NodeTable.SYMBOL and end not in symbols for label, end in zip(labels, row[1:3], strict=True)):
                raise BadInputError(
                    f"the edge {row.kind} {row.src} -> {row.dst} has an end that is neither in the change nor in the graph; "
                    "add the missing node to the change",
                    argument="edges",
                )
        yield edge_table(some).drop_columns(["stale_at"]).add_column(0, "kind", pa.array([row.kind for row in some], pa.string()))


def _follow(queries: Queries, delta: GraphDelta) -> bool:
    """Update links from memories to code after a change of the code.

    Links to moved code lead to the new node, and each link's state, such as "suspect", is set. Returns whether any link changed.
    """
    if not queries.column("has_knowledge")[0]:
        return False
    now = states(delta)
    moves = real_moves(delta, now)
    touched = sorted({*now, *moves})
    changed = False
    for label in ANCHORED:
        shape = ABOUT[label]
        stored = queries.rows("links_to", label=str(label), ids=touched)
        stays, moved = follow(stored, shape.pair, moves, now)
        if set(stored) != {*stays, *moved}:
            queries.run("delete_links_to", label=str(label), ids=touched)
            add_links(queries, label, [*stays, *moved])
            changed = True
    if moves:
        ids = sorted({*moves, *moves.values()})
        stored = queries.rows("co_accessed_of", ids=ids)
        stays, moved = follow(stored, CO_ACCESSED, moves, now)
        if moved:
            queries.run("delete_co_accessed", ids=ids)
            queries.add_rows("co_accessed", CO_ACCESSED_COLUMNS, [*stays, *moved])
            changed = True
    return changed


def add_links(queries: Queries, label: NodeTable, links: Sequence[Link]) -> None:
    """Store links of memories to nodes of one kind, such as symbols."""
    columns = {"src": pa.string(), "dst": pa.string(), **ABOUT[label].columns, "label": pa.string()}
    queries.add_rows("about", columns, [(*link, str(label)) for link in links])
