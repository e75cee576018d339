"""Build a complete new database file, which then replaces the old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphmem.errors import DatabaseDamagedError, DiskFullError
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.file import files
from graphmem.store.file.files import NEXT, beside
from graphmem.store.file.rebuild import Content, fill

if TYPE_CHECKING:
    from graphmem.store.engine.engine import Engine, RawDatabase
    from graphmem.store.tables.catalog import Catalog


Keep = Callable[[str, Mapping[str, str], Callable[[Path], Mapping[str, int]]], None]
"""Keeps what a database holds before its schema changes: called with the first version that is to come, Meta, and what writes a dump
into an empty folder."""


class OpenOptions(NamedTuple):
    """Engine, memory sizes and other options for opening a database file."""

    engine: Engine
    buffer_pool_bytes: int
    max_db_bytes: int
    read_only: bool
    keep: Keep | None = None
    at_rest: bool = False

    @property
    def sizes(self) -> tuple[str, int, int]:
        """Return (engine name, buffer pool in bytes, address space in bytes)."""
        return self.engine.name, self.buffer_pool_bytes, self.max_db_bytes

    def for_a_new_file(self, size: int) -> OpenOptions:
        """Return these options with a buffer pool for writing a new file.

        `size` is the greatest size of the new file. The pool becomes at least twice as large as the file, but not larger than the address
        space. Otherwise the pool may become full, and the engine then may end the process.
        """
        return self._replace(buffer_pool_bytes=max(self.buffer_pool_bytes, min(2 * size, self.max_db_bytes)))

    def open(self, path: Path) -> RawDatabase:
        """Open the database file, or create an empty one.

        The buffer pool is made at least as large as the file, because a query over the whole file may need that much memory.
        """
        pool = max(self.buffer_pool_bytes, min(files.size_of(path), self.max_db_bytes))
        database = self.engine.open(
            path, buffer_pool_bytes=pool, max_db_bytes=self.max_db_bytes, read_only=self.read_only and path.exists()
        )
        if not self.read_only:
            files.restrict(path)
        return database


def build(
    path: Path,
    options: OpenOptions,
    catalog: Catalog,
    content: Content,
    meta: Mapping[str, str],
    further: Mapping[str, str],
    *,
    onto_copy: bool = False,
) -> None:
    """Write a new database file at `path` + ".next"; on failure, delete it.

    The caller then replaces the database at `path` by the new file.

    Args:
        path: path of the existing database.
        options: the engine and its memory sizes.
        catalog: the named queries.
        content: the rows to write; they are iterated once.
        meta: all metadata to store, such as counters of changes.
        further: more metadata, stored only if the change of the code moved links of memories.
        onto_copy: whether to start from a copy of the database at `path`. That database must be closed and have tables but no rows. A copy
            is faster than creating forty tables.

    Raises:
        DiskFullError, LimitError, BadInputError: see `rebuild.fill`.
    """
    target = beside(path, NEXT)
    files.remove(target)
    if onto_copy:
        _copy(path, target)
    database = options.open(target)
    try:
        fill(database, catalog, content, meta, further)
        database.close()
        give_back(between=True)
    except BaseException as error:
        database.abandon()
        files.remove(target)
        # kuzu does not notice every refused write. A failed read of a file under construction means that a write was lost.
        lost = isinstance(error, DatabaseDamagedError) and error.facts.get("path") == str(target)
        if lost or isinstance(error, DiskFullError):
            raise DiskFullError(
                f"the disk has no room for the new index next to {path}, and the previous index is intact; make room and try again",
                path=str(path),
            ) from error
        raise


def _copy(path: Path, target: Path) -> None:
    try:
        files.copy(path, target)
    except OSError as error:
        files.remove(target)
        raise disk_refusal(error, f"copying {path} (unchanged)", path) from error
