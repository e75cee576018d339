"""Read and replace the file MEMORY.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from graphmem.errors import BadInputError
from graphmem.memory.files.importers import MAX_BYTES
from graphmem.memory.repository.fields import refuse
from graphmem.runtime.files.replacing import replace_file

if TYPE_CHECKING:
    from pathlib import Path


def expect_writable(path: Path) -> None:
    """Refuse a file that is a symbolic link or read-only.

    A sync must not replace such a file.

    Raises:
        BadInputError: the file is a symbolic link or read-only.
    """
    if path.is_symlink():
        raise refuse(
            path.name, f"{path.name} is a symbolic link, which a sync would replace by a file; sync its target {path.readlink()} instead"
        )
    if path.exists() and (not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK)):
        raise refuse(path.name, f"{path.name} is read-only, but a sync writes into it; make it writable, for example with `chmod u+w`")


def bytes_of(path: Path) -> bytes:
    """Return the content of a file; b"" if the file does not exist."""
    if not path.exists():
        return b""
    if path.stat().st_size > MAX_BYTES:
        raise refuse(path.name, f"{path.name} has {path.stat().st_size:,} bytes, and at most {MAX_BYTES:,} are allowed; split the file")
    return path.read_bytes()


def text_of(path: Path, data: bytes) -> str:
    """Decode a file; errors name the file's path."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(path.name, f"{path.name} is not UTF-8 ({error.reason} at byte {error.start:,}); save the file as UTF-8") from error


def write_unless_changed(path: Path, before: bytes, after: bytes) -> None:
    """Write `after` to MEMORY.md, unless it equals `before`.

    `before` is the content of the file as the sync has read it.

    Raises:
        BadInputError: the file has another content than `before`, because it changed during the sync.
    """
    if bytes_of(path) != before:
        raise BadInputError(
            f"{path} changed during the sync and was not written; run `graphmem sync-file` again", argument="path", path=str(path)
        )
    if after != before or not path.exists():
        replace_with(path, after)


def replace_with(path: Path, data: bytes) -> None:
    """Write new bytes to a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data, mode=path.stat().st_mode & 0o777 if path.exists() else 0o644, durable=True)
