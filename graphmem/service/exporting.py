"""The whole graph as JSON objects, one for each node and edge, in an order that depends on nothing but the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from graphmem.store.base import GraphTables

_NODES = (("File", "files"), ("Symbol", "symbols"), ("External", "externals"))


def export(tables: GraphTables) -> Iterator[dict[str, Any]]:
    """Nodes by label and id, then edges by (kind, source id, destination id).

    A node is its row with `kind` its label (a symbol's own kind is `symbol_kind`); an edge is
    `{"kind", "src": {"path", "qualname", "line"}, "dst": {…}, "confidence", "source", "rule", "line"}`. A file
    has the qualname "", an external the path "".
    """
    ends: dict[str, dict[str, Any]] = {}
    for label, name in _NODES:
        table: pa.Table = getattr(tables, name)
        for row in _rows(table):
            ends[row["id"]] = _end(label, row)
            if label == "Symbol":
                row["symbol_kind"] = row.pop("kind")
            yield {"kind": label, **row}
    for row in _rows(tables.edges):
        yield {
            "kind": row["kind"],
            "src": ends[row["src"]],
            "dst": ends[row["dst"]],
            "confidence": round(row["confidence"], 4),
            "source": row["source"],
            "rule": row["rule"],
            "line": row["line"],
        }


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _end(label: str, row: dict[str, Any]) -> dict[str, Any]:
    if label == "File":
        return {"path": row["path"], "qualname": "", "line": 1}
    if label == "Symbol":
        return {"path": row["path"], "qualname": row["qualname"], "line": row["start_line"]}
    dotted = f"{row['package']}.{row['name']}" if row["name"] else row["package"]
    return {"path": "", "qualname": dotted, "line": 0}
