"""Build a whole database file beside the one that it will replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphmem.errors import DatabaseDamagedError, DiskFullError
from graphmem.runtime.heap import give_back
from graphmem.runtime.limits import disk_refusal
from graphmem.store import files
from graphmem.store.files import NEXT, beside
from graphmem.store.rebuild import Content, fill

if TYPE_CHECKING:
    from graphmem.store.catalog import Catalog
    from graphmem.store.engine import Engine, RawDatabase


Keep = Callable[[str, Mapping[str, str], Callable[[Path], Mapping[str, int]]], None]
"""Keeps what a database holds before its schema changes: called with the first version that is to come, Meta, and what writes a dump
into an empty folder."""


class OpenOptions(NamedTuple):
    """What every open of one store has in common."""

    engine: Engine
    buffer_pool_bytes: int
    max_db_bytes: int
    read_only: bool
    keep: Keep | None = None
    at_rest: bool = False

    @property
    def sizes(self) -> tuple[str, int, int]:
        """Engine, buffer pool and address space, as `_probe` takes them."""
        return self.engine.name, self.buffer_pool_bytes, self.max_db_bytes

    def for_a_new_file(self, size: int) -> OpenOptions:
        """For writing a whole file of about `size` bytes: with a buffer pool that it cannot fill.

        A checkpoint holds a column of 131,072 rows in the pool, twice while it grows, and an engine whose pool is full may end the
        process. The pool is a bound: checkpoints in between keep what is used far below it.
        """
        return self._replace(buffer_pool_bytes=max(self.buffer_pool_bytes, min(2 * size, self.max_db_bytes)))

    def open(self, path: Path) -> RawDatabase:
        """Open the file, or create an empty one; with a pool as large as it, because an answer about all of it has to fit."""
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
    """Fill `path`.next; on failure nothing of it is left.

    Args:
        path: of the database it will take the place of.
        options: engine and sizes.
        catalog: the named queries.
        content: drained once.
        meta: all of Meta.
        further: more of it, when knowledge changed with the code.
        onto_copy: what lies at `path` is closed and nothing was ever written into it: its forty tables need not be made again.

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
        give_back()
    except BaseException as error:
        database.abandon()
        files.remove(target)
        # kuzu does not notice every refused write; in a file that is being made, a failed read of it means one was lost.
        lost = isinstance(error, DatabaseDamagedError) and error.facts.get("path") == str(target)
        if lost or isinstance(error, DiskFullError):
            raise DiskFullError(
                f"there is no room for the new index beside {path}; make room and try again, the previous index is intact", path=str(path)
            ) from error
        raise


def _copy(path: Path, target: Path) -> None:
    try:
        files.copy(path, target)
    except OSError as error:
        files.remove(target)
        raise disk_refusal(error, f"copying {path} (which is intact)", path) from error
