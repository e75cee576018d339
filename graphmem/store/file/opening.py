"""Open the database at a path safely, with the current schema.

The steps are:

1. Lock the database.
2. Read what the last process recorded in the lock file.
3. Check the header of the database file.
4. After a crash, open a copy in a child process as a test.
5. Open the database.
6. Migrate its tables to the current schema.

With `read_only`, nothing is written, renamed or migrated.
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.errors import BadInputError, MigrationError, NotIndexedError
from graphmem.model import GraphDelta
from graphmem.runtime.process.limits import disk_refusal
from graphmem.runtime.process.system import sync
from graphmem.store.engine import times
from graphmem.store.file import files
from graphmem.store.file.building import OpenOptions, build
from graphmem.store.file.dump import write_dump
from graphmem.store.file.files import NEXT, beside, damaged
from graphmem.store.file.migrate import check_tables, migrate, pending, table_names
from graphmem.store.file.probing import is_same, probe_copy, probe_with
from graphmem.store.file.rebuild import Content
from graphmem.store.tables.catalog import Catalog
from graphmem.store.tables.meta_names import CHECKPOINT, DATABASE, GENERATION

if TYPE_CHECKING:
    from graphmem.store.engine.engine import RawDatabase
    from graphmem.store.file.lock import Record

_log = logging.getLogger(__name__)


def resolve(path: Path) -> Path:
    """Return the canonical path of a database, with links resolved.

    Raises:
        BadInputError: its directory is missing or not accessible, or the path is a directory.
    """
    resolved = path.expanduser().resolve()
    try:
        is_folder = resolved.is_dir()
    except OSError as error:
        raise BadInputError(
            f"the database {resolved} cannot be accessed: {error.strerror or error}; check the permissions of its parent directories",
            argument="path",
            path=str(resolved),
        ) from error
    if is_folder:
        raise BadInputError(
            f"{resolved} is a directory where the database file should be; rename the directory, then index again",
            argument="path",
            path=str(resolved),
        )
    if not resolved.parent.is_dir():
        raise BadInputError(
            f"the directory {resolved.parent} of the database was not found; create the directory first",
            argument="path",
            path=str(resolved),
        )
    return resolved


def prepare(path: Path, options: OpenOptions, catalog: Catalog, previous: Record | None) -> list[str]:
    """Check that the database at `path` can be opened; create it if missing.

    Args:
        path: the resolved path, which the caller has locked.
        options: the engine and its memory sizes.
        catalog: the named queries.
        previous: the entry in the lock file of the process that last had the database open.

    Returns:
        One sentence for each file that was quarantined (renamed because it is unusable); always empty if `options.read_only` is set.

    Raises:
        DatabaseDamagedError, SchemaTooNewError, MigrationError, SettingsError: the file is not a graphmem database, or is incomplete.
        ResourceError, DiskFullError, BadInputError: the system refused the check, so the state of the file is unknown.
        NotIndexedError: nothing exists at the path, and `read_only` was given.
    """
    try:
        return (_look_at if options.read_only else _prepare)(path, options, catalog, previous)
    except OSError as error:
        raise disk_refusal(error, f"examining {path}", path) from error


def _look_at(path: Path, options: OpenOptions, catalog: Catalog, previous: Record | None) -> list[str]:
    if not path.exists():
        raise NotIndexedError(f"the database {path} does not exist; run `graphmem index` first", path=str(path))
    files.check_header(path, options.engine.spec, options.engine.name)
    if previous is not None and previous.clean and not files.side_files(path):
        if previous.checksum not in (0, files.checksum(path)):
            raise damaged(path, f"{path} was changed by another program after graphmem closed it; {files.RECOVER}")
        return []
    lock = beside(path, ".lock")
    if lock.exists() and not os.access(lock, os.R_OK) and not files.side_files(path):
        return []  # of another account, which does not share the state it left; without a log nothing needs recovery
    probed = probe_with(path, *options.sizes, read_only=True)  # the log is replayed in memory
    if not probed.works:
        raise damaged(path, f"{path} cannot be opened as a database: {probed.says}; {files.RECOVER}")
    return []


def _prepare(path: Path, options: OpenOptions, catalog: Catalog, previous: Record | None) -> list[str]:
    files.remove(beside(path, NEXT))
    if not path.exists():
        notes = files.quarantine(files.side_files(path), "its database does not exist")
        create(path, options, catalog)
        return notes
    files.check_header(path, options.engine.spec, options.engine.name)
    if previous is not None and previous.clean:
        missing = previous.size - path.stat().st_size
        if missing > 0 and not _another_state(path, options, previous):
            raise damaged(path, f"{path} lost {missing:,} bytes after graphmem closed it; {files.RECOVER}")
        if missing <= 0 and previous.checksum not in (0, files.checksum(path)) and not _another_state(path, options, previous):
            raise damaged(path, f"{path} was changed by another program after graphmem closed it; {files.RECOVER}")
        return files.quarantine(files.side_files(path), "the database was closed properly, so this belongs to another one")
    return _after_crash(path, options, previous)


def create(path: Path, options: OpenOptions, catalog: Catalog) -> None:
    """Create an empty database, completely or not at all."""
    content = Content(GraphDelta.empty(), None, catalog, keep_code=False, moment=times.now())
    build(path, options, catalog, content, {GENERATION: "0", DATABASE: uuid.uuid4().hex, CHECKPOINT: "0"}, {})
    files.put_in_place(beside(path, NEXT), path)


def open_current(path: Path, options: OpenOptions, catalog: Catalog) -> RawDatabase:
    """Open a database file that was checked, and update its tables.

    Raises:
        SchemaTooNewError, MigrationError: see `migrate`.
    """
    database = options.open(path)
    try:
        connection = database.connect()
        if options.read_only:
            if waiting := pending(connection, path):
                raise MigrationError(
                    f"the database {path} has an older schema; run `graphmem index` once to migrate it to schema {waiting[-1].version}",
                    path=str(path),
                    version=waiting[-1].version,
                )
        else:
            if (waiting := pending(connection, path)) and table_names(connection):
                database = _after_keeping_it(database, path, options, catalog, waiting[0].version)
                connection = database.connect()
            migrate(connection, catalog, path)
        check_tables(connection, path)
    except BaseException:
        database.close()
        raise
    return database


def _after_keeping_it(database: RawDatabase, path: Path, options: OpenOptions, catalog: Catalog, version: str) -> RawDatabase:
    """Save a copy of the database before a schema change; reopen the database.

    The copy stays next to the database file, for the older version of graphmem. If the function `options.keep` is set, it is called and can
    also write a dump, which every engine can load. `version` is the first missing schema version. Returns the reopened database.
    """
    kept = beside(path, f".before-{version}")
    files.check_room(path, path.stat().st_size)
    connection = database.connect()
    connection.rows("CHECKPOINT")
    if options.keep is not None:
        meta = dict(connection.rows(*catalog["meta_all"].bind({})).rows)
        options.keep(version, meta, lambda folder: write_dump(connection, catalog, folder, meta))
    database.close()
    scratch = beside(path, ".keeping")
    try:
        files.copy(path, scratch)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise disk_refusal(error, f"copying {path} before the change of its schema (nothing was changed)", path) from error
    sync(scratch)
    scratch.replace(kept)
    sync(path.parent)
    _log.warning("migrating the schema to %s; %s is the previous database, for an earlier graphmem", version, kept)
    return options.open(path)


# ---- after a crash


def _after_crash(path: Path, options: OpenOptions, previous: Record | None) -> list[str]:
    """Check a database that was not closed properly; repair its log.

    A child process first opens copies of the files, because engines have crashed on damaged files. A log that cannot be used is quarantined
    (renamed). Returns one sentence for each quarantined file.
    """
    copy = probe_copy(path)
    left = files.side_files(path)
    try:
        files.copy(path, copy)
        alone = probe_with(copy, *options.sizes)
        if not left:
            if not alone.works:
                raise damaged(path, f"{path} cannot be opened as a database: {alone.says}; {files.RECOVER}")
            return []
        if alone.works and previous is not None and alone.database and not is_same(alone, previous):
            return files.quarantine(left, "it belongs to a database other than the current one")
        files.remove(copy)
        for file in (path, *left):
            files.copy(file, file.with_name(file.name.replace(path.name, copy.name, 1)))
        together = probe_with(copy, *options.sizes)
        if together.works:
            return []
        log = beside(path, ".wal")
        if previous is not None and left == [log] and 0 < previous.log < files.size_of(log):
            files.remove(copy)
            files.copy(path, copy)
            files.copy(log, beside(copy, ".wal"))
            files.cut(beside(copy, ".wal"), previous.log)
            if probe_with(copy, *options.sizes).works:
                return files.quarantine_tail(
                    log, previous.log, "its end belongs to an incomplete change; everything before it is in the database"
                )
        if alone.works:
            if previous is not None and left == [log] and not previous.log:
                return files.quarantine(left, "it belongs to an incomplete change")
            return files.quarantine(left, f"the engine cannot read it ({together.says}); the newest changes were in it, index again")
        raise damaged(path, f"{path} cannot be opened as a database: {together.says}; {files.RECOVER}")
    finally:
        files.remove(copy)


def proven_damage(path: Path, engine: str, buffer_pool_bytes: int, max_db_bytes: int) -> str:
    """Return why a database cannot be opened; "" if it can.

    A child process opens a copy with the same engine and memory sizes. Call this after this process has failed to open the database.

    Raises:
        ResourceError, DiskFullError, BadInputError, StoreBusyError: the check was not possible.
    """
    copy = probe_copy(path)
    try:
        for file in (path, *files.side_files(path)):
            files.copy(file, file.with_name(file.name.replace(path.name, copy.name, 1)))
        return probe_with(copy, engine, buffer_pool_bytes, max_db_bytes).says
    except OSError as error:
        raise disk_refusal(error, f"examining {path}", path) from error
    finally:
        files.remove(copy)


def opens(copy: Path, engine: str, buffer_pool_bytes: int, max_db_bytes: int) -> str:
    """Return why a copy of a database cannot be opened; "" if it can.

    A child process opens the copy, with the given engine and memory sizes, and reads all tables.
    """
    return probe_with(copy, engine, buffer_pool_bytes, max_db_bytes).says


def _another_state(path: Path, options: OpenOptions, previous: Record) -> bool:
    """Whether the file is intact, but not in the state that was recorded.

    `previous` is the record in the lock file. The state is another one if the file's identity or checkpoint number differs from the record.
    This happens if a person restored an older copy of the database.
    """
    copy = probe_copy(path)
    try:
        files.copy(path, copy)
        alone = probe_with(copy, *options.sizes)
    finally:
        files.remove(copy)
    is_ours = re.fullmatch(r"[0-9a-f]{32}", alone.database) is not None  # zeros in its place do not name another state
    return alone.works and is_ours and (alone.database, alone.checkpoint) != (previous.database, previous.checkpoint)
