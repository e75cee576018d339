"""Backups of an index: one zip file with all that cannot be rebuilt.

A backup has the database, the memories' journal, and other files that cannot be rebuilt. A manifest has the hashes of these files. There
are two forms of the database. One is a copy of the database file, which only the same engine can open. The other is *portable*: Arrow
tables that every engine and every later graphmem can read. Derived data (projections, caches) is left out. A new backup is read back,
compared with its hashes, and opened in a separate process. Only then is it reported.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from isal import isal_zlib

import graphmem
from graphmem.answers.upkeep import BackupInfo
from graphmem.errors import BadInputError, DatabaseDamagedError, SettingsError
from graphmem.runtime.checksums import seal, unseal
from graphmem.runtime.limits import disk_refusal, unless_refused
from graphmem.runtime.sqlite_file import private
from graphmem.runtime.system import sync, write_at
from graphmem.runtime.worktree import journal_folder
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from graphmem.memory.repository import MemoryRepository
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

_log = logging.getLogger(__name__)

FORMAT: Final = 1
_SUM: Final = b"crc32:"  # prefix of an archive's comment; the checksum of all bytes before it follows
_DIGITS: Final = 8
_ZIP_END: Final = 22  # bytes of the final record of a zip without a comment
_ZIP_MARK: Final = b"PK\x05\x06"
FOLDER: Final = "backups"  # in the index directory
SUFFIX: Final = ".graphmem.zip"
AUTO: Final = "auto"  # kind of a backup that the server makes automatically
MANIFEST: Final = "manifest.json"
DATABASE: Final = "graph.db"
DUMP: Final = "dump"
JOURNAL: Final = "memories"
PORTABLE: Final = "any"
_PIECE: Final = 1 << 20
_DEEPEST: Final = 8  # maximum path parts of a file in a backup, including its name
_LONGEST: Final = 200  # bytes of one part of its name
_MOST_FILES: Final = 100_000
# Files that are rebuilt from the rest, belong to a running process, or are backups themselves.
_LEFT_OUT: Final = (
    "graph.db",
    "graph.projection",
    "explorer.projection",
    "words-",
    "facts.sqlite",
    "unfinished.sqlite",
    "inputs.sqlite",
    "past.sqlite",
    "contracts.json",
    ".contracts-",
    "parsing.json",
    "owner.json",
    "tokens.json",  # an archive must not decide who has access
    ".tokens-",
    "sandbox",  # a copy of the database for user-written queries
    "server.log",
    ".gitignore",
    FOLDER,
    ".owner-",
    ".restore-",
    ".backup-",
    JOURNAL,
)


class Content(NamedTuple):
    """Facts about a backup's database: engine, generation, numbers of entries."""

    engine: str  # writer of the file; `PORTABLE` for tables
    generation: int
    memories: int
    entries: int


class Manifest(NamedTuple):
    """The manifest of a backup: its files with hashes, and its origin."""

    format: int
    made_at: str
    graphmem: str
    project: str
    engine: str
    generation: int
    memories: int
    entries: int
    files: dict[str, tuple[int, str]]  # name in the archive -> (bytes, SHA-256)


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

    No backup is written if one with the same content exists, made before the same schema change. If the database is too damaged for a
    backup, this is logged.

    Args:
        data_dir: the index directory.
        settings: settings for opening the backup as a check.
        version: version of the first schema change that follows; part of the backup's name.
        meta: the database's own record of its project and generation.
        dump: writes the database's tables to a directory; returns the number of rows of each.

    Raises:
        DiskFullError: the disk is full; the partial backup was deleted, and the database is unchanged.
    """
    from graphmem.memory.recovery import META
    from graphmem.store.meta_names import GENERATION

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
    _log.warning("the schema is about to change; %s is the index before it, for `graphmem restore`", made.path)


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
            found = {name: (path.stat().st_size, _hash(path)) for name, path in _walk(staging)}
            made_at = moment.isoformat(timespec="seconds")
            manifest = Manifest(FORMAT, made_at, graphmem.__version__, project, *content, found)
            _write(scratch, staging, manifest)
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
    for folder in (data_dir, data_dir / FOLDER):
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
    from graphmem.store.dump_process import read_dump_in_process
    from graphmem.store.opening import opens

    sizes = (settings.buffer_pool_mb << 20, settings.max_db_gb << 30)
    with _staging(beside or archive.parent, ".restore-") as staging:
        manifest = _unpack(archive, staging)
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


def read_manifest(archive: Path) -> Manifest:
    """Read only the manifest of a backup.

    Raises:
        BadInputError: the file is not a graphmem backup, or a newer graphmem made it.
    """
    if archive.exists() and not archive.is_file():  # a directory, or a device or pipe that may have no end
        raise _no_backup(archive, f"{archive} is not a graphmem backup, because it is not a file; {_CHOOSE}")
    try:
        with zipfile.ZipFile(archive) as zipped:
            return _manifest(archive, zipped)
    except (OSError, zipfile.BadZipFile) as error:
        unless_refused(error, "reading a backup", archive)
        raise _no_backup(archive, f"{archive} is not a graphmem backup: {getattr(error, 'strerror', None) or error}; {_CHOOSE}") from error


def expect_engine(manifest: Manifest, archive: Path, engine: str) -> None:
    """Refuse a backup with a database file of another engine than `engine`.

    Raises:
        SettingsError: the backup was written by another engine and is not portable.
    """
    if manifest.engine not in (PORTABLE, engine):
        raise SettingsError(
            f"{archive.name} contains a {manifest.engine} database, but the setting `engine` is {engine}; restore with engine = "
            f"{manifest.engine}, or create a portable backup of the original index with `graphmem backup --portable`",
            setting="engine",
            value=engine,
            origin=str(archive),
        )


def kept_files(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield an index's files that cannot be rebuilt, as (name, path), by name.

    The name is relative to the index directory. The database and the journal are not included.
    """
    for entry in sorted(data_dir.iterdir()):
        left_out = entry.name.startswith(_LEFT_OUT) or entry.name.endswith((".quarantine", ".tmp", ".lock", "-wal", "-shm"))
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
    folder = data_dir / FOLDER
    found = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
    return sorted((one for one in found if not one.name.startswith(".")), key=lambda one: (one.stat().st_mtime, one.name))


def readable(data_dir: Path) -> Iterator[tuple[Path, Manifest]]:
    """Yield an index's backups that have a readable manifest, newest first.

    Only the index's own directory of backups is searched.
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
        folder, file = dest.absolute() if dest is not None else data_dir / FOLDER, name + SUFFIX
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

    The copy of a SQLite file has its content at one moment. A damaged SQLite file is copied byte by byte.
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


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(scratch: Path, staging: Path, manifest: Manifest) -> None:
    with open(scratch, "wb", opener=private) as out:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
            zipped.comment = _SUM + b"0" * _DIGITS  # filled in after all other bytes
            zipped.writestr(MANIFEST, json.dumps(manifest._asdict(), indent=1))
            for name, path in _walk(staging):
                packed = path.suffix in (".arrow", ".gz")
                zipped.write(path, name, zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED)
        out.flush()
        place = os.fstat(out.fileno()).st_size - _DIGITS
        write_at(out.fileno(), b"%08x" % _sum(scratch, place), place)
        os.fsync(out.fileno())


def check_bytes(archive: Path) -> None:
    """Compare all bytes of a backup with its checksum.

    A backup of an earlier version has no checksum and is not checked.

    Raises:
        DatabaseDamagedError: the bytes of the backup have changed.
    """
    try:
        with zipfile.ZipFile(archive) as zipped:
            comment = zipped.comment
        with archive.open("rb") as file:
            file.seek(-_ZIP_END, os.SEEK_END)
            is_plain = file.read(len(_ZIP_MARK)) == _ZIP_MARK
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _not_whole(archive, f"the backup {archive} is damaged: {error}; use another backup") from error
    if (comment or not is_plain) and comment != _SUM + b"%08x" % _sum(archive, archive.stat().st_size - _DIGITS):
        raise _not_whole(archive, f"the bytes of the backup {archive} do not match its checksum; use another backup")


def _sum(archive: Path, size: int) -> int:
    """Return the CRC-32 of the first `size` bytes of a file."""
    found = 0
    with archive.open("rb") as file:
        while size > 0 and (piece := file.read(min(_PIECE, size))):
            found, size = isal_zlib.crc32(piece, found), size - len(piece)
    return found


def _unpack(archive: Path, staging: Path) -> Manifest:
    """Unpack from a backup exactly the files and sizes in its manifest."""
    if zipfile.is_zipfile(archive):
        check_bytes(archive)
    try:
        with zipfile.ZipFile(archive) as zipped:
            manifest = _manifest(archive, zipped)
            for name, (size, digest) in manifest.files.items():
                target = staging / name
                target.parent.mkdir(parents=True, exist_ok=True)
                found = hashlib.sha256()
                left = size
                with zipped.open(name) as source, open(target, "wb", opener=private) as out:
                    while piece := source.read(min(_PIECE, left + 1)):  # one byte more than declared: a zip bomb ends here
                        left -= len(piece)
                        if left < 0:
                            break
                        found.update(piece)
                        out.write(piece)
                if left or found.hexdigest() != digest:
                    raise _not_whole(archive, f"the file {name} in the backup {archive} does not match its SHA-256; use another backup")
            return manifest
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise _not_whole(archive, f"the backup {archive} is damaged: {error}; use another backup") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise _not_whole(archive, f"the backup {archive} uses one name for a file and a directory; use another backup") from error
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not archive.exists():
            raise _no_backup(archive, f"{archive} is not a graphmem backup, because it was not found; {_CHOOSE}") from error
        raise
    except (ValueError, zlib.error) as error:  # errors that zipfile raises for broken bytes
        raise _not_whole(archive, f"the backup {archive} is damaged: {error}; use another backup") from error


def _manifest(archive: Path, zipped: zipfile.ZipFile) -> Manifest:
    try:
        if zipped.getinfo(MANIFEST).file_size > 64 << 20:
            raise _no_backup(archive, f"the manifest of {archive} is too large for a graphmem backup; {_CHOOSE}")
        said: dict[str, Any] = json.loads(zipped.read(MANIFEST))
        files = {str(name): (int(size), str(digest)) for name, (size, digest) in said["files"].items()}
        texts = {name: str(said[name]) for name in ("made_at", "graphmem", "project", "engine")}
        numbers = {name: int(said[name]) for name in ("format", "generation", "memories", "entries")}
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, EOFError, zlib.error) as error:
        raise _no_backup(
            archive, f"the manifest of {archive} cannot be read ({error}), so the file is not a graphmem backup; {_CHOOSE}"
        ) from error
    if len(files) > _MOST_FILES:
        raise _no_backup(archive, f"the manifest of {archive} lists more than {_MOST_FILES:,} files; {_CHOOSE}")
    if any(size < 0 for size, _ in files.values()):
        raise _no_backup(archive, f"the manifest of {archive} has a file of negative size; {_CHOOSE}")
    for name in files:
        parts = PurePosixPath(name).parts
        if len(parts) > _DEEPEST or any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST for part in parts):
            raise _no_backup(archive, f"{archive} contains a file whose path is too deep or too long, {name[:60]!r}…; {_CHOOSE}")
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\\" in name:
            raise _no_backup(archive, f"{archive} contains the path {name!r}, which leads out of the index; {_CHOOSE}")
        if parts[0] not in (DATABASE, JOURNAL) and parts[0].startswith(_LEFT_OUT):  # an archive must not decide who serves the index
            raise _no_backup(archive, f"{archive} contains the file {name!r}, which does not belong in a backup; {_CHOOSE}")
    if numbers["format"] > FORMAT:
        raise BadInputError(
            f"the backup {archive} has format {numbers['format']}, and this graphmem reads up to format {FORMAT}; update graphmem",
            argument="file",
            path=str(archive),
        )
    return Manifest(
        numbers["format"],
        texts["made_at"],
        texts["graphmem"],
        texts["project"],
        texts["engine"],
        numbers["generation"],
        numbers["memories"],
        numbers["entries"],
        files,
    )


_CHOOSE: Final = "choose a backup from `graphmem backup --list`"


def _no_backup(archive: Path, message: str) -> BadInputError:
    return BadInputError(message, argument="file", path=str(archive))


def _not_whole(archive: Path, message: str) -> DatabaseDamagedError:
    return DatabaseDamagedError(message, path=str(archive), reason=message)
