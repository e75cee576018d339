"""The archive of a backup: a zip file with a manifest and a checksum.

The manifest lists the files of the archive with their sizes and hashes. The checksum covers all bytes and is in the comment of the zip
file. An archive may come from a stranger. So the manifest is checked first, and only files that it lists are unpacked.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from isal import isal_zlib

from graphmem.errors import BadInputError, DatabaseDamagedError, SettingsError
from graphmem.location import BACKUPS, DATABASE, JOURNAL
from graphmem.runtime.files.sqlite_file import private
from graphmem.runtime.process.limits import unless_refused
from graphmem.runtime.process.system import write_at

FORMAT: Final = 1
_SUM: Final = b"crc32:"  # prefix of an archive's comment; the checksum of all bytes before it follows
_DIGITS: Final = 8
_ZIP_END: Final = 22  # bytes of the final record of a zip without a comment
_ZIP_MARK: Final = b"PK\x05\x06"
SUFFIX: Final = ".graphmem.zip"
MANIFEST: Final = "manifest.json"
DUMP: Final = "dump"
PORTABLE: Final = "any"
_PIECE: Final = 1 << 20
_DEEPEST: Final = 8  # maximum path parts of a file in a backup, including its name
_LONGEST: Final = 200  # bytes of one part of its name
_MOST_FILES: Final = 100_000
# Files that are rebuilt from the rest, belong to a running process, or are backups themselves.
LEFT_OUT: Final = (
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
    BACKUPS,
    ".owner-",
    ".restore-",
    ".backup-",
    JOURNAL,
)


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


def files_below(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield all files below a directory as (relative name, path), by name."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_archive(scratch: Path, staging: Path, manifest: Manifest) -> None:
    """Write the files below `staging`, with their manifest, to a new archive.

    The bytes are on the disk when the function returns. `scratch` is the path of the archive.
    """
    with open(scratch, "wb", opener=private) as out:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
            zipped.comment = _SUM + b"0" * _DIGITS  # filled in after all other bytes
            zipped.writestr(MANIFEST, json.dumps(manifest._asdict(), indent=1))
            for name, path in files_below(staging):
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


def unpack(archive: Path, staging: Path) -> Manifest:
    """Unpack the files that a backup's manifest lists; return the manifest.

    The sizes and hashes of the files are compared with those in the manifest.

    Raises:
        BadInputError: the file is not a graphmem backup, or a newer graphmem made it.
        DatabaseDamagedError: the backup is incomplete or damaged.
    """
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
        if parts[0] not in (DATABASE, JOURNAL) and parts[0].startswith(LEFT_OUT):  # an archive must not decide who serves the index
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
