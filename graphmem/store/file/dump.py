"""Write and read the whole database as engine-independent Arrow files.

With a dump, a project is moved from kuzu to ladybug, or the reverse.

A dump is a directory with `meta.json` and one file for each table. The tables are those of nodes, of vectors, and of edges between two node
tables. Tables without rows have no file. All files come from one read transaction. A dump also records the schema version of its rows. When
a dump is loaded, the tables are created in that version, filled by `rebuild.fill`, and then migrated. The resulting file is as small as
after `compact`.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from graphmem.errors import DatabaseDamagedError, GraphMemError, SchemaTooNewError
from graphmem.model import GraphDelta
from graphmem.runtime.process import system
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.engine import times
from graphmem.store.engine.engine import Engine
from graphmem.store.engine.engine_errors import BREAKING
from graphmem.store.file import files
from graphmem.store.file.building import OpenOptions, build
from graphmem.store.file.files import NEXT, beside
from graphmem.store.file.migrate import load_migrations, newest_of, table_names
from graphmem.store.file.rebuild import Content
from graphmem.store.reads.pieces import Pieces
from graphmem.store.tables.arrow_rows import SLICE
from graphmem.store.tables.catalog import load_catalog
from graphmem.store.tables.tables import ALL_PAIRS, CARRIED_NODES, CODE_NODES, EmbeddingTable, NodeTable, Pair
from graphmem.store.writes.write_nodes import CREATES

if TYPE_CHECKING:
    from graphmem.store.engine.engine import Connection
    from graphmem.store.file.migrate import Migration
    from graphmem.store.tables.catalog import Catalog

FORMAT: Final = 1
ROW_BYTES: Final = 200  # of a row in the database without its text, an upper estimate
INFLATES_TO: Final = 4  # ratio of a string's size in the database to its size in a dump
META_FILE: Final = "meta.json"
_VERSION: Final = re.compile(r"\d{4}")
_BEFORE_SCHEMAS: Final = "0003"  # schema of dumps that do not name one
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="zstd")


def write_dump(connection: Connection, catalog: Catalog, folder: Path, meta: Mapping[str, str]) -> dict[str, int]:
    """Write the content of a database into an empty directory.

    Args:
        connection: a connection in a read transaction. The database may have an older schema.
        catalog: the named queries.
        folder: an empty directory that the caller created.
        meta: the metadata of the database in that transaction, by name.

    Returns:
        Number of rows of each table, in the order of loading.

    Raises:
        DiskFullError: the disk is full; the directory is unusable.
    """
    names = table_names(connection)
    rows: dict[str, int] = {}
    try:
        for name, pieces in _named(connection, catalog, names):
            count = _write(folder / f"{name}.00000.arrow", pieces)
            if count:
                rows[name] = count
                give_back(between=True)
        said = {"format": FORMAT, "schema": newest_of(connection), "meta": dict(meta), "rows": rows}
        (folder / META_FILE).write_text(json.dumps(said, indent=1, sort_keys=True), encoding="utf-8")
        for file in sorted(folder.iterdir()):
            system.sync(file)
    except OSError as error:
        raise disk_refusal(error, "writing a dump", folder) from error
    return rows


def read_dump(folder: Path, path: Path, engine: str, buffer_pool_bytes: int, max_db_bytes: int, *, replace: bool = False) -> dict[str, str]:
    """Create a database file from a dump, completely or not at all.

    Args:
        folder: directory of the dump.
        path: path of the new database file.
        engine: name of the engine for the new file.
        buffer_pool_bytes: see `open_store`.
        max_db_bytes: see `open_store`.
        replace: whether to replace an existing file at `path`.

    Returns:
        The metadata of the dumped database, such as the project's name.

    Raises:
        DatabaseDamagedError: the dump is incomplete, or of an unknown format.
        SchemaTooNewError: a newer graphmem wrote it.
        DiskFullError, LimitError: as the engine reports.
    """
    meta, rows, schema = _described(folder)
    path = path.resolve()
    if path.exists() and not replace:
        raise DatabaseDamagedError(f"{path} already exists; choose a new file", path=str(path), reason="exists")
    options = OpenOptions(Engine(engine), buffer_pool_bytes, max_db_bytes, read_only=False)
    content = _Dumped(folder, rows, _migrations_to(schema, folder), moment=times.now())
    size = sum(rows.values()) * ROW_BYTES + INFLATES_TO * sum(file.stat().st_size for file in folder.iterdir())
    try:
        build(path, options.for_a_new_file(size), load_catalog(), content, meta, {})
    except BREAKING:
        raise
    except GraphMemError as error:  # its columns differ from the schema's, or an edge lacks an end
        reason = error.facts.get("reason", error.message)
        raise _not_whole(folder, f"the tables of the backup cannot be stored: {reason}; use another backup") from error
    files.put_in_place(beside(path, NEXT), path)
    return meta


class _Dumped(Content):
    """A dump in a directory, read as the content of a new database file."""

    def __init__(self, folder: Path, rows: Mapping[str, int], schema: tuple[Migration, ...] | None, moment: datetime) -> None:
        super().__init__(GraphDelta.empty(), None, load_catalog(), keep_code=False, moment=moment)
        self.schema = schema
        self._folder = folder
        self._rows = rows

    def nodes(self) -> Iterator[tuple[NodeTable | EmbeddingTable, pa.Table]]:
        """Yield (node table, some of its rows); a table may be yielded again."""
        labels: dict[str, NodeTable | EmbeddingTable] = {str(label): label for label in (*CODE_NODES, *CARRIED_NODES)}
        vectors = [table for name in self._rows if (table := EmbeddingTable.parse(name)) is not None]
        for name, label in {**labels, **{str(table): table for table in vectors}}.items():
            table = _read(self._folder, name, self._rows)
            step = SLICE if label in CREATES and self.schema is None else max(1, len(table))
            for at in range(0, len(table), step):
                yield label, table.slice(at, step)

    def edges(self) -> Iterator[tuple[Pair, pa.Table]]:
        """Yield the edges between each pair of node tables that has edges."""
        for pair in ALL_PAIRS:
            table = _read(self._folder, pair_name(pair), self._rows)
            if len(table):
                yield pair, table


def pair_name(pair: Pair) -> str:
    """Return the file name in a dump for the edges between two node tables."""
    return f"{pair.edge}-{pair.src}-{pair.dst}"


def _write(path: Path, pieces: Iterator[pa.Table]) -> int:
    """Write the rows of one table to a file; return their number.

    No file is written for a table without rows.
    """
    count = 0
    with contextlib.ExitStack() as closing:
        writer: pa.ipc.RecordBatchFileWriter | None = None
        for piece in filter(len, pieces):
            if writer is None:
                out = closing.enter_context(pa.OSFile(str(path), "wb"))
                writer = closing.enter_context(pa.ipc.new_file(out, piece.schema, options=_COMPRESSED))
            writer.write_table(piece)
            count += len(piece)
    return count


def _named(connection: Connection, catalog: Catalog, names: set[str]) -> Iterator[tuple[str, Iterator[pa.Table]]]:
    """Yield (table name, its rows in pieces), node tables before edge tables.

    `names` are the tables that exist in the database. A table of the schema is skipped if the database lacks it.
    """
    read = Pieces.of(connection, catalog)
    for label in (*CODE_NODES, *CARRIED_NODES):
        if label in names:
            yield str(label), read.nodes(label)
    for name in sorted(names):
        if (vectors := EmbeddingTable.parse(name)) is not None:
            yield name, read.vectors(vectors)
    for pair in ALL_PAIRS:
        if {pair.edge, pair.src, pair.dst} <= names:
            yield pair_name(pair), read.edges(pair)


def _migrations_to(version: str, folder: Path) -> tuple[Migration, ...] | None:
    """Return the migrations that create the tables of a dump.

    The dump may have an older schema. The result is None if the dump has the newest schema.
    """
    known = load_migrations()
    if version > known[-1].version:
        raise SchemaTooNewError(
            f"the tables of the dump were written by a newer graphmem (schema {version}, this one knows {known[-1].version}); "
            "update graphmem, or use the backup that was made before the update",
            path=str(folder),
            found=int(version),
            known=int(known[-1].version),
            version=version,
        )
    base = tuple(one for one in known if one.version <= version)
    if not base:
        raise _not_whole(folder, f"{META_FILE} in the backup names the schema {version}, which does not exist; use another backup")
    return base if len(base) < len(known) else None


def _described(folder: Path) -> tuple[dict[str, str], dict[str, int], str]:
    try:
        said = json.loads((folder / META_FILE).read_text(encoding="utf-8"))
        number, meta, rows = said["format"], dict(said["meta"]), {str(name): int(count) for name, count in said["rows"].items()}
        schema = said.get("schema", _BEFORE_SCHEMAS)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _not_whole(folder, f"{META_FILE} in the backup cannot be read ({error}); use another backup") from error
    if number != FORMAT:
        raise _not_whole(folder, f"the tables of the backup have format {number}, and this graphmem reads {FORMAT}; use another backup")
    if not isinstance(schema, str) or not _VERSION.fullmatch(schema):
        raise _not_whole(folder, f"{META_FILE} in the backup does not name a schema; use another backup")
    return meta, rows, schema


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
        raise _not_whole(folder, f"the table {name} of the backup cannot be read ({error}); use another backup") from error
    if len(table) != wanted:
        raise _not_whole(folder, f"the table {name} of the backup has {len(table):,} rows instead of {wanted:,}; use another backup")
    return table


def _not_whole(folder: Path, message: str) -> DatabaseDamagedError:
    return DatabaseDamagedError(message, path=str(folder), reason=message)
