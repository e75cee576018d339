"""Merge old and new rows of the graph's arrays.

A row is a node, an edge or an unresolved call. A column is an array with one property of all rows, such as their names.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.projection.graph.build import joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.projection.graph.arrays import I32, I64, Bool

_Value = TypeVar("_Value", bound=np.generic)
_MOST_RUNS: Final = 4_096  # pieces of a column that are joined; with more, gathering rows is cheaper


def rows_table(row_type: type[Any], rows: Sequence[Any]) -> pa.Table:
    """Convert rows of one class, such as `SymbolRow`, to an Arrow table.

    `row_type` is the class of the rows. The columns have the same types as in the database.
    """
    arrow = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(row_type._fields)
    return pa.table(
        {
            name: pa.array(column, arrow[kind.__forward_arg__])
            for (name, kind), column in zip(row_type.__annotations__.items(), columns, strict=True)
        }
    )


class Merge:
    """A merge of the old and new rows of a sorted column into one column.

    Args:
        n_old: number of old rows.
        removed: old rows that are removed.
        at: position of each new row among the old rows, ascending.
        there: booleans in the shape of `at`; True replaces the old row at this position, False inserts before it.

    Attributes:
        gather: for each row in the new order, its position among old rows followed by new rows.
        remap: maps an old row to its new row, or -1 if removed; the last entry is -1, so that -1 is mapped to -1.
        placed: for each new row, in the order of `at`, its row number after the merge.
        is_replacement: whether every old row keeps its number.
    """

    def __init__(self, n_old: int, removed: npt.NDArray[np.generic], at: I64, there: Bool) -> None:
        self._n_old = n_old
        replaced = at[there]
        keep = np.ones(n_old, np.bool_)
        keep[removed] = False
        self.is_replacement = bool(there.all()) and n_old - np.count_nonzero(keep) == np.count_nonzero(~keep[replaced])
        keep[replaced] = False
        self.remap: I32
        self.placed: I32
        self.gather: I64
        if self.is_replacement:
            self.remap = np.append(np.arange(n_old, dtype=np.int32), np.int32(-1))
            self.placed = at.astype(np.int32)
            self.gather = np.arange(n_old, dtype=np.int64)
            self.gather[at] = n_old + np.arange(len(at))
            return
        kept = np.flatnonzero(keep)
        before = np.concatenate([[0], np.cumsum(keep)])  # number of kept rows before an old position
        self.gather = np.insert(kept, before[at], n_old + np.arange(len(at)))
        self.remap = np.full(n_old + 1, -1, np.int32)
        from_old = np.flatnonzero(self.gather < n_old)
        self.remap[self.gather[from_old]] = from_old
        self.placed = np.flatnonzero(self.gather >= n_old).astype(np.int32)
        self.remap[replaced] = self.placed[there]

    @cached_property
    def _runs(self) -> list[tuple[bool, int, int]]:
        """Return the merged column as runs of rows that are copied together.

        A run is (whether its rows are new rows, first row, row after the last). If there are so many runs that copying them is not faster
        than copying single rows, the list is empty.
        """
        gather, n_old = self.gather, self._n_old
        if not len(gather):
            return []
        begins = np.flatnonzero((np.diff(gather) != 1) | (gather[1:] == n_old)) + 1
        if len(begins) > _MOST_RUNS:
            return []
        bounds = [0, *begins.tolist(), len(gather)]
        runs = []
        for begin, end in pairwise(bounds):
            first = int(gather[begin])
            is_new = first >= n_old
            first -= n_old if is_new else 0
            runs.append((is_new, first, first + end - begin))
        return runs

    def renumbered(self, rows: I32) -> I32:
        """Convert a column of old row numbers to new row numbers.

        The number -1 stands for a missing row and is not changed.
        """
        return rows if self.is_replacement else self.remap[rows]

    def take(self, old: npt.NDArray[_Value], new: npt.NDArray[np.generic]) -> npt.NDArray[_Value]:
        """Return a column of numbers after the merge of old and new rows.

        `old` and `new` are the column's values in the old and in the new rows. The result is the array `old` itself if nothing changes.
        """
        new = new.astype(old.dtype)
        if self.is_replacement:
            if np.array_equal(old[self.placed], new):
                return old
            changed = old.copy()
            changed[self.placed] = new
            return changed
        if self._runs:
            return np.concatenate([(new if is_new else old)[first:end] for is_new, first, end in self._runs])
        return np.concatenate([old, new])[self.gather]

    def take_text(self, old: pa.StringArray, new: pa.StringArray | Sequence[str]) -> pa.StringArray:
        """Return a column of strings (Arrow) after the merge of old and new rows."""
        new = text(new)
        if self.is_replacement and (not len(new) or old.take(pa.array(self.placed)).equals(new)):
            return old
        if self._runs:
            return pa.concat_arrays([(new if is_new else old).slice(first, end - first) for is_new, first, end in self._runs])
        return text(joined([old, new]).take(pa.array(self.gather)))

    def take_list(self, old: list[str], new: list[str]) -> list[str]:
        """Merge the strings of the old rows and the new rows into one list."""
        if self.is_replacement:
            return old
        if self._runs:
            return [one for is_new, first, end in self._runs for one in (new if is_new else old)[first:end]]
        both = old + new
        return [both[row] for row in self.gather.tolist()]
