"""A backup is one zip file: the database, the memories' journal, what else cannot be made again, and a manifest with their hashes.

The database travels as a copy of its file, which its engine opens at once, or *portable*, as Arrow tables that every engine and every
later graphmem can read. What is derived (projections, caches) stays behind. A backup that was written is read back, compared with its
hashes and opened in a process of its own before anybody is told that there is one.
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
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from graphmem.memory.repository import MemoryRepository
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

_log = logging.getLogger(__name__)

FORMAT: Final = 1
_SUM: Final = b"crc32:"  # begins an archive's comment; the checksum of all bytes before it follows
_DIGITS: Final = 8
_ZIP_END: Final = 22  # bytes of the record a zip without a comment ends in
_ZIP_MARK: Final = b"PK\x05\x06"
FOLDER: Final = "backups"  # in the index directory
SUFFIX: Final = ".graphmem.zip"
AUTO: Final = "auto"  # kind of a backup the server makes by itself
MANIFEST: Final = "manifest.json"
DATABASE: Final = "graph.db"
DUMP: Final = "dump"
JOURNAL: Final = "memories"
PORTABLE: Final = "any"
_PIECE: Final = 1 << 20
_DEEPEST: Final = 8  # folders a file of a backup lies in, itself included
_LONGEST: Final = 200  # bytes of one part of its name
_MOST_FILES: Final = 100_000
# What is made again from the rest, belongs to a running process, or is a backup itself.
_LEFT_OUT: Final = (
    "graph.db",
    "graph.projection",
    "words-",
    "facts.sqlite",
    "inputs.sqlite",
    "parsing.json",
    "owner.json",
    "tokens.json",  # who may ask is not for an archive to say
    ".tokens-",
    "sandbox",  # a copy of the database that is asked
    "server.log",
    ".gitignore",
    FOLDER,
    ".owner-",
    ".restore-",
    ".backup-",
    JOURNAL,
)


class Content(NamedTuple):
    """What was put into a backup, as its manifest says it."""

    engine: str  # whose file it is; `PORTABLE` for tables
    generation: int
    memories: int
    entries: int


class Manifest(NamedTuple):
    """What a backup says of itself."""

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
    """Write a backup, read it back, open it.

    Args:
        store: open; reads go on, and writes wait while the file is copied.
        book: of the memories; its journal is copied after the database, so that it has at least what the database has.
        data_dir: of the index.
        settings: for opening the copy.
        dest: a folder, or a new file; None for the index's own folder of backups.
        portable: as tables instead of the engine's file.
        kind: a word for its name: `auto`, `before-restore`.

    Raises:
        BadInputError: `dest` is a file that is there.
        DiskFullError: there is no room; nothing is left of it.
        DatabaseDamagedError: what was written could not be opened; nothing is left of it.
        UnsupportedError: the store has no file.
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
            _copy_tree(data_dir / JOURNAL, staging / JOURNAL)
        return Content(PORTABLE if portable else store.engine.name, generation, memories, entries)

    return _made(data_dir, settings, dest, kind, book.project(), fill)


def before_change(
    data_dir: Path, settings: Settings, version: str, meta: Mapping[str, str], dump: Callable[[Path], Mapping[str, int]]
) -> None:
    """Write a portable backup before the schema of the database changes; see `store.open_store`. One that is there already is enough.

    Raises:
        DiskFullError: there is no room; nothing is left of it, and the database stays as it is.
    """
    from graphmem.memory.recovery import META
    from graphmem.store.meta_names import GENERATION

    kind = f"before-{version}"
    here = int(meta.get(GENERATION, "0")), int(meta.get(META, "").partition(":")[0] or 0)
    if any(f"-{kind}" in path.name and (said.generation, said.entries) == here for path, said in readable(data_dir)):
        return  # an opening that was ended before the schema was changed has written it

    def fill(staging: Path) -> Content:
        (staging / DUMP).mkdir()
        rows = dump(staging / DUMP)
        _copy_tree(data_dir / JOURNAL, staging / JOURNAL)
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
                _copy(path, staging / name)
            found = {name: (path.stat().st_size, _hash(path)) for name, path in _walk(staging)}
            made_at = moment.isoformat(timespec="seconds")
            manifest = Manifest(FORMAT, made_at, graphmem.__version__, project, *content, found)
            _write(scratch, staging, manifest)
        check(scratch, settings)
        scratch.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise disk_refusal(error, "writing a backup (nothing is left of it)", target.parent, "name another folder") from error
    finally:
        scratch.unlink(missing_ok=True)
    seconds = round(perf_counter() - begun, 3)
    size = target.stat().st_size
    return BackupInfo(str(target), made_at, project, content.engine, size, content.generation, content.memories, content.entries, seconds)


def clear_leftovers(data_dir: Path) -> list[str]:
    """Delete what a process that was killed while it wrote or read a backup has left; whoever calls this has the index open.

    Returns:
        Names of what is gone.
    """
    gone = []
    for folder in (data_dir, data_dir / FOLDER):
        for one in sorted(folder.iterdir()) if folder.is_dir() else ():
            if one.name.startswith((".backup-", ".restore-")) and not one.is_symlink():
                shutil.rmtree(one) if one.is_dir() else one.unlink()
                gone.append(one.name)
    return gone


def check(archive: Path, settings: Settings) -> Manifest:
    """Read a backup in full, compare every hash, and open its database in a process of its own.

    Raises:
        BadInputError: it is no backup of graphmem, or of a newer one.
        DatabaseDamagedError: it is not whole.
    """
    with opened(archive, settings) as (manifest, _):
        return manifest


@contextmanager
def opened(archive: Path, settings: Settings, beside: Path | None = None) -> Iterator[tuple[Manifest, Path]]:
    """A checked backup, unpacked into a folder that is gone afterwards: its database, journal and other files.

    Args:
        archive: the backup.
        settings: engine and sizes, for a portable one.
        beside: on which disk to unpack it; default where the archive is.

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
                f"the database in {archive} cannot be opened ({said}); use another backup", path=str(archive), reason=said
            )
        yield manifest, staging


def read_manifest(archive: Path) -> Manifest:
    """What a backup says of itself, without reading the rest.

    Raises:
        BadInputError: it is no backup of graphmem, or of a newer one.
    """
    if archive.exists() and not archive.is_file():  # a folder, or a device or pipe that may have no end
        raise _no_backup(archive, "it is no file")
    try:
        with zipfile.ZipFile(archive) as zipped:
            return _manifest(archive, zipped)
    except (OSError, zipfile.BadZipFile) as error:
        unless_refused(error, "reading a backup", archive)
        raise _no_backup(archive, getattr(error, "strerror", None) or str(error)) from error


def expect_engine(manifest: Manifest, archive: Path, engine: str) -> None:
    """Refuse a copy of a file that another engine wrote.

    Raises:
        SettingsError: it needs the other engine, or a portable backup.
    """
    if manifest.engine not in (PORTABLE, engine):
        raise SettingsError(
            f"{archive.name} holds a file of {manifest.engine}, the engine here is {engine}; restore it with engine = "
            f"{manifest.engine}, or make a portable one there: `graphmem backup --portable`",
            setting="engine",
            value=engine,
            origin=str(archive),
        )


def kept_files(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """What of an index directory cannot be made again, besides database and journal: (name, path), by name."""
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
    """Backups in the index's own folder, oldest first."""
    folder = data_dir / FOLDER
    found = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
    return sorted((one for one in found if not one.name.startswith(".")), key=lambda one: (one.stat().st_mtime, one.name))


def readable(data_dir: Path) -> Iterator[tuple[Path, Manifest]]:
    """Backups in the index's own folder whose manifest can be read, newest first."""
    for path in reversed(listed(data_dir)):
        try:
            yield path, read_manifest(path)
        except BadInputError as error:
            _log.warning("%s", error)


def rotate(data_dir: Path, keep: int) -> list[Path]:
    """Delete all but the newest `keep` of those that were made automatically; returns what is gone."""
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
            raise BadInputError(f"{dest} is there already; name a new file or a folder", argument="dest", path=str(dest))
        folder, file = dest.absolute().parent, dest.name
    else:
        folder, file = dest.absolute() if dest is not None else data_dir / FOLDER, name + SUFFIX
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        unless_refused(error, "writing a backup", folder)
        raise BadInputError(
            f"{folder} cannot be made: {error.strerror or error}; name another", argument="dest", path=str(folder)
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
            f"{beside} cannot be written to: {error.strerror or error}; name another folder", argument="dest", path=str(beside)
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_tree(source: Path, target: Path) -> None:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.suffix != ".tmp":
                _copy(path, target / path.relative_to(source))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as file:
        is_sqlite = file.read(16) == b"SQLite format 3\0"
    if not is_sqlite:
        shutil.copyfile(source, target)
        return
    try:  # one moment of it, whoever writes it meanwhile
        with closing(sqlite3.connect(f"file:{quote(str(source))}?mode=rw", uri=True)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            unseal(new)  # what it says of itself was of the file that it is a copy of
        seal(target)
    except sqlite3.Error:
        target.unlink(missing_ok=True)
        shutil.copyfile(source, target)  # damaged, or not a database after all: kept as it is


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
            zipped.comment = _SUM + b"0" * _DIGITS  # filled in when every other byte is there
            zipped.writestr(MANIFEST, json.dumps(manifest._asdict(), indent=1))
            for name, path in _walk(staging):
                packed = path.suffix in (".arrow", ".gz")
                zipped.write(path, name, zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED)
        out.flush()
        place = os.fstat(out.fileno()).st_size - _DIGITS
        os.pwrite(out.fileno(), b"%08x" % _sum(scratch, place), place)
        os.fsync(out.fileno())


def check_bytes(archive: Path) -> None:
    """Hold every byte of a backup against its checksum; one of an earlier version has none.

    Raises:
        DatabaseDamagedError: it is not what was written.
    """
    try:
        with zipfile.ZipFile(archive) as zipped:
            comment = zipped.comment
        with archive.open("rb") as file:
            file.seek(-_ZIP_END, os.SEEK_END)
            is_plain = file.read(len(_ZIP_MARK)) == _ZIP_MARK
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _not_whole(archive, str(error)) from error
    if (comment or not is_plain) and comment != _SUM + b"%08x" % _sum(archive, archive.stat().st_size - _DIGITS):
        raise _not_whole(archive, "its bytes do not match its checksum")


def _sum(archive: Path, size: int) -> int:
    """CRC-32 of the first bytes of a file."""
    found = 0
    with archive.open("rb") as file:
        while size > 0 and (piece := file.read(min(_PIECE, size))):
            found, size = isal_zlib.crc32(piece, found), size - len(piece)
    return found


def _unpack(archive: Path, staging: Path) -> Manifest:
    """Every file the manifest names, with the bytes it names, and nothing else."""
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
                    while piece := source.read(min(_PIECE, left + 1)):  # one more than it may have: a bomb ends here
                        left -= len(piece)
                        if left < 0:
                            break
                        found.update(piece)
                        out.write(piece)
                if left or found.hexdigest() != digest:
                    raise _not_whole(archive, f"{name} is not what was written")
            return manifest
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise _not_whole(archive, str(error)) from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise _not_whole(archive, "it names a file and a folder alike") from error
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not archive.exists():
            raise _no_backup(archive, "there is no such file") from error
        raise
    except (ValueError, zlib.error) as error:  # words for broken bytes
        raise _not_whole(archive, str(error)) from error


def _manifest(archive: Path, zipped: zipfile.ZipFile) -> Manifest:
    try:
        if zipped.getinfo(MANIFEST).file_size > 64 << 20:
            raise _no_backup(archive, "its manifest is too large")
        said: dict[str, Any] = json.loads(zipped.read(MANIFEST))
        files = {str(name): (int(size), str(digest)) for name, (size, digest) in said["files"].items()}
        texts = {name: str(said[name]) for name in ("made_at", "graphmem", "project", "engine")}
        numbers = {name: int(said[name]) for name in ("format", "generation", "memories", "entries")}
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise _no_backup(archive, f"it has no manifest that can be read ({error})") from error
    if len(files) > _MOST_FILES or any(size < 0 for size, _ in files.values()):
        raise _no_backup(archive, "its manifest lists files that no backup has")
    for name in files:
        parts = PurePosixPath(name).parts
        if len(parts) > _DEEPEST or any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST for part in parts):
            raise _no_backup(archive, f"it names a file deeper or longer than any of a backup: {name[:60]!r}…")
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\\" in name:
            raise _no_backup(archive, f"it names a file outside itself: {name!r}")
        if parts[0] not in (DATABASE, JOURNAL) and parts[0].startswith(_LEFT_OUT):  # who serves the index is not for an archive to say
            raise _no_backup(archive, f"it names a file that no backup holds: {name!r}")
    if numbers["format"] > FORMAT:
        raise BadInputError(
            f"{archive} is of format {numbers['format']}, this graphmem reads {FORMAT}; update graphmem", argument="file", path=str(archive)
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


def _no_backup(archive: Path, reason: str) -> BadInputError:
    return BadInputError(
        f"{archive} is no backup of graphmem: {reason}; `graphmem backup --list` shows those there are", argument="file", path=str(archive)
    )


def _not_whole(archive: Path, reason: str) -> DatabaseDamagedError:
    return DatabaseDamagedError(f"{archive} is damaged: {reason}; use another backup", path=str(archive), reason=reason)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
