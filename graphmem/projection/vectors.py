"""The `vectors` projection: every embedded text as one row of a matrix, searched exactly.

Rows are keyed by text hash, so they do not change with the graph's generation: new vectors are appended, and which
rows count in a search is a mask. Measured, an exact scan of 30,000 x 384 is a few milliseconds, has recall 1 and takes
any filter; an approximate index would belong behind the same `search` above some 300,000 rows. They are read from the store when it
is opened (under a second for as many) and have no file of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

F32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]

_SMALL: Final = 0.25  # share of rows below which gathering them beats scoring all

# Found once: a look at the loaded libraries costs milliseconds. Two BLAS threads spin against each other on busy cores.
_blas = ThreadpoolController()


class VectorIndex:
    """Vectors of one model. One thread may add while others search: a search sees the rows that were whole when it began.

    Args:
        model_id: of the embedder.
        dim: length of a vector.
        hashes: keys of the rows of `matrix`, distinct.
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

    @classmethod
    def from_table(cls, model_id: str, dim: int, table: pa.Table) -> VectorIndex:
        """From the store's (text_hash, vector) table of a model."""
        vectors = table["vector"].combine_chunks()
        flat = vectors.flatten().to_numpy(zero_copy_only=False) if len(vectors) else np.zeros(0, np.float32)
        return cls(model_id, dim, table["text_hash"].to_pylist(), np.asarray(flat, np.float32).reshape(-1, dim))

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, text_hash: object) -> bool:
        return text_hash in self._row_of

    def hashes(self) -> list[str]:
        """Text hash of every row, in row order."""
        return self._hashes[: len(self)]

    def add(self, hashes: Sequence[str], vectors: F32) -> int:
        """Append vectors whose text hash is not there yet; how many that were.

        Args:
            hashes: keys.
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
                grown = np.zeros((max(n + len(fresh), 1024, n * 3 // 2), self.dim), np.float32)
                grown[:n] = self._matrix[:n]
                self._matrix = grown
            self._matrix[n : n + len(fresh)] = _unit(np.asarray(vectors, np.float32)[fresh])
            self._hashes.extend(hashes[i] for i in fresh)
            # Last: a row counts as there from the moment its key is.
            self._row_of.update((hashes[i], n + place) for place, i in enumerate(fresh))
            return len(fresh)

    def rows(self, hashes: Sequence[str]) -> npt.NDArray[np.int64]:
        """Rows of those of the hashes that have a vector, ascending."""
        row_of = self._row_of
        return np.sort(np.fromiter((row_of[key] for key in hashes if key in row_of), np.int64))

    def search(self, query: F32, k: int, mask: Bool | None = None) -> list[tuple[int, float]]:
        """The k rows nearest to a query, nearest first, ties by row.

        Args:
            query: float32 (dim,), any length but zero.
            k: rows wanted.
            mask: truths by row, shorter or longer than the matrix: rows it does not reach are out; None for all.

        Returns:
            (row, cosine); fewer than k when fewer rows pass. Cost: one pass over the rows that pass.
        """
        rows, cosines = self.score(query, mask)
        if len(rows) > k:
            # The k-th best and all that equal it, so that ties fall by row and not by the partition.
            limit = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
            near = np.flatnonzero(cosines >= limit)
            rows, cosines = rows[near], cosines[near]
        order = np.lexsort((rows, -cosines))[:k]
        return [(int(row), float(cosine)) for row, cosine in zip(rows[order], cosines[order], strict=True)]

    def score(self, query: F32, mask: Bool | None = None) -> tuple[npt.NDArray[np.int64], F32]:
        """Rows that pass, ascending, and the cosine of each."""
        n = len(self._row_of)
        matrix = self._matrix[:n]
        unit = _unit(np.asarray(query, np.float32).reshape(1, -1))[0]
        with _blas.limit(limits=1, user_api="blas"):
            if mask is None:
                return np.arange(n), matrix @ unit
            rows = np.flatnonzero(mask[:n])
            if len(rows) <= n * _SMALL:
                return rows, matrix[rows] @ unit
            return rows, (matrix @ unit)[rows]

    def cosines(self, query: F32, hashes: Sequence[str]) -> dict[str, float]:
        """Cosine of a query with the texts of these hashes; those without a vector are left out."""
        row_of = self._row_of
        known = [key for key in dict.fromkeys(hashes) if key in row_of]
        rows = np.fromiter((row_of[key] for key in known), np.int64, len(known))
        unit = _unit(np.asarray(query, np.float32).reshape(1, -1))[0]
        with _blas.limit(limits=1, user_api="blas"):
            return dict(zip(known, (self._matrix[rows] @ unit).tolist(), strict=True))


def _unit(vectors: F32) -> F32:
    """Rows scaled to unit length; zero rows stay zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.finfo(np.float32).tiny), np.float32)
