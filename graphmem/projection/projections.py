"""In-memory copies of one database for fast reads: load, update, rebuild.

The copies, called projections, are the code graph, the word index, the vectors and the memories. A reader gets them as an immutable
`snapshot()`, which does not change while newer ones are made. The graph is ready first (after a fraction of a second), then the words, then
the vectors. If words, vectors or memories are not ready, the snapshot has None in their place, and the reason. The database is the source
of truth: a copy that is missing, damaged or outdated is rebuilt from it. After an edit, readers who need only the graph get the new graph
before the edit is committed. All other copies are updated after the commit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence
from typing import Any, Final

import pyarrow as pa

from graphmem.errors import GraphMemError
from graphmem.knowledge import KnowledgeDelta
from graphmem.model import GraphDelta
from graphmem.projection.chunk_hashes import embedding_order
from graphmem.projection.failures import refusal_named, unread
from graphmem.projection.graph.view import GraphView
from graphmem.projection.loading import Loading
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.snapshot import Snapshot
from graphmem.projection.vectors import F32, VectorIndex
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.projection.words.index import WordIndex
from graphmem.projection.words.text import forget_expansions
from graphmem.runtime.process.heap import give_back

COMMIT_S: Final = 5.0  # seconds to wait for the commit of a graph that readers see already


class Projections(Loading):
    """In-memory copies of a database: code graph, words, vectors, memories.

    Thread-safe; the one writer calls `refresh` after each commit.

    Args:
        store: the open database.
        data_dir: directory in which the copies are saved.
        made: the code graph and the word index of the database's current state, if the caller has just built them. The file of the word
            index must be in `data_dir`. If `made` is None, saved copies are opened, and missing ones are built.
    """

    # ---- reading

    def graph(self) -> GraphView:
        """Return the code graph after the last change; wait until it is loaded.

        Raises:
            GraphMemError: the graph could not be built.
        """
        self._graph_settled.wait()
        if self._graph is None:
            self._try_again(self._load)
        if self._graph is None:
            raise unread("the graph", self._failure, self._dir) from self._failure
        graph = self.graph_if_ready()
        assert graph is not None  # noqa: S101 - it never goes away again
        return graph

    def graph_if_ready(self) -> GraphView | None:
        """Return the code graph if it is loaded, else None; never wait."""
        ahead = self._ahead  # read first: `refresh` sets `_graph` before it clears this
        return self._graph if ahead is None else ahead

    def await_commit(self) -> bool:
        """Wait until the graph that `publish` showed early is committed.

        The call also waits until the word index matches this graph. The result is False if that takes longer than `COMMIT_S` seconds.
        """
        return self._is_level.wait(COMMIT_S)

    def snapshot(self, *, newest: bool = False) -> Snapshot:
        """Return the in-memory copies that are ready, all of the same state.

        The call waits for the graph and for opening a saved word index. It does not wait if the word index must be built.

        Args:
            newest: if a graph is published but not committed yet, wait at most `COMMIT_S` seconds for its commit and its words. If the time
                passes, or if `newest` is false, the result has the last committed graph.
        """
        self.graph()
        if newest:
            self.await_commit()
        self._words_opened.wait()
        if self._memories.is_away:
            self.memories()
        if self._words is None and self._failure is not None:
            self._try_again(self._load, wait=False)
        with self._state:
            assert self._graph is not None  # noqa: S101 - graph() has returned, and it never goes away again
            memories = self._memories.index
            return Snapshot(
                self._graph.generation,
                self._graph,
                self._words,
                "" if self._words is not None else self._words_note,
                self._vectors,
                "" if self._vectors is not None and len(self._vectors) else self.no_vectors,
                (self._hashes.covered, self._hashes.total),
                memories,
                "" if memories is not None else self._memories.note,
                self._damaged,
            )

    def memories(self) -> MemoryIndex:
        """Return the index of memories, which includes the last write.

        The call waits until the index is loaded.

        Raises:
            GraphMemError: the memories could not be read.
        """
        self._memories.settled.wait()
        if self._memories.index is None and self._memories.failure is not None:
            self._try_again(self._memories.load)
        return self._memories.current()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until graph, words and memories are ready or have failed.

        Return False if `timeout_s` passes first.
        """
        begun = time.monotonic()
        if not self._settled.wait(timeout_s):
            return False
        return self._memories.settled.wait(None if timeout_s is None else max(0.0, timeout_s - (time.monotonic() - begun)))

    def note(self) -> str:
        """Return a sentence if the graph or the word index is missing, else "".

        The call waits until the saved word index is opened, because an index that is about to be opened must not count as missing.
        """
        if self._graph is None:
            return f"the graph could not be read: {self._failure}" if self._failure else "the graph is being read"
        self._words_opened.wait()
        return self._words_note if self._words is None else ""

    def status(self) -> dict[str, Any]:
        """Return the state and size of each in-memory copy, by name.

        The command `doctor` shows the result.
        """
        with self._state:
            graph, words, vectors, memories = self._graph, self._words, self._vectors, self._memories.index
            return {
                "graph": {"generation": graph.generation, "bytes": graph.nbytes, **graph.counts} if graph else {"note": self.note()},
                "words": {"generation": words.generation, "file": words.path.name} if words else {"note": self._words_note},
                "vectors": {"model": vectors.model_id, "dim": vectors.dim, "rows": len(vectors), "chunks_covered": self._hashes.covered}
                if vectors
                else {"note": "no vectors yet"},
                "memories": {"generation": memories.generation, "rows": len(memories), "with_vector": memories.covered()[0]}
                if memories is not None
                else {"note": self._memories.note},
            }

    # ---- changing

    def publish(self, generation: int, delta: GraphDelta) -> bool:
        """Let readers of the code graph see a change before its commit.

        Call `refresh` after the commit, or `withdraw` if the commit fails. Until then, only the methods `graph` and `graph_if_ready` return
        the new graph. Snapshots and files keep the last committed graph.

        Args:
            generation: the database's counter of changes, as it will be after the commit.
            delta: the change of the code.

        Returns:
            Whether the change is published. The result is False while projections are loaded or rebuilt.
        """
        if not self._settled.is_set() or not self._writing.acquire(blocking=False):
            return False  # a rebuild reads the store, which may wait for the commit
        try:
            graph, words = self._graph, self._words
            if graph is None or words is None or words.generation != graph.generation:
                return False
            ahead = graph.patched(delta, generation)
            with self._state:
                self._ahead = ahead
                self._is_level.clear()
            return True
        finally:
            self._writing.release()

    def withdraw(self) -> None:
        """Drop the graph that was published before its commit, if there is one.

        Readers get the last committed graph again.
        """
        with self._state:
            self._ahead = None
        self._is_level.set()

    def refresh(self, generation: int, delta: GraphDelta | None, *, again: bool = False) -> None:
        """Update the code graph and the word index after a commit.

        The change `delta` is applied. Without it, or if changes before it are missing, everything is rebuilt. When the method returns,
        readers get the new state.

        Args:
            generation: number of the database's last change, which is this commit.
            delta: the commit's change since the previous generation; None for a whole new graph.
            again: whether the graph was created again, so that its generations count from 1. Then it is rebuilt even if readers have a
                graph of this generation.

        Raises:
            DiskFullError: the disk is full; readers keep the old snapshot, and the next index run tries again.
        """
        self._settled.wait()
        with self._writing, refusal_named(self._dir):
            graph, words, ahead = self._graph, self._words, self._ahead
            if not again and graph is not None and words is not None and graph.generation == words.generation == generation:
                self.withdraw()
                return
            is_ahead = ahead is not None and ahead.generation == generation
            fits = delta is not None and graph is not None and (is_ahead or graph.generation == generation - 1)
            if not fits or graph is None or delta is None or words is None or words.generation != graph.generation:
                self._rebuild()
                self.withdraw()
                return
            changed = {row.id for row in delta.chunks}.union(delta.removed_chunks)
            try:
                before = [entry.text_hash for entry in words.entries(changed, texts=False).values()]
                new_words = words.patched(delta, generation)
            except DamagedWordsError:
                self._rebuild()
                self.withdraw()
                return
            new_graph = ahead if ahead is not None and is_ahead else graph.patched(delta, generation)
            with self._state:
                self._graph, self._words, self._ahead = new_graph, new_words, None
                self._hashes.exchange(before, [row.text_hash for row in delta.chunks], self._vectors)
                self._unsaved = True
            self._is_level.set()
            self._jobs.put(new_graph.warm)  # the worker then saves the copies after an idle time

    def refresh_knowledge(
        self, generation: int, delta: KnowledgeDelta | None, vectors: pa.Table | None = None, *, again: bool = False
    ) -> None:
        """Update the index of memories after a write of memories.

        The change `delta` is applied. Without it, or if changes before it are missing, everything is read again. When the method returns,
        readers get the change.

        Args:
            generation: generation (number of the change) of the memories after the write.
            delta: the change since the previous generation; None to read everything again.
            vectors: (text_hash, vector) of the write; they are used only if they are from the current model.
            again: whether to read everything even if readers have this generation; see `refresh`.
        """
        self.memories()
        self._memories.refresh(generation, delta, vectors, again=again)

    def use_model(self, model_id: str, dim: int | None = None) -> bool:
        """Use the vectors of a model: stored vectors, and vectors added later.

        Args:
            model_id: id of the embedder's model.
            dim: dimension of the vectors. If it is None and the database has no vector of the model, nothing happens.

        Returns:
            Whether the model is in use afterwards.
        """
        with self._using:  # vectors that arrive while another thread switches to the model would be lost
            return self._use_model(model_id, dim)

    def _use_model(self, model_id: str, dim: int | None) -> bool:
        with self._state:
            if self._vectors is not None and self._vectors.model_id == model_id and dim in (None, self._vectors.dim):
                return True
        self.wait()
        stored = self._store.vectors(model_id)
        if not stored.num_rows and dim is None:
            return False
        memories = self._memories.index
        if memories is not None:
            memories.use_model(model_id, stored)
        vectors = VectorIndex(model_id, dim or stored.schema.field("vector").type.list_size)
        if stored.num_rows:
            vectors.add_table(stored, lambda key: memories is None or not memories.has_text(key))
            del stored
            give_back()
        with self._state:
            self._vectors = vectors
            self._hashes.count(vectors)
        return True

    def add_vectors(self, hashes: Sequence[str], vectors: F32) -> None:
        """Make stored vectors searchable; call `use_model` first.

        `hashes` has the text hash of each row of `vectors`.
        """
        with self._state:
            if self._vectors is None:
                raise GraphMemError(
                    "vectors were added before `use_model` was called with their embedding model; report this defect "
                    "to the authors of graphmem"
                )
            fresh = [key for key in dict.fromkeys(hashes) if key not in self._vectors]
            self._vectors.add(hashes, vectors)
            self._hashes.covered += sum(self._hashes.uses.get(key, 0) for key in fresh)

    def covered(self) -> tuple[int, int]:
        """Return (number of chunks with a vector, number of all chunks).

        A chunk is a piece of a file.

        Both numbers are 0 until the code graph is ready.
        """
        if self._graph_settled.is_set():
            self._words_opened.wait()
        return self._hashes.covered, self._hashes.total

    def covered_in_words(self) -> tuple[int, str, int] | None:
        """Return (generation, embedding model, number of chunks with a vector).

        A chunk is a piece of a file. The result is None if the vectors or the words are not loaded.
        """
        with self._state:
            if self._vectors is None or self._words is None:
                return None
            return self._words.generation, self._vectors.model_id, self._hashes.covered

    def covered_by(self, have: Collection[str]) -> tuple[int, int]:
        """Return (number of chunks whose text hash is in `have`, number of all).

        A chunk is a piece of a file.
        """
        with self._state:
            return sum(count for key, count in self._hashes.uses.items() if key in have), self._hashes.total

    def fill_order(self) -> list[tuple[str, str]]:
        """Return all chunks in the order in which they get vectors.

        Each is (chunk id, text hash). Code comes first, then documents and data, then tests. Tests come last, because most chunks are
        tests, but most searches are about code. Code and tests are each ordered by the incoming edges of the chunk's symbol, most edges
        first. Ties are ordered by id.
        """
        return embedding_order(self.snapshot())

    def vector_hashes(self) -> frozenset[str]:
        """Return hashes of the texts that have a vector of the current model."""
        return frozenset(self._vectors.hashes()) if self._vectors is not None else frozenset()

    def cool(self) -> bool:
        """Release data that can be loaded again, such as the memories.

        The memories are saved first. The next request loads what it needs. The caller must block writes of memories during the call.

        Returns:
            Whether any data was released.
        """
        cooled = self._memories.release()
        graph = self._graph
        cooled |= graph is not None and graph.cool()
        if (words := self._words) is not None:
            words.pieces.clear()
        forget_expansions()
        give_back()
        return cooled

    def close(self) -> None:
        """Save changed data and close the files. Idempotent."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._jobs.put(None)
        self._worker.join()
        self._save()
        self._memories.save()
        if self._words is not None:
            self._words.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    # ---- inside

    def _damaged(self, words: WordIndex, patience_s: float) -> Snapshot:
        """Rebuild a word index that a reader found damaged; return a new snapshot.

        The call waits at most `patience_s` seconds for the new index. If the index is not ready by then, the snapshot has no words.
        """
        with self._state:
            first = self._words is words
            if first:
                self._words, self._renewed = None, threading.Event()
                self._words_note = "the word index was damaged and is being rebuilt"
                self.notes.append(f"{words.path.name} was damaged and was rebuilt from the database")
        renewed = self._renewed

        def rebuild() -> None:
            try:
                words.delete_files()
                with self._writing:
                    self._rebuild()
            finally:
                renewed.set()

        if first:
            self._jobs.put(rebuild)
        renewed.wait(patience_s)
        return self.snapshot()
