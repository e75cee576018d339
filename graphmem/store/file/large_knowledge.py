"""Write a change of memories that is too large for one transaction.

The change is written in pieces to a copy of the file. The buffer pool limits the size of a transaction (with the default of 256 MiB, about
30,000 memories or 40 MB of text). The copy is invisible until it replaces the file, so all pieces become visible at once, as in a
transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import DatabaseDamagedError, DiskFullError
from graphmem.knowledge import KnowledgeDelta, MemoryRow
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.file import files
from graphmem.store.file.building import OpenOptions
from graphmem.store.file.files import NEXT, beside
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes import embeddings
from graphmem.store.writes.write_knowledge import apply_knowledge

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.store.tables.catalog import Catalog
    from graphmem.store.tables.tables import EmbeddingTable
    from graphmem.store.writes.embeddings import Vectors

ROW_BYTES: Final = 1000  # of a row without its text, an upper estimate
PIECE_ROWS: Final = 5000
PIECE_BYTES: Final = 8 << 20


def delta_bytes(delta: KnowledgeDelta) -> int:
    """Estimate how many bytes a change of memories adds to the database file.

    The estimate is rather too high than too low. Use it to check the free space on the disk.
    """
    rows = sum(map(len, delta))
    return rows * ROW_BYTES + sum(len(row.content) for row in delta.memories) * 4


def pieces(delta: KnowledgeDelta) -> Iterator[KnowledgeDelta]:
    """Split a change of memories into smaller ones, to apply in this order.

    Applying all pieces has the effect of applying `delta`. Sessions and memories come before the links between memories.
    """
    yield KnowledgeDelta(removed_memories=delta.removed_memories, removed_sessions=delta.removed_sessions, sessions=delta.sessions)
    anchored = set(delta.anchored)
    for rows in _slices(delta):
        ids = {row.id for row in rows}
        yield KnowledgeDelta(
            memories=rows,
            anchored=sorted(ids & anchored),
            about=[row for row in delta.about if row.memory_id in ids],
            files=delta.files,
            learnt=[row for row in delta.learnt if row.memory_id in ids],
        )
    written = {row.id for row in delta.memories}
    yield KnowledgeDelta(
        anchored=sorted(anchored - written),
        about=[row for row in delta.about if row.memory_id not in written],
        files=delta.files,
        relates=delta.relates,
        removed_relates=delta.removed_relates,
        learnt=[row for row in delta.learnt if row.memory_id not in written],
    )


def _slices(delta: KnowledgeDelta) -> Iterator[list[MemoryRow]]:
    rows: list[MemoryRow] = []
    size = 0
    for row in delta.memories:
        rows.append(row)
        size += len(row.content) + len(row.details or "")
        if len(rows) >= PIECE_ROWS or size >= PIECE_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


class ClosedDatabase(NamedTuple):
    """A database file without a log that no process has open."""

    path: Path
    options: OpenOptions  # the engine and its memory sizes
    catalog: Catalog  # the named queries


def write_copy(
    database: ClosedDatabase,
    delta: KnowledgeDelta,
    vectors: Vectors | None,
    tables: Sequence[EmbeddingTable],
    meta: Mapping[str, str],
    moment: datetime,
) -> None:
    """Copy a database to a file with the ending `.next`; change the copy.

    On failure the copy is deleted.

    Args:
        database: the file to copy.
        delta: the validated change.
        vectors: vectors of the memories in the change.
        tables: the existing tables of vectors.
        meta: values of Meta to set together with the change.
        moment: see `apply_knowledge`.

    Raises:
        BadInputError, DiskFullError, LimitError: the change is invalid, or the engine reports it.
    """
    path, options, catalog = database
    target = beside(path, NEXT)
    files.remove(target)
    try:
        files.copy(path, target)
        for piece in pieces(delta):
            _transact(target, options, catalog, partial(apply_knowledge, delta=piece, moment=moment, tables=tables))
        if vectors is not None:
            put = partial(embeddings.put, model=vectors.model, table=vectors.table, tables=())
            for rows in embeddings.pieces(vectors.rows, PIECE_BYTES):
                _transact(target, options, catalog, partial(put, rows=rows))
        named = [{"name": name, "value": value} for name, value in sorted(meta.items())]
        _transact(target, options, catalog, lambda transaction: transaction.each("meta_put", {}, named))
    except BaseException as error:
        files.remove(target)
        if isinstance(error, OSError):
            raise disk_refusal(error, f"copying {path} (unchanged)", path) from error
        # not every refused write is noticed; a failed read of the new file means that one was lost
        if isinstance(error, DatabaseDamagedError):
            raise DiskFullError(
                f"the disk has no room for a copy of {path} ({error}), and nothing was changed; make room and try again", path=str(path)
            ) from error
        raise


def _transact(target: Path, options: OpenOptions, catalog: Catalog, change: Callable[[Transaction], object]) -> None:
    """Open the file `target`, run `change` in one transaction, close the file.

    `change` writes one piece of the whole change. The file is closed after each piece, because an open handle must not be used after a
    checkpoint.
    """
    database = options.open(target)
    try:
        connection = database.connect()
        with Transaction(connection, catalog) as transaction:
            change(transaction)
        connection.rows("CHECKPOINT")
        database.close()
    except BaseException:
        database.abandon()
        raise
