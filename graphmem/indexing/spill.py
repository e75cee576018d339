"""Temporary store for the bytes of one run, in bounded memory.

The first megabytes stay in memory. More bytes are written to a file without a name, which the system deletes when the process ends.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.runtime.process.limits import disk_refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEMORY_BYTES: Final = 16 << 20
"""Bytes kept in memory; the rows of some 300 files."""


class Piece(NamedTuple):
    """Position and length of bytes in the temporary store of a run."""

    start: int
    size: int


class Spill:
    """Temporary store for bytes: in memory or, if there are many, in a file.

    The file has no name.

    Args:
        folder: directory of the file.
        memory: number of bytes above which the file is used.
    """

    def __init__(self, folder: Path, memory: int = MEMORY_BYTES) -> None:
        self._folder = folder
        self._file = tempfile.SpooledTemporaryFile(max_size=memory, dir=str(folder))  # noqa: SIM115 - closed in `close`
        self._end = 0

    def write(self, data: bytes) -> Piece:
        """Append bytes; return their position, for `read`.

        Raises:
            DiskFullError, ResourceError: the write failed.
        """
        with self._refusal_named("writing rows of the new graph beside the index"):
            self._file.seek(self._end)
            self._file.write(data)
        piece = Piece(self._end, len(data))
        self._end += len(data)
        return piece

    def read(self, piece: Piece) -> bytes:
        """Return the bytes that `write` stored at a position."""
        with self._refusal_named("reading rows of the new graph beside the index"):
            self._file.seek(piece.start)
            data: bytes = self._file.read(piece.size)
        return data

    def close(self) -> None:
        """Release the memory and the temporary file. Idempotent."""
        self._file.close()

    @contextmanager
    def _refusal_named(self, reason: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise disk_refusal(error, reason, self._folder) from error
