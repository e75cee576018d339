"""Optional reranking of the best hits by a cross-encoder."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Final, Protocol

from graphmem.answers import Factor, SearchHit
from graphmem.errors import EmbedderError

READ: Final = 20  # hits that are scored
KEPT: Final = 8  # positions that the reranker decides


class Reranker(Protocol):
    """A cross-encoder, which scores query and text together."""

    @property
    def model_id(self) -> str:
        """Name of the cross-encoder, for the search answer."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text to the query; higher is more relevant.

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """


class Timed:
    """A reranker that also counts the seconds that its calls take."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self.seconds = 0.0

    @property
    def model_id(self) -> str:
        """Name of the reranker's model."""
        return self._reranker.model_id

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text to the query, higher is better."""
        begun = time.perf_counter()
        try:
            return self._reranker.scores(query, texts)
        finally:
            self.seconds += time.perf_counter() - begun


def reranked(reranker: Reranker, query: str, hits: Sequence[SearchHit]) -> tuple[list[SearchHit], str]:
    """Reorder the best hits by a cross-encoder; return (hits, failure).

    `reranker` is the model. The model reads the first `READ` hits. The `KEPT` best of them come first, and the others keep their order. The
    old scores are assigned to the hits in the new order, so scores still decrease along the list. If the model fails, the order does not
    change, and the second result says why the model failed. Otherwise the second result is "".
    """
    head, tail = list(hits[:READ]), list(hits[READ:])
    if len(head) < 2:
        return list(hits), ""
    try:
        read = reranker.scores(query, [f"{hit.title}\n{hit.snippet}" for hit in head])
    except EmbedderError as error:
        return list(hits), error.message
    order = sorted(range(len(head)), key=lambda i: (-read[i], i))
    first = order[:KEPT]
    places = [*first, *(i for i in range(len(head)) if i not in set(first))]
    spans = [hit.score for hit in head]
    moved = [
        dataclasses.replace(head[i], score=spans[place], factors=[*head[i].factors, Factor(f"read by {reranker.model_id}", read[i], 0.0)])
        for place, i in enumerate(places)
    ]
    return [*moved, *tail], ""
