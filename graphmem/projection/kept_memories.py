"""Load, update, save and release the in-memory index of memories.

An idle process saves the index and releases it; the next use loads it. If the file is missing or outdated, the index is built from the
database.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa

from graphmem.knowledge import KnowledgeDelta
from graphmem.projection.failures import unread
from graphmem.projection.memories.file import FILE as MEMORIES_FILE
from graphmem.projection.memories.file import load_memories, save_memories
from graphmem.projection.memories.index import MemoryIndex
from graphmem.store.base import GraphReads

JOURNAL_MARK: Final = "memory_journal"
"""Store meta, written by `memory.repository.recovery`: the journal position in the store."""

_log = logging.getLogger(__name__)


class KeptMemories:
    """The in-memory index of memories of an open database, loaded on demand.

    Args:
        store: the open database.
        data_dir: directory of the saved index.
        notes: receives a sentence about a damaged file.
        model_in_use: returns the id of the model whose vectors are in use; None if no model is.

    Attributes:
        index: the index; None before it is loaded and after it is released.
        is_away: whether the index is saved and released, until the next use.
        note: the reason why the index is None.
        failure: the error of the last `load`.
        settled: set when the index is ready, or has failed.
        learning: lock that is held while the index is updated.
    """

    def __init__(self, store: GraphReads, data_dir: Path, notes: list[str], model_in_use: Callable[[], str | None]) -> None:
        self._store = store
        self._dir = data_dir
        self._notes = notes
        self._model_in_use = model_in_use
        self._state = threading.Lock()  # of the fields that change together
        self._saved = ""  # the state of the memories in the file
        self.index: MemoryIndex | None = None
        self.is_away = False
        self.note = "the memories are being read"
        self.failure: Exception | None = None
        self.settled = threading.Event()
        self.learning = threading.RLock()

    def load(self) -> None:
        """Load the saved index of memories, or build it.

        Threads that wait for the index continue then.
        """
        with self.learning:
            self._bring()
        self.settled.set()

    def fail(self, error: Exception) -> None:
        """Record that the memories could not be read; readers get this error."""
        self.failure = error
        self.note = f"the memories could not be read: {error}"

    def current(self) -> MemoryIndex:
        """Return the index of memories, which includes the last write.

        If the index was saved and released, it is loaded first.

        Raises:
            GraphMemError: the memories could not be read.
        """
        index = self.index
        if index is None and self.is_away:
            with self.learning:
                if self.is_away:
                    self._bring()
                index = self.index
        if index is None:
            raise unread("the memories", self.failure, self._dir) from self.failure
        return index

    def refresh(self, generation: int, delta: KnowledgeDelta | None, vectors: pa.Table | None, *, again: bool) -> None:
        """Update the index after a write of memories.

        For the arguments, see `Projections.refresh_knowledge`.
        """
        with self.learning:
            index = self.current()
            if index.generation >= generation and not again:
                return
            if delta is None or index.generation != generation - 1:
                self._read()
                return
            index.patch(delta, vectors, generation)

    def release(self) -> bool:
        """Save the index of memories and free its memory.

        If the index cannot be saved, the index stays, and only its caches are released. Returns whether the index was released.
        """
        with self.learning:
            index = self.index
            if index is None:
                return False
            if self._save(index):
                with self._state:
                    self.index, self.is_away = None, True
                return True
            index.cool()
        return False

    def save(self) -> None:
        """Save the index of memories if it has changed since it was last saved."""
        with self.learning:
            if self.index is not None:
                self._save(self.index)

    def _bring(self) -> None:
        """Load the saved index of memories, or build it from the database.

        The caller must block writes of memories during the call.
        """
        generation, key = self._store.knowledge_generation(), self._key()
        index = load_memories(self._dir / MEMORIES_FILE, generation, key, self._notes) if generation else None
        if index is None:
            self._read()
            return
        self._saved = key
        self._publish(index)

    def _read(self) -> None:
        self._publish(MemoryIndex.from_knowledge(self._store.knowledge()))

    def _publish(self, index: MemoryIndex) -> None:
        """Add the vectors of the model in use to an index, and show it to readers.

        The index is one of memories.
        """
        model_id = self._model_in_use()
        if model_id is not None:
            index.use_model(model_id, self._store.vectors(model_id))
        with self._state:
            self.index, self.is_away, self.failure = index, False, None

    def _key(self) -> str:
        """Return a string that is different after every write of memories.

        The string consists of the number of changes and the position in the journal (the log of all writes of memories). Both come from the
        database.
        """
        return f"{self._store.knowledge_generation()} {self._store.meta().get(JOURNAL_MARK, '')}"

    def _save(self, index: MemoryIndex) -> bool:
        """Save the index; return whether the file has the last write of memories.

        The result is False if the index is empty or outdated, or if the write to the file failed.
        """
        if not len(index) or index.generation != self._store.knowledge_generation():
            return False
        key = self._key()
        if key != self._saved:
            try:
                save_memories(index, self._dir / MEMORIES_FILE, key)
            except OSError as error:
                _log.warning("the memories' projection could not be saved; it will be rebuilt: %s", error)
                return False
            self._saved = key
        return True
