"""Embedding by a server: OpenAI-compatible, or Ollama.

Texts are sent only to the configured host. Vectors are stored under the model's name and host, so that they are never compared with vectors
of another server.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from graphmem.embedding.base import F32
from graphmem.errors import EmbedderError, SettingsError
from graphmem.runtime.network.outbound import Outbound, OutboundError
from graphmem.runtime.network.rest import Rest, RestingError

MAX_ANSWER: Final = 33_554_432  # bytes of one response
MAX_TEXT: Final = 8_000  # characters of one text; servers refuse longer ones
_PROBE: Final = "length of a vector"


class Protocol(NamedTuple):
    """Request path and answer format of a kind of embedding server.

    Vectors are stored under a model id, which begins with `name`.
    """

    path: str
    name: str  # of the models, in ids of vectors
    vectors: Callable[[Any], list[Any]]  # those in an answer, in the order of the texts


def _ordered(answer: Any) -> list[Any]:
    return [row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row["index"]))]


PROTOCOLS: Final = {
    "openai": Protocol("/embeddings", "openai", _ordered),
    "ollama": Protocol("/api/embed", "ollama", lambda answer: list(answer["embeddings"])),
}


class ServedEmbedder:
    """Embeds texts with a model on a server. Thread-safe.

    Args:
        protocol: a key of PROTOCOLS.
        url: base address of the service: `https://host/v1`, or `http://127.0.0.1:11434` for Ollama.
        model: name of the model on the server.
        key: sent as a bearer token; "" to send no token.
        prefix: number of values to keep of each vector, from its start; 0 keeps all. Use it for models that are trained for truncation.
        timeout_s: time limit of one request.
        clock: monotonic clock in seconds; for tests.

    Raises:
        SettingsError: the address or the model's name is missing or invalid.
    """

    def __init__(
        self,
        protocol: str,
        url: str,
        model: str,
        key: str = "",
        *,
        prefix: int = 0,
        timeout_s: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for setting, value in (("embedder_url", url), ("embedder_model", model)):
            if not value:
                raise SettingsError(f"the setting embedder is {protocol}, which needs {setting}; set {setting}", setting=setting, value="")
        self._protocol = PROTOCOLS[protocol]
        self._outbound = Outbound(url, self._protocol.path, key, setting="embedder_url", timeout_s=timeout_s, most=MAX_ANSWER, clock=clock)
        self._model = model
        self._prefix = prefix
        self._clock = clock
        self._lock = threading.Lock()
        self._dim = 0
        self._rest = Rest(clock)

    @property
    def host(self) -> str:
        """Host name of the server that makes the vectors."""
        return self._outbound.host

    @property
    def model_id(self) -> str:
        """Key of the vectors: protocol, host, model and used vector length."""
        return f"{self._protocol.name}:{self._outbound.host}/{self._model}@{self._prefix}"

    @property
    def dim(self) -> int:
        """Length of a vector; asks the server once."""
        if not self._dim:
            self.encode([_PROBE])
        return self._dim

    @property
    def normalised(self) -> bool:
        """Always True: vectors are scaled to unit length."""
        return True

    @property
    def max_tokens(self) -> int:
        """Number of tokens of a long string that are sent, approximately."""
        return MAX_TEXT // 4

    def encode(self, texts: Sequence[str]) -> F32:
        """Return unit vectors of shape (len(texts), dim), from one request.

        Raises:
            EmbedderError: the server gives no usable answer, or requests are paused for a minute after three failures.
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        try:
            with self._rest.watched(EmbedderError):
                vectors = self._request(texts)
        except RestingError as resting:
            raise self._error(str(resting)) from resting
        with self._lock:
            self._dim = self._dim or vectors.shape[1]
        if vectors.shape[1] != self._dim:
            raise self._error(
                f"the embedding server now returns vectors with {vectors.shape[1]} values, but earlier ones had {self._dim}; "
                "check which model the server runs"
            )
        return vectors

    def _request(self, texts: Sequence[str]) -> F32:
        body = json.dumps({"model": self._model, "input": [text[:MAX_TEXT] or " " for text in texts]}).encode()
        try:
            raw = self._outbound.post(body, self._clock() + self._outbound.timeout_s)
        except OutboundError as error:
            raise self._error(error.what) from error
        try:
            vectors = np.asarray(self._protocol.vectors(json.loads(raw)), np.float32)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise self._error(
                "the embedding server did not answer in the protocol that the setting `embedder` names; correct `embedder` or "
                "`embedder_url`"
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise self._error(
                f"the embedding server returned vectors of shape {vectors.shape} for {len(texts)} texts; check which model the server runs"
            )
        if self._prefix > vectors.shape[1]:
            raise self._error(
                f"the setting embedder_prefix is {self._prefix}, but vectors of the embedding model {self._model} have only "
                f"{vectors.shape[1]} values; set embedder_prefix to at most {vectors.shape[1]}"
            )
        used = vectors[:, : self._prefix] if self._prefix else vectors
        length = np.linalg.norm(used, axis=1, keepdims=True)
        if not np.isfinite(used).all() or not (length > 0).all():
            raise self._error(
                "the embedding server returned a vector that is zero or has NaN or infinite values; check which model the server runs"
            )
        return np.asarray(used / length, np.float32)

    def _error(self, what: str) -> EmbedderError:
        return EmbedderError(
            f"{what} (embedding server at {self._outbound.host}; search uses words meanwhile)",
            model=self.model_id,
        )
