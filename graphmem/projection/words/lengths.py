"""Lengths and files of the rows of the word index, as arrays.

BM25 of a word needs how often each row has the word, and how long each row is. FTS5 computes both for one row after the other. Here both
are read at once and computed with numpy, in a third of the time and with equal results.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.projection.words.stem_numbers import I64

F64 = npt.NDArray[np.float64]

WEIGHTS: Final = (5.0, 1.0, 2.0)  # BM25 weights of title, text, path; measured in docs/decisions/0006-fusion.md
_K1, _B, _LEAST = 1.2, 0.75, 1e-6  # the constants of FTS5
# A row number and a column as one number. The letter "e" is second in "text", fifth in "title", and not in "path".
_PLACES: Final = "SELECT group_concat(doc * 8 + instr(col, 'e')) FROM places WHERE term = ?"
_WEIGHT_OF: Final = np.array([WEIGHTS[2], 0.0, WEIGHTS[1], 0.0, 0.0, WEIGHTS[0], 0.0, 0.0])


class Rows(NamedTuple):
    """Lengths and files of all rows of the word index, by row number.

    The arrays also have elements for deleted rows; these elements have no meaning.
    """

    length: I64  # row -> words in all its columns
    file_of: I64  # row -> number of its file
    files: dict[int, tuple[str, str]]  # number of a file -> (kind of its chunks, path)
    rows: int  # number of them
    words: int  # words of all rows

    @classmethod
    def read(cls, db: sqlite3.Connection) -> Rows:
        """Read the lengths and files of all rows from a word index."""
        empty = Rows(np.zeros(0, np.int64), np.zeros(0, np.int64), {}, 0, 0)
        return empty.after(db, (), 0)

    def after(self, db: sqlite3.Connection, removed: Collection[int], first: int) -> Rows:
        """Return the row lengths and files after a change of the word index.

        Args:
            db: a connection that sees the changed state.
            removed: numbers of the rows that the change removed.
            first: number of the first added row. A removed row may have had the number of an added one.
        """
        gone = self.length[list(removed)] if removed else self.length[:0]
        # One string of all rows is read in half of the time of one object for each.
        of_files = db.execute("SELECT group_concat(rowid), group_concat(path) FROM entries WHERE rowid >= ?", (first,)).fetchone()
        added, paths = map(_numbers, of_files)
        sizes = "SELECT group_concat(id), group_concat(hex(sz), '') FROM words_docsize WHERE id >= ?"
        lengths = _lengths(*db.execute(sizes, (first,)).fetchone())
        size = max(len(self.length), int(added.max(initial=0)) + 1)
        length, file_of = np.zeros(size, np.int64), np.zeros(size, np.int64)
        length[: len(self.length)], file_of[: len(self.length)] = self.length, self.file_of
        length[lengths[0]] = lengths[1]
        file_of[added] = paths
        kind = "(SELECT kind FROM entries e WHERE e.path = p.number LIMIT 1)"
        only = "WHERE number IN (SELECT path FROM entries WHERE rowid >= ?)"
        files = {number: (found, path) for number, path, found in db.execute(f"SELECT number, path, {kind} FROM paths p {only}", (first,))}  # noqa: S608
        total = self.words - int(gone.sum()) + int(lengths[1].sum())
        return Rows(length, file_of, self.files | files, self.rows - len(removed) + len(added), total)

    def scores(self, db: sqlite3.Connection, stem: str) -> tuple[I64, F64] | None:
        """Return the rows with a stem, ascending, and the BM25 score of each.

        The score is that of FTS5's function bm25 with WEIGHTS. The result is None if the index has no such stem.
        """
        found = db.execute(_PLACES, (stem,)).fetchone()[0]
        if found is None:
            return None
        places = _numbers(found)
        rows = places >> 3
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        times = np.add.reduceat(_WEIGHT_OF[places & 7], starts)
        rows = rows[starts]
        rarity = math.log((self.rows - len(rows) + 0.5) / (len(rows) + 0.5))
        # The operations and their order are those of FTS5, so that the results are equal to the last bit.
        long = 1 - _B + _B * self.length[rows] / (self.words / self.rows)
        return rows, (rarity if rarity > 0 else _LEAST) * (times * (_K1 + 1.0) / (times + _K1 * long))


def _lengths(numbers: str | None, sizes: str | None) -> tuple[I64, I64]:
    """Decode FTS5's table of sizes: row numbers, and the words of each row.

    FTS5 stores the number of words in each column as a variable-length integer: seven bits in a byte, the most significant bits first.

    Args:
        numbers: the row numbers, with commas between them; None for no rows.
        sizes: the stored sizes of all these rows, as hexadecimal digits.
    """
    if numbers is None or sizes is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    data = np.frombuffer(bytes.fromhex(sizes), np.uint8)
    ends = np.flatnonzero(data < 128)
    to_end = np.repeat(ends, np.diff(ends, prepend=-1)) - np.arange(len(data))
    values = (data & 127).astype(np.int64) << (7 * to_end)
    return _numbers(numbers), np.add.reduceat(values, np.append(0, ends[len(WEIGHTS) - 1 : -1 : len(WEIGHTS)] + 1))


def _numbers(joined: str | None) -> I64:
    return np.fromstring(joined or "", np.int64, sep=",")
