"""Switch from one embedding model to another.

New vectors are collected in the store while searches use the old vectors. A search uses vectors of only one model. When no new vector is
missing, searches of code and memories switch to the new vectors at the same time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.embedding.fill import BATCH, WINDOW, FillResult, Pace, fill, vector_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphmem.embedding.base import Embedder
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore

# Names of the built-in embedders. Vectors that a caller supplied under another name cannot be made again, and stay.
_OURS: Final = re.compile(r"hashed-words-\d+|.+@\d+")


def former_models(stored: Mapping[str, int], wanted: str) -> dict[str, int]:
    """Map each former model to the number of its stored vectors.

    `stored` maps the id of every model to its number of vectors. `wanted`, the id of the current model, is left out. Models whose vectors
    were supplied by a caller are left out, too. Their ids do not have the form of graphmem's own model ids.
    """
    return {model: count for model, count in stored.items() if model != wanted and _OURS.fullmatch(model)}


class ModelSwitch:
    """The switch from one model to another, while new vectors are computed.

    One thread computes the vectors. Any thread may read the progress.

    Args:
        store: stores the vectors of both models.
        projections: gives the list of the chunks.
        book: gives the list of the memories.
        old: the model whose vectors searches use until the switch is complete.
        new: the model that computes the new vectors.
    """

    def __init__(self, store: GraphStore, projections: Projections, book: MemoryRepository, old: Embedder, new: Embedder) -> None:
        self.old = old
        self.new = new
        self._store = store
        self._projections = projections
        self.book = book
        self._have: set[str] = set(store.vectors(new.model_id)["text_hash"].to_pylist())

    def progress(self) -> tuple[int, int]:
        """Return (chunks and memories that have a new vector, all of them)."""
        chunks, all_chunks = self._projections.covered_by(self._have)
        memories, all_memories = self.book.index().covered_by(self._have)
        return chunks + memories, all_chunks + all_memories

    def progress_note(self) -> str:
        """Return the progress of the switch as one sentence for people."""
        done, total = self.progress()
        return (
            f"search uses the vectors of {self.old.model_id} until those of {self.new.model_id} are complete ({done:,} of {total:,} texts)"
        )

    def is_complete(self) -> bool:
        """Whether all chunks and memories in use have a vector of the new model."""
        done, total = self.progress()
        return done == total and self._projections.snapshot().words is not None

    def fill(self, stopped: Callable[[], bool], on_progress: Callable[[int, int], None]) -> FillResult:
        """Compute the missing vectors, memories first.

        Args:
            stopped: called before every batch; if it returns True, the computation stops. Finished batches are stored.
            on_progress: receives (number of texts with a new vector, number of all texts) after every write.

        Raises:
            EmbedderError: the new model cannot be loaded or failed.
        """
        done = 0
        while missing := self.book.unembedded(self._have, WINDOW):
            hashes = sorted(missing, key=lambda key: (len(missing[key]), key))
            for at in range(0, len(hashes), BATCH):
                if stopped():
                    return FillResult(done, done + len(missing), stopped=True)
                part = hashes[at : at + BATCH]
                vectors = self.new.encode([missing[key] for key in part])
                self._store.put_vectors(self.new.model_id, self.new.dim, vector_table(part, vectors))
                self._have.update(part)
                done += len(part)
        result = fill(
            self._store,
            self.new,
            self._projections.fill_order(),
            frozenset(self._have),
            on_vectors=lambda hashes, _: self._have.update(hashes),
            on_progress=on_progress,
            pace=Pace(stopped),
        )
        return result._replace(done=result.done + done, wanted=result.wanted + done)
