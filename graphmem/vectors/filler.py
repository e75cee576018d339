"""Compute missing vectors in a background thread.

The embedding model is chosen when the object is created. The model is loaded when it is first needed, to compute missing vectors or for a
query. After a change of the model, searches use the vectors of the former model until all new vectors exist (`model_switch`). Then the
former model's vectors are deleted. The computation pauses during an index run, because both need the processor.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

from graphmem.embedding.choose import Server, choose, for_model
from graphmem.embedding.fill import FillResult, Pace, fill
from graphmem.embedding.idle import IdleProcessors
from graphmem.memory.repository.model_adoption import adopt_model
from graphmem.model import IndexProgress
from graphmem.runtime.process.faults import unraised
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.process.limits import kind_of
from graphmem.runtime.process.processors import processors
from graphmem.vectors.model_switch import ModelSwitch, former_models

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.embedding.base import Embedder
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

_NAMED: Final = "vector_model."  # with a model id: store meta that says which folder or cached name the model has

ANSWER_S: Final = 0.1  # after a question began, in which vectors step back
PATIENCE_S: Final = 0.5  # the computation of a vector waits at most this long for searches
STEP_S: Final = 0.01

_log = logging.getLogger(__name__)


class Progress(TypedDict):
    """Number of texts that have a vector of the new embedding model."""

    done: int
    of: int


class VectorStatus(TypedDict):
    """State of the vectors, for `graphmem doctor`."""

    model: str  # id of the embedding model; "" without one
    reason: str  # for the choice of this model, or of none
    chunks: int  # pieces of files that get a vector
    vectors: int  # those that have one
    failure: str
    serving: NotRequired[str]  # the former model, which answers until a switch to `model` is complete
    switch: NotRequired[Progress]


class VectorFiller:
    """Computes the missing vectors of one project. Thread-safe.

    A *fill* is a run that computes all missing vectors. Only one fill runs at a time.

    Args:
        store: stores the vectors.
        projections: copies of the graph in memory, which list the chunks and search the vectors.
        settings: determine the embedding model.
        publish: receives reports of the progress.
        models: folder of prepared models; None to use none.
    """

    def __init__(
        self,
        store: GraphStore,
        projections: Projections,
        settings: Settings,
        publish: Callable[[IndexProgress], None],
        models: Path | None = None,
    ) -> None:
        self._store = store
        self._projections = projections
        self._publish = publish
        self._named, self._models = settings.model, models
        self._server = Server(
            settings.embedder_url,
            settings.embedder_model,
            settings.embedder_key,
            settings.embedder_prefix,
            float(settings.embedder_seconds),
        )
        self._embedder, self._reason = choose(settings.embedder, settings.model, folder=models, server=self._server)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._wanted = False  # background filling was started: resume after each index run
        self._failure = ""
        self._may_pass = False  # the failure: the system had too little of something
        self._asked = -ANSWER_S  # when the last question began
        self._most_threads = settings.workers or processors()
        self._choosing = threading.RLock()  # of the fields below
        self._opened = False
        self._book: MemoryRepository | None = None
        self._switch: ModelSwitch | None = None  # from the model that answers to the one that is wanted
        self._former: Embedder | None = None  # the former model: searches that began with it may still use it
        self._unused: list[str] = []  # models whose vectors go when those of the wanted one are complete

    def follow(self, book: MemoryRepository) -> None:
        """Set the memories whose vectors are computed when the model changes.

        Args:
            book: the repository of the memories.
        """
        self._book = book

    def look_again(self) -> None:
        """Choose the embedding model again at the next query.

        Call this after another database, with other vectors, has replaced the one in use.
        """
        with self._choosing:
            self._opened, self._switch, self._unused = False, None, []

    def query_embedder(self, model_id: str = "") -> Embedder | None:
        """Return the embedding model for queries; None if there is none.

        Args:
            model_id: id of the model with which the caller's stored vectors were computed. If it is "" or unknown here, the model in use
                for queries is returned.
        """
        self._asked = time.monotonic()
        with self._choosing:
            self._open()
            serving = self._switch.old if self._switch is not None else self._embedder
            known = (serving, self._embedder, self._former)
            return next((one for one in known if one is not None and one.model_id == model_id), serving)

    @property
    def is_loaded(self) -> bool:
        """Whether the embedding model for the next query is already loaded."""
        switch = self._switch
        return _is_loaded(switch.old if switch is not None else self._embedder)

    def unload(self) -> str:
        """Unload the model unless vectors are being computed with it.

        The next use loads the model again.

        Returns:
            The model's id; "" if no model was loaded.
        """
        filling = self._thread is not None and self._thread.is_alive()
        switch = self._switch
        if filling:
            return ""
        loaded = (switch.old if switch is not None else None, self._embedder, self._former)
        gone = [one.model_id for one in loaded if one is not None and _unloaded(one)]
        if gone:
            give_back()
        return ", ".join(gone)

    def filled(self) -> int:
        """Return the number of chunks (pieces of files) that have a vector.

        Only vectors of the model used for queries are counted.
        """
        recorded = self._recorded()
        if recorded is not None:
            return recorded
        if self._choosing.acquire(blocking=False):  # reading the state does not wait for vectors that are being loaded
            try:
                self._open()
            finally:
                self._choosing.release()
        return self._projections.covered()[0]

    def chunks(self) -> int:
        """Return the number of chunks (pieces of files), with or without a vector."""
        return self._projections.covered()[1]

    def covered(self) -> tuple[int, int]:
        """Return (number of chunks with a vector, number of all chunks).

        A chunk is a piece of a file. Vectors that are neither recorded as complete nor loaded yet do not count.
        """
        recorded = self._recorded()
        loaded, total = self._projections.covered()
        return loaded if recorded is None else recorded, total

    def _recorded(self) -> int | None:
        """Return the recorded number of chunks with a vector of the wanted model.

        Reading the vectors of 12,000 chunks to count them takes 0.3 s. The result is None if they are loaded, or if nothing is recorded.
        """
        local, wanted = self._store.local, self._embedder
        return None if self._opened or local is None or wanted is None else local.covered_chunks(wanted.model_id)

    def record(self) -> None:
        """Record how many chunks have a vector, for the next process.

        Call it when the database is about to be closed. Nothing is recorded while vectors of a former model exist, because they may answer.
        """
        local, found = self._store.local, self._projections.covered_in_words()
        if local is not None and found is not None and not self._unused:
            local.record_covered(*found)

    def note(self) -> str:
        """Return a sentence on why vectors cannot be computed; "" if they can."""
        return self._failure or ("" if self._embedder is not None else self._reason)

    def switching(self) -> str:
        """Return one sentence while queries use the former model; else ""."""
        switch = self._switch
        return switch.progress_note() if switch is not None else ""

    def status(self) -> VectorStatus:
        """Return the state of the vectors, for `doctor`."""
        covered, total = self.covered()
        model = self._embedder.model_id if self._embedder is not None else ""
        switch = self._switch
        found: VectorStatus = {"model": model, "reason": self._reason, "chunks": total, "vectors": covered, "failure": self._failure}
        if switch is None:
            return found
        done, wanted = switch.progress()
        return {**found, "serving": switch.old.model_id, "switch": {"done": done, "of": wanted}}

    def start(self) -> None:
        """Compute vectors in the background, now and after later index runs."""
        with self._lock:
            self._wanted = True
        self.resume()

    @property
    def is_started(self) -> bool:
        """Whether `start` was called, so that a fill follows each index run.

        A fill is a run that computes all missing vectors.
        """
        return self._wanted

    def resume(self) -> None:
        """Start the background computation again if it was paused or failed.

        Nothing happens if the computation runs, if `start` was never called, or after `close`.
        """
        with self._lock:
            if self._closed or not self._wanted or self._embedder is None or (self._thread is not None and self._thread.is_alive()):
                return
            self._stopping.clear()
            thread = threading.Thread(target=self._quietly, name="graphmem-vectors", daemon=True)
            thread.start()
            self._thread = thread

    def try_again(self) -> bool:
        """Retry after a transient failure, such as a full disk.

        Returns:
            Whether there was such a failure.
        """
        if not self._may_pass:
            return False
        self._may_pass = False
        self.resume()
        return True

    def pause(self) -> None:
        """Stop after the current batch; return when the batch is stored."""
        self._stopping.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """Stop after the current batch; later calls of `resume` do nothing."""
        with self._lock:
            self._closed = True
        self.pause()

    def run(self) -> FillResult:
        """Compute missing vectors in this thread until none is missing.

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """
        self.pause()
        self._stopping.clear()
        return self._fill()

    def _quietly(self) -> None:
        """Compute vectors in the background thread; report errors, do not raise."""
        try:
            self._fill()
        except Exception as error:  # noqa: BLE001 - see above
            self._failure = f"vectors stopped: {unraised(error, 'filling vectors')}"
            self._may_pass = bool(kind_of(error))
            self._publish(IndexProgress("failed", 0, 0, self._failure))

    def _open(self) -> None:
        """Choose the embedding model for queries: the current or a former one.

        A former model is chosen if more vectors of it are stored than of the current model. Searches use the former model until the switch
        to the current model is complete. The choice is made once; later calls do nothing. The caller holds the lock `_choosing`.
        """
        wanted, book = self._embedder, self._book
        if self._opened or wanted is None or book is None or self._projections.graph_if_ready() is None:
            return
        self._opened = True
        stored = self._store.vector_models()
        former = former_models(stored, wanted.model_id)
        self._unused = sorted(former)
        serving = wanted
        most = max(former, key=lambda one: (former[one], one), default="")
        if most and former[most] > stored.get(wanted.model_id, 0):
            named = self._store.meta().get(_NAMED + most, "")
            old = for_model(most, named, folder=self._models, server=self._server)
            if old is not None:
                serving, self._switch = old, ModelSwitch(self._store, self._projections, book, old, wanted)
            else:
                self._projections.no_vectors = f"the vectors are of {most}, which cannot be loaded, and {wanted.model_id} has none yet"
        if serving.model_id in stored:
            self._projections.use_model(serving.model_id)

    def _fill(self) -> FillResult:
        embedder = self._embedder
        if embedder is None:
            return FillResult(0, 0, stopped=False)
        self._projections.wait()
        self._projections.graph()  # or the reason why there is none
        with self._choosing:
            self._open()
            switch = self._switch
        self._failure = ""
        if self._named and self._store.meta().get(_NAMED + embedder.model_id) != self._named:
            self._store.set_meta({_NAMED + embedder.model_id: self._named})

        def tell(done: int, wanted: int) -> None:
            self._publish(IndexProgress("embed", done, wanted, embedder.model_id))

        if switch is not None:
            result = switch.fill(self._stopping.is_set, tell)
            if not result.stopped and switch.is_complete():
                self._finish(switch)
            return result
        self._projections.use_model(embedder.model_id, embedder.dim)
        result = fill(
            self._store,
            embedder,
            self._projections.fill_order(),
            self._projections.vector_hashes(),
            on_vectors=self._projections.add_vectors,
            on_progress=tell,
            pace=Pace(self._stopping.is_set, IdleProcessors(self._most_threads).threads, self._step_back),
        )
        self._forget_unused()
        return result

    def _step_back(self) -> None:
        """Wait briefly if a search arrived recently, to leave it the processor."""
        end = time.monotonic() + PATIENCE_S
        while (now := time.monotonic()) < min(end, self._asked + ANSWER_S) and not self._stopping.is_set():
            time.sleep(min(STEP_S, end - now))

    def _finish(self, switch: ModelSwitch) -> None:
        """Switch searches of code and memories to the new model of `switch`.

        The vectors of the old model are then deleted.
        """
        book = switch.book
        with book.writing(), self._choosing:  # no memory is written in between
            self._projections.use_model(switch.new.model_id, switch.new.dim)
            self._former, self._switch = switch.old, None
        adopt_model(book, switch.new.model_id)
        book.embed_soon()  # of what was written while the last vectors were made
        _unloaded(switch.old)
        self._forget_unused()

    def _forget_unused(self) -> None:
        """Delete vectors of former models if the current model has all vectors."""
        covered, chunks = self._projections.covered()
        embedded, memories = self._book.index().covered() if self._book is not None else (0, 0)
        if not self._unused or (covered, embedded) != (chunks, memories) or self._projections.snapshot().words is None:
            return
        if self._book is not None:
            self._book.flush()
        wanted = self._embedder.model_id if self._embedder is not None else ""
        for model in self._unused:
            _log.info("%d vectors of %s were deleted; %s has all of its own", self._store.forget_vectors(model), model, wanted)
        self._unused = []


def _is_loaded(embedder: Embedder | None) -> bool:
    return embedder is None or bool(getattr(embedder, "is_loaded", True))


def _unloaded(embedder: Embedder) -> bool:
    put_away = getattr(embedder, "unload", None)
    if put_away is None or not _is_loaded(embedder):
        return False
    put_away()
    return True
