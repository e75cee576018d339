"""The in-memory copy of all memories: with links, times, words, vectors.

The copy is built from the database, or read from a file that `memories.file` has saved. 50,000 memories take seconds to index and a
fraction of a second to read. After each accepted write of memories, the copy is updated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.knowledge import KnowledgeDelta
from graphmem.projection.memories.columns import MemoryColumns, MemoryFilter, SlotVectors
from graphmem.projection.memories.moments import MemoryMoments
from graphmem.projection.memories.search import MemorySearch
from graphmem.projection.vectors import F32, matrix_of, unit_rows
from graphmem.store.base import Knowledge


class MemoryIndex(MemorySearch, MemoryMoments):
    """An in-memory index of all memories with their sessions and links.

    Thread-safe: no method sees only a part of an update. Inside `sight.seeing`, methods that read return only the memories
    that the caller may see. Methods that write see all memories.

    Args:
        generation: the database's counter of changes of memories, as it was when the memories were read.
    """

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge, model_id: str = "", vectors: pa.Table | None = None) -> MemoryIndex:
        """Build the index from the memories of one state of the database.

        Args:
            knowledge: all memories, sessions and links.
            model_id: id of the model of `vectors`; "" without vectors.
            vectors: table with the columns text_hash and vector, made by the model. A row is ignored if no memory has its text.
        """
        index = cls()
        index.patch(
            KnowledgeDelta(
                memories=knowledge.memories,
                anchored=[row.id for row in knowledge.memories],
                about=knowledge.about,
                relates=knowledge.relates,
                sessions=knowledge.sessions,
                learnt=knowledge.learnt,
            ),
            generation=knowledge.generation,
        )
        if vectors is not None:
            index.use_model(model_id, vectors)
        return index

    def state(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, Any]]:
        """Return the index without its vectors, as values that can be saved.

        The first result maps names to columns. The second maps names to values that `marshal` supports. The method `restored` accepts both.
        The values are the index's own objects, not copies, so the caller must hold the lock of `reading`.
        """
        rest = {
            "ids": self._id_at,
            "packed": self._packed,
            "fingerprints": self._by_fingerprint,
            "short_ids": self._by_short_id,
            "texts": self._slots_of_text,
            "seen_by": self._slots_seen_by,
            "types": self._columns.types,
            "links": self._links_state(),
            "words": self._words.state(),
        }
        return self._columns.state(len(self._id_at)), rest

    @classmethod
    def restored(cls, generation: int, columns: Mapping[str, npt.NDArray[np.generic]], rest: Mapping[str, Any]) -> MemoryIndex:
        """Build the index from saved content, without vectors.

        `generation` is the number of changes of the memories.

        `columns` and `rest` are the two results of `state()`.
        """
        index = cls(generation)
        index._columns = MemoryColumns.restored(columns, rest["types"])
        index._id_at, index._packed = rest["ids"], rest["packed"]
        index._by_fingerprint, index._by_short_id, index._slots_of_text = rest["fingerprints"], rest["short_ids"], rest["texts"]
        index._slots_seen_by = rest["seen_by"]
        index._slot_of = {one: slot for slot, one in enumerate(index._id_at) if one}
        index._free = [slot for slot in range(len(index._id_at) - 1, -1, -1) if not index._id_at[slot]]
        index._timeline.add([(int(index._columns.created[slot]), one) for one, slot in index._slot_of.items()])
        index._vectors = SlotVectors(len(index._id_at))
        index._restore_links(rest["links"])
        index._words.restore(rest["words"])
        return index

    # ---- changing

    def patch(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, generation: int | None = None) -> None:
        """Update the index after a write of memories that was stored.

        Args:
            delta: the change of the memories.
            vectors: table with the columns text_hash and vector, for texts of the write, from the model in use. The first vectors that the
                index gets determine its dimension.
            generation: the database's counter of changes of memories after the write; None to add 1 to the index's counter.
        """
        with self._lock:
            self._forget(delta.removed_memories)
            self._put({row.id: row for row in delta.memories})
            self._patch_links(delta)
            if vectors is not None:
                self.add_vectors(vectors["text_hash"].to_pylist(), matrix_of(vectors))
            self.generation = self.generation + 1 if generation is None else generation

    def use_model(self, model_id: str, vectors: pa.Table) -> None:
        """Switch to the vectors of an embedding model.

        The vectors of the former model are dropped. `vectors` has rows (text_hash, vector); rows of texts that no memory has are ignored.
        Further vectors come from `add_vectors`.
        """
        with self._lock:
            self.model_id = model_id
            self._vectors.reset()
            hashes = vectors["text_hash"].to_pylist()
            rows = [i for i, key in enumerate(hashes) if key in self._slots_of_text]
            if rows:
                self.add_vectors([hashes[i] for i in rows], matrix_of(vectors.take(rows)))

    def add_vectors(self, hashes: Sequence[str], vectors: F32) -> None:
        """Add vectors of the model in use, float32 (len(hashes), dim).

        `hashes` has the text hash of each vector. Vectors of texts that no memory has are ignored.
        """
        with self._lock:
            if not len(hashes):
                return
            self._vectors.expect(vectors.shape[1])
            unit = unit_rows(np.asarray(vectors, np.float32))
            for i, key in enumerate(hashes):
                for slot in self._slots_of_text.get(key, ()):
                    self._vectors.put(slot, unit[i])

    def has_text(self, text_hash: str) -> bool:
        """Return whether a memory has the text with this hash."""
        return text_hash in self._slots_of_text

    def missing_vectors(self) -> list[str]:
        """Return ids of memories without a vector of the current model.

        The newest come first. Superseded and deprecated memories are left out.
        """
        with self._lock:
            slots = np.flatnonzero(self._mask(MemoryFilter()) & ~self._vectors.present[: len(self._id_at)])
            order = slots[np.lexsort((slots, -self._columns.created[slots]))]
            return [self._id_at[slot] for slot in order]

    def covered(self) -> tuple[int, int]:
        """Return (number of memories with a vector, number of all memories).

        A vector must be one of the current model.

        Superseded and deprecated memories are not counted.
        """
        with self._lock:
            live = self._mask(MemoryFilter())
            return int((live & self._vectors.present[: len(live)]).sum()), int(live.sum())

    def without_vector_in(self, have: Collection[str]) -> dict[str, str]:
        """Map each text hash that is not in `have` to a memory with this text.

        `have` are the hashes of texts that have a vector. A memory is given by its id. Superseded and deprecated memories are left out.
        """
        with self._lock:
            live = self._mask(MemoryFilter())
            slots = {key: next((one for one in its if live[one]), None) for key, its in self._slots_of_text.items() if key not in have}
            return {key: self._id_at[slot] for key, slot in slots.items() if slot is not None}

    def covered_by(self, have: Collection[str]) -> tuple[int, int]:
        """Return (number of memories whose text hash is in `have`, number of all).

        Superseded and deprecated memories are not counted.
        """
        with self._lock:
            live = self._mask(MemoryFilter())
            known = sum(bool(live[slot]) for key, its in self._slots_of_text.items() if key in have for slot in its)
            return known, int(live.sum())

    def cool(self) -> None:
        """Release the caches of the index, which are built again when needed."""
        with self._lock:
            self._words.cool()
