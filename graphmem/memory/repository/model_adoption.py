"""Record a new embedding model in the rows of memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.knowledge import KnowledgeDelta

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository

ADOPTED: Final = 256  # rows that adopt a new model in one write


def adopt_model(repository: MemoryRepository, model: str) -> None:
    """Record `model` as the model of every memory that has a vector.

    The projections (copies for readers) already use the vectors of `model`. A memory without a recorded model had no vector before. Each
    such memory is compared with the other memories.
    """
    ids = [row.id for row in repository.index().all_rows() if row.embedding_model != model]
    for at in range(0, len(ids), ADOPTED):
        with repository.writing():
            index = repository.index()
            rows = [row for row in index.rows(ids[at : at + ADOPTED]).values() if index.vector(row.id) is not None]
            repository.put_derived(KnowledgeDelta(memories=[row._replace(embedding_model=model) for row in rows]), None)
        repository.reconsider([row.id for row in rows if not row.embedding_model])
    repository.flush()
