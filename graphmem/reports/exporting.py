"""Export the whole graph as JSON objects, GraphML or DOT."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypedDict

import orjson

from graphmem.reports.diagram import GRAPHML, printable, quoted, xml, xml_attribute
from graphmem.runtime.texts.safe_text import inert_json

if TYPE_CHECKING:
    import pyarrow as pa

    from graphmem.store.base import GraphTables, KeyRow

KEY: Final = "FrameworkKey"
_NODES = (("File", "files"), ("Symbol", "symbols"), ("External", "externals"))


class _End(TypedDict):
    """The source or the target of an exported edge."""

    path: str  # "" for a symbol of a package
    qualname: str  # "" for a file
    line: int


def export(tables: GraphTables, handles: Iterable[KeyRow] = ()) -> Iterator[dict[str, Any]]:
    """Yield the graph as JSON objects: nodes, then edges.

    Nodes are ordered by label and id, edges by (kind, source id, destination id). Framework keys (such as routes) follow the other nodes.
    Edges from functions to framework keys come last.

    A node has the columns of its table. The key `kind` is the label of the node, such as Symbol; a symbol's own kind, such as "class", is
    in `symbol_kind`. An edge is `{"kind", "src": {"path", "qualname", "line"}, "dst": {…}, "confidence", "source", "rule", "line"}`. In
    `src` and `dst`, a file has the qualname "". Externals and framework keys have the path "". The qualname of a framework key is its kind,
    name and framework.

    Args:
        tables: the code graph.
        handles: the framework keys; see `GraphReads.framework_keys`.
    """
    ends: dict[str, _End] = {}
    for label, name in _NODES:
        table: pa.Table = getattr(tables, name)
        for row in _rows(table):
            ends[row["id"]] = _end(label, row)
            if label == "Symbol":
                row["symbol_kind"] = row.pop("kind")
            yield {"kind": label, **row}
    handled = sorted((row for row in handles if row.symbol_id in ends), key=lambda row: (row.symbol_id, row.id))
    keys = {row.id: {"kind": KEY, "id": row.id, "key_kind": row.kind, "name": row.name, "framework": row.framework} for row in handled}
    for key in sorted(keys):
        ends[key] = _end(KEY, keys[key])
        yield keys[key]
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
    for one in handled:
        said = {"confidence": one.confidence, "source": one.source, "rule": one.rule, "line": one.line}
        yield {"kind": "HANDLES", "src": ends[one.symbol_id], "dst": ends[one.id], **said}


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _end(label: str, row: dict[str, Any]) -> _End:
    if label == "File":
        return {"path": row["path"], "qualname": "", "line": 1}
    if label == "Symbol":
        return {"path": row["path"], "qualname": row["qualname"], "line": row["start_line"]}
    if label == KEY:
        return {"path": "", "qualname": " ".join(part for part in (row["key_kind"], row["name"], row["framework"]) if part), "line": 0}
    dotted = f"{row['package']}.{row['name']}" if row["name"] else row["package"]
    return {"path": "", "qualname": dotted, "line": 0}


class Counted:
    """An iterable that counts the items it has yielded so far."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            self.count += 1
            yield row


def jsonl(rows: Iterable[dict[str, object]]) -> Iterator[str]:
    """Yield each node or edge of the graph (in `rows`) as a line of JSON."""
    for row in rows:
        yield inert_json(orjson.dumps(row).decode()) + "\n"


def as_json(rows: Iterable[dict[str, object]]) -> Iterator[str]:
    """Yield the graph's JSON in parts: `{"nodes": […], "edges": […]}`.

    `rows` are the nodes, then the edges.
    """
    part, first = "nodes", True
    yield '{"nodes":['
    for row in rows:
        if part == "nodes" and "src" in row:
            part, first = "edges", True
            yield '],"edges":['
        yield ("\n" if first else ",\n") + inert_json(orjson.dumps(row).decode())
        first = False
    yield "]}\n" if part == "edges" else '],"edges":[]}\n'


def graphml(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the graph as a GraphML document with all non-empty fields.

    networkx, yEd and Gephi can read the document. Ids of nodes are readable, such as `shop/cart.py::Cart.total`; see `_Keys`. `rows` are
    the objects that `export` yields.
    """
    yield GRAPHML
    for name in _NODE_FIELDS:
        yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="{_NODE_FIELDS[name]}"/>\n'
    for name in _EDGE_FIELDS:
        yield f'  <key id="e_{name}" for="edge" attr.name="{name}" attr.type="{_EDGE_FIELDS[name]}"/>\n'
    yield '  <graph edgedefault="directed">\n'
    keys = _Keys()
    for row in rows:
        if "src" not in row:
            data = "".join(f'<data key="{name}">{xml(_text(row[name]))}</data>' for name in _NODE_FIELDS if row.get(name) not in (None, ""))
            yield f"    <node id={xml_attribute(printable(keys.node(row)))}>{data}</node>\n"
        else:
            data = "".join(f'<data key="e_{name}">{xml(_text(row[name]))}</data>' for name in _EDGE_FIELDS)
            ends = f"source={xml_attribute(printable(keys.end(row['src'])))} target={xml_attribute(printable(keys.end(row['dst'])))}"
            yield f"    <edge {ends}>{data}</edge>\n"
    yield "  </graph>\n</graphml>\n"


def dot(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a Graphviz document with the graph.

    `rows` are the nodes, then the edges.
    """
    yield 'digraph code {\n  node [shape="box", fontname="sans-serif"];\n'
    keys = _Keys()
    for row in rows:
        if "src" not in row:
            kind = row.get("symbol_kind") or row["kind"].lower()
            yield f"  {quoted(keys.node(row))} [label={quoted(_label(row))}, kind={quoted(kind)}];\n"
        else:
            ends = f"{quoted(keys.end(row['src']))} -> {quoted(keys.end(row['dst']))}"
            yield f"  {ends} [kind={quoted(row['kind'])}, confidence={row['confidence']}];\n"
    yield "}\n"


class _Keys:
    """Gives the nodes of a graph unique, readable names.

    A file is named by its path, a symbol `path::qualname`, and an external by package and name. If a second node would get the same name,
    its line is added: `path::name@12`.
    """

    def __init__(self) -> None:
        self._of: dict[tuple[str, str, int], str] = {}
        self._taken: set[str] = set()

    def node(self, row: dict[str, Any]) -> str:
        """Return a unique name for the node in `row`, and remember it for `end`."""
        place = _end(row["kind"], row)
        end = (place["path"], place["qualname"], place["line"])
        name = end[1] if not end[0] else end[0] if not end[1] else f"{end[0]}::{end[1]}"
        unique, number = name, 1
        while unique in self._taken:
            number += 1
            unique = f"{name}@{end[2]}" if number == 2 else f"{name}@{end[2]}.{number}"
        self._taken.add(unique)
        self._of.setdefault(end, unique)
        return unique

    def end(self, end: dict[str, Any]) -> str:
        """Return the name that `node` gave to the end of an edge.

        `end` has the keys `path`, `qualname` and `line`.
        """
        return self._of[end["path"], end["qualname"], end["line"]]


_NODE_FIELDS: Final = {
    **dict.fromkeys(
        ("kind", "path", "symbol_kind", "name", "qualname", "signature", "package", "language", "module", "key_kind", "framework"), "string"
    ),
    **dict.fromkeys(("entry_point", "modifiers"), "string"),
    **dict.fromkeys(("start_line", "end_line", "lines", "complexity"), "long"),
    "is_test": "boolean",
}
_EDGE_FIELDS: Final = {"kind": "string", "confidence": "double", "source": "string", "rule": "string", "line": "long"}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _label(row: dict[str, object]) -> str:
    return str(row.get("qualname") or row.get("path") or row.get("name") or row.get("package") or "")


WRITERS: Final[dict[str, Callable[[Iterable[dict[str, object]]], Iterator[str]]]] = {
    "jsonl": jsonl,
    "json": as_json,
    "graphml": graphml,
    "dot": dot,
}
