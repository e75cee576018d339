"""Write removed, moved, changed and new edges to the database.

The cost must depend on the change, not on the graph. A statement that finds the edge's ends by primary key costs about 0.5 ms of processor
time on kuzu. A join of an Arrow table with 45,000 symbols costs 13 to 40 ms, whatever the table's length. So a few rows are written one by
one, and many rows by one join.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.model import EdgeRow, GraphDelta
from graphmem.store.tables.arrow_rows import edge_table, full_lines, model_rows, to_lines, to_offsets
from graphmem.store.tables.paired_queries import FEW, PairedQueries
from graphmem.store.tables.tables import CODE_PAIRS, NodeTable, Pair, RelTable
from graphmem.store.tables.transaction import Transaction

_SHIFTED_FILES: Final = 4  # more files at once are cheaper by a join
_SHIFTED_EDGES: Final = 8  # fewer edges are cheaper one by one

PAIR_OF: Final = {(pair.edge.value, pair.src, pair.dst): pair for pair in CODE_PAIRS}
LabelOf = Callable[[str], NodeTable]


class EdgeChanges:
    """The removed, changed and new edges of one change of the code.

    Args:
        delta: a complete change. An edge whose properties changed, such as its lines, is in both `delta.removed_edges` and `delta.edges`.
        label_of: returns the table (File, Symbol or External) of the node with a given id.

    Raises:
        BadInputError: an edge is repeated, or the schema does not allow edges of its kind between these nodes.
    """

    def __init__(self, delta: GraphDelta, label_of: LabelOf) -> None:
        keys = [row[:3] for row in delta.edges]
        once("edges", keys)
        once("removed edges", delta.removed_edges)
        removed = set(delta.removed_edges)
        changed = removed.intersection(keys)
        self._label_of = label_of
        self._before = delta.before.edges
        self._paths = {row.id: row.path for row in delta.symbols}
        self._changed = [row for row, key in zip(delta.edges, keys, strict=True) if key in changed]
        self._fresh = self._by_pair(row for row, key in zip(delta.edges, keys, strict=True) if key not in changed)
        self._dropped = self._by_pair(key for key in delta.removed_edges if key not in changed)

    def delete(self, transaction: Transaction) -> None:
        """Delete removed edges, and update the line numbers of moved edges.

        Call this before nodes are written.
        """
        for pair, keys in self._dropped.items():
            _DELETED_EDGES.write(transaction, keys, **ends(pair))
        self._changed = self._shift(transaction)

    def write(self, transaction: Transaction) -> None:
        """Write changed and new edges; call after all nodes are written.

        Raises:
            BadInputError: an end of an edge does not exist.
        """
        for pair, rows in self._by_pair(self._changed).items():
            if len(rows) > FEW:  # deleting and creating many at once costs half as much as changing them one by one
                transaction.run("delete_edges", **ends(pair), rows=_key_table([row[:3] for row in rows]))
                self._fresh[pair] += rows
            else:
                answers = transaction.each("update_edge", ends(pair), [_values(row) for row in rows])
                self._fresh[pair] += [row for row, answer in zip(rows, answers, strict=True) if answer != [1]]
        for pair, rows in self._fresh.items():
            _create(transaction, pair, rows)

    def _shift(self, transaction: Transaction) -> list[EdgeRow]:
        """Update line numbers of moved edges, a whole file at once if possible.

        Returns the other changed edges, which still have to be written.
        """
        by_path: dict[str, list[EdgeRow]] = defaultdict(list)
        left = []
        for row in self._changed:
            path = self._paths.get(row.src)
            if path is None:
                left.append(row)
            else:
                by_path[path].append(row)
        for path, rows in by_path.items():
            worth_it = len(by_path) <= _SHIFTED_FILES and len(rows) >= _SHIFTED_EDGES
            left += _shift_file(transaction, path, rows, self._before.get(path)) if worth_it else rows
        return left

    def _by_pair(self, rows: Any) -> dict[Pair, list[Any]]:
        grouped: dict[Pair, list[Any]] = defaultdict(list)
        for row in rows:
            pair = PAIR_OF.get((row[0], self._label_of(row[1]), self._label_of(row[2])))
            if pair is None:
                raise no_such_pair(row, self._label_of)
            grouped[pair].append(row)
        return grouped


def _shift_file(transaction: Transaction, path: str, rows: list[EdgeRow], before: Sequence[EdgeRow] | None) -> list[EdgeRow]:
    """Update the lines of a file's edges with one statement, if possible.

    If many edges moved by the same number of lines, one statement shifts the first of them and all later edges of the file. But if a later
    edge is unchanged, no edge is shifted.

    Args:
        transaction: an open transaction.
        path: path of the file.
        rows: the changed edges of the file.
        before: the stored edges of the file; None to read them here.

    Returns:
        The edges of `rows` whose lines were not updated.
    """
    if before is None:
        before = model_rows(EdgeRow, full_lines(transaction.arrow("edges_of_symbols", paths=[path])))
    stored = {row[:3]: row for row in before}
    moved = {row[:3]: row.line - stored[row[:3]].line for row in rows if row[:3] in stored and _moved(stored[row[:3]], row.line) == row}
    by, count = min(Counter(moved.values()).items(), key=lambda item: (-item[1], item[0]), default=(0, 0))
    if count < _SHIFTED_EDGES:
        return rows
    from_line = min(stored[key].line for key, distance in moved.items() if distance == by)
    changed = {row[:3] for row in rows}
    if any(row.line >= from_line and key not in changed for key, row in stored.items()):
        return rows  # a later edge stays where it is
    transaction.run("shift_edges", path=path, from_line=from_line, by=by)
    return [row for row in rows if moved.get(row[:3]) != by]


def _moved(row: EdgeRow, line: int) -> EdgeRow:
    return row._replace(line=line, lines=to_lines(line, to_offsets(row.line, row.lines)))


def _create(transaction: Transaction, pair: Pair, rows: list[EdgeRow]) -> None:
    if not rows:
        return
    if len(rows) <= FEW:
        answers = transaction.each("create_edge", ends(pair), [_values(row) for row in rows])
        missing, others = next((row for row, answer in zip(rows, answers, strict=True) if answer != [1]), None), ""
    else:
        table = edge_table(rows).drop_columns(["stale_at"])
        missing = None if transaction.run("create_edges", **ends(pair), rows=table).rows == [[len(rows)]] else rows[0]
        others = f" or another of the {len(rows):,} edges from {pair.src} to {pair.dst}"
    if missing is not None:
        raise BadInputError(
            f"the edge {missing.kind} {missing.src} -> {missing.dst}{others} has an end that is neither in the change nor in the graph; "
            "add the missing node to the change",
            argument="edges",
        )


def label_lookup(files: Collection[str], externals: Collection[str]) -> LabelOf:
    """Return a function that maps the id of a node to its table, such as File.

    The tables are File, External (names of used packages) and Symbol. An id that is in neither of the first two is that of a symbol.
    """

    def label_of(node_id: str) -> NodeTable:
        return NodeTable.FILE if node_id in files else NodeTable.EXTERNAL if node_id in externals else NodeTable.SYMBOL

    return label_of


def no_such_pair(row: Any, label_of: LabelOf) -> BadInputError:
    """Return the error for an edge whose kind cannot join its two ends.

    For example, a symbol cannot call a file. `row` begins with (kind, source id, destination id). The error names the kinds of both ends.
    """
    kind, src, dst = row[:3]
    if kind == RelTable.CHUNK_OF:
        reason = "CHUNK_OF follows from ChunkRow.symbol_id; leave out the edge"
    else:
        reason = f"{kind} does not lead from {label_of(src)} to {label_of(dst)}, or an end is not in the graph; correct the edge"
    return BadInputError(f"edge {kind} {src} -> {dst}: {reason}", argument="edges")


def once(what: str, keys: Sequence[object]) -> None:
    """Raise BadInputError if a change contains a key twice.

    `keys` are the keys in the change, and `what` names them in the message. Without this check, the engine would write a null into one of
    the rows.
    """
    if len(set(keys)) != len(keys):
        raise BadInputError(f"two of the {what} in the change are equal; include each one once", argument=what)


def _values(row: EdgeRow) -> dict[str, Any]:
    values = row._asdict()
    del values["kind"]
    values["offsets"] = to_offsets(row.line, values.pop("lines"))
    return values


def ends(pair: Pair) -> dict[str, str]:
    """Return the values of the query placeholders `edge`, `from` and `to`.

    The values are the edge table of `pair` and the node tables of the two ends.
    """
    return {"edge": pair.edge, "from": pair.src, "to": pair.dst}


def _key_table(keys: Sequence[tuple[str, str, str]]) -> pa.Table:
    _, src, dst = zip(*keys, strict=True)
    return pa.table({"src": pa.array(src, pa.string()), "dst": pa.array(dst, pa.string())})


_DELETED_EDGES: Final = PairedQueries("delete_edge", "delete_edges", lambda key: {"src": key[1], "dst": key[2]}, _key_table)
