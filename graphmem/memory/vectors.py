"""Vectors of memories in the background: what was written without one gets one, newest first.

When a vector has come, the memory is compared once more, now by meaning: what only the cosine can see (the same said in other words) is
noticed here, through the same rules as at the time of writing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from graphmem.embedding.fill import vector_table
from graphmem.memory.committer import Vectors
from graphmem.runtime.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.embedding.base import Embedder
    from graphmem.knowledge import MemoryRow
    from graphmem.projection.projections import Projections

BATCH: Final = 8  # texts between two looks whether to stop, as for code
WINDOW: Final = 64  # vectors written together


class MemoryVectors:
    """Fills in the vectors of one project's memories. Thread-safe; at most one filling at a time.

    Args:
        projections: hold the memories.
        embedder: the model, or None; asked when it is needed.
        text_of: what of a memory is embedded.
        keep: takes vectors and the ids of the memories whose texts they are of.
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
        self.note = ""  # one sentence when vectors will not come

    def wake(self) -> None:
        """There are memories without a vector: begin, or go on."""
        if self._closing.is_set() or self._embedder() is None:
            return
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="graphmem-memory-vectors", daemon=True)
            thread.start()
            self._thread = thread
        self._wake.set()

    def run(self) -> int:
        """Fill now, in this thread; returns how many vectors came.

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """
        with self._filling:
            return self._fill()

    def close(self) -> None:
        """Stop after the batch in hand. Twice is once."""
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
        """Window by window, until nothing is missing."""
        self._projections.wait()  # which model answers is known when the projections are there
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
