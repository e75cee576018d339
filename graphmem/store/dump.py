"""The whole database as Arrow files that no engine had a part in: what moves a project between kuzu and ladybug.

A dump is a folder: one file for each node table, each table of vectors and each FROM … TO … that has rows, and `meta.json`. It is
written from one read transaction and read back by the way every new file is filled (`rebuild.fill`), so what a dump becomes is what
`compact` would have made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from graphmem.errors import DatabaseDamagedError, DiskFullError
from graphmem.model import GraphDelta
from graphmem.store import files, times
from graphmem.store.arrow_rows import SLICE
from graphmem.store.catalog import load_catalog
from graphmem.store.engine import Engine
from graphmem.store.files import beside
from graphmem.store.opening import NEXT, OpenOptions, build
from graphmem.store.rebuild import Content
from graphmem.store.tables import ALL_PAIRS, CARRIED_NODES, CODE_NODES, EmbeddingTable, NodeTable, Pair
from graphmem.store.write_nodes import CREATES

if TYPE_CHECKING:
    from graphmem.store.catalog import Catalog
    from graphmem.store.engine import Connection

FORMAT: Final = 1
META_FILE: Final = "meta.json"
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="zstd")


def write_dump(connection: Connection, catalog: Catalog, folder: Path, meta: Mapping[str, str]) -> dict[str, int]:
    """Write everything a database holds into an empty folder.

    Args:
        connection: in a read transaction.
        catalog: the named queries.
        folder: made by the caller.
        meta: all of Meta, as of that transaction.

    Returns:
        Rows by table, in the order they are loaded.

    Raises:
        DiskFullError: the disk refused; the folder is of no use.
    """
    content = Content(GraphDelta.empty(), connection, catalog, keep_code=True, moment=times.now())
    rows: dict[str, int] = {}
    try:
        for name, table in _named(content):
            rows[name] = rows.get(name, 0) + len(table)
            _append(folder, name, table)
        _finish(folder, rows)
        said = {"format": FORMAT, "meta": dict(meta), "rows": rows}
        (folder / META_FILE).write_text(json.dumps(said, indent=1, sort_keys=True), encoding="utf-8")
    except OSError as error:
        raise DiskFullError(f"there is no room for a dump in {folder} ({error}); make room and try again", path=str(folder)) from error
    return rows


def read_dump(folder: Path, path: Path, engine: str, buffer_pool_bytes: int, max_db_bytes: int, *, replace: bool = False) -> dict[str, str]:
    """Make a database file of a dump; complete, or not there at all.

    Args:
        folder: of the dump.
        path: of the new file.
        engine: that is to read it from now on.
        buffer_pool_bytes: see `open_store`.
        max_db_bytes: see `open_store`.
        replace: something may lie at `path`.

    Returns:
        Its Meta.

    Raises:
        DatabaseDamagedError: the dump is not whole, or of a format nobody knows.
        DiskFullError, LimitError: what the engine says.
    """
    meta, rows = _described(folder)
    path = path.resolve()
    if path.exists() and not replace:
        raise DatabaseDamagedError(f"{path} is there already; name a new file", path=str(path), reason="exists")
    build(
        path,
        OpenOptions(Engine(engine), buffer_pool_bytes, max_db_bytes, read_only=False),
        load_catalog(),
        _Dumped(folder, rows, moment=times.now()),
        meta,
        {},
    )
    files.put_in_place(beside(path, NEXT), path)
    return meta


class _Dumped(Content):
    """What a dump holds, as the content of a new file."""

    def __init__(self, folder: Path, rows: Mapping[str, int], moment: datetime) -> None:
        super().__init__(GraphDelta.empty(), None, load_catalog(), keep_code=False, moment=moment)
        self._folder = folder
        self._rows = rows

    def nodes(self) -> Iterator[tuple[NodeTable | EmbeddingTable, pa.Table]]:
        """Rows of every node table: in pieces where a table may be filled in pieces."""
        labels: dict[str, NodeTable | EmbeddingTable] = {str(label): label for label in (*CODE_NODES, *CARRIED_NODES)}
        vectors = [table for name in self._rows if (table := EmbeddingTable.parse(name)) is not None]
        for name, label in {**labels, **{str(table): table for table in vectors}}.items():
            table = _read(self._folder, name, self._rows)
            step = SLICE if label in CREATES else max(1, len(table))
            for at in range(0, len(table), step):
                yield label, table.slice(at, step)

    def edges(self) -> Iterator[tuple[Pair, pa.Table]]:
        """Every FROM … TO … with rows."""
        for pair in ALL_PAIRS:
            table = _read(self._folder, pair_name(pair), self._rows)
            if len(table):
                yield pair, table


def pair_name(pair: Pair) -> str:
    """The name of a FROM … TO … in a dump."""
    return f"{pair.edge}-{pair.src}-{pair.dst}"


def _named(content: Content) -> Iterator[tuple[str, pa.Table]]:
    for label, table in content.nodes():
        yield str(label), table
    for pair, table in content.edges():
        yield pair_name(pair), table


def _append(folder: Path, name: str, table: pa.Table) -> None:
    """One piece of a table, as a file of its own: pieces come from several queries and are joined when they are read."""
    if len(table):
        number = sum(1 for _ in folder.glob(f"{name}.*.arrow"))
        path = str(folder / f"{name}.{number:05d}.arrow")
        with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, table.schema, options=_COMPRESSED) as writer:
            writer.write_table(table)


def _finish(folder: Path, rows: dict[str, int]) -> None:
    for name in [name for name, count in rows.items() if not count]:
        del rows[name]
    for file in sorted(folder.iterdir()):
        files.sync(file)


def _described(folder: Path) -> tuple[dict[str, str], dict[str, int]]:
    try:
        said = json.loads((folder / META_FILE).read_text(encoding="utf-8"))
        number, meta, rows = said["format"], dict(said["meta"]), {str(name): int(count) for name, count in said["rows"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _not_whole(folder, f"{META_FILE} cannot be read ({error})") from error
    if number != FORMAT:
        raise _not_whole(folder, f"it is of format {number}, this graphmem reads {FORMAT}")
    return meta, rows


def _read(folder: Path, name: str, rows: Mapping[str, int]) -> pa.Table:
    wanted = rows.get(name, 0)
    if not wanted:
        return pa.table({})
    try:
        parts = []
        for file in sorted(folder.glob(f"{name}.*.arrow")):
            with pa.OSFile(str(file), "rb") as source, pa.ipc.open_file(source) as reader:
                parts.append(reader.read_all())
        table = pa.concat_tables(parts, promote_options="default").combine_chunks()
    except (pa.ArrowException, OSError) as error:
        raise _not_whole(folder, f"{name} cannot be read ({error})") from error
    if len(table) != wanted:
        raise _not_whole(folder, f"{name} has {len(table):,} rows where {wanted:,} were written")
    return table


def _not_whole(folder: Path, reason: str) -> DatabaseDamagedError:
    return DatabaseDamagedError(f"the dump is not whole: {reason}; use another one", path=str(folder), reason=reason)
