"""Index of the vectors of texts, as rows of a matrix, with exact search.

The key of a row is the hash of the text, so rows do not change with the code graph. New vectors are appended, and a mask selects the rows
for a search. As measured, an exact scan of 30,000 x 384 takes a few milliseconds, has recall 1 and supports any filter. Above about 300,000
rows, an approximate index should implement the same `search`. When the database is opened, the rows are read from it (less than a second
for 30,000 rows). They have no file of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from graphmem.runtime.arrow import computed

F32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

_PIECE: Final = 4_096  # rows of a table that are copied at once
_SMALL: Final = 0.25  # share of rows below which gathering them is faster than scoring all

# Found once: a check of the loaded libraries costs milliseconds. Two BLAS threads spin against each other on busy cores.
_blas = ThreadpoolController()


class VectorIndex:
    """Index of the vectors of one model.

    One thread may add rows while others search. A search sees the rows that were complete at its start.

    Args:
        model_id: id of the embedder's model.
        dim: dimension of the vectors.
        hashes: distinct text hashes, the keys of the rows of `matrix`.
        matrix: float32 (n, dim); rows are scaled to unit length here.
    """

    def __init__(self, model_id: str, dim: int, hashes: Sequence[str] = (), matrix: F32 | None = None) -> None:
        self.model_id = model_id
        self.dim = dim
        self._lock = threading.Lock()  # of adding
        self._hashes: list[str] = []
        self._row_of: dict[str, int] = {}
        self._matrix: F32 = np.zeros((0, dim), np.float32)
        if matrix is not None:
            self.add(hashes, matrix)

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, text_hash: object) -> bool:
        return text_hash in self._row_of

    def hashes(self) -> list[str]:
        """Return the text hash of every row, in row order."""
        return self._hashes[: len(self)]

    def add(self, hashes: Sequence[str], vectors: F32) -> int:
        """Append vectors with new text hashes; return how many were appended.

        Vectors whose hashes already exist are ignored.

        Args:
            hashes: text hashes of the vectors.
            vectors: float32 (len(hashes), dim).
        """
        with self._lock:
            first: dict[str, int] = {}
            for i, key in enumerate(hashes):
                if key not in self._row_of:
                    first.setdefault(key, i)
            fresh = list(first.values())
            if not fresh:
                return 0
            n = len(self._row_of)
            if n + len(fresh) > len(self._matrix):
                self._grow(max(n + len(fresh), 1024, n * 3 // 2))
            given = np.asarray(vectors, np.float32)
            self._matrix[n : n + len(fresh)] = unit_rows(given if len(fresh) == len(given) else given[fresh])
            self._hashes.extend(hashes[i] for i in fresh)
            # Last: a row counts as existing once its key exists.
            self._row_of.update((hashes[i], n + place) for place, i in enumerate(fresh))
            return len(fresh)

    def add_table(self, table: pa.Table, is_wanted: Callable[[str], bool]) -> None:
        """Append the wanted vectors of a (text_hash, vector) table.

        `is_wanted` receives the text hash of a vector. The rows are copied in pieces, to need little memory beyond the index itself.
        """
        with self._lock:
            self._grow(len(self._row_of) + table.num_rows)
        for at in range(0, table.num_rows, _PIECE):
            piece = table.slice(at, _PIECE)
            wanted = [(i, key) for i, key in enumerate(piece["text_hash"].to_pylist()) if is_wanted(key)]
            if wanted:
                rows, hashes = zip(*wanted, strict=True)
                matrix = matrix_of(piece)
                self.add(hashes, matrix if len(rows) == len(matrix) else matrix[list(rows)])

    def _grow(self, rows: int) -> None:
        if rows > len(self._matrix):
            grown = np.zeros((rows, self.dim), np.float32)
            grown[: len(self._row_of)] = self._matrix[: len(self._row_of)]
            self._matrix = grown

    def rows(self, hashes: Sequence[str]) -> Rows:
        """Return the row numbers of the vectors of given text hashes, ascending.

        Hashes without a vector are ignored.
        """
        row_of = self._row_of
        return np.sort(np.fromiter((row_of[key] for key in hashes if key in row_of), np.int64))

    def search(self, query: F32, k: int, mask: Bool | None = None) -> list[tuple[int, float]]:
        """Return the k rows nearest to a query, nearest first, ties by row.

        Args:
            query: float32 (dim,), of any length except zero.
            k: maximum number of rows.
            mask: booleans by row; rows beyond the end of the mask are excluded; None for all rows.

        Returns:
            Pairs (row, cosine), fewer than k if fewer rows match. The search takes one pass over the matching rows.
        """
        rows, cosines = best_rows(*self.score(query, mask), k)
        order = np.lexsort((rows, -cosines))[:k]
        return [(int(row), float(cosine)) for row, cosine in zip(rows[order], cosines[order], strict=True)]

    def score(self, query: F32, mask: Bool | None = None) -> tuple[Rows, F32]:
        """Return row numbers that match a mask, and their cosines with a query.

        The row numbers are ascending.
        """
        n = len(self._row_of)
        rows = np.arange(n) if mask is None else np.flatnonzero(mask[:n])
        return rows, products(self._matrix, query, rows, n)

    def mean(self, hashes: Sequence[str]) -> F32 | None:
        """Return the mean vector of the texts with given hashes, float32 (dim,).

        The result is None if no text has a vector.
        """
        row_of = self._row_of
        rows = [row_of[key] for key in dict.fromkeys(hashes) if key in row_of]
        return np.asarray(self._matrix[rows].mean(axis=0), np.float32) if rows else None

    def cosines(self, query: F32, hashes: Sequence[str]) -> dict[str, float]:
        """Map hashes of texts to the cosine between the text and a query.

        Texts without a vector are left out.
        """
        row_of = self._row_of
        known = [key for key in dict.fromkeys(hashes) if key in row_of]
        rows = np.fromiter((row_of[key] for key in known), np.int64, len(known))
        return dict(zip(known, products(self._matrix, query, rows, len(row_of)).tolist(), strict=True))


def products(matrix: F32, query: F32, rows: Rows, n: int) -> F32:
    """Return the cosines between a query and given rows of a matrix.

    `rows` has row numbers. The first `n` rows of the matrix are valid and have unit length.
    """
    unit = unit_rows(np.asarray(query, np.float32).reshape(1, -1))[0]
    with _blas.limit(limits=1, user_api="blas"):
        if len(rows) <= n * _SMALL:
            return np.asarray(matrix[rows] @ unit, np.float32)
        return np.asarray((matrix[:n] @ unit)[rows], np.float32)


def best_rows(rows: Rows, cosines: F32, k: int) -> tuple[Rows, F32]:
    """Return the k rows with the highest cosines, and these cosines.

    If several rows have the k-th highest cosine, all of them are returned, so there may be more than k. The rows have no order: the caller
    must order them and break ties.
    """
    if len(rows) <= k:
        return rows, cosines
    limit = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
    near = np.flatnonzero(cosines >= limit)
    return rows[near], cosines[near]


def matrix_of(table: pa.Table) -> F32:
    """Convert the database's table of (text_hash, vector) to a float32 matrix.

    The shape is (rows, dimension), and (0, 0) if the table is empty.
    """
    if not table.num_rows:
        return np.zeros((0, 0), np.float32)
    vectors = table["vector"].combine_chunks()
    flat = computed("list_flatten", vectors).to_numpy(zero_copy_only=False)
    return np.asarray(flat, np.float32).reshape(len(vectors), -1)


def unit_rows(vectors: F32) -> F32:
    """Scale rows to unit length; zero rows stay zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.finfo(np.float32).tiny), np.float32)
