"""Optional cross-encoder, which scores query and text together.

Nothing is downloaded.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphmem.embedding.offline import forbid_downloads
from graphmem.errors import EmbedderError


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder. Loaded on first use. Thread-safe.

    Args:
        model: a folder, or a name in the local model cache.
        threads: number of processor threads that one call may use.
    """

    def __init__(self, model: str, *, threads: int = 1) -> None:
        self._name = model
        self._threads = threads
        self._model: Any = None
        self._lock = threading.Lock()  # of loading, and of the tokenizer

    @property
    def model_id(self) -> str:
        """Name of the model without its folder."""
        return Path(self._name).name

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score from 0 to 1 for each of `texts`, in the order of `texts`.

        A higher score means that the text is more relevant to the query.

        Raises:
            EmbedderError: the model cannot be loaded, or does not give one number for each text.
        """
        if not texts:
            return []
        with self._lock:
            if self._model is None:
                self._model = self._load()
            raw = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        values = [float(value) for value in raw.reshape(-1)]
        if len(values) != len(texts) or any(value != value for value in values):
            raise EmbedderError(
                f"the reranking model {self.model_id} did not return one score for each text; set `reranker` to another model",
                model=self.model_id,
            )
        return values

    def _load(self) -> object:
        forbid_downloads()
        try:
            import torch
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise EmbedderError(
                "sentence-transformers is not installed; run `pip install graphmem[models]`, or leave the setting `reranker` empty",
                model=self.model_id,
            ) from error
        torch.set_num_threads(self._threads)
        try:
            return CrossEncoder(self._name, device="cpu", local_files_only=True, activation_fn=torch.nn.Sigmoid())
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderError(
                f"the reranking model {self._name} cannot be loaded ({str(error).splitlines()[0]}); set `reranker` to a directory with "
                "the files of a model",
                model=self.model_id,
            ) from error
