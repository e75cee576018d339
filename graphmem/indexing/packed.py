"""Rows of a first index run, packed as bytes until they are written.

A first run makes hundreds of thousands of rows while the results of parsing many files are in memory. Rows as Python objects would take
additional memory. Such objects would also be spread among the results of parsing, so the system would not get back the memory of these
results. Packed rows take a fifth of the memory, and most bytes of a large project are in a file (`spill`).
"""

from __future__ import annotations

import pickle
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from graphmem.indexing.spill import Piece, Spill

_Row = TypeVar("_Row", bound=tuple[Any, ...])
_BATCH = 4_000  # rows; one batch is unpacked at a time


class PackedRows(Sequence[_Row], Generic[_Row]):
    """Sequence of named tuples, appended in batches and read in order.

    Args:
        kind: the type of the rows.
        spill: stores the bytes; None keeps them in memory.
    """

    def __init__(self, kind: type[_Row], spill: Spill | None = None) -> None:
        self._kind = kind
        self._spill = spill
        self._pieces: list[tuple[bytes | Piece, Callable[[bytes], list[_Row]]]] = []
        self._ends: list[int] = []  # rows up to and including each piece
        self._open: list[_Row] = []
        self._unpacked: tuple[int, list[_Row]] = (-1, [])

    @classmethod
    def of(cls, kind: type[_Row], rows: Iterable[_Row]) -> PackedRows[_Row]:
        """Return a `PackedRows` with the given rows, all of them compressed."""
        made = cls(kind)
        made.extend(rows)
        made.seal()
        return made

    def append(self, row: _Row) -> None:
        """Append one row; rows are packed in batches."""
        self.extend((row,))

    def extend(self, rows: Iterable[_Row]) -> None:
        """Append rows in their order; full batches are compressed."""
        self._open.extend(rows)
        if len(self._open) >= _BATCH:
            self.seal()

    def extend_packed(self, data: bytes | Piece, count: int, unpack: Callable[[bytes], list[_Row]]) -> None:
        """Append `count` rows that are already packed in one piece.

        `data` is the packed bytes, or their position in the spill (temporary store). `unpack` converts the bytes to rows.
        """
        self.seal()
        if count:
            self._append(data, count, unpack)

    def extend_pickled(self, data: bytes | Piece, count: int) -> None:
        """Append `count` rows that were pickled as a list of tuples.

        `data` is the bytes, or their position in the spill (temporary store).
        """
        self.extend_packed(data, count, self._unpickled)

    def _unpickled(self, data: bytes) -> list[_Row]:
        return list(map(self._kind._make, pickle.loads(data)))  # type: ignore[attr-defined]  # noqa: S301 - made below

    def seal(self) -> None:
        """Convert the rows that are still Python objects to bytes."""
        if self._open:
            data = pickle.dumps(list(map(tuple, self._open)), pickle.HIGHEST_PROTOCOL)
            self._append(data, len(self._open), self._unpickled)
            self._open = []

    def _append(self, data: bytes | Piece, count: int, unpack: Callable[[bytes], list[_Row]]) -> None:
        if self._spill is not None and isinstance(data, bytes):
            data = self._spill.write(data)
        self._pieces.append((data, unpack))
        self._ends.append(count + (self._ends[-1] if self._ends else 0))

    def _piece(self, number: int) -> list[_Row]:
        if self._unpacked[0] != number:
            data, unpack = self._pieces[number]
            if isinstance(data, Piece):
                assert self._spill is not None  # noqa: S101 - places are of a spill
                data = self._spill.read(data)
            self._unpacked = (number, unpack(data))
        return self._unpacked[1]

    def __len__(self) -> int:
        return (self._ends[-1] if self._ends else 0) + len(self._open)

    def __iter__(self) -> Iterator[_Row]:
        self.seal()
        for number in range(len(self._pieces)):
            yield from self._piece(number)

    @overload
    def __getitem__(self, at: int) -> _Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[_Row]: ...
    def __getitem__(self, at: int | slice) -> _Row | list[_Row]:
        self.seal()
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        index = at + len(self) if at < 0 else at
        if not 0 <= index < len(self):
            raise IndexError(at)
        number = bisect_right(self._ends, index)
        return self._piece(number)[index - (self._ends[number - 1] if number else 0)]
