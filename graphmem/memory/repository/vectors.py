"""Compute vectors of memories in the background, newest first.

When a memory gets its vector, it is compared with the older memories again, because only the cosine of vectors shows that two memories say
the same in other words. The rules of the comparison are the same as when a memory is written.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from graphmem.embedding.fill import vector_table
from graphmem.memory.repository.committer import Vectors
from graphmem.runtime.process.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.embedding.base import Embedder
    from graphmem.knowledge import MemoryRow
    from graphmem.projection.projections import Projections

BATCH: Final = 8  # texts between two checks for a stop, as for code
WINDOW: Final = 64  # vectors written together


class MemoryVectors:
    """Computes missing vectors of one project's memories.

    Thread-safe; at most one computation at a time.

    Args:
        projections: copies of the memories in memory.
        embedder: returns the model, or None; called when a model is needed.
        text_of: returns the text from which a memory's vector is computed.
        keep: stores vectors; called with the vectors and the ids of their memories.
    """

    def __init__(
        self,
        projections: Projections,
        embedder: Callable[[], Embedder | None],
        text_of: Callable[[MemoryRow], str],
        keep: Callable[[Vectors, list[str]], None],
    ) -> None:
        self._projections = projections
        self._embedder = embedder
        self._text_of = text_of
        self._keep = keep
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._filling = threading.Lock()
        self._thread: threading.Thread | None = None
        self.note = ""  # one sentence when no vectors will be computed

    def wake(self) -> None:
        """Compute missing vectors of memories in the background.

        A computation that runs already continues.
        """
        if self._closing.is_set() or self._embedder() is None:
            return
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="graphmem-memory-vectors", daemon=True)
            thread.start()
            self._thread = thread
        self._wake.set()

    def run(self) -> int:
        """Compute missing vectors of memories now; return their number.

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """
        with self._filling:
            return self._fill()

    def close(self) -> None:
        """Stop computing vectors after the current batch. Idempotent."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            try:
                with self._filling:
                    self._fill()
                self.note = ""
            except Exception as error:  # noqa: BLE001 - said in answers of searches and in `doctor`; words still find everything
                if self._closing.is_set():
                    return
                self.note = f"memories get no vectors: {unraised(error, 'filling the vectors of memories')}"

    def _fill(self) -> int:
        """Compute missing vectors until none is missing; return their number.

        Memories are processed in batches of limited size. `close` stops the computation after the current batch.
        """
        self._projections.wait()  # the model for queries is known once the projections are loaded
        embedder = self._embedder()
        if embedder is None:
            return 0
        self._projections.use_model(embedder.model_id, embedder.dim)
        done = 0
        while not self._closing.is_set():
            index = self._projections.memories()
            texts: dict[str, list[str]] = {}
            owners: dict[str, list[str]] = {}
            for one in index.missing_vectors()[:WINDOW]:
                row = index.row(one)
                if row is not None:
                    texts.setdefault(row.text_hash, [self._text_of(row)])
                    owners.setdefault(row.text_hash, []).append(one)
            if not texts:
                break
            hashes = sorted(texts, key=lambda key: (len(texts[key][0]), key))
            for at in range(0, len(hashes), BATCH):
                if self._closing.is_set():
                    return done
                part = hashes[at : at + BATCH]
                vectors = embedder.encode([texts[key][0] for key in part])
                ids = sorted(one for key in part for one in owners[key])
                self._keep(Vectors(embedder.model_id, vector_table(part, vectors)), ids)
                done += len(part)
        return done
