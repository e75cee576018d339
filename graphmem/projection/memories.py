"""The `memories` projection: memories with links, times, words, vectors.

It is built from the store's knowledge, or read from the file of `memory_file`: 50,000 memories take seconds to index and a fraction of a
second to read. The delta of each accepted write updates it. A memory has one *slot*: the number of its row in the word index, in the matrix
of vectors and in the columns for filters. All other data of a memory is packed, and unpacked when needed, because a search reads about a
hundred memories of fifty thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.knowledge import KnowledgeDelta, MemoryRow
from graphmem.projection.memory_columns import MemoryColumns, MemoryFilter, SlotVectors
from graphmem.projection.memory_links import MemoryLinks, drop
from graphmem.projection.memory_rows import micros, moment, pack, searched, unpack
from graphmem.projection.memory_time import Timeline
from graphmem.projection.postings import Elsewhere, Postings
from graphmem.projection.sight import seen
from graphmem.projection.text import query_words
from graphmem.projection.vectors import F32, Bool, Rows, best_rows, matrix_of, unit_rows
from graphmem.store.base import Knowledge

_FIRST_SLOTS: Final = 256
_NONE: Final[frozenset[int]] = frozenset()


class Moment(NamedTuple):
    """A memory that was created shortly before or after another memory."""

    id: str
    steps: int  # memories from one to the other along the timeline
    gap_s: float  # seconds between the two
    together: bool  # learnt in the same session
    is_later: bool


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
    """The words of a query that each of several memories contains.

    Words with the same stem, such as `index` and `indexes`, count as the same word.
    """

    of_word: dict[str, str]  # the term that each word is counted as: its stem
    rows: dict[str, int]  # term -> number of memories that contain it
    had_by: dict[str, set[str]]  # memory -> terms it contains
    texts: int  # number of all memories


class MemoryIndex(MemoryLinks):
    """An in-memory index of all memories with their sessions and links.

    Thread-safe: no method sees a half-applied patch. Inside `projection.sight.seeing`, readers see only the memories that the caller may
    see. Writers see all.

    Args:
        generation: generation of the knowledge from which the index was read.
    """

    def __init__(self, generation: int = 0) -> None:
        super().__init__()
        self.generation = generation
        self.model_id = ""  # of the vectors
        self._slot_of: dict[str, int] = {}
        self._id_at: list[str] = []  # "" for a free slot
        self._packed: list[bytes] = []
        self._free: list[int] = []
        self._by_fingerprint: dict[str, list[str]] = {}
        self._by_short_id: dict[str, str] = {}
        self._slots_of_text: dict[str, list[int]] = {}
        self._slots_seen_by: dict[str, set[int]] = {}  # visibility -> slots
        self._timeline = Timeline()
        self._columns = MemoryColumns()
        self._vectors = SlotVectors()
        self._words = Postings()

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge, model_id: str = "", vectors: pa.Table | None = None) -> MemoryIndex:
        """Build the index from one snapshot of the store.

        Args:
            knowledge: all memories, sessions and links.
            model_id: id of the model of `vectors`; "" without vectors.
            vectors: table with the columns text_hash and vector, made by the model. A row is ignored if no memory has its text.
        """
        index = cls()
        index.patch(
            KnowledgeDelta(
                memories=knowledge.memories,
                anchored=[row.id for row in knowledge.memories],
                about=knowledge.about,
                relates=knowledge.relates,
                sessions=knowledge.sessions,
                learnt=knowledge.learnt,
            ),
            generation=knowledge.generation,
        )
        if vectors is not None:
            index.use_model(model_id, vectors)
        return index

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return the content without the vectors, in a form that can be saved.

        The first result maps names to columns. The second maps names to values that `marshal` supports. `restored` accepts both. They
        contain the index's own objects, not copies, so the caller must hold the lock of `reading`.
        """
        rest = {
            "ids": self._id_at,
            "packed": self._packed,
            "fingerprints": self._by_fingerprint,
            "short_ids": self._by_short_id,
            "texts": self._slots_of_text,
            "seen_by": self._slots_seen_by,
            "types": self._columns.types,
            "links": self._links_state(),
            "words": self._words.state(),
        }
        return self._columns.state(len(self._id_at)), rest

    @classmethod
    def restored(cls, generation: int, columns: Mapping[str, npt.NDArray[Any]], rest: Mapping[str, Any]) -> MemoryIndex:
        """Build the index from saved content, without vectors.

        `columns` and `rest` are the two results of `state()`.
        """
        index = cls(generation)
        index._columns = MemoryColumns.restored(columns, rest["types"])
        index._id_at, index._packed = rest["ids"], rest["packed"]
        index._by_fingerprint, index._by_short_id, index._slots_of_text = rest["fingerprints"], rest["short_ids"], rest["texts"]
        index._slots_seen_by = rest["seen_by"]
        index._slot_of = {one: slot for slot, one in enumerate(index._id_at) if one}
        index._free = [slot for slot in range(len(index._id_at) - 1, -1, -1) if not index._id_at[slot]]
        index._timeline.add([(int(index._columns.created[slot]), one) for one, slot in index._slot_of.items()])
        index._vectors = SlotVectors(len(index._id_at))
        index._restore_links(rest["links"])
        index._words.restore(rest["words"])
        return index

    def reading(self) -> AbstractContextManager[bool]:
        """Return a lock; while a caller holds it, no memory changes.

        A caller holds it for several reads that must agree with each other.
        """
        return self._lock

    # ---- rows

    def __len__(self) -> int:
        return len(self._slot_of)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._slot_of

    def row(self, memory_id: str) -> MemoryRow | None:
        """Return a memory; None if it is unknown or hidden from the caller."""
        with self._lock:
            slot = self._slot_of.get(memory_id)
            return None if slot is None or slot in self._hidden() else unpack(self._packed[slot])

    def rows(self, ids: Iterable[str]) -> dict[str, MemoryRow]:
        """Return memories by id, except unknown and hidden ones.

        A memory is hidden if the caller may not see it.
        """
        with self._lock:
            hidden = self._hidden()
            slots = {one: self._slot_of[one] for one in ids if one in self._slot_of}
            return {one: unpack(self._packed[slot]) for one, slot in slots.items() if slot not in hidden}

    def all_rows(self) -> Iterator[MemoryRow]:
        """Yield every memory by id, also superseded and deprecated ones.

        Memories written during the iteration may or may not be included.
        """
        with self._lock:
            ids = sorted(self._slot_of)
        for one in ids:
            row = self.row(one)
            if row is not None:
                yield row

    def ids(self, only: MemoryFilter | None = None) -> list[str]:
        """Return the ids of memories that match a filter, ascending."""
        with self._lock:
            mask = self._mask(only or MemoryFilter())
            return sorted(self._id_at[slot] for slot in np.flatnonzero(mask))

    def by_fingerprint(self, fingerprint: str) -> list[str]:
        """Return ids of memories whose content has this fingerprint (a hash).

        Superseded and deprecated memories are included. The ids are ascending.
        """
        with self._lock:
            return sorted(self._visible(self._by_fingerprint.get(fingerprint, ())))

    def by_short_id(self, short_id: str) -> str | None:
        """Return the id of the memory with this short id, or None."""
        with self._lock:
            known = self._by_short_id.get(short_id)
            return known if known is not None and self._visible((known,)) else None

    def short_ids(self, prefix: str) -> list[str]:
        """Return short ids with a prefix, ascending.

        The cost is a scan of all short ids.
        """
        with self._lock:
            return sorted(short for short, one in self._by_short_id.items() if short.startswith(prefix) and self._visible((one,)))

    # ---- links that need the columns

    def live_about(self, node_id: str) -> list[str]:
        """Return ids of memories about a node of the code graph, unordered.

        Superseded and deprecated memories are left out.
        """
        with self._lock:
            return [one for one in self._visible(self._about_target.get(node_id, ())) if self._columns.live[self._slot_of[one]]]

    def of_session(self, session_id: str) -> list[str]:
        """Return ids of a session's memories, oldest first."""
        with self._lock:
            created = self._columns.created
            return sorted(self._visible(self._learnt_in.get(session_id, ())), key=lambda one: (int(created[self._slot_of[one]]), one))

    # ---- time

    def timeline(self, memory_id: str, before: int, after: int) -> list[str]:
        """Return ids of a memory and of those created before and after it.

        The oldest comes first. At most `before` earlier and `after` later memories are returned, the nearest ones in time. Superseded and
        deprecated memories are left out. The result is empty if `memory_id` is unknown.
        """
        with self._lock:
            place = self._place(memory_id)
            if place is None:
                return []
            older = self._walk(place, -1, before)
            return [*reversed(older), memory_id, *self._walk(place, 1, after)]

    def years(self) -> tuple[int, int] | None:
        """Return the years of creation of the oldest and newest memory.

        The result is None if the index is empty.
        """
        with self._lock:
            ends = self._timeline.ends()
        return (moment(ends[0]).year, moment(ends[1]).year) if ends is not None else None

    def created_between(self, spans: Iterable[tuple[datetime, datetime]], most: int) -> dict[str, datetime]:
        """Return the memories that were created in given periods.

        The result maps ids to creation times. Each of `spans` is (begin, end). If a period has more than `most` memories, only its oldest
        `most` memories are returned. Superseded and deprecated memories are left out.
        """
        found: dict[str, datetime] = {}
        with self._lock:
            hidden = self._hidden()
            for first, last in spans:
                passed = (
                    (at, one)
                    for at, one in self._timeline.between(micros(first), micros(last))
                    if self._columns.live[slot := self._slot_of[one]] and slot not in hidden
                )
                found |= {one: moment(at) for at, one in islice(passed, most)}
        return found

    def moments(self, memory_id: str, reach: int = 1) -> list[Moment]:
        """Return the memories that were created just before and after a memory.

        At most `reach` are returned on each side, without superseded and deprecated ones. The nearest in time come first.
        """
        with self._lock:
            place = self._place(memory_id)
            if place is None:
                return []
            at = int(self._columns.created[self._slot_of[memory_id]])
            mine = self._learnt.get(memory_id, {}).keys()
            moments = []
            for step in (-1, 1):
                for steps, one in enumerate(self._walk(place, step, reach), 1):
                    gap = abs(int(self._columns.created[self._slot_of[one]]) - at) / 1e6
                    moments.append(Moment(one, steps, gap, bool(mine & self._learnt.get(one, {}).keys()), step > 0))
        return sorted(moments, key=lambda one: (one.gap_s, one.steps, one.id))

    def asking(self, memory_id: str) -> float:
        """Return the share of a memory's content that is in questions, 0 to 1.

        A share above 0 means that the memory asks something. The memory learnt after it may then be the answer.
        """
        with self._lock:
            slot = self._slot_of.get(memory_id)
            return float(self._columns.asks[slot]) if slot is not None else 0.0

    # ---- search

    def near(self, vector: F32, limit: int, min_cosine: float = -1.0, only: MemoryFilter | None = None) -> list[tuple[str, float]]:
        """Return the memories nearest to a vector as (id, cosine).

        The nearest come first; ties are sorted by id. The search is exact: it takes one pass over the vectors of all matching memories.
        `vector` must come from the model `model_id`, which made the vectors of the memories.

        Args:
            vector: float32 (dim,), not zero; a vector of another dimension has no neighbours.
            limit: maximum number of memories.
            min_cosine: the smallest cosine.
            only: filter of the memories; None for every live memory.
        """
        with self._lock:
            if not self._vectors.fits(vector):
                return []
            rows = np.flatnonzero(self._mask(only or MemoryFilter()) & self._vectors.present[: len(self._id_at)])
            cosines = self._vectors.cosines(vector, rows, len(self._id_at))
            return self._best(rows[cosines >= min_cosine], cosines[cosines >= min_cosine], limit)

    def cosines(self, vector: F32, ids: Iterable[str]) -> dict[str, float]:
        """Return the cosine between `vector` and the vector of each memory.

        Unknown memories, and memories without a vector, are left out.
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
        """Return a memory's vector, of unit length, or None."""
        with self._lock:
            slot = self._slot_of.get(memory_id)
            return None if slot is None or not self._vectors.present[slot] else self._vectors.matrix[slot].copy()

    def words(self, query: str, limit: int, only: MemoryFilter | None = None) -> list[tuple[str, float]]:
        """Return the memories that contain words of a query, as (id, BM25).

        The best come first; ties are sorted by id. The query is normalised like the memories; stop words count only if there are no other
        words.

        Args:
            query: any text.
            limit: maximum number of memories.
            only: filter of the memories; None for every live memory.
        """
        with self._lock:
            scores = self._words.scores(query_words(query), len(self._id_at)).scores
            rows = np.flatnonzero(self._mask(only or MemoryFilter()) & (scores > 0))
            return self._best(rows, scores[rows], limit)

    def find(self, words: Sequence[str], vector: F32 | None, depth: int, only: MemoryFilter | None = None) -> Found:
        """Return memories found by words and by vector, each with both scores.

        Args:
            words: normalised words of the query.
            vector: vector of the query; None to search by words only.
            depth: maximum number of memories from each of the two searches, by words and by vector.
            only: filter of the memories; None for every live memory.
        """
        with self._lock:
            n = len(self._id_at)
            mask = self._mask(only or MemoryFilter())
            worded = self._words.scores(words, n)
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
            # If a word occurs in no visible memory, reporting it as known would reveal an invisible one.
            unknown = [] if self._hidden() else worded.unknown
            found = Found(set(ids), {}, {}, best_words, lowest, highest, unknown)

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
        """Score memories by the rare words that they share with the best hits.

        Memories without such words are left out.

        Args:
            best: id of each best hit -> its score. The words of a hit count in proportion to this score.
            without: normalised words of the query, which do not count.
            ids: ids of the memories to score.
        """
        with self._lock:
            texts = [(searched(unpack(self._packed[self._slot_of[one]])), score) for one, score in best.items() if one in self._slot_of]
            scores = self._words.echoes(texts, without, len(self._id_at))
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
            The BM25 scores of memories with any of the words, and a number. The number is the estimated score of a memory with all words.
            It is the best score divided by the share of the words that the best memory has. Rare words count more in this share.
        """
        with self._lock:
            worded = self._words.scores(words, len(self._id_at), elsewhere)
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
            for word, (term, count, slots) in self._words.having(words, list(at)).items():
                of_word[word], rows[term] = term, count
                for slot in slots:
                    had_by[at[slot]].add(term)
            return Terms(of_word, rows, had_by, len(self))

    # ---- changing

    def patch(self, delta: KnowledgeDelta, vectors: pa.Table | None = None, generation: int | None = None) -> None:
        """Apply an accepted write of memories to the index.

        Args:
            delta: the change committed to the store.
            vectors: table with the columns text_hash and vector, for texts of the write, from the model in use. The first vectors that the
                index gets determine its dimension.
            generation: generation of the knowledge after the write; None to add 1 to the current generation.
        """
        with self._lock:
            self._forget(delta.removed_memories)
            self._put({row.id: row for row in delta.memories})
            self._patch_links(delta)
            if vectors is not None:
                self.add_vectors(vectors["text_hash"].to_pylist(), matrix_of(vectors))
            self.generation = self.generation + 1 if generation is None else generation

    def use_model(self, model_id: str, vectors: pa.Table) -> None:
        """Switch to the vectors of an embedding model.

        The vectors of the former model are dropped. `vectors` has rows (text_hash, vector); rows of texts that no memory has are ignored.
        Further vectors come from `add_vectors`.
        """
        with self._lock:
            self.model_id = model_id
            self._vectors.reset()
            hashes = vectors["text_hash"].to_pylist()
            rows = [i for i, key in enumerate(hashes) if key in self._slots_of_text]
            if rows:
                self.add_vectors([hashes[i] for i in rows], matrix_of(vectors.take(rows)))

    def add_vectors(self, hashes: Sequence[str], vectors: F32) -> None:
        """Add vectors of the model in use, float32 (len(hashes), dim).

        `hashes` has the text hash of each vector. Vectors of texts that no memory has are ignored.
        """
        with self._lock:
            if not len(hashes):
                return
            self._vectors.expect(vectors.shape[1])
            unit = unit_rows(np.asarray(vectors, np.float32))
            for i, key in enumerate(hashes):
                for slot in self._slots_of_text.get(key, ()):
                    self._vectors.put(slot, unit[i])

    def has_text(self, text_hash: str) -> bool:
        """Return whether a memory has the text with this hash."""
        return text_hash in self._slots_of_text

    def missing_vectors(self) -> list[str]:
        """Return ids of memories without a vector of the current model.

        The newest come first. Superseded and deprecated memories are left out.
        """
        with self._lock:
            slots = np.flatnonzero(self._mask(MemoryFilter()) & ~self._vectors.present[: len(self._id_at)])
            order = slots[np.lexsort((slots, -self._columns.created[slots]))]
            return [self._id_at[slot] for slot in order]

    def covered(self) -> tuple[int, int]:
        """Count memories: (those with a vector of the current model, all).

        Superseded and deprecated memories are not counted.
        """
        with self._lock:
            live = self._mask(MemoryFilter())
            return int((live & self._vectors.present[: len(live)]).sum()), int(live.sum())

    def without_vector_in(self, have: Collection[str]) -> dict[str, str]:
        """Return the text hashes of memories that are not among `have`.

        The result maps each hash to the id of one memory with this text. Superseded and deprecated memories are left out.
        """
        with self._lock:
            live = self._mask(MemoryFilter())
            slots = {key: next((one for one in its if live[one]), None) for key, its in self._slots_of_text.items() if key not in have}
            return {key: self._id_at[slot] for key, slot in slots.items() if slot is not None}

    def covered_by(self, have: Collection[str]) -> tuple[int, int]:
        """Count memories: (those whose text hash is in `have`, all).

        Superseded and deprecated memories are not counted.
        """
        with self._lock:
            live = self._mask(MemoryFilter())
            known = sum(bool(live[slot]) for key, its in self._slots_of_text.items() if key in have for slot in its)
            return known, int(live.sum())

    def cool(self) -> None:
        """Release the caches of the index, which are built again when needed."""
        with self._lock:
            self._words.cool()

    # ---- inside

    def _mask(self, only: MemoryFilter) -> Bool:
        """Return a mask of the slots (rows) whose memories match a filter."""
        mask = self._columns.mask(only, len(self._id_at))
        if hidden := self._hidden():
            mask[list(hidden)] = False
        return mask

    def _hidden(self) -> AbstractSet[int]:
        """Return the slots (rows) of the memories that the caller may not see.

        The lock must be held.
        """
        which = seen()
        if which is None:
            return _NONE
        hidden = set().union(*(slots for level, slots in self._slots_seen_by.items() if level not in which.levels))
        for level, ids in which.ids.items():
            slots = self._slots_seen_by.get(level, ())
            hidden -= {slot for one in ids if (slot := self._slot_of.get(one)) in slots and slot is not None}
        return hidden

    def _visible(self, ids: Collection[str]) -> Collection[str]:
        """Return the given memories that the caller may see.

        The lock must be held.
        """
        hidden = self._hidden()
        return [one for one in ids if self._slot_of[one] not in hidden] if hidden else ids

    def _best(self, rows: Rows, scores: F32, limit: int) -> list[tuple[str, float]]:
        """Return the `limit` memories with the best scores: (id, score).

        `rows` are slots of memories, and `scores` their scores. The best come first; ties are ordered by id.
        """
        rows, scores = best_rows(rows, scores, limit)
        found = [(self._id_at[row], float(score)) for row, score in zip(rows, scores, strict=True)]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]

    def _place(self, memory_id: str) -> int | None:
        slot = self._slot_of.get(memory_id)
        return None if slot is None else self._timeline.place((int(self._columns.created[slot]), memory_id))

    def _walk(self, place: int, step: int, count: int) -> list[str]:
        """Return ids of the next live memories before or after a position in time.

        `place` is the position of a memory in the order of creation. `step` 1 returns later memories, and -1 earlier ones. At most `count`
        are returned, nearest first. Memories that the caller may not see are left out.
        """
        hidden = self._hidden()

        def passes(one: str) -> bool:
            slot = self._slot_of[one]
            return bool(self._columns.live[slot]) and slot not in hidden

        return self._timeline.walk(place, step, count, passes)

    def _put(self, rows: dict[str, MemoryRow]) -> None:
        """Add or replace the memories `rows` (id -> memory) in all indexes."""
        old, new, times = [], [], []
        self._make_room(sum(one not in self._slot_of for one in rows))
        for one, row in rows.items():
            slot = self._slot_of.get(one)
            words = searched(row)
            if slot is None:
                slot = self._free.pop()
                self._slot_of[one], self._id_at[slot] = slot, one
                new.append((slot, words))
            else:
                before = unpack(self._packed[slot])
                self._drop_keys(before, slot, keep_vector=before.text_hash == row.text_hash)
                if (was := searched(before)) != words:
                    old.append((slot, was))
                    new.append((slot, words))
            self._packed[slot] = pack(row)
            self._by_fingerprint.setdefault(row.fingerprint, []).append(one)
            self._by_short_id[row.short_id] = one
            self._slots_of_text.setdefault(row.text_hash, []).append(slot)
            self._slots_seen_by.setdefault(row.visibility, set()).add(slot)
            times.append((self._columns.put(slot, row), one))
        self._timeline.add(times)
        self._words.remove(old)
        self._words.add(new)

    def _forget(self, ids: Sequence[str]) -> None:
        old = []
        for one in ids:
            slot = self._slot_of.get(one)
            if slot is None:
                continue
            row = unpack(self._packed[slot])
            old.append((slot, searched(row)))
            self._drop_keys(row, slot, keep_vector=False)
            self._unlink(one)
            del self._slot_of[one]
            self._id_at[slot], self._packed[slot] = "", b""
            self._columns.clear(slot)
            self._free.append(slot)
        self._words.remove(old)

    def _drop_keys(self, row: MemoryRow, slot: int, *, keep_vector: bool) -> None:
        """Remove a memory from all look-up tables except the word index.

        The tables are those by fingerprint, short id, text hash, visibility and time. `slot` is the memory's row number. If `keep_vector`
        is false, the memory's vector is dropped, too.
        """
        drop(self._by_fingerprint, row.fingerprint, row.id)
        if self._by_short_id.get(row.short_id) == row.id:
            del self._by_short_id[row.short_id]
        drop(self._slots_of_text, row.text_hash, slot)
        self._slots_seen_by[row.visibility].discard(slot)
        self._timeline.remove((micros(row.created_at), row.id))
        if not keep_vector:
            self._vectors.present[slot] = False

    def _make_room(self, count: int) -> None:
        """Enlarge the arrays, if necessary, for `count` further memories."""
        if count <= len(self._free):
            return
        n = len(self._id_at)
        more = max(count - len(self._free), n // 2, _FIRST_SLOTS)
        self._id_at += [""] * more
        self._packed += [b""] * more
        self._free += range(n + more - 1, n - 1, -1)
        self._columns.grow(n + more)
        self._vectors.grow(n + more)
