"""Properties of memories as parallel arrays, for filters of searches.

With arrays, fifty thousand memories are filtered at once. The position of a memory in each array is its slot (row number).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from graphmem.knowledge import MemoryRow
from graphmem.projection.memories.rows import asking, micros
from graphmem.projection.vectors import F32, Bool, Rows, products

_Value = TypeVar("_Value", bound=np.generic)
_RETIRED: Final = frozenset({"superseded", "deprecated"})  # kept, but out of search by default
_NAMES: Final = ("type", "live", "used", "stale", "asks", "created", "ended")


class MemoryFilter(NamedTuple):
    """Conditions on the memories that a query may find.

    The default values allow every memory that is neither superseded nor deprecated.
    """

    types: frozenset[str] = frozenset()
    retired: bool = False  # include superseded and deprecated ones
    stale: bool = True  # include those marked stale
    before: datetime | None = None  # only memories known at that time: already created and not yet superseded


class MemoryColumns:
    """The properties by which memories are filtered, by slot (row number)."""

    def __init__(self) -> None:
        self.types: dict[str, int] = {}  # name of a type -> its number in `type`
        self.type = np.zeros(0, np.int16)
        self.live = np.zeros(0, np.bool_)
        self.used = np.zeros(0, np.bool_)  # the slot holds a memory
        self.stale = np.zeros(0, np.bool_)
        self.asks = np.zeros(0, np.float32)  # the share in questions
        self.created = np.zeros(0, np.int64)  # microseconds, as from `micros`
        self.ended = np.zeros(0, np.int64)  # 0 for a memory that is valid still

    def state(self, n: int) -> dict[str, npt.NDArray[np.generic]]:
        """Return the first `n` entries of each array, by name, without copying."""
        return {name: getattr(self, name)[:n] for name in _NAMES}

    @classmethod
    def restored(cls, arrays: Mapping[str, npt.NDArray[np.generic]], types: dict[str, int]) -> MemoryColumns:
        """Build columns from arrays that `state` returned; the arrays are copied.

        `types` maps the types of memories to numbers.
        """
        columns = cls()
        columns.types = types
        for name in _NAMES:
            setattr(columns, name, arrays[name].copy())
        return columns

    def grow(self, size: int) -> None:
        """Lengthen all arrays to `size` slots (rows)."""
        for name in _NAMES:
            setattr(self, name, _longer(getattr(self, name), size))

    def put(self, slot: int, row: MemoryRow) -> int:
        """Store a memory's properties in its slot (row); return its creation time.

        The time is in microseconds.
        """
        self.used[slot] = True
        self.live[slot] = row.status not in _RETIRED
        self.stale[slot] = row.stale_at is not None
        self.asks[slot] = asking(row)
        self.type[slot] = self.types.setdefault(row.type, len(self.types))
        self.created[slot] = created = micros(row.created_at)
        ended = row.valid_to or row.deprecated_at
        self.ended[slot] = micros(ended) if ended is not None else 0
        return created

    def clear(self, slot: int) -> None:
        """Mark the slot (row) of a removed memory as free."""
        self.used[slot] = self.live[slot] = False

    def mask(self, only: MemoryFilter, n: int) -> Bool:
        """Return, for each of the first `n` slots (rows), whether it matches.

        A slot matches if its memory passes the filter `only`.
        """
        mask: Bool = self.used[:n].copy() if only.retired or only.before is not None else self.live[:n].copy()
        if only.before is not None:
            at = micros(only.before)
            mask &= (self.created[:n] <= at) & ((self.ended[:n] == 0) | (self.ended[:n] > at))
        if only.types:
            wanted = [self.types[name] for name in sorted(only.types) if name in self.types]
            mask &= np.isin(self.type[:n], wanted)
        if not only.stale:
            mask &= ~self.stale[:n]
        return mask


class SlotVectors:
    """The vectors of memories, of one embedding model, by slot (row number).

    The first vectors determine the dimension.
    """

    def __init__(self, size: int = 0) -> None:
        self.matrix: F32 = np.zeros((size, 0), np.float32)
        self.present = np.zeros(size, np.bool_)  # the slot has a vector

    def grow(self, size: int) -> None:
        """Lengthen the arrays to `size` slots (rows)."""
        self.matrix, self.present = _longer(self.matrix, size), _longer(self.present, size)

    def reset(self) -> None:
        """Drop all vectors and their dimension."""
        self.matrix = np.zeros((len(self.present), 0), np.float32)
        self.present[:] = False

    def expect(self, dim: int) -> None:
        """Set the dimension before the first vector; later calls change nothing."""
        if not self.matrix.shape[1]:
            self.matrix = np.zeros((len(self.present), dim), np.float32)

    def put(self, slot: int, unit: F32) -> None:
        """Set the vector `unit`, of length 1, of the memory in a slot (row)."""
        self.matrix[slot] = unit
        self.present[slot] = True

    def fits(self, vector: F32) -> bool:
        """Return whether a vector has as many components as the stored vectors."""
        return bool(self.matrix.shape[1] == np.size(vector))

    def cosines(self, vector: F32, rows: Rows, n: int) -> F32:
        """Return the cosine between `vector` and each stored vector in `rows`.

        `rows` has slots (row numbers of memories), which must be less than `n`, the number of slots in use. The result has the order of
        `rows`.
        """
        return products(self.matrix, np.asarray(vector, np.float32), rows, n)


def _longer(array: npt.NDArray[_Value], size: int) -> npt.NDArray[_Value]:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
