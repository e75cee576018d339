"""Search of the in-memory copy of memories by words and by vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from graphmem.projection.memories.columns import MemoryFilter
from graphmem.projection.memories.rows import searched, unpack
from graphmem.projection.memories.slots import MemorySlots
from graphmem.projection.vectors import F32
from graphmem.projection.words.postings import Elsewhere
from graphmem.projection.words.text import query_words


class Found(NamedTuple):
    """Memories that match a query, with scores for words and for meaning.

    The scores are BM25 (words) and cosines (vectors). The method `score` computes both for another memory, given by its id.
    """

    ids: set[str]
    words: dict[str, float]  # BM25 of memories with any of the words
    dense: dict[str, float]  # cosine of memories with a vector
    best_words: float  # of all matching memories
    lowest: float  # the lowest cosine of all matching memories
    highest: float
    unknown: list[str]  # words that no memory contains
    score: Callable[[str], bool] = lambda one: False  # adds another memory's scores; False if it does not match


class Terms(NamedTuple):
    """For some memories, the words of a query that each memory contains.

    Words with the same stem, such as `index` and `indexes`, count as the same word.
    """

    of_word: dict[str, str]  # the term that each word is counted as: its stem
    rows: dict[str, int]  # term -> number of memories that contain it
    had_by: dict[str, set[str]]  # memory -> terms it contains
    texts: int  # number of all memories that the caller may see


class MemorySearch(MemorySlots):
    """The part of the memory index that searches by words and by vectors."""

    def near(self, vector: F32, limit: int, min_cosine: float = -1.0, only: MemoryFilter | None = None) -> list[tuple[str, float]]:
        """Return the memories nearest to a vector as (id, cosine).

        The nearest come first; ties are sorted by id. The search is exact: it takes one pass over the vectors of all matching memories.
        `vector` must come from the model `model_id`, which made the vectors of the memories.

        Args:
            vector: float32 (dim,), not zero; a vector of another dimension has no neighbours.
            limit: maximum number of memories.
            min_cosine: the smallest cosine.
            only: filter of the memories; None for all that are neither superseded nor deprecated.
        """
        with self._lock:
            if not self._vectors.fits(vector):
                return []
            rows = np.flatnonzero(self._mask(only or MemoryFilter()) & self._vectors.present[: len(self._id_at)])
            cosines = self._vectors.cosines(vector, rows, len(self._id_at))
            return self._best(rows[cosines >= min_cosine], cosines[cosines >= min_cosine], limit)

    def cosines(self, vector: F32, ids: Iterable[str]) -> dict[str, float]:
        """Return the cosine of `vector` with the vector of each memory in `ids`.

        The result maps ids to cosines. Unknown memories, and memories without a vector, are left out.
        """
        with self._lock:
            slots = {one: self._slot_of[one] for one in ids if one in self._slot_of}
            known = [one for one, slot in slots.items() if self._vectors.present[slot]]
            if not known or not self._vectors.fits(vector):
                return {}
            rows = np.fromiter((slots[one] for one in known), np.int64, len(known))
            values = self._vectors.cosines(vector, rows, len(self._id_at))
        return dict(zip(known, values.tolist(), strict=True))

    def vector(self, memory_id: str) -> F32 | None:
        """Return a memory's vector, of unit length; None if it has none."""
        with self._lock:
            slot = self._slot_of.get(memory_id)
            return None if slot is None or not self._vectors.present[slot] else self._vectors.matrix[slot].copy()

    def words(self, query: str, limit: int, only: MemoryFilter | None = None) -> list[tuple[str, float]]:
        """Return the memories that contain words of a query, as (id, BM25).

        The best come first; ties are sorted by id. The query is normalised like the memories; stop words are considered only if there are
        no other words.

        Args:
            query: any text.
            limit: maximum number of memories.
            only: filter of the memories; None for all that are neither superseded nor deprecated.
        """
        with self._lock:
            scores = self._words.scores(query_words(query), len(self._id_at), hidden=self._hidden_texts()).scores
            rows = np.flatnonzero(self._mask(only or MemoryFilter()) & (scores > 0))
            return self._best(rows, scores[rows], limit)

    def find(self, words: Sequence[str], vector: F32 | None, depth: int, only: MemoryFilter | None = None) -> Found:
        """Return memories found by words and by vector, each with both scores.

        Args:
            words: normalised words of the query.
            vector: vector of the query; None to search by words only.
            depth: maximum number of memories from each of the two searches, by words and by vector.
            only: filter of the memories; None for all that are neither superseded nor deprecated.
        """
        with self._lock:
            n = len(self._id_at)
            mask = self._mask(only or MemoryFilter())
            worded = self._words.scores(words, n, hidden=self._hidden_texts())
            rows = np.flatnonzero(mask & (worded.scores > 0))
            ids = dict.fromkeys(one for one, _ in self._best(rows, worded.scores[rows], depth))
            best_words = float(worded.scores[rows].max()) if len(rows) else 0.0
            cosines, lowest, highest = np.zeros(n, np.float32), 0.0, 0.0
            fits = vector is not None and self._vectors.fits(vector)
            near = np.flatnonzero(mask & self._vectors.present[:n]) if fits else rows[:0]
            if vector is not None and len(near):
                cosines[near] = values = self._vectors.cosines(vector, near, n)
                ids |= dict.fromkeys(one for one, _ in self._best(near, values, depth))
                lowest, highest = float(values.min()), float(values.max())
            found = Found(set(ids), {}, {}, best_words, lowest, highest, worded.unknown)

            def score(one: str) -> bool:
                slot = self._slot_of.get(one)
                if slot is None or slot >= n or not mask[slot]:
                    return False
                found.ids.add(one)
                if worded.scores[slot] > 0:
                    found.words[one] = float(worded.scores[slot])
                if len(near) and self._vectors.present[slot]:
                    found.dense[one] = float(cosines[slot])
                return True

            for one in ids:
                score(one)
            return found._replace(score=score)

    def echoes(self, best: Mapping[str, float], without: Sequence[str], ids: Iterable[str]) -> dict[str, float]:
        """Return a score for memories that share rare words with the best hits.

        The result maps ids to scores. Memories without such words are left out.

        Args:
            best: id of each best hit -> its score. The words of a hit count in proportion to this score.
            without: normalised words of the query, which are ignored.
            ids: ids of the memories to score.
        """
        with self._lock:
            texts = [(searched(unpack(self._packed[self._slot_of[one]])), score) for one, score in best.items() if one in self._slot_of]
            scores = self._words.echoes(texts, without, len(self._id_at), self._hidden_texts())
            slots = {one: self._slot_of[one] for one in ids if one in self._slot_of}
            return {one: float(scores[slot]) for one, slot in slots.items() if scores[slot] > 0}

    def words_beside(self, words: Sequence[str], elsewhere: Elsewhere, ids: Iterable[str]) -> tuple[dict[str, float], float]:
        """Score memories by words, on the same scale as chunks of code.

        A search that ranks memories together with code uses these scores. The rarity of a word is counted over both indexes.

        Args:
            words: normalised words of the query.
            elsewhere: number of texts with each word in the other index, such as that of code.
            ids: ids of the memories to score.

        Returns:
            The BM25 score of each memory that has any of the words, by id. Then an estimate of the score of a memory with all words. The
            estimate is the best score, divided by the share of the words that the best memory has. Rare words count more in this share.
        """
        with self._lock:
            worded = self._words.scores(words, len(self._id_at), elsewhere, self._hidden_texts())
            slots = {one: self._slot_of[one] for one in ids if one in self._slot_of}
            scores = {one: float(worded.scores[slot]) for one, slot in slots.items() if worded.scores[slot] > 0}
            best, share = max(((scores[one], float(worded.shares[slots[one]])) for one in scores), default=(0.0, 1.0))
            return scores, best / share

    def terms(self, words: Iterable[str], ids: Iterable[str]) -> Terms:
        """Return, for each given memory, which of the given words it contains.

        Args:
            words: normalised words.
            ids: ids of the memories; unknown ids are left out.
        """
        with self._lock:
            at = {self._slot_of[one]: one for one in ids if one in self._slot_of}
            had_by: dict[str, set[str]] = {one: set() for one in at.values()}
            of_word, rows = {}, {}
            for word, (term, count, slots) in self._words.having(words, list(at), self._hidden_texts()).items():
                of_word[word], rows[term] = term, count
                for slot in slots:
                    had_by[at[slot]].add(term)
            return Terms(of_word, rows, had_by, len(self) - len(self._hidden()))
