"""Write accepted changes of memories to the graph, in the background.

The changes are written in order. A write is acknowledged when it is in the journal and on disk. Before the acknowledgement, the copy that
readers use is updated, so readers see the write at once. The graph is updated a few milliseconds later. If the process ends before that,
the journal is replayed when the index is opened.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from graphmem.errors import GraphMemError, StoreClosedError
from graphmem.knowledge import KnowledgeDelta

if TYPE_CHECKING:
    import pyarrow as pa

    from graphmem.store.base import GraphWrites

QUEUE: Final = 256  # writes that the graph may lag behind; then a writer waits

_log = logging.getLogger(__name__)


class Vectors(NamedTuple):
    """Vectors to store together with a write of memories.

    Each row of the table `rows` has the hash of a memory's text (`text_hash`) and a vector. `model` names the embedding model.
    """

    model: str
    rows: pa.Table  # (text_hash, vector)


_Job: TypeAlias = "tuple[KnowledgeDelta, Vectors | None, Mapping[str, str]]"


class Committer:
    """One thread that writes accepted changes to the store, oldest first.

    Args:
        store: receives the writes.
        failed: called if a write fails; later writes then wait until `resume` is called.
    """

    def __init__(self, store: GraphWrites, failed: Callable[[BaseException], None]) -> None:
        self._store = store
        self._failed = failed
        self._jobs: queue.Queue[_Job | None] = queue.Queue(QUEUE)
        self._thread: threading.Thread | None = None
        self._stuck = False

    def put(self, delta: KnowledgeDelta, vectors: Vectors | None, meta: Mapping[str, str]) -> None:
        """Queue a write of memories for the graph.

        `delta` has the changes, `vectors` the vectors of the texts in them, and `meta` has metadata to store in the graph together with the
        changes. If the system cannot start a thread, the write runs at once in the caller's thread.
        """
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="graphmem-memories", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                self._do((delta, vectors, meta))
                return
            self._thread = thread
        self._jobs.put((delta, vectors, meta))

    def flush(self) -> None:
        """Wait until each queued write is in the graph or has failed."""
        self._jobs.join()

    def resume(self) -> None:
        """Continue writing to the graph after a write failed.

        Call this once graph and journal agree again.
        """
        self._stuck = False

    def close(self) -> None:
        """Write all queued changes, then end the thread. Idempotent."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                if job is None:
                    return
                self._do(job)
            finally:
                self._jobs.task_done()

    def _do(self, job: _Job) -> None:
        """Write one queued change to the graph; report a failure.

        `job` has the arguments of `put`. After a failure the change is not lost, because the journal has it.
        """
        try:
            if not self._stuck:  # writes after a failed one are in the journal and are replayed with it
                self._commit(*job)
        except StoreClosedError as error:
            self._stuck = True
            self._failed(error)
        except GraphMemError as error:  # for example a full disk: the message is sufficient without a traceback
            self._stuck = True
            _log.error("an accepted memory is not in the graph yet; it is in the journal: %s", error)
            self._failed(error)
        except Exception as error:  # noqa: BLE001 - nobody is to be told that it was refused: the notes and the log say what happened
            self._stuck = True
            _log.exception("an accepted memory could not be written to the graph; it is in the journal")
            self._failed(error)

    def _commit(self, delta: KnowledgeDelta, vectors: Vectors | None, meta: Mapping[str, str]) -> None:
        if delta.is_empty:
            self._store.set_meta(meta)
            return
        alone = vectors is not None and {row.embedding_model for row in delta.memories if row.embedding_model} != {vectors.model}
        self._store.apply_knowledge(delta, vectors.rows if vectors is not None and not alone else None, meta)
        if vectors is not None and alone:  # next to memories of another model; without the vectors, a crash costs only derived data
            self._store.put_vectors(vectors.model, vectors.rows.schema.field("vector").type.list_size, vectors.rows)
