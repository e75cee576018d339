"""Vectors in the background: which model, what is missing, and how far it is.

The model is chosen at once and loaded on first use: by the filler, or by the first query that finds vectors. When another model was
used before, its vectors answer until the new ones are complete (`model_switch`), and are deleted then.
Filling stops while an index run works, because both want the processor, and goes on after it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Final

from graphmem.embedding.choose import choose, for_model
from graphmem.embedding.fill import FillResult, fill
from graphmem.model import IndexProgress
from graphmem.runtime.faults import unraised
from graphmem.runtime.heap import give_back
from graphmem.runtime.limits import kind_of
from graphmem.vectors.model_switch import ModelSwitch, former_models

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.embedding.base import Embedder
    from graphmem.memory.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

_NAMED: Final = "vector_model."  # with a model id: store meta that says which folder or cached name the model has

_log = logging.getLogger(__name__)


class VectorFiller:
    """One project's vectors. Thread-safe; at most one filling at a time.

    Args:
        store: keeps the vectors.
        projections: search them.
        settings: which embedder.
        publish: told how far filling is.
        models: where prepared models are kept; without it, none is used.
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
        self._embedder, self._reason = choose(settings.embedder, settings.model, folder=models)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted = False  # somebody asked for background filling: go on after each index run
        self._failure = ""
        self._may_pass = False  # the failure: the system had too little of something
        self._choosing = threading.RLock()  # of the fields below
        self._opened = False
        self._book: MemoryRepository | None = None
        self._switch: ModelSwitch | None = None  # from the model that answers to the one that is wanted
        self._former: Embedder | None = None  # who answered before: searches that began then may still ask it
        self._unused: list[str] = []  # models whose vectors go when those of the wanted one are complete

    def follow(self, book: MemoryRepository) -> None:
        """Fill the vectors of these memories too when the model is switched."""
        self._book = book

    def look_again(self) -> None:
        """The database was exchanged: find out again whose vectors answer."""
        with self._choosing:
            self._opened, self._switch, self._unused = False, None, []

    def query_embedder(self, model_id: str = "") -> Embedder | None:
        """The model for queries, with the vectors that are stored made searchable; None when there is none.

        Args:
            model_id: of the vectors the caller holds; "" for the model that answers now.
        """
        with self._choosing:
            self._open()
            serving = self._switch.old if self._switch is not None else self._embedder
            known = (serving, self._embedder, self._former)
            return next((one for one in known if one is not None and one.model_id == model_id), serving)

    @property
    def is_loaded(self) -> bool:
        """True when the next query would not have to load the model."""
        switch = self._switch
        return _is_loaded(switch.old if switch is not None else self._embedder)

    def unload(self) -> str:
        """Let go of the model's memory, if it is loaded and nothing is being filled; it is loaded again when it is needed.

        Returns:
            The model's id; "" when there was nothing to let go of.
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
        """Chunks that have a vector of the model that answers."""
        if self._choosing.acquire(blocking=False):  # a look at the state does not wait for vectors that are being read
            try:
                self._open()
            finally:
                self._choosing.release()
        return self._projections.covered()[0]

    def chunks(self) -> int:
        """Chunks there are."""
        return self._projections.covered()[1]

    def note(self) -> str:
        """One sentence when vectors will not come."""
        return self._failure or ("" if self._embedder is not None else self._reason)

    def switching(self) -> str:
        """One sentence while the vectors of another model answer than the one that is wanted."""
        switch = self._switch
        return switch.told() if switch is not None else ""

    def status(self) -> dict[str, Any]:
        """For `doctor`."""
        covered, total = self._projections.covered()
        model = self._embedder.model_id if self._embedder is not None else ""
        switch = self._switch
        found = {"model": model, "reason": self._reason, "chunks": total, "vectors": covered, "failure": self._failure}
        if switch is None:
            return found
        done, wanted = switch.progress()
        return {**found, "serving": switch.old.model_id, "switch": {"done": done, "of": wanted}}

    def start(self) -> None:
        """Fill in the background from now on, also after later index runs."""
        with self._lock:
            self._wanted = True
        self.resume()

    def resume(self) -> None:
        """Go on filling, if background filling is wanted and not under way."""
        with self._lock:
            if not self._wanted or self._embedder is None or (self._thread is not None and self._thread.is_alive()):
                return
            self._stopping.clear()
            self._thread = threading.Thread(target=self._quietly, name="graphmem-vectors", daemon=True)
            self._thread.start()

    def try_again(self) -> bool:
        """Go on filling after a failure that may have passed, such as a full disk; whether there was one."""
        if not self._may_pass:
            return False
        self._may_pass = False
        self.resume()
        return True

    def pause(self) -> None:
        """Stop after the batch in hand, which is stored; returns when it has stopped."""
        self._stopping.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def run(self) -> FillResult:
        """Fill now, in this thread, and return when every chunk has its vector.

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """
        self.pause()
        self._stopping.clear()
        return self._fill()

    def _quietly(self) -> None:
        """The background thread has nobody to raise to: the state and the log say what happened."""
        try:
            self._fill()
        except Exception as error:  # noqa: BLE001 - see above
            self._failure = f"vectors stopped: {unraised(error, 'filling vectors')}"
            self._may_pass = bool(kind_of(error))
            self._publish(IndexProgress("failed", 0, 0, self._failure))

    def _open(self) -> None:
        """Find out whose vectors answer, and make them searchable; the caller holds `_choosing`."""
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
            old = for_model(most, named, folder=self._models)
            if old is not None:
                serving, self._switch = old, ModelSwitch(self._store, self._projections, book, old, wanted)
            else:
                self._projections.no_vectors = f"the vectors are of {most}, which cannot be loaded, and {wanted.model_id} has none yet"
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
            stopped=self._stopping.is_set,
        )
        self._forget_unused()
        return result

    def _finish(self, switch: ModelSwitch) -> None:
        """The new model answers from here on, for code and memories at once; what the old one made goes."""
        book = switch.book
        with book.writing(), self._choosing:  # no memory is written in between
            self._projections.use_model(switch.new.model_id, switch.new.dim)
            self._former, self._switch = switch.old, None
        book.adopt_model(switch.new.model_id)
        book.embed_soon()  # of what was written while the last vectors were made
        _unloaded(switch.old)
        self._forget_unused()

    def _forget_unused(self) -> None:
        """Delete the vectors of models before, when the wanted one has all of its own."""
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
    """Let go of a model's memory; whether there was any."""
    put_away = getattr(embedder, "unload", None)
    if put_away is None or not _is_loaded(embedder):
        return False
    put_away()
    return True
