"""Vectors in the background: which model, what is missing, and how far it is.

The model is chosen at once and loaded on first use: by the filler, or by the first query that finds vectors.
Filling stops while an index run works, because both want the processor, and goes on after it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from graphmem._heap import give_back
from graphmem.embedding.choose import choose
from graphmem.embedding.fill import FillResult, fill
from graphmem.errors import GraphMemError
from graphmem.model import IndexProgress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.embedding.base import Embedder
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

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
        self._embedder, self._reason = choose(settings.embedder, settings.model, folder=models)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted = False  # somebody asked for background filling: go on after each index run
        self._failure = ""
        self._opened = False

    def query_embedder(self) -> Embedder | None:
        """The model for queries, with the vectors that are stored made searchable; None when there is none."""
        self._open()
        return self._embedder

    @property
    def is_loaded(self) -> bool:
        """True when the next query would not have to load the model."""
        return self._embedder is None or getattr(self._embedder, "is_loaded", True)

    def unload(self) -> str:
        """Let go of the model's memory, if it is loaded and nothing is being filled; it is loaded again when it is needed.

        Returns:
            The model's id; "" when there was nothing to let go of.
        """
        embedder = self._embedder
        filling = self._thread is not None and self._thread.is_alive()
        put_away = getattr(embedder, "unload", None)
        if embedder is None or filling or put_away is None or not self.is_loaded:
            return ""
        put_away()
        give_back()
        return embedder.model_id

    def filled(self) -> int:
        """Chunks that have a vector of the current model."""
        self._open()
        return self._projections.covered()[0]

    def chunks(self) -> int:
        """Chunks there are."""
        return self._projections.covered()[1]

    def note(self) -> str:
        """One sentence when vectors will not come."""
        return self._failure or ("" if self._embedder is not None else self._reason)

    def status(self) -> dict[str, Any]:
        """For `doctor`."""
        covered, total = self._projections.covered()
        model = self._embedder.model_id if self._embedder is not None else ""
        return {"model": model, "reason": self._reason, "chunks": total, "vectors": covered, "failure": self._failure}

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
        except GraphMemError as error:
            self._failure = f"vectors stopped: {error}"
            _log.exception("vectors stopped")
            self._publish(IndexProgress("failed", 0, 0, self._failure))

    def _open(self) -> None:
        """Make the vectors that are stored searchable. Needs the dimension, which the store knows without the model."""
        if self._opened or self._embedder is None or self._projections.graph_if_ready() is None:
            return
        self._opened = True
        table = self._store.vectors(self._embedder.model_id)
        if table.num_rows:
            self._projections.use_model(self._embedder.model_id, table.schema.field("vector").type.list_size)

    def _fill(self) -> FillResult:
        embedder = self._embedder
        if embedder is None:
            return FillResult(0, 0, stopped=False)
        self._projections.wait()
        self._projections.use_model(embedder.model_id, embedder.dim)
        self._opened = True
        self._failure = ""

        def tell(done: int, wanted: int) -> None:
            self._publish(IndexProgress("embed", done, wanted, embedder.model_id))

        return fill(
            self._store,
            embedder,
            self._projections.fill_order(),
            self._projections.vector_hashes(),
            on_vectors=self._projections.add_vectors,
            on_progress=tell,
            stopped=self._stopping.is_set,
        )
