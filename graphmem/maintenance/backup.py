"""Backups of an index: one zip file with all that cannot be rebuilt.

A backup has the database, the memories' journal, and other files that cannot be rebuilt. A manifest has the hashes of these files. There
are two forms of the database. One is a copy of the database file, which only the same engine can open. The other is *portable*: Arrow
tables that every engine and every later graphmem can read. Derived data (projections, caches) is left out. A new backup is read back,
compared with its hashes, and opened in a separate process. Only then is it reported.
"""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

import graphmem
from graphmem.answers.upkeep import BackupInfo
from graphmem.errors import BadInputError, DatabaseDamagedError
from graphmem.location import BACKUPS, DATABASE, JOURNAL
from graphmem.maintenance.archive import (
    DUMP,
    FORMAT,
    LEFT_OUT,
    PORTABLE,
    SUFFIX,
    Manifest,
    files_below,
    read_manifest,
    sha256_of,
    unpack,
    write_archive,
)
from graphmem.runtime.files.checksums import seal, unseal
from graphmem.runtime.process.limits import disk_refusal, unless_refused
from graphmem.runtime.process.system import sync
from graphmem.runtime.worktree import journal_folder
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

_log = logging.getLogger(__name__)

AUTO: Final = "auto"  # kind of a backup that the server makes automatically


class Content(NamedTuple):
    """Contents of a backup's database: engine, state, numbers of entries."""

    engine: str  # writer of the file; `PORTABLE` for tables
    generation: int
    memories: int
    entries: int


def make(
    store: GraphStore, book: MemoryRepository, data_dir: Path, settings: Settings, dest: Path | None, *, portable: bool, kind: str = ""
) -> BackupInfo:
    """Write a backup of an index; read it back and open it as a check.

    Args:
        store: the open store; reads continue, and writes wait while the file is copied.
        book: repository of the memories; the journal is copied after the database, so that it contains all entries that the database has.
        data_dir: the index directory.
        settings: settings for opening the copy.
        dest: a directory, or a new file; None for the index's own directory of backups.
        portable: write tables instead of the engine's file.
        kind: word in the name of the backup: `auto`, `before-restore`.

    Raises:
        BadInputError: `dest` is an existing file.
        DiskFullError: the disk is full; the partial backup was deleted.
        DatabaseDamagedError: the backup could not be opened, and was deleted.
        UnsupportedError: the store has no database file.
    """
    local = local_file(store, "a backup")

    def fill(staging: Path) -> Content:
        generation = store.generation()
        if portable:
            (staging / DUMP).mkdir()
            local.dump(staging / DUMP)
        else:
            local.copy_to(staging / DATABASE)
        with book.writing():
            memories, entries = len(book.index()), book.journal.head.number
            _copy_tree(book.journal.folder, staging / JOURNAL)
        return Content(PORTABLE if portable else store.engine.name, generation, memories, entries)

    return _made(data_dir, settings, dest, kind, book.project(), fill)


def before_change(
    data_dir: Path, settings: Settings, version: str, meta: Mapping[str, str], dump: Callable[[Path], Mapping[str, int]]
) -> None:
    """Write a portable backup before the schema of the database changes.

    An interrupted earlier call may have written a backup of the same content for the same schema change. Then no other backup is written.
    If the database is too damaged for a backup, a warning is logged and no backup is written.

    Args:
        data_dir: the index directory.
        settings: settings for opening the backup as a check.
        version: version of the first schema change that follows; part of the backup's name.
        meta: the database's own record of its project and generation.
        dump: writes the database's tables to a directory; returns the number of rows of each.

    Raises:
        DiskFullError: the disk is full; the partial backup was deleted, and the database is unchanged.
    """
    from graphmem.memory.repository.recovery import META
    from graphmem.store.tables.meta_names import GENERATION

    kind = f"before-{version}"
    here = int(meta.get(GENERATION, "0")), int(meta.get(META, "").partition(":")[0] or 0)
    if any(f"-{kind}" in path.name and (said.generation, said.entries) == here for path, said in readable(data_dir)):
        return  # an earlier open that ended before the schema change has written it

    def fill(staging: Path) -> Content:
        (staging / DUMP).mkdir()
        rows = dump(staging / DUMP)
        _copy_tree(journal_folder(data_dir), staging / JOURNAL)
        return Content(PORTABLE, here[0], rows.get("Memory", 0), here[1])

    try:
        made = _made(data_dir, settings, None, kind, meta.get("project", ""), fill)
    except DatabaseDamagedError as error:
        _log.warning("no backup could be made before the schema changes (%s); the file is kept as it is", error)
        return
    _log.warning("the schema is about to change; %s is a backup of the index before the change, for `graphmem restore`", made.path)


def _made(data_dir: Path, settings: Settings, dest: Path | None, kind: str, project: str, fill: Callable[[Path], Content]) -> BackupInfo:
    begun = perf_counter()
    moment = datetime.now(UTC)
    target = _target(data_dir, dest, kind, project, moment)
    scratch = target.with_name(f".backup-{target.name}.part")
    try:
        with _staging(target.parent, ".backup-") as staging:
            content = fill(staging)
            for name, path in kept_files(data_dir):
                copy_file(path, staging / name)
            found = {name: (path.stat().st_size, sha256_of(path)) for name, path in files_below(staging)}
            made_at = moment.isoformat(timespec="seconds")
            manifest = Manifest(FORMAT, made_at, graphmem.__version__, project, *content, found)
            write_archive(scratch, staging, manifest)
        check(scratch, settings)
        scratch.replace(target)
        sync(target.parent)
    except OSError as error:
        raise disk_refusal(
            error, "writing a backup (the incomplete file was removed)", target.parent, "choose another directory"
        ) from error
    finally:
        scratch.unlink(missing_ok=True)
    seconds = round(perf_counter() - begun, 3)
    size = target.stat().st_size
    return BackupInfo(str(target), made_at, project, content.engine, size, content.generation, content.memories, content.entries, seconds)


def clear_leftovers(data_dir: Path) -> list[str]:
    """Delete temporary files of an interrupted backup or restore.

    The caller must have the index open.

    Returns:
        Names of deleted files.
    """
    gone = []
    for folder in (data_dir, data_dir / BACKUPS):
        for one in sorted(folder.iterdir()) if folder.is_dir() else ():
            if one.name.startswith((".backup-", ".restore-")) and not one.is_symlink():
                shutil.rmtree(one) if one.is_dir() else one.unlink()
                gone.append(one.name)
    return gone


def check(archive: Path, settings: Settings) -> Manifest:
    """Check a backup: compare hashes, open its database in a subprocess.

    Raises:
        BadInputError: the file is not a graphmem backup, or a newer graphmem made it.
        DatabaseDamagedError: the backup is incomplete or damaged.
    """
    with opened(archive, settings) as (manifest, _):
        return manifest


@contextmanager
def opened(archive: Path, settings: Settings, beside: Path | None = None) -> Iterator[tuple[Manifest, Path]]:
    """Unpack a checked backup into a temporary directory.

    Yields the manifest and the directory, which has the database, the journal and the other files. The directory is deleted afterwards.

    Args:
        archive: the backup.
        settings: for a portable backup, the engine that opens it, and the engine's memory sizes.
        beside: directory in which to unpack; by default that of the archive.

    Raises:
        BadInputError, DatabaseDamagedError: see `check`.
    """
    from graphmem.store.file.dump_process import read_dump_in_process
    from graphmem.store.file.opening import opens

    sizes = (settings.buffer_pool_mb << 20, settings.max_db_gb << 30)
    with _staging(beside or archive.parent, ".restore-") as staging:
        manifest = unpack(archive, staging)
        if manifest.engine == PORTABLE:
            read_dump_in_process(staging / DUMP, staging / DATABASE, settings.engine, *sizes)
            engine = settings.engine
        else:
            engine = manifest.engine
        if said := opens(staging / DATABASE, engine, *sizes):
            raise DatabaseDamagedError(
                f"the database in the backup {archive} cannot be opened ({said}); use another backup", path=str(archive), reason=said
            )
        yield manifest, staging


def kept_files(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield an index's files that cannot be rebuilt, as (name, path), by name.

    The name is relative to the index directory. The database and the journal are not included.
    """
    for entry in sorted(data_dir.iterdir()):
        left_out = entry.name.startswith(LEFT_OUT) or entry.name.endswith((".quarantine", ".tmp", ".lock", "-wal", "-shm"))
        if left_out or entry.is_symlink():
            continue
        if entry.is_file():
            yield entry.name, entry
        elif entry.is_dir():
            for path in sorted(entry.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(data_dir).as_posix(), path


def listed(data_dir: Path) -> list[Path]:
    """Return the backups in an index's own directory of backups, oldest first."""
    folder = data_dir / BACKUPS
    found = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
    return sorted((one for one in found if not one.name.startswith(".")), key=lambda one: (one.stat().st_mtime, one.name))


def readable(data_dir: Path) -> Iterator[tuple[Path, Manifest]]:
    """Yield (path, manifest) of the backups of an index, newest first.

    Only the index's own directory of backups is searched. Backups without a readable manifest are left out.
    """
    for path in reversed(listed(data_dir)):
        try:
            yield path, read_manifest(path)
        except BadInputError as error:
            _log.warning("%s", error)


def rotate(data_dir: Path, keep: int) -> list[Path]:
    """Delete an index's automatic backups except the newest `keep`.

    Returns the deleted files.
    """
    own = [one for one in listed(data_dir) if re.search(rf"-{AUTO}(-\d+)?{re.escape(SUFFIX)}$", one.name)]
    gone = own[: max(0, len(own) - keep)]
    for one in gone:
        one.unlink(missing_ok=True)
    return gone


# ---- inside


def _target(data_dir: Path, dest: Path | None, kind: str, project: str, moment: datetime) -> Path:
    name = "-".join(filter(None, (re.sub(r"[^\w.-]+", "_", project) or "project", moment.strftime("%Y%m%dT%H%M%S"), kind)))
    if dest is not None and (dest.suffix == ".zip" and not dest.is_dir()):
        if dest.exists():
            raise BadInputError(
                f"the backup file {dest} already exists; give the name of a new file, or a directory", argument="dest", path=str(dest)
            )
        folder, file = dest.absolute().parent, dest.name
    else:
        folder, file = dest.absolute() if dest is not None else data_dir / BACKUPS, name + SUFFIX
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        unless_refused(error, "writing a backup", folder)
        raise BadInputError(
            f"the directory {folder} for the backup cannot be created: {error.strerror or error}; choose another directory",
            argument="dest",
            path=str(folder),
        ) from error
    target, number = folder / file, 1
    while target.exists():
        number += 1
        target = folder / (file.removesuffix(SUFFIX) + f"-{number}" + SUFFIX)
    return target


@contextmanager
def _staging(beside: Path, prefix: str) -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=beside))
    except OSError as error:
        unless_refused(error, "writing a backup", beside)
        raise BadInputError(
            f"the backup cannot be written to {beside}: {error.strerror or error}; choose another directory",
            argument="dest",
            path=str(beside),
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_tree(source: Path, target: Path) -> None:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.suffix != ".tmp":
                copy_file(path, target / path.relative_to(source))


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, even a SQLite file to which a process is writing.

    The copy of a SQLite file is consistent: it has the content of one moment. A damaged SQLite file is copied byte by byte.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as file:
        is_sqlite = file.read(16) == b"SQLite format 3\0"
    if not is_sqlite:
        shutil.copyfile(source, target)
        return
    try:  # a consistent copy during concurrent writes
        with closing(sqlite3.connect(f"file:{quote(str(source))}?mode=rw", uri=True)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            unseal(new)  # its seal belongs to the original file
        seal(target)
    except sqlite3.Error:
        target.unlink(missing_ok=True)
        shutil.copyfile(source, target)  # damaged, or not a database: keep it unchanged
