"""Build the in-memory code graph from tables that the database exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.errors import LimitError
from graphmem.projection.graph.arrays import (
    EDGE_KINDS,
    EDGE_SOURCES,
    EXTERNAL,
    FILE,
    I32,
    KIND_EXTERNAL,
    KIND_FILE,
    MAX_NODES,
    NODE_KINDS,
    SYMBOL,
    U8,
    EdgeColumns,
    GraphArrays,
    NodeColumns,
    PathColumns,
    UnresolvedColumns,
    edge_keys,
)
from graphmem.runtime.arrow import pc
from graphmem.store.base import GraphTables

_Number = TypeVar("_Number", bound=np.generic)


def text(values: pa.Array | pa.ChunkedArray | Sequence[str]) -> pa.StringArray:
    """Convert strings to one contiguous Arrow StringArray without nulls.

    `values` is a list, or a column of Arrow.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    elif not isinstance(values, pa.Array):
        values = pa.array(values, pa.string())
    if isinstance(values.type, pa.DictionaryType):
        values = values.dictionary_decode()
    if values.type != pa.string():
        values = values.cast(pa.string())
    if values.null_count:
        values = pc.fill_null(values, "")
    # An offset or a hidden validity bitmap would make the bytes of equal columns differ.
    return values if values.offset == 0 else pa.concat_arrays([values])


def joined(parts: Sequence[pa.Array | pa.ChunkedArray | Sequence[str]]) -> pa.StringArray:
    """Concatenate the columns of strings `parts` to one column of Arrow."""
    return pa.concat_arrays([text(part) for part in parts])


def numbers(values: pa.Array | pa.ChunkedArray, dtype: type[_Number]) -> npt.NDArray[_Number]:
    """Convert an Arrow column of numbers or booleans to numpy; nulls are 0."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values.null_count:
        values = pc.fill_null(values, False if pa.types.is_boolean(values.type) else 0)
    return np.asarray(values.to_numpy(zero_copy_only=False)).astype(dtype)


def positions(values: pa.Array | pa.ChunkedArray, known: pa.StringArray) -> I32:
    """Return the position of each of `values` in the column `known`.

    The position is -1 for a value that `known` lacks.
    """
    found = pc.index_in(values, value_set=known)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    return numbers(pc.fill_null(found, -1), np.int32)


def codes(values: pa.Array | pa.ChunkedArray | Sequence[str], vocabulary: tuple[str, ...], what: str) -> U8:
    """Return the position of each of `values` in the fixed list `vocabulary`.

    A vocabulary is, for example, the list of edge kinds. `what` names it in the error.

    Raises:
        LimitError: the vocabulary lacks a value.
    """
    encoded = text(values).dictionary_encode()
    words = encoded.dictionary.to_pylist()
    unknown = sorted(set(words) - set(vocabulary))
    if unknown:
        raise LimitError(
            f"the stored graph has an unknown {what}: {', '.join(unknown)}; run `graphmem index`",
            limit=what,
            allowed=vocabulary,
            found=unknown,
        )
    place = np.array([vocabulary.index(word) for word in words], dtype=np.uint8)
    return place[numbers(encoded.indices, np.int32)] if words else np.zeros(0, np.uint8)


def external_names(packages: list[str], names: list[str]) -> tuple[list[str], list[str]]:
    """Return the short names and the full names of external symbols.

    The arguments have the package of each symbol, and its name in the package. For `requests` and `Session.get`, the names are `get` and
    `requests.Session.get`. Both results have the order of the arguments. For the name "", both names are that of the package.
    """
    short = [name.rpartition(".")[2] if name else package for package, name in zip(packages, names, strict=True)]
    full = [f"{package}.{name}" if name else package for package, name in zip(packages, names, strict=True)]
    return short, full


def node_columns(files: pa.Table, symbols: pa.Table, externals: pa.Table, paths: pa.StringArray) -> NodeColumns:
    """Return the nodes of the code graph, from three tables, as arrays.

    The order is files, symbols, externals (used packages and their symbols). `paths` is the sorted column of all paths, and the result's
    column `path` has positions in `paths`. The column `parent` is -1 for every node; the caller sets it later.
    """
    nf, ns, nx = files.num_rows, symbols.num_rows, externals.num_rows
    blank_files, blank_externals = pa.array([""] * nf, pa.string()), pa.array([""] * nx, pa.string())
    short, full = external_names(externals["package"].to_pylist(), externals["name"].to_pylist())
    base_names = [path.rpartition("/")[2] for path in files["path"].to_pylist()]

    def ints(column: str, of_files: npt.NDArray[np.generic] | int) -> I32:
        first = np.zeros(nf, np.int32) + of_files
        return np.concatenate([first.astype(np.int32), numbers(symbols[column], np.int32), np.zeros(nx, np.int32)])

    def of_symbols(column: str) -> pa.StringArray:
        return joined([blank_files, symbols[column], blank_externals])

    return NodeColumns(
        id=joined([files["id"], symbols["id"], externals["id"]]),
        label=np.repeat(np.array([FILE, SYMBOL, EXTERNAL], np.uint8), [nf, ns, nx]),
        kind=np.concatenate(
            [np.full(nf, KIND_FILE, np.uint8), codes(symbols["kind"], NODE_KINDS, "symbol kind"), np.full(nx, KIND_EXTERNAL, np.uint8)]
        ),
        path=np.concatenate([positions(text(files["path"]), paths), positions(text(symbols["path"]), paths), np.full(nx, -1, np.int32)]),
        parent=np.full(nf + ns + nx, -1, np.int32),
        start_line=ints("start_line", 1),
        end_line=ints("end_line", numbers(files["lines"], np.int32)),
        name_line=ints("name_line", 1),
        name_column=ints("name_column", 0),
        complexity=ints("complexity", 0),
        is_test=np.concatenate([numbers(files["is_test"], np.bool_), numbers(symbols["is_test"], np.bool_), np.zeros(nx, np.bool_)]),
        name=joined([base_names, symbols["name"], short]),
        qualname=joined([blank_files, symbols["qualname"], full]),
        signature=of_symbols("signature"),
        doc=of_symbols("doc"),
        modifiers=of_symbols("modifiers"),
        entry_point=of_symbols("entry_point"),
        body_hash=of_symbols("body_hash"),
    )


def path_columns(files: pa.Table, paths: pa.StringArray, node: I32) -> PathColumns:
    """Return the data of the file at each path, such as language and size.

    The values are empty for a path without a file. `node` has the node number of each row of `files`.
    """
    row = positions(paths, text(files["path"]))  # path -> row in files
    missing = row < 0
    take = pa.array(np.where(missing, 0, row), mask=missing)

    def texts(column: str) -> pa.StringArray:
        return text(text(files[column]).take(take))

    def ints(column: str, dtype: type[_Number]) -> npt.NDArray[_Number]:
        values = numbers(files[column], dtype)
        return np.where(missing, 0, values[np.where(missing, 0, row)] if len(values) else 0).astype(dtype)

    return PathColumns(
        path=paths,
        node=np.where(missing, -1, node[np.where(missing, 0, row)] if len(node) else -1).astype(np.int32),
        language=texts("language"),
        module=texts("module"),
        content_hash=texts("content_hash"),
        diagnostic=texts("diagnostic"),
        size_bytes=ints("size_bytes", np.int64),
        lines=ints("lines", np.int32),
        error_count=ints("error_count", np.int32),
        call_sites=ints("call_sites", np.int32),
    )


def edge_columns(edges: pa.Table, ids: pa.StringArray) -> tuple[EdgeColumns, tuple[str, ...], int]:
    """Return the edges as arrays, the names of their rules, and a count.

    The edges are sorted by (src, kind, dst). A rule states how the target of an edge was found. An edge is left out if its source or
    destination is not in `ids`, the sorted column of node ids. The count is the number of these edges.
    """
    src, dst = positions(edges["src"], ids), positions(edges["dst"], ids)
    kind = codes(edges["kind"], EDGE_KINDS, "edge kind")
    live = np.flatnonzero((src >= 0) & (dst >= 0))
    order = live[np.argsort(edge_keys(src[live], kind[live], dst[live]), kind="stable")]
    all_rules = text(edges["rule"]).dictionary_encode()
    rule_of_row = numbers(all_rules.indices, np.int32)[order]
    used = sorted(all_rules.dictionary[int(i)].as_py() for i in np.unique(rule_of_row))
    src, dst, kind = src[order], dst[order], kind[order]
    line = numbers(edges["line"], np.int32)[order]
    columns = EdgeColumns(
        src=src,
        dst=dst,
        kind=kind,
        confidence=numbers(edges["confidence"], np.float32)[order],
        source=codes(edges["source"], EDGE_SOURCES, "edge source")[order],
        rule=rule_codes(all_rules.dictionary.to_pylist(), tuple(used))[rule_of_row] if used else np.zeros(0, np.uint8),
        line=line,
        lines=sites(text(edges["lines"]).take(pa.array(order)), line),
        by_dst=np.argsort(edge_keys(dst, kind, src), kind="stable").astype(np.int32),
    )
    return columns, tuple(used), edges.num_rows - len(order)


def sites(lines: pa.Array | pa.ChunkedArray, line: npt.NDArray[np.generic]) -> pa.StringArray:
    """Return the line numbers of edges with several lines, such as "12,48".

    An edge has two lines if, for example, a function calls another function twice. For an edge with one line the string is "", because
    `line` has the number already.

    Args:
        lines: all lines of each edge, such as "12,48".
        line: the first line of each edge.
    """
    lines = text(lines)
    alone = pc.equal(lines, pa.array(line).cast(pa.string()))
    return text(pc.if_else(alone, "", lines))


def rule_codes(words: list[str], rules: tuple[str, ...]) -> U8:
    """Return the position of each rule in the list `rules`.

    `words` are the rules to look up. A rule is the name of the method by which the target of an edge was found. A rule that is not in the
    list gets 0.

    Raises:
        LimitError: more than 256 rules are in use.
    """
    if len(rules) > 256:
        raise LimitError(
            f"the graph uses {len(rules)} rules of resolution, and graphmem can load at most 256; report this defect to the authors "
            "of graphmem",
            limit="rules",
            allowed=256,
            found=len(rules),
        )
    place = {rule: i for i, rule in enumerate(rules)}
    return np.array([place.get(word, 0) for word in words], dtype=np.uint8)


def build_arrays(tables: GraphTables) -> GraphArrays:
    """Build the arrays of the code graph from tables of the database.

    Most of the time is spent on sorting the ids and the edges.

    Raises:
        LimitError: there are too many nodes, or an unknown node kind, edge kind or edge source.
    """
    paths = pc.unique(joined([tables.files["path"], tables.symbols["path"], tables.unresolved["path"]]))
    paths = text(paths.take(pc.sort_indices(paths)))
    unsorted = node_columns(tables.files, tables.symbols, tables.externals, paths)
    if len(unsorted.id) > MAX_NODES:
        raise LimitError(
            f"the graph has {len(unsorted.id):,} nodes, and graphmem can load at most {MAX_NODES:,}; exclude directories and index again",
            limit="nodes",
            allowed=MAX_NODES,
            found=len(unsorted.id),
        )
    order = numbers(pc.sort_indices(unsorted.id), np.int64)
    ids = text(unsorted.id.take(pa.array(order)))
    parent_ids = joined([[""] * tables.files.num_rows, tables.symbols["parent_id"], [""] * tables.externals.num_rows])
    parent = positions(parent_ids, ids)[order]
    nodes = take_nodes(unsorted, order, ids, parent)
    edges, rules, dangling = edge_columns(tables.edges, ids)
    waiting = tables.unresolved
    by_id = pc.sort_indices(text(waiting["id"]))
    unresolved = UnresolvedColumns(
        id=text(text(waiting["id"]).take(by_id)),
        path=positions(text(waiting["path"]).take(by_id), paths),
        caller=positions(text(waiting["caller_id"]).take(by_id), ids),
        name=text(text(waiting["name"]).take(by_id)),
        line=numbers(waiting["line"].combine_chunks().take(by_id), np.int32),
        reason=text(text(waiting["reason"]).take(by_id)),
    )
    return GraphArrays(
        tables.generation,
        nodes,
        path_columns(tables.files, paths, positions(text(tables.files["id"]), ids)),
        edges,
        unresolved,
        rules,
        dangling,
    )


def take_nodes(columns: NodeColumns, order: npt.NDArray[np.generic], ids: pa.StringArray, parent: I32) -> NodeColumns:
    """Return the columns of the nodes in another order.

    `order` has, for each position in the new order, the position in `columns`. The result has the ids `ids` and the enclosing symbols
    `parent`. Both are already in the new order.
    """
    rows = pa.array(order)
    taken: dict[str, Any] = {}
    for name in NodeColumns.__slots__:
        column = getattr(columns, name)
        if name not in ("id", "parent"):
            taken[name] = column[order] if isinstance(column, np.ndarray) else text(column.take(rows))
    return NodeColumns(id=ids, parent=parent, **taken)
