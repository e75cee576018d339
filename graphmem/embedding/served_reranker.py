"""Reranking by a server with a `/rerank` endpoint.

Query and hits are sent only to the configured host.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from graphmem.embedding.cross import CrossEncoderReranker
from graphmem.errors import EmbedderError, SettingsError
from graphmem.runtime.network.outbound import Outbound, OutboundError
from graphmem.runtime.network.rest import Rest, RestingError
from graphmem.settings import Settings

PATH: Final = "/rerank"
MAX_ANSWER: Final = 4_194_304  # bytes of one response
MAX_TEXT: Final = 4_000  # characters of one text; cross-encoders read fewer


class Protocol(NamedTuple):
    """Request and answer format of a kind of reranking server."""

    texts: str  # key of the texts in the request
    rows: Callable[[Any], Sequence[Mapping[str, Any]]]  # scored texts in an answer
    score: str  # key of a row's score


PROTOCOLS: Final = {
    "documents": Protocol("documents", lambda answer: answer["results"], "relevance_score"),
    "texts": Protocol("texts", lambda answer: answer, "score"),
}


class ServedReranker:
    """Scores texts for a query with a cross-encoder on a server. Thread-safe.

    Args:
        url: base address of the service; requests go to `/rerank` below it.
        model: name of the model on the server; "" if the server has only one model.
        key: sent as a bearer token; "" to send no token.
        protocol: a key of PROTOCOLS. Cohere, Jina, vLLM, Infinity and llama.cpp expect the field `documents`;
            Text Embeddings Inference expects `texts`.
        timeout_s: time limit of one request.
        clock: monotonic clock in seconds; for tests.

    Raises:
        SettingsError: the address is invalid.
    """

    def __init__(
        self,
        url: str,
        model: str = "",
        key: str = "",
        *,
        protocol: str = "documents",
        timeout_s: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outbound = Outbound(url, PATH, key, setting="reranker_url", timeout_s=timeout_s, most=MAX_ANSWER, clock=clock)
        self._model = model
        self._protocol = PROTOCOLS[protocol]
        self._clock = clock
        self._rest = Rest(clock)

    @property
    def model_id(self) -> str:
        """Name of the model and of the server's host."""
        return f"{self._model or 'the model'} at {self._outbound.host}"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each of `texts`, in the order of `texts`.

        A higher score means that the text is more relevant to the query. All texts are sent in one request. The server chooses the scale of
        the scores.

        Raises:
            EmbedderError: the server gives no usable answer, or requests are paused for a minute after three failures.
        """
        if not texts:
            return []
        try:
            with self._rest.watched(EmbedderError):
                return self._request(query, texts)
        except RestingError as resting:
            raise self._error(str(resting)) from resting

    def _request(self, query: str, texts: Sequence[str]) -> list[float]:
        request: dict[str, Any] = {"query": query[:MAX_TEXT], self._protocol.texts: [text[:MAX_TEXT] or " " for text in texts]}
        if self._model:
            request["model"] = self._model
        try:
            raw = self._outbound.post(json.dumps(request).encode(), self._clock() + self._outbound.timeout_s)
        except OutboundError as error:
            raise self._error(error.what) from error
        try:
            rows = self._protocol.rows(json.loads(raw))
            scored = {int(row["index"]): float(row[self._protocol.score]) for row in rows}
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise self._error(
                "the reranking server did not answer in the protocol of the setting reranker_protocol; correct that setting"
            ) from error
        if scored.keys() != set(range(len(texts))):
            raise self._error(
                f"the reranking server returned scores for {len(scored)} of {len(texts)} texts; check which model the server runs"
            )
        if not all(map(math.isfinite, scored.values())):
            raise self._error("the reranking server returned a score that is NaN or infinite; check which model the server runs")
        return [scored[n] for n in range(len(texts))]

    def _error(self, what: str) -> EmbedderError:
        return EmbedderError(
            f"{what} (reranking server at {self._outbound.host}; results keep the order of search meanwhile)",
            model=self.model_id,
        )


def reranker_of(settings: Settings) -> CrossEncoderReranker | ServedReranker | None:
    """Return the configured reranker; None if none is configured.

    Raises:
        SettingsError: both a local model and a server are configured, or the server's address is invalid.
    """
    if settings.reranker and settings.reranker_url:
        raise SettingsError(
            "the settings reranker and reranker_url are both set; unset one of them", setting="reranker_url", value=settings.reranker_url
        )
    if settings.reranker_url:
        return ServedReranker(
            settings.reranker_url,
            settings.reranker_model,
            settings.reranker_key,
            protocol=settings.reranker_protocol,
            timeout_s=float(settings.reranker_seconds),
        )
    return CrossEncoderReranker(settings.reranker) if settings.reranker else None
