"""The files of a database: data file, write-ahead log and shadow file.

If a log is next to the wrong data file, the engine replays it into that file: deleted rows return, or the process crashes. So the three
files are checked, moved and quarantined together.
"""

from __future__ import annotations

import logging
import os
import shutil
import struct
import time
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import (
    BadInputError,
    DatabaseDamagedError,
    DiskFullError,
    MigrationError,
    ResourceError,
    SchemaTooNewError,
    SettingsError,
)
from graphmem.runtime.files.sqlite_file import PRIVATE, private_file
from graphmem.runtime.process.system import soft_limit, sync
from graphmem.store.engine.engine import ENGINES, EngineSpec

_log = logging.getLogger(__name__)

PAGE: Final = 4096
RESERVE: Final = 16 << 20  # bytes that stay free
_SIDES: Final = (".wal", ".shadow", ".tmp")  # files that an engine makes next to its file, with or without more suffixes
QUARANTINE: Final = ".quarantine"
NEXT: Final = ".next"  # the file under construction
_OTHERS: Final = 0o077
_HEADER: Final = struct.Struct("<4sQIIII")  # magic, storage version, first page and page count of catalogue and metadata
_NO_PAGE: Final = 0xFFFFFFFF


class Header(NamedTuple):
    """First page of a database file: magic, storage version, number of pages."""

    magic: bytes
    storage_version: int
    pages: int  # the minimum number of pages of the file


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file beside the database: `path` + `suffix`.

    For example, `graph` and ".wal" give `graph.wal`.
    """
    return path.with_name(path.name + suffix)


def side_files(path: Path) -> list[Path]:
    """Return the log and shadow files of a database that are not empty."""
    return [file for file in _sides(path) if file.stat().st_size]


def _sides(path: Path) -> list[Path]:
    starts = tuple(path.name + suffix for suffix in _SIDES)
    return sorted(file for file in path.parent.iterdir() if file.name.startswith(starts) and file.suffix != QUARANTINE)


def check_header(path: Path, spec: EngineSpec, engine: str) -> None:
    """Check that a file is complete and of this engine.

    The check does not use the engine, because engines trust a file and may crash.

    Raises:
        DatabaseDamagedError: the file is not a database, or shorter than its header states.
        SettingsError: another engine wrote the file.
        SchemaTooNewError, MigrationError: another version of the engine wrote the file.
        BadInputError: this account may not read the file.
    """
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except PermissionError as error:
        raise BadInputError(
            f"only the user who created {path} may read it; connect to its server, or run graphmem as that user",
            argument="path",
            path=str(path),
        ) from error
    if len(head) < _HEADER.size:
        raise damaged(path, f"{path} has {size} bytes, fewer than the header of a database; {RECOVER}")
    header = _parse(head)
    if header.magic != spec.magic:
        for name, other in ENGINES.items():
            if header.magic == other.magic:
                raise SettingsError(
                    f"{path} was written by the database engine {name}; open it with engine = {name}, convert it with `graphmem backup "
                    f"--portable` and `restore`, or index again with {engine} in another directory",
                    setting="engine",
                    value=engine,
                    origin=str(path),
                )
        raise damaged(path, f"{path} does not begin with the header of a database; {RECOVER}")
    if header.storage_version != spec.storage_version:
        kind = SchemaTooNewError if header.storage_version > spec.storage_version else MigrationError
        raise kind(
            f"{path} has storage format {header.storage_version} of {engine}, but this graphmem reads format {spec.storage_version}; "
            "use the graphmem that wrote the file, or move the file to another place and index again",
            path=str(path),
            found=header.storage_version,
            known=spec.storage_version,
            version=header.storage_version,
        )
    # A checkpoint killed while the file grew leaves a partial page at its end; the log still contains all of it.
    ragged = size % PAGE and not side_files(path)
    if ragged or size < header.pages * PAGE:
        raise damaged(
            path,
            f"the database {path} has {size:,} bytes, but its header says at least {header.pages * PAGE:,} bytes, in whole pages of "
            f"{PAGE:,} bytes; {RECOVER}",
        )


def _parse(head: bytes) -> Header:
    magic, version, catalog, catalog_pages, metadata, metadata_pages = _HEADER.unpack(head)
    ends = [first + count for first, count in ((catalog, catalog_pages), (metadata, metadata_pages)) if first != _NO_PAGE]
    return Header(magic, version, max(ends, default=1))


RECOVER: Final = "move the file to another place and index again, or restore a backup"


def damaged(path: Path, message: str) -> DatabaseDamagedError:
    """Return the error for a database file whose bytes are proven wrong.

    The error has the fact `proven`, so recovery replaces the file without a further test. Call this only with better evidence than an error
    of the engine.
    """
    return DatabaseDamagedError(message, path=str(path), reason=message, proven=True)


def quarantine(files: list[Path], why: str) -> list[str]:
    """Rename unusable database files to `*.quarantine`; never delete them.

    Returns:
        One sentence for each file, for the operator: old name, new name and the reason `why`.
    """
    said = []
    for file in files:
        target = _quarantined(file)
        file.rename(target)
        said.append(f"{file.name} was quarantined as {target.name}: {why}")
    return said


def _quarantined(file: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    target = file.with_name(f"{file.name}.{stamp}{QUARANTINE}")
    number = 0
    while target.exists():
        number += 1
        target = file.with_name(f"{file.name}.{stamp}-{number}{QUARANTINE}")
    return target


def copy(source: Path, target: Path) -> None:
    """Copy a file; from the first byte on, only its owner can read the copy."""
    shutil.copyfile(source, private_file(target))


def restrict(file: Path) -> None:
    """Remove access of other accounts to a file made by an engine.

    A missing file is ignored, and a file of another account is not changed.
    """
    try:
        if file.stat().st_mode & _OTHERS:
            file.chmod(PRIVATE)
    except FileNotFoundError:
        return
    except OSError as error:
        _log.info("%s keeps the rights it has: %s", file, error)


def size_of(file: Path) -> int:
    """Return the size of a file in bytes; 0 if the file is missing."""
    return file.stat().st_size if file.exists() else 0


def checksum(file: Path) -> int:
    """Return the CRC-32 of a whole file, never 0.

    The checksum shows whether a byte changed while the file was closed (0.03 s for 100 MB).
    """
    from isal.isal_zlib import crc32  # slow to load, and seldom needed

    found = 0
    piece = memoryview(bytearray(1 << 18))  # fits into the cache of a processor
    with file.open("rb", buffering=0) as opened:
        while size := opened.readinto(piece):
            found = crc32(piece[:size], found)
    return found or 1


def cut(log: Path, whole: int) -> None:
    """Truncate the write-ahead log `log` to its first `whole` bytes.

    If `whole` is 0, the log is deleted.
    """
    if size_of(log) > whole:
        os.truncate(log, whole)
        if whole:
            sync(log)
        else:
            log.unlink()


def quarantine_tail(log: Path, whole: int, why: str) -> list[str]:
    """Copy a damaged write-ahead log to quarantine, then cut off its end.

    First, the whole log is copied, so no byte is lost. Then the log is cut to its first `whole` bytes. Returns one sentence for the
    operator, with the reason `why`.
    """
    target = _quarantined(log)
    copy(log, target)
    cut(log, whole)
    return [f"the end of {log.name} was cut off, all of it is kept as {target.name}: {why}"]


def remove(path: Path) -> None:
    """Delete a database file with its log and shadow file, if they exist.

    The database must not be in use. The files are truncated first, because an abandoned engine object may still hold them open.
    """
    for file in (path, *_sides(path)):
        if file.exists():
            os.truncate(file, 0)
            file.unlink()


def check_room(path: Path, needed: int) -> None:
    """Refuse a large write before it starts, if it would fill the disk.

    The engines survive most refused writes, but not all: ladybug crashes when a shadow file cannot be written.

    Raises:
        DiskFullError, ResourceError: the disk, or the size limit of a file, has room for less than `needed` plus `RESERVE` bytes.
    """
    most = soft_limit("FSIZE")
    if most is not None and max(size_of(path), size_of(beside(path, ".wal"))) + needed + RESERVE > most:
        raise ResourceError(
            f"{path.name} may grow beyond {most:,} bytes, the limit for files of this process, and nothing was changed; raise the "
            "limit (`ulimit -f`, LimitFSIZE=) and try again",
            limit="file_size",
            allowed=most,
            found=size_of(path) + needed + RESERVE,
            path=str(path),
        )
    free = shutil.disk_usage(path.parent).free
    if free < needed + RESERVE:
        raise DiskFullError(
            f"the disk of {path.parent} has {free >> 20} MiB free and {needed + RESERVE >> 20} MiB are needed, and nothing was "
            "changed; make room and try again",
            path=str(path),
        )


def put_in_place(new: Path, path: Path) -> None:
    """Replace the database at `path` by the database `new`, atomically.

    `new` must be complete. Both databases must be closed and without a log, so that one rename replaces the database. After a crash, either
    the old or the new database is at `path`.

    Raises:
        DatabaseDamagedError: one of the two databases still has a log.
    """
    for database in (new, path):
        if left := side_files(database):
            raise damaged(database, f"the database {database} was not closed completely, because {left[0].name} still exists; {RECOVER}")
    sync(new)
    new.replace(path)
    sync(path.parent)
