"""Find the memories that an agent may be shown without asking.

Some memories are found by the open files or by a message. Others, called standing memories, apply to every session.
"""

from __future__ import annotations

import json
import logging
import time
from threading import get_ident
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphmem.errors import EmbedderError
from graphmem.injection.agent import MAX_CANDIDATES, MIN_SIMILARITY, Candidate, Context
from graphmem.injection.ask import Ask
from graphmem.injection.floor import WORDS, sentences_of, spoken_of
from graphmem.injection.project_items import named_places
from graphmem.knowledge import Anchor, is_held
from graphmem.memory.reading.lifecycle import confidence_in_use, importance_now, last_use
from graphmem.memory.seeds.seeds import ORIENTATION
from graphmem.memory.texts.types import COMMIT, LIVE_STATUSES, SEEDED, SOURCES, TRAPS
from graphmem.model import file_id
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.projection.words.postings import Elsewhere
from graphmem.projection.words.text import query_words
from graphmem.search.code.candidates import query_vector
from graphmem.search.request import MAX_FILES, MAX_QUERY, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from graphmem.answers import IndexState, MemoryInfo, SearchHit
    from graphmem.injection.trust import TrustBook
    from graphmem.knowledge import KnowledgeDelta, MemoryRow
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.memories.index import MemoryIndex
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.vectors.filler import VectorFiller

STANDING_TYPES: Final = frozenset({"workflow_recipe"})  # shown at the start, whatever their scope
STANDING_SCOPES: Final = frozenset({"user", "global", "module"})
PLANNED_TYPES: Final = ("prefetch_pattern", "task_calibration")
STANDING: Final = 48  # memories that apply to every session, before packing
SEARCH_SHARE: Final = 0.6  # of the time until a deadline, for a search of memories: it may wait for a model that is being loaded
PLACES_S: Final = 0.25  # minimum seconds for the search of places
PLACES_K: Final = 40  # code hits that are grouped by file
PLACES_SHARE: Final = 0.45  # least score of a place, as a share of the best one's: worse ones are mostly wrong
MAX_STANDING: Final = 12  # memories about open files, before packing

_log = logging.getLogger(__name__)


class Kept(NamedTuple):
    """Cache of the memories that apply to every session or serve planning.

    The cache is cleared when a memory changes.
    """

    standing: list[str]  # ids for every session: pinned, global, of modules, recipes; most important first
    more: int  # further memories beyond the first STANDING
    typed: dict[str, list[MemoryRow]]  # active memories of PLANNED_TYPES, by id


class Finder:
    """Finds memories to show without a request. Thread-safe.

    Args:
        book: repository of the memories.
        searcher: searches by text.
        projections: copies of the memories and the code in memory.
        vectors: has the model that embeds contexts.
        trust: has the trust level, which sets the lowest confidence of memories shown without a request.
        state: returns the state of the index.
        unit_of: returns the unit of work (task) of a session; "" if there is none.
    """

    def __init__(
        self,
        book: MemoryRepository,
        searcher: Searcher,
        projections: Projections,
        vectors: VectorFiller,
        trust: TrustBook,
        state: Callable[[], IndexState],
        unit_of: Callable[[str], str],
    ) -> None:
        self._unit_of = unit_of
        self._book = book
        self._searcher = searcher
        self._projections = projections
        self._vectors = vectors
        self.trust = trust
        self._state = state
        self._standing: Kept | None = None
        self._endings: tuple[GraphView, frozenset[str]] | None = None  # of the newest graph
        self._changes = 0  # changes of memories, which invalidate the cache
        self._counting = 0  # id of the thread that is counting shown memories

    def vector(self, text: str) -> Sequence[float] | None:
        """Return a message's vector of unit length; None without a model."""
        embedder = self._vectors.query_embedder()
        if embedder is None:
            return None
        try:
            return [float(one) for one in query_vector(embedder, text[-MAX_QUERY:])]
        except EmbedderError as error:
            _log.warning("contexts are compared by words: %s", error)
            return None

    def words(self, text: str) -> Sequence[str]:
        """Return a message's normalised words, to compare topics without a model."""
        return query_words(text)

    def candidates(self, context: Context, vector: Sequence[float] | None) -> list[Candidate]:
        """Return memories that fit a conversation, best first.

        Memories are found by `vector`. If it is None or the vectors of memories are missing, they are found by a search for words.
        """
        index = self._projections.memories()
        embedder = self._vectors.query_embedder()
        found: list[tuple[str, float]]
        if vector is not None and embedder is not None and index.model_id == embedder.model_id and index.covered()[0]:
            found = index.near(np.asarray(vector, np.float32), 3 * MAX_CANDIDATES, MIN_SIMILARITY)
        elif context.text.strip():
            ask = Ask("take", text=context.text, files=context.files, phase=context.phase)
            found = [(info.id, score) for info, score in self.search(context.text, ask, MAX_CANDIDATES, time.monotonic() + 2)]
        else:
            found = []
        sure = {info.id for info, _ in self.infos([one for one, _ in found], (), context.session)}
        return [Candidate(one, score) for one, score in found if one in sure][:MAX_CANDIDATES]

    def search(self, text: str, ask: Ask, k: int, until: float) -> list[tuple[MemoryInfo, float]]:
        """Return (memory, score) for memories relevant to a message, best first.

        Relevance has a fixed threshold. While the embedding model is not loaded, memories are found and judged by their words. Memories
        made from the project's own files come after all others. At most `k` memories are returned.
        """
        left = until - time.monotonic()
        if left <= 0:
            return []
        request = Request(
            query=text[:MAX_QUERY],
            k=k,
            files=ask.files[:MAX_FILES],
            kinds=frozenset({"memory"}),
            phase=ask.phase,
            explain=False,
            deadline_s=left * SEARCH_SHARE,
        )
        hits = self._searcher.search(request, self._state).hits
        found = [(hit.memory, hit.score) for hit in hits if hit.memory is not None and not is_held(hit.memory)]
        meant = self._relevant_ids(request.query, [info.id for info, _ in found])
        return sorted(((info, score) for info, score in found if info.id in meant), key=lambda one: one[0].source == SEEDED)

    def _relevant_ids(self, text: str, ids: Sequence[str]) -> set[str]:
        """Return those of `ids` that are memories relevant to a message.

        A memory is relevant if its vector is near the vector of the message. A memory is also relevant if it has enough words of one
        sentence of the message.
        """
        index = self._projections.memories()
        embedder = self._vectors.query_embedder()
        is_usable = embedder is not None and index.model_id == embedder.model_id and self._vectors.is_loaded
        vector = self.vector(text) if is_usable and any(index.vector(one) is not None for one in ids) else None
        near = index.cosines(np.asarray(vector, np.float32), ids) if vector is not None else {}
        meant = {one for one, cosine in near.items() if cosine >= MIN_SIMILARITY}
        rest = [one for one in ids if one not in meant]
        if not rest:
            return meant
        sentences = sentences_of(text)
        return meant | spoken_of(index, sentences, self._in_code(frozenset().union(*sentences)), rest)

    def _in_code(self, words: Collection[str]) -> Elsewhere:
        """Count, for each word, the pieces of code that contain it.

        The counts are empty if the words of the code are not loaded.
        """
        shot = self._projections.snapshot()
        if shot.words is None:
            return Elsewhere({}, 0)
        try:
            return Elsewhere(*shot.words.rows_with(sorted(words)))
        except DamagedWordsError:
            shot.report_damage(shot.words, 0.0)
            return Elsewhere({}, 0)

    def of_types(self, text: str, ask: Ask, k: int, types: Sequence[str]) -> list[tuple[MemoryInfo, float]]:
        """Return (memory, score) for memories of `types` that fit a request.

        At most `k` memories that fit the words of `text` are returned, best first.

        Memories of any confidence are returned, because an agent requested them. Memories that await review are left out.
        """
        request = Request(
            query=text[:MAX_QUERY], k=k, files=ask.files[:MAX_FILES], types=frozenset(types), kinds=frozenset({"memory"}), explain=False
        )
        hits = self._searcher.search(request, self._state).hits
        return [(hit.memory, hit.score) for hit in hits if hit.memory is not None and not is_held(hit.memory)]

    def places(self, text: str, files: Sequence[str], until: float) -> list[SearchHit]:
        """Return the files that match a message, each with its best definition.

        A result is a search hit; the best comes first, after files that the message names. A definition must have enough words of the
        message, see `floor.WORDS`, and at least the share PLACES_SHARE of the best score. The list is empty if the graph is not loaded or
        less than PLACES_S seconds are available. The search takes at most half of the time until `until`.
        """
        left = (until - time.monotonic()) / 2
        if left < PLACES_S or self._projections.graph_if_ready() is None:
            return []
        words = frozenset(one for one in frozenset().union(*sentences_of(text[:MAX_QUERY])) if len(one) > 1 and not one.isdigit())
        request = Request(
            query=text[:MAX_QUERY], k=PLACES_K, files=tuple(files[:MAX_FILES]), kinds=frozenset({"code"}), explain=False, deadline_s=left
        )
        best: dict[str, SearchHit] = {}
        for hit in self._searcher.search(request, self._state, wait=False).hits:
            if hit.qualname and _has_words_of(hit, words):
                best.setdefault(hit.path, hit)
        least = PLACES_SHARE * max((one.score for one in best.values()), default=0.0)
        named = named_places(self._projections.graph(), text[:MAX_QUERY], best)
        return named + [one for one in best.values() if one.score >= least and one.path not in {its.path for its in named}]

    def answers(self, query: str, session: str = "") -> list[str]:
        """Return ids of memories that answer an agent's search, best first.

        Memories that may not be shown to the session are left out.
        """
        if not query.strip():
            return []
        found = self.search(query, Ask("step"), 3, time.monotonic() + 2)
        return [info.id for info, _ in found if self.is_sure(info, session)]

    def traps(self, path: str) -> list[tuple[str, float]]:
        """Return the active traps about a file or its code, as (id, confidence).

        Traps are memories that warn of a mistake, of the types in TRAPS. Pinned traps come first, with confidence 1. The others are ordered
        by current confidence, which decreases with age; the highest is first, and ties are ordered by id. The result has the confidence
        without this decrease, so that an old trap is still shown.
        """
        index = self._projections.memories()
        view = self._projections.graph_if_ready()
        nodes = {file_id(self._book.project(), path)}
        if view is not None and path in view.path_number:
            nodes |= {view.ids[int(node)] for node in view.by_path(path)}
            if (file := view.file_node(path)) is not None:
                nodes.add(view.ids[file])
        now = self._book.clock.now()
        rows = [row for row in index.rows(index.about_any(nodes)).values() if row.type in TRAPS and self.may_show(row)]
        surest = sorted(rows, key=lambda row: (row.status != "pinned", -confidence_in_use(row, now, index.about(row.id)), row.id))
        return [(row.id, 1.0 if row.status == "pinned" else self._sureness(row, now, fades=False)) for row in surest]

    def endings(self) -> frozenset[str]:
        """Return the file extensions of the project, such as `py`.

        The set is empty before the graph is loaded.
        """
        view = self._projections.graph_if_ready()
        if view is None:
            return frozenset()
        if self._endings is None or self._endings[0] is not view:
            self._endings = (view, frozenset(path.rpartition(".")[2].lower() for path in view.path_number))
        return self._endings[1]

    def about_files(self, files: Sequence[str], shown: frozenset[str], session: str) -> tuple[list[tuple[MemoryInfo, float]], int]:
        """Return memories about some files, and the number of those left out.

        Memories with an id in `shown` are left out. Each memory is (memory, weight); the highest weight is first. Memories made from the
        project's own files come after all others. Ties are ordered by id. At most MAX_STANDING memories are returned.
        """
        index = self._projections.memories()
        view = self._projections.graph_if_ready()
        nodes: set[str] = set()
        for path in files[:MAX_FILES]:
            nodes.add(file_id(self._book.project(), path))
            if view is not None and path in view.path_number:
                nodes |= {view.ids[int(node)] for node in view.by_path(path)}
        ids = sorted(index.about_any(nodes))
        found = sorted(self.infos(ids, shown, session), key=lambda one: (one[0].source == SEEDED, -one[1], one[0].id))
        return found[:MAX_STANDING], len(found[MAX_STANDING:])

    def kept(self) -> Kept:
        """Return the memories that may be shown in every session or in planning.

        The result is cached. Every change of a memory clears the cache, except a change of the number of times it was shown.
        """
        kept = self._standing
        if kept is None:
            turn = self._changes
            now = self._book.clock.now()
            live = [row for row in self._projections.memories().all_rows() if row.status in LIVE_STATUSES and not is_held(row)]
            rows = [row for row in live if _stands(row)]
            rows.sort(
                key=lambda row: (
                    row.status != "pinned",
                    row.source == SEEDED,
                    -_worth(row, confidence_in_use(row, now), now),
                    -SOURCES[row.source].trust,
                    row.id,
                )
            )
            typed = {name: [row for row in live if row.type == name] for name in PLANNED_TYPES}
            kept = Kept([row.id for row in rows[:STANDING]], len(rows[STANDING:]), typed)
            if turn == self._changes:
                self._standing = kept
        return kept

    def infos(
        self,
        ids: Sequence[str],
        shown: frozenset[str] | Sequence[str],
        session: str = "",
        *,
        every: bool = False,
        fades: bool = True,
    ) -> list[tuple[MemoryInfo, float]]:
        """Return those of the memories `ids` that may be shown without a request.

        Each memory comes with its weight: importance × confidence × trust in the source. The order of `ids` is kept. Memories of too low
        confidence and memories of another session or unit of work (task) are left out.

        Args:
            ids: ids of memories.
            shown: ids of memories to leave out.
            session: the session that would see the memories.
            every: return memories of any confidence and any session; memories that await review are still left out.
            fades: reduce confidence by age before it is compared with the trust level; see `traps`.
        """
        index: MemoryIndex = self._projections.memories()
        rows = index.rows(one for one in ids if one not in shown)
        describer = self._book.describer()
        now = self._book.clock.now()
        found = []
        for one in ids:
            row = rows.get(one)
            if row is None or is_held(row) or (not every and not (self.may_show(row) and self._is_of(row, session))):
                continue
            info = describer.info(row)
            if every or self._is_sure(row, now, fades=fades):
                found.append((info, _worth(row, info.confidence_in_use, now)))
        return found

    def may_show(self, row: MemoryRow) -> bool:
        """Whether the status of a memory allows showing it to an agent unasked.

        The memory must be active and not await review. At the trust level `cautious`, it must also be confirmed.
        """
        if row.status not in LIVE_STATUSES or is_held(row):
            return False
        return row.status != "candidate" or self.trust.now().level() != "cautious"

    def is_sure(self, info: MemoryInfo, session: str = "") -> bool:
        """Return whether a memory's confidence and scope allow showing it.

        The memory's confidence must be high enough for the trust level, and its scope must include the session. Memories that await review
        are never shown.
        """
        row = self._projections.memories().row(info.id)
        return row is not None and not is_held(row) and self._is_of(row, session) and self._is_sure(row, self._book.clock.now())

    def _is_of(self, row: MemoryRow, session: str) -> bool:
        """Return whether a memory's scope includes a session.

        A memory of scope `session` applies to the session in which it was learnt. A memory of scope `work_unit` also applies to sessions
        with the same task. A pinned memory, or one of any other scope, applies to every session.
        """
        if row.status == "pinned" or row.scope not in ("session", "work_unit"):
            return True
        if session and any(one.session_id == session for one in self._projections.memories().learnt(row.id)):
            return True
        label = json.loads(row.work_unit).get("label") if row.scope == "work_unit" and row.work_unit else ""
        return bool(label) and bool(session) and self._unit_of(session) == label

    def _is_sure(self, row: MemoryRow, now: datetime, *, fades: bool = True) -> bool:
        cautious = row.status == "candidate" and self.trust.now().level() == "cautious"
        return row.status == "pinned" or (self._sureness(row, now, fades=fades) >= self.trust.threshold() and not cautious)

    def _sureness(self, row: MemoryRow, now: datetime, *, fades: bool = True) -> float:
        """Return a memory's confidence, as if the memory's code were unchanged.

        Usually, a change of the linked code lowers a memory's confidence. Here it does not, because the person who changed the code needs
        the memory most, and the text shown with the memory mentions the change. If the code was removed, the confidence is still lower.
        With `fades=False`, age does not lower the confidence.
        """
        there = [link for link in self._projections.memories().about(row.id) if link.anchor != Anchor.SUSPECT]
        return round(
            confidence_in_use(row, now if fades else last_use(row), there), 4
        )  # rounded as displayed: further digits change while it is read

    def leaning(self, phase: str) -> Mapping[str, float]:
        """Return the ratio of accepted to built-in weights of memory types.

        The result maps a memory type to the accepted weight in `phase` divided by the built-in one. Types whose two weights are equal are
        left out.
        """
        return self._searcher.phases.leaning(phase)

    def count_shown(self, ids: Sequence[str], session: str) -> None:
        """Add one to each memory's count of how often it was shown."""
        from graphmem.memory.repository.changes import note_use

        self._counting = get_ident()
        try:
            note_use(self._book, ids, "injected", session=session or None)
        finally:
            self._counting = 0

    def memories_changed(self, delta: KnowledgeDelta) -> None:
        """Clear the cache of standing memories after a write.

        A write that only counts how often memories were shown does not clear the cache.
        """
        is_count = self._counting == get_ident() and not delta.removed_memories and not delta.about
        if not is_count:
            self._changes += 1
            self._standing = None


def _worth(row: MemoryRow, confidence: float, now: datetime) -> float:
    """Return the weight by which memories are ranked before they are shown.

    The weight is importance × current confidence × trust in the source. Because of the trust, memories that people wrote rank before
    fragments of a rules file.
    """
    return importance_now(row, now) * confidence * SOURCES[row.source].trust


def _stands(row: MemoryRow) -> bool:
    """Return whether a memory applies to every session (a standing memory).

    The result is True for pinned memories, and for those with a scope in STANDING_SCOPES or a type in STANDING_TYPES. Of the memories made
    from the project's own files, only the overview and pinned ones apply, because agents read the project's instruction files by
    themselves. A commit's lesson that no person confirmed concerns only its files.
    """
    if row.status == "pinned":
        return True
    if row.source == SEEDED:
        return ORIENTATION in row.tags
    if row.source == COMMIT and row.status == "candidate":
        return False
    return row.scope in STANDING_SCOPES or row.type in STANDING_TYPES


def _has_words_of(hit: SearchHit, words: frozenset[str]) -> bool:
    """Return whether a definition has enough of the words of a message.

    `words` are the words of the message. The definition must have at least WORDS of them. If the message has fewer, the path or the name of
    the definition must have one, because a single word such as "hello" is in the text of much code.
    """
    if len(words) < WORDS:
        return not words.isdisjoint(query_words(f"{hit.path} {hit.qualname}"))
    own = query_words(" ".join((hit.path, hit.qualname, hit.summary, *(one.text for one in hit.lines))))
    return len(words.intersection(own)) >= WORDS
