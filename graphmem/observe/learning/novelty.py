"""Decide whether a memory learnt from a session is new.

The memory repository rejects near duplicates when it stores a memory. This module applies the same rules before the write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import EmbedderError
from graphmem.memory.reading import lifecycle
from graphmem.memory.texts.link import link
from graphmem.memory.texts.similar import (
    Similarity,
    Thresholds,
    opposed,
    overlap,
    says_it_in_other_words,
    says_the_same,
    thresholds_of,
    words_of,
)
from graphmem.memory.texts.text import contextual_text, fingerprint
from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.observe.learning.gates import NOVEL

if TYPE_CHECKING:
    from graphmem.embedding.base import F32
    from graphmem.knowledge import MemoryRow
    from graphmem.memory.repository.repository import MemoryRepository

_LOOK: Final = 16  # nearest memories to compare
_BATCH: Final = 64
_SPACES: Final = re.compile(r"\s+")


class Text(NamedTuple):
    """Text of a memory to be written, with its type and its files."""

    content: str
    type: str
    files: tuple[str, ...]


class Found(NamedTuple):
    """An existing memory that already says the same as a new text.

    `taken_back` is False if the memory is in use. It is True if the memory was retracted, for example by a person. A memory that expired
    only by age does not count as existing.
    """

    row: MemoryRow
    likeness: float
    taken_back: bool


class Novelty:
    """Compares texts of planned memories with each other and with known ones.

    Create one object for all texts of a session, so that their vectors are computed in one batch.

    Args:
        book: the memory repository.
        texts: the texts to compare; methods refer to them by their index.
    """

    def __init__(self, book: MemoryRepository, texts: Sequence[Text]) -> None:
        self._index = book.index()
        self._now = book.clock.now()
        self._texts = list(texts)
        self.note = ""
        self.model = ""
        self.vectors: list[F32 | None] = [None] * len(self._texts)
        embedder = book.embedder()
        if embedder is not None and self._texts and self._index.model_id in ("", embedder.model_id):
            view, project = book.view(), book.project()
            listed = []
            for one in self._texts:
                links = link(one.content, one.files, (), view, project, "")
                listed.append(contextual_text(one.content, one.type, links.paths, links.modules))
            try:
                self.vectors = list(embedder.encode(listed))
                self.model = embedder.model_id
            except EmbedderError as error:
                self.note = f"compared by words only: {error.message}"
        limits = thresholds_of(self.model or self._index.model_id)
        self._limits = Thresholds(min(NOVEL, limits.duplicate), limits.topic, limits.pairs)

    def known(self, place: int) -> Found | None:
        """Return a stored memory that already says a planned text, or None.

        Returns None if no stored memory says it.

        `place` is the index of the planned text in the list given to the constructor.
        """
        text, vector = self._texts[place], self.vectors[place]
        print_ = fingerprint(text.content)
        for one in self._index.by_fingerprint(print_):
            row = self._index.row(one)
            if row is not None and row.status in LIVE_STATUSES:
                return Found(row, 1.0, taken_back=False)
            if row is not None and row.status == "deprecated" and not self._expired(row):
                return Found(row, 1.0, taken_back=True)
        near = dict(self._index.near(vector, _LOOK, self._limits.topic)) if vector is not None and self._index.model_id else {}
        words = words_of(text.content)
        ids = dict.fromkeys([*near, *(one for one, _ in self._index.words(text.content, _LOOK))])
        for row in self._index.rows(ids).values():
            if row.status not in LIVE_STATUSES:
                continue
            like = Similarity(overlap(words, words_of(row.content)), near.get(row.id))
            if self._same(text.content, row.content, like):
                return Found(row, max(like.overlap, like.cosine or 0.0), taken_back=False)
        return None

    def repeats(self, place: int, earlier: Sequence[int]) -> int | None:
        """Return the earlier sentence that says the same as another; None if none.

        If several do, the first one is returned. All numbers are indices in the list of texts. The text with the index `place` is compared
        with the texts whose indices are in `earlier`.
        """
        mine, vector = self._texts[place], self.vectors[place]
        words = words_of(mine.content)
        for other in earlier:
            theirs, known = self._texts[other], self.vectors[other]
            cosine = _cosine(vector, known) if vector is not None and known is not None else None
            if self._same(mine.content, theirs.content, Similarity(overlap(words, words_of(theirs.content)), cosine)):
                return other
        return None

    def _same(self, one: str, other: str, near: Similarity) -> bool:
        same = says_the_same(one, other, near, self._limits) or says_it_in_other_words(one, other, near, self._limits)
        return same and not opposed(one, other)

    def _expired(self, row: MemoryRow) -> bool:
        """Whether a memory was removed from search because of its age.

        A memory that expired may be learnt again. A memory that a person removed may not.
        """
        gone = row.deprecated_at or self._now
        idle = lifecycle.days(lifecycle.last_use(row), gone)
        ttl = lifecycle.ttl_days(row._replace(status="candidate"))
        half_life = lifecycle.half_life_of(row)
        return (ttl is not None and idle > ttl) or (half_life is not None and idle > lifecycle.HALF_LIVES * half_life)


def _cosine(one: F32, other: F32) -> float:
    return float(one @ other) / max(1e-12, float((one @ one) ** 0.5 * (other @ other) ** 0.5))


def one_line(text: str) -> str:
    """Return a string without line breaks and double spaces."""
    return _SPACES.sub(" ", text).strip()


def expected(at: datetime) -> str:
    """Format a time as ISO 8601 with seconds: `2026-03-01T12:00:00+00:00`."""
    return at.isoformat(timespec="seconds")
