"""Cache how the lines of chunks are divided among symbols.

A chunk is a piece of a file's text. A search divides the lines of each found chunk among the symbols of the file (`search/units`). The
result for one chunk is a `Piece`. A `Piece` depends only on the chunk and on the file's symbols. So later searches reuse it until the file
changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.projection.words.entries import Entry

_MOST_BYTES: Final = 32 << 20  # about 15,000 chunks
_OVERHEAD: Final = 1_000  # bytes of a piece besides its texts and numbers


class Segment(NamedTuple):
    """The lines of a chunk (piece of a file) that belong to one unit.

    A unit is a symbol, or the part of the chunk outside every symbol.
    """

    unit: str  # id of a node or of the chunk
    chunk: str
    owners: Sequence[int]  # for each line of the chunk, a number of its unit
    number: int  # number of this unit

    @property
    def rows(self) -> list[int]:
        """Positions of the segment's lines in its chunk (piece of a file), from 0."""
        number = self.number
        return [row for row, owner in enumerate(self.owners) if owner == number]


class Piece(NamedTuple):
    """A chunk whose lines and words are divided among units.

    A unit is a symbol, or the part of a chunk outside every symbol.
    """

    entry: Entry
    segments: list[Segment]
    symbols: list[str]  # units that are symbols; some may have no segment
    stems: npt.NDArray[np.unsignedinteger[Any]]  # numbers of the words in its segments, in text order
    owner: npt.NDArray[np.unsignedinteger[Any]]  # for each of them, the position of its segment

    @property
    def nbytes(self) -> int:
        """Approximate number of bytes that the piece occupies."""
        return len(self.entry.packed) + len(self.entry.stems) + self.stems.nbytes + self.owner.nbytes + _OVERHEAD


class Pieces:
    """Cache of the pieces of chunks, for one state of the index. Thread-safe.

    Args:
        most: maximum number of bytes; the oldest entries are dropped.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._kept: dict[str, Piece] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of chunks (pieces of files) in the cache."""
        return len(self._kept)

    def known(self, chunks: Iterable[str]) -> dict[str, Piece]:
        """Return the cached divisions of the given chunks, by chunk id.

        A division says which lines of a chunk (piece of a file) belong to which symbol. Chunks that are not in the cache are left out.
        """
        kept = self._kept
        return {chunk: piece for chunk in chunks if (piece := kept.get(chunk)) is not None}

    def add(self, pieces: Mapping[str, Piece]) -> None:
        """Add the chunks `pieces`, whose lines were divided among symbols, by id.

        Existing entries are not replaced. If the cache becomes too large, its oldest entries are dropped.
        """
        with self._lock:
            for chunk, piece in pieces.items():
                if chunk not in self._kept:
                    self._kept[chunk] = piece
                    self._bytes += piece.nbytes
            while self._bytes > self._most:
                self._bytes -= self._kept.pop(next(iter(self._kept))).nbytes

    def without(self, paths: Collection[str]) -> Pieces:
        """Return a new cache without the chunks of the files `paths`.

        `paths` are the files that changed. The new cache belongs to the next state of the index.
        """
        new = Pieces(self._most)
        with self._lock:
            new._kept = {chunk: piece for chunk, piece in self._kept.items() if piece.entry.path not in paths}
        new._bytes = sum(piece.nbytes for piece in new._kept.values())
        return new

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._kept, self._bytes = {}, 0
