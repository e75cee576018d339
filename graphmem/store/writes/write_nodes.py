"""Write files, symbols and externals: only the columns that differ.

Externals are names of used packages. Columns that do not differ are not written, because a written string is expensive: even if its value
stays the same, the engine rewrites the whole column at the next checkpoint. Most changes only move lines. Lines are numbers, which the
engine sets in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from graphmem.runtime.arrow import pc
from graphmem.store.tables.arrow_rows import ROW_TYPES, node_slices
from graphmem.store.tables.tables import NodeTable, TextColumn
from graphmem.store.tables.transaction import Transaction

CREATES: Final = {
    NodeTable.FILE: "create_files",
    NodeTable.SYMBOL: "create_symbols",
    NodeTable.EXTERNAL: "create_externals",
    NodeTable.CHUNK: "create_chunks",
    NodeTable.UNRESOLVED: "create_unresolved",
    NodeTable.OCCURRENCES: "create_occurrences",
}
_NUMBERS: Final = {
    NodeTable.FILE: ("size_bytes", "lines", "is_test", "error_count", "call_sites"),
    NodeTable.SYMBOL: ("start_line", "end_line", "start_byte", "end_byte", "name_line", "name_column", "complexity", "is_test"),
    NodeTable.EXTERNAL: (),
}
_RENUMBER_ONE: Final = {NodeTable.FILE: "renumber_file", NodeTable.SYMBOL: "renumber_symbol"}
_FEW_READS: Final = 200  # up to this number rows are read by primary key, more by reading the whole table
_FEW_WRITES: Final = 10  # up to this number symbols are renumbered one by one, more by a join


def write_nodes(transaction: Transaction, label: NodeTable, rows: Sequence[Any], before: Mapping[str, Any]) -> None:
    """Create missing nodes, update changed nodes, and unmark stale nodes.

    A stale node stands for removed code to which a memory links.

    Args:
        transaction: an open transaction.
        label: the label of the nodes: File, Symbol or External.
        rows: rows of the label's type, with distinct ids.
        before: stored rows by id that the caller has already read; none of them may be stale. Stored rows that are not in `before` are read
            here.
    """
    stored: dict[str, Sequence[Any]] = {row[0]: (*before[row[0]], None) for row in rows if row[0] in before}
    stored.update(stored_nodes(transaction, label, [row[0] for row in rows if row[0] not in before]))
    for fresh in node_slices(label, [row for row in rows if row[0] not in stored]):
        transaction.run(CREATES[label], rows=fresh)
    fields = ROW_TYPES[label]._fields
    numbers = _NUMBERS[label]
    moved: list[dict[str, Any]] = []
    texts: dict[str, list[dict[str, Any]]] = {}
    stale = [{"id": one} for one, old in stored.items() if old[-1] is not None]
    for row in rows:
        old = stored.get(row[0])
        if old is None or tuple(old[:-1]) == tuple(row):
            continue
        differing = [name for name, was, now in zip(fields, old, row, strict=False) if was != now]
        if any(name in numbers for name in differing):
            moved.append({"id": row[0], **{name: getattr(row, name) for name in numbers}})
        for name in differing:
            if name not in numbers:
                texts.setdefault(name, []).append({"id": row[0], "value": getattr(row, name)})
    if label is NodeTable.SYMBOL and len(moved) > _FEW_WRITES:
        columns = {name: pa.array([one[name] for one in moved]) for name in ("id", *numbers)}
        transaction.run("renumber_symbols", rows=pa.table(columns).rename_columns(["wanted", *numbers]))
    elif moved:
        transaction.each(_RENUMBER_ONE[label], {}, moved)
    for name, values in texts.items():
        transaction.each("set_text", {"label": label, "column": TextColumn(name)}, values)
    transaction.each("revive", {"label": label}, stale)


def stored_nodes(transaction: Transaction, label: NodeTable, ids: Sequence[str]) -> dict[str, list[Any]]:
    """Map the given ids of nodes to the stored rows of these nodes.

    A row has the values of the table's columns, in their order. Times are in naive UTC. For code, the last value is `stale_at`. Unknown ids
    are left out.
    """
    if not ids:
        return {}
    if len(ids) <= _FEW_READS:
        found = [row for row in transaction.each("node_row", {"label": label}, [{"id": one} for one in ids]) if row]
    else:
        table = transaction.arrow("dump_nodes", label=label)
        table = table.filter(pc.is_in(table.column(0), pa.array(ids, pa.string())))
        found = [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    return {row[0]: row for row in found}
