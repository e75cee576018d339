"""Find rows of the code graph by a string: name, qualified name or id.

After a small change of the graph, the look-up table of names is updated, because that is cheaper than to build it again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphmem.projection.graph.arrays import I32, pointers
from graphmem.projection.graph.merging import Merge
from graphmem.runtime.arrow import computed


class StringLookup:
    """A look-up table: finds the rows of a column that have a given string.

    The rows are in ascending order. The first look-ups compare the whole column, because a command looks up one or two strings, and to make
    the table takes as long as a hundred comparisons or more.
    """

    _SCANS: Final = 16

    def __init__(self, column: pa.StringArray) -> None:
        self._column = column
        self._scans = 0  # look-ups without the table
        self._table: _Table | None = None

    def warm(self) -> _Table:
        """Return the table; make it if it is missing."""
        if self._table is None:
            self._table = _Table.of(self._column)
        return self._table

    def __getitem__(self, word: str) -> I32:
        if self._table is None and self._scans < self._SCANS:
            self._scans += 1
            return _scanned(self._column, word)
        return self.warm()[word]

    def words(self) -> Iterable[str]:
        """Return the distinct strings of the column."""
        return self.warm().words()

    def patched(self, merge: Merge, column: object) -> StringLookup:
        """Return the look-up table of `column`, made from this older one.

        `column` is the column of strings after a change. This object was made from the column before the change. `merge` says which rows
        changed. If no value changed, the result is this object itself.
        """
        if self._table is None:
            return self if column is self._column else StringLookup(column)
        table = self._table.patched(merge, column)
        if table is self._table:
            return self
        new = StringLookup(column)
        new._table = table
        return new


class _Table:
    """The distinct strings of a column, numbered, and the rows of each string."""

    def __init__(self, code_of: dict[str, int], code: I32) -> None:
        self._code_of = code_of
        self._code = code
        self._rows = np.argsort(code, kind="stable").astype(np.int32)
        self._ptr = pointers(code, len(code_of))

    @classmethod
    def of(cls, column: pa.StringArray) -> _Table:
        encoded = computed("dictionary_encode", column)
        return cls({word: i for i, word in enumerate(encoded.dictionary.to_pylist())}, np.asarray(encoded.indices, dtype=np.int32))

    def __getitem__(self, word: str) -> I32:
        code = self._code_of.get(word)
        return self._rows[:0] if code is None else self._rows[self._ptr[code] : self._ptr[code + 1]]

    def words(self) -> list[str]:
        return [word for word, code in self._code_of.items() if self._ptr[code] < self._ptr[code + 1]]

    def patched(self, merge: Merge, column: pa.StringArray) -> _Table:
        words = column.take(pa.array(merge.placed)).to_pylist()
        code_of = self._code_of
        fresh = dict.fromkeys(word for word in words if word not in code_of)
        if fresh:
            code_of = code_of | {word: code for code, word in enumerate(fresh, len(code_of))}
        code = merge.take(self._code, np.fromiter((code_of[word] for word in words), np.int32, len(words)))
        return self if code is self._code else _Table(code_of, code)


def _scanned(column: pa.StringArray, word: str) -> I32:
    try:
        equal = computed("equal", column, pa.scalar(word, column.type))
    except UnicodeEncodeError:  # half of a surrogate pair, which no column has
        return np.zeros(0, np.int32)
    return np.asarray(computed("indices_nonzero", equal)).astype(np.int32)


class NodeNumbers(Mapping[str, int]):
    """Mapping from ids to node numbers, by bisection in the sorted ids.

    A hash table would have to be rebuilt after every commit. The last few thousand results are cached, because a search looks up each
    candidate about five times.
    """

    _MOST: Final = 8192

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self._met: dict[str, int] = {}  # -1: missing

    def __getitem__(self, key: str) -> int:
        at = bisect_left(self._ids, key)
        if at < len(self._ids) and self._ids[at] == key:
            return at
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (at := bisect_left(self._ids, key)) < len(self._ids) and self._ids[at] == key

    def get(self, key: str, default: Any = None) -> Any:
        """Return the node number of the id `key`, or `default` if it is unknown."""
        at = self._met.get(key)
        if at is None:
            at = bisect_left(self._ids, key)
            if at == len(self._ids) or self._ids[at] != key:
                at = -1
            if len(self._met) >= self._MOST:
                self._met.clear()
            self._met[key] = at
        return at if at >= 0 else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
