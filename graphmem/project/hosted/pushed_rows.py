"""Graph rows of each file, as `graphmem push` sends and stores them.

Rows are the nodes of a file and the edges that start at them. A digest is a hash of all rows of a file.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.indexing.delta import edges_of
from graphmem.model import ExternalRow
from graphmem.store.overlays.overlay_layer import OwnRows
from graphmem.store.wire import packed, plain, row_of, unpacked

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView
    from graphmem.store.base import GraphReads

BATCH: Final = 500  # files whose rows are read at once
MOST: Final = 256 << 20  # bytes of one stored file after decompression


class FileRows(NamedTuple):
    """The graph's rows of one file as JSON values, with a hash of the rows."""

    path: str
    rows: dict[str, list[list[Any]]]  # table -> rows
    digest: str
    content_hash: str


def rows_by_file(store: GraphReads, view: GraphView, paths: Sequence[str]) -> Iterator[FileRows]:
    """Yield the graph rows of some files, in the order of the paths.

    The rows of a file are its nodes and the edges that start at them.
    """
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        found = store.rows_of(batch, batch)
        by_path: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for table, rows in found._asdict().items():
            for row in rows:
                by_path[row.path][table].append(plain(table, row))
        for edge in edges_of(view, batch):
            by_path[view.paths[view.path_index[view.index_of[edge.src]]]]["edges"].append(plain("edges", edge))
        hashes = {row.path: row.content_hash for row in found.files}
        for path in batch:
            tables = {table: sorted(rows, key=repr) for table, rows in sorted(by_path[path].items())}
            yield FileRows(path, tables, digest_of_rows(tables), hashes.get(path, ""))


def digest_of_rows(rows: Mapping[str, list[list[Any]]]) -> str:
    """Return the digest of a file: a hash of its rows in each table."""
    return hashlib.blake2b(json.dumps(dict(sorted(rows.items()))).encode(), digest_size=16).hexdigest()


def rows_by_path(tables: Mapping[str, list[list[Any]]]) -> dict[str, dict[str, list[list[Any]]]]:
    """Return the rows in a part of a push by the path of their file.

    Args:
        tables: the rows of each table; those of a file are in one part.

    Raises:
        KeyError: an edge starts at a node that the part lacks.
    """
    path_of = {row[0]: row[1] for table in ("files", "symbols") for row in tables.get(table, ())}
    found: dict[str, dict[str, list[list[Any]]]] = {}
    for table, rows in tables.items():
        for row in rows:
            found.setdefault(path_of[row[1]] if table == "edges" else row[1], {}).setdefault(table, []).append(row)
    return found


def external_rows(store: GraphReads) -> dict[str, ExternalRow]:
    """Return the externals of a graph by id: names that others define.

    An example is a function of a library that the project uses.
    """
    return {row["id"]: ExternalRow(**row) for row in store.tables().externals.to_pylist()}


def body_of(rows: Mapping[str, list[list[Any]]], externals: Mapping[str, Sequence[object]], text: str | None) -> bytes:
    """Return the rows of a file as bytes to store.

    Args:
        rows: the rows of each table, as JSON values.
        externals: rows of all external names (defined outside the project) in the graph, by id. A name is stored if an edge of the file
            leads to it.
        text: the text of the file; None if it is unknown.
    """
    targets = {row[2] for row in rows.get("edges", ())}
    return packed({"rows": rows, "externals": {one: list(externals[one]) for one in sorted(targets & externals.keys())}, "text": text})


def rows_in(bodies: Iterable[bytes]) -> OwnRows:
    """Unpack the rows of all files in `bodies`, which `body_of` made."""
    found = OwnRows.none()
    for body in bodies:
        content = unpacked(body, MOST)
        for table, rows in content["rows"].items():
            getattr(found, table).extend(row_of(table, row) for row in rows)
        found.externals.update((id_, ExternalRow._make(row)) for id_, row in content["externals"].items())
    return found


def text_in(body: bytes) -> str | None:
    """Return the text of a file from the bytes that `body_of` made.

    The result is None if the text is unknown.
    """
    text: str | None = unpacked(body, MOST)["text"]
    return text
