"""Track which chunks (pieces of files) have a vector, and sort the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from graphmem.projection.graph.arrays import I32
from graphmem.projection.snapshot import Snapshot
from graphmem.projection.vectors import VectorIndex

_CODE, _TEXT, _TEST = range(3)  # the order in which chunks get vectors


class ChunkHashes:
    """Counts, for each text hash, the chunks (pieces of files) that have it.

    A chunk's vector is stored under the hash of the chunk's text. So the counts show which vectors are in use, and how many chunks have a
    vector.
    """

    def __init__(self, hashes: Iterable[str]) -> None:
        self.uses = Counter(hashes)
        self.total = self.uses.total()
        self.covered = 0

    def count(self, vectors: VectorIndex | None) -> None:
        """Count the chunks of code whose text has a vector in `vectors`."""
        self.covered = sum(count for key, count in self.uses.items() if key in vectors) if vectors is not None else 0

    def exchange(self, removed: Iterable[str], added: Iterable[str], vectors: VectorIndex | None) -> None:
        """Update the counts after a change of the code.

        `removed` and `added` have the text hashes of the removed and added chunks.
        """
        for hashes, step in ((removed, -1), (added, 1)):
            for key in hashes:
                self.uses[key] += step
                self.total += step
                if vectors is not None and key in vectors:
                    self.covered += step
                if not self.uses[key]:
                    del self.uses[key]


def embedding_order(shot: Snapshot) -> list[tuple[str, str]]:
    """Return all chunks in the order in which their vectors are computed.

    `shot` has the code graph and the word index. Each item is (chunk id, text hash). `Projections.fill_order` explains the order.
    """
    if shot.words is None:
        return []
    view = shot.graph
    degree: I32 = np.diff(view.in_ptr)

    def key(row: tuple[str, str, str]) -> tuple[int, int, str]:
        node = view.index_of.get(row[2])
        return (_TEXT, 0, row[0]) if node is None else (_TEST if view.is_test[node] else _CODE, -int(degree[node]), row[0])

    return [(chunk, text_hash) for chunk, text_hash, _ in sorted(shot.words.chunk_keys(), key=key)]
