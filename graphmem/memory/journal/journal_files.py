"""Read the files of the memories' journal, also compressed ones."""

from __future__ import annotations

import errno
import gzip
import re
import zlib
from typing import TYPE_CHECKING, Final

from graphmem.errors import DiskFullError, GraphMemError, JournalError, ResourceError
from graphmem.runtime.process.limits import kind_of, refusal

if TYPE_CHECKING:
    from pathlib import Path

_PIECE: Final = 512  # bytes decompressed at once; up to as many are lost before a damaged one
_GZIP: Final = gzip.compress(b"", mtime=0)[:10]
_NAMED: Final = b"\x08"
_NAME: Final = re.compile(r"journal-(\d{10})\.jsonl(\.gz)?\Z")


def first_entry_of(path: Path) -> int | None:
    """Return the number of the first entry of a journal file, by its name.

    The result is None if the file does not belong to the journal.
    """
    match = _NAME.match(path.name)
    return int(match[1]) if match else None


def read_lines(path: Path) -> bytes:
    """Return the lines of a file of the journal, unpacked."""
    return unpacked(path)[0]


def unpacked(path: Path) -> tuple[bytes, bool]:
    """Return the lines of a journal file, and whether the file is intact.

    The lines are uncompressed bytes, without those that damage makes unreadable. The second value is False if compressed bytes are damaged.
    It is always True for a plain file.

    Raises:
        JournalError: the system cannot read the file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        if isinstance(refused := refusal(error, f"reading {path}", path), ResourceError):
            raise refused from error
        raise JournalError(
            f"the file {path} of the memories' journal cannot be read ({error}); restore it from a backup, or "
            "rename it to continue without its entries",
            path=str(path),
        ) from error
    if path.suffix != ".gz":
        return data, True
    inflater = zlib.decompressobj(wbits=31)
    lines = bytearray()
    try:
        for at in range(0, len(data), _PIECE):
            lines += inflater.decompress(data[at : at + _PIECE])
    except zlib.error:
        return bytes(lines), False
    known_header = data.startswith(_GZIP) or data[3:4] == _NAMED  # earlier versions kept a name in the header
    return bytes(lines), inflater.eof and not inflater.unused_data and known_header


def refusal_of(folder: Path, error: OSError) -> GraphMemError:
    """Return the error for a journal that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError("the disk is full: the memory was not kept; make room and try again", path=str(folder))
    if isinstance(refused := refusal(error, "keeping the memory", folder), ResourceError):
        return refused
    is_closed = kind_of(error, str(folder)) in ("read_only", "rights")
    remedy = (
        f"make {folder} writable or keep the index elsewhere with --db"
        if is_closed
        else "check the disk and its free space, then try again"
    )
    return JournalError(
        f"the memories' journal cannot be written ({error.strerror or error}), so the memory was not kept; {remedy}", path=str(folder)
    )


def remove_folder(folder: Path) -> None:
    """Remove a folder that contains only files; do nothing if it is missing."""
    if folder.is_dir():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
