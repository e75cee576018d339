"""Run a search of code and memories, and join the results.

Candidates are found in several ways ("paths") in parallel, such as by words and by vectors. Each path must finish before the deadline. The
answer names paths that are late, missing or incomplete, and uses the results of the others. The ranked items are *units*: a symbol with its
chunks, a chunk without a symbol, or a memory. Code and memories have separate lists and weights. If both are searched, their cosines share
one scale, and a memory gets the full score for words only if it has all words of the query. Without these two rules, the best of several
bad memories could rank as high as a close match in code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.answers import IndexState, SearchAnswer, SearchHit
from graphmem.embedding.base import F32, Embedder
from graphmem.errors import DeadlineError, EmbedderError, LanguageModelError
from graphmem.model import file_id
from graphmem.projection.graph.view import GraphView
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.snapshot import Snapshot
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.projection.words.index import WordAnswer, WordIndex
from graphmem.projection.words.postings import Elsewhere
from graphmem.projection.words.text import query_words
from graphmem.search.code import finding as code
from graphmem.search.code.candidates import Dense, Filters, by_graph, by_name, by_vectors, near_files, query_vector
from graphmem.search.hits.hits import code_hits, memory_hit
from graphmem.search.memories import finding as memories
from graphmem.search.memories.mixed import with_room, without_strangers
from graphmem.search.query.aliases import NO_ALIASES, Aliases, expand
from graphmem.search.query.frames import framed
from graphmem.search.query.query_type import QUESTION, classify, mentions, without_language
from graphmem.search.request import KINDS, MAX_K, MAX_QUERY, SYSTEM_KINDS, Judge, MemoryWeights, Request, Tuning, Weights, check
from graphmem.search.rerank import Reranker, reranked
from graphmem.search.units.units import Voted

__all__ = ["KINDS", "MAX_K", "MAX_QUERY", "Aids", "Judge", "MemoryWeights", "Request", "Tuning", "Weights", "search"]

_ENOUGH: Final = 3  # minimum memories over _GOOD; with fewer, a hypothetical memory is written and searched for
_GOOD: Final = 0.5
_SELDOM: Final = ("told", "literal", "message", "places", "frames")  # lists that are empty for most queries
_TEXTS: Final = ("words", "sentence", "names", "literal", "dense")  # lists that compare code with the query, as the lists of memories do


class Aids(NamedTuple):
    """Optional inputs of a search: synonyms, change frequencies, a reranker."""

    project: str = ""  # the project's name in ids of files
    judge: Judge = Judge()
    aliases: Aliases = NO_ALIASES  # words and their synonyms
    reranker: Reranker | None = None  # reads query and text together
    churn: Mapping[str, float] = MappingProxyType({})  # how often each file changes, 0 to 1
    hypothesis: Callable[[str], str] | None = None  # writes the memory that would answer a query


class _Path(NamedTuple):
    """A search method, such as search by words, that runs in a thread.

    `future` will have the candidates that the method finds. If the method is not used for this query, `future` is None and `reason` says
    why.
    """

    name: str
    future: Future[Any] | None
    reason: str


def search(
    shot: Snapshot,
    embedder: Embedder | None,
    request: Request,
    state: IndexState,
    tuning: Tuning | None = None,
    aids: Aids | None = None,
) -> SearchAnswer:
    """Search a snapshot; return hits best first, ties sorted by id.

    `embedder` computes the query's vector; None without a model. `tuning` has the weights, and `aids` optional inputs such as synonyms. The
    same snapshot, query and time give the same answer.

    Raises:
        BadInputError: the query is empty or too long, `k` is out of range, or a kind or phase is unknown.
    """
    check(request)
    run = _Run(shot, embedder, request, state, tuning or Tuning(), aids or Aids())
    try:
        return run.answer()
    except DamagedWordsError as error:
        if shot.words is None:
            raise
        renewed = shot.report_damage(shot.words, request.deadline_s)
        if renewed is None or renewed.words is None:
            renewed = shot._replace(words=None, words_note=f"the word index is damaged and is being rebuilt ({error})")
        return _Run(renewed, embedder, request, state, tuning or Tuning(), aids or Aids()).answer()


def candidates_of(
    shot: Snapshot, embedder: Embedder | None, request: Request, state: IndexState, tuning: Tuning, aids: Aids
) -> tuple[str, code.CodeLists]:
    """Return the type of a query, and its code candidates before fusion.

    The parameters are those of `search`. The type is one of those that `query_type.classify` returns. The candidates are those from which
    `search` makes the hits.

    Raises:
        BadInputError: as for `search`.
    """
    check(request)
    run = _Run(shot, embedder, request, state, tuning, aids)
    return run.kind, run.candidates()


class _Run:
    """One running search, with the data that its steps share."""

    def __init__(self, shot: Snapshot, embedder: Embedder | None, request: Request, state: IndexState, tuning: Tuning, aids: Aids) -> None:
        self.shot = shot
        self.embedder = embedder
        self.request = request
        self.state = state
        self.tuning = tuning._replace(depth=max(tuning.depth, request.k), chunks=max(tuning.chunks, request.k))
        self.aids = aids
        self.deadline = time.monotonic() + request.deadline_s
        self.kind = classify(request.query)
        if self.kind == QUESTION:
            self.tuning = self.tuning._replace(tests=self.tuning.tests_of_questions)
        weights = tuning.weights[self.kind]
        self.weights = weights._replace(exact=tuning.exact_alone) if len(request.query.split()) == 1 else weights
        self.text, self.notes = expand(request.query, aids.aliases)
        self.code_text = without_language(self.text, shot.graph.main_language)
        if self.kind == QUESTION and self.code_text != self.text:
            self.weights = self.weights._replace(dense=self.weights.dense * tuning.outside)
        self.missing: dict[str, str] = {}
        self.answered: list[str] = []

    def answer(self) -> SearchAnswer:
        """Run all steps of the search and return the answer."""
        request, shot = self.request, self.shot
        index = shot.memories if request.wants_memories else None
        if request.wants_memories and index is None:
            self.missing["memories"] = shot.memories_note
        filters = Filters(_chunk_kinds(request.kinds), request.within)
        words_path = self._start_words(filters)
        vector = self._vector(index)
        dense_path = self._start_dense(vector, filters)
        active = near_files(shot.graph, request.files) if request.files else {}
        found = self._memories(index, vector, active) if index is not None and len(index) else None
        coded = self._code(words_path, dense_path, filters, active) if request.wants_code else None
        best_cosine = max(found.found.highest, coded.best_cosine) if found is not None and coded is not None else None
        scored = self._ranked_memories(index, found, coded) if index is not None and found is not None else []
        voted = code.join(shot, coded, request, self.weights, self.tuning, best_cosine) if coded is not None else []
        if coded is not None and scored:
            voted = _lowered(voted, self._beside_memories(coded))
        if found is not None and "hypothesis" not in self.answered and not memories.is_heard(found, self.tuning.faint):
            scored = []
        if coded is not None and not code.is_heard(coded, self.tuning.faint):
            voted = []
        if (found is not None or coded is not None) and not scored and not voted:
            self.notes.append("no text has a word of the query, and no vector is near it")
            if coded is None:
                self.notes.append('`graphmem ask "why …?"` also looks for reasons in documents, comments and commits')
        hits = code_hits(shot, voted, coded.units, request) if coded is not None else []
        if index is not None and coded is not None and scored:
            scored = self._without_strangers(index, scored, hits, coded)
        hits += [memory_hit(one, request) for one in scored]
        hits.sort(key=lambda hit: (-hit.score, hit.id, hit.node))
        if coded is not None and scored:
            hits = with_room(hits, request.query, request.k)
        if self.aids.reranker is not None:
            hits, failure = reranked(self.aids.reranker, request.query, hits)
            self.missing |= {"rerank": failure} if failure else {}
            self.answered += [] if failure else ["rerank"]
        hits = hits[: request.k]
        return SearchAnswer(request.query, self.kind, hits, self.answered, self.missing, self.state, self.notes)

    def candidates(self) -> code.CodeLists:
        """Collect code and documents that may answer the query."""
        filters = Filters(_chunk_kinds(self.request.kinds), self.request.within)
        words_path = self._start_words(filters)
        dense_path = self._start_dense(self._vector(None), filters)
        active = near_files(self.shot.graph, self.request.files) if self.request.files else {}
        return self._code(words_path, dense_path, filters, active)

    # ---- paths

    def _start_words(self, filters: Filters) -> _Path:
        words = self.shot.words
        if not self.request.wants_code:
            return _Path("words", None, "")
        if words is None:
            return _Path("words", None, self.shot.words_note)

        # With vectors, code that shares few words with a question is found by them.
        vectors = self.embedder is not None and self.shot.vectors is not None and len(self.shot.vectors) > 0
        worth = code.worth_of(self.shot.graph, self.request.query, self.tuning) if not vectors else None

        def answer(index: WordIndex) -> WordAnswer:
            kinds, paths = filters.chunk_kinds, filters.paths
            return index.search(self.code_text, self.tuning.chunks, kinds=kinds, paths=paths, worth=worth, deadline=self.deadline)

        return _Path("words", _pool("words").submit(answer, words), "")

    def _vector(self, index: MemoryIndex | None) -> F32 | None:
        """Return the vector of the query, or None.

        The result is None without a model, without stored vectors of this model, and after the deadline. The reason is recorded in the
        attribute `missing`.
        """
        shot, embedder = self.shot, self.embedder
        if embedder is None:
            self.missing["dense"] = "no model"
            return None
        of_code = shot.vectors if self.request.wants_code and shot.words is not None else None
        model = (
            of_code.model_id if of_code is not None and len(of_code) else index.model_id if index is not None and index.covered()[0] else ""
        )
        if not model:
            self.missing["dense"] = (shot.vectors_note or shot.words_note if self.request.wants_code else "") or "no vectors yet"
            return None
        if model != embedder.model_id:
            self.missing["dense"] = f"the vectors come from {model}, but the model is {embedder.model_id}"
            return None
        started = _Path("dense", _pool("dense").submit(query_vector, embedder, self.request.query), "")
        vector: F32 | None = self._collect(started)
        return vector

    def _start_dense(self, vector: F32 | None, filters: Filters) -> _Path:
        vectors, words = self.shot.vectors, self.shot.words
        if vector is None or not self.request.wants_code:
            return _Path("dense", None, "")
        if vectors is None or words is None or not len(vectors):  # only memories have vectors, code has none
            return _Path("dense", None, self.shot.vectors_note or self.shot.words_note or "no vectors yet")
        return _Path("dense", _pool("dense").submit(by_vectors, vectors, words, vector, self.tuning.chunks, filters), "")

    def _collect(self, path: _Path) -> Any:
        """Wait for the search method `path`; return its result.

        The result is None if the method did not run, failed, or missed the deadline. The reason is recorded in the attribute `missing`.
        """
        if path.future is None:
            if path.reason:
                self.missing[path.name] = path.reason
            return None
        try:
            return path.future.result(timeout=max(0.0, self.deadline - time.monotonic()))
        except (FutureTimeoutError, DeadlineError):
            self.missing[path.name] = "deadline"
        except (EmbedderError, LanguageModelError) as error:
            self.missing[path.name] = error.message
        return None

    def _answers(self, *names: str) -> None:
        self.answered += [name for name in names if name not in self.answered]

    # ---- kinds of units

    def _code(self, words_path: _Path, dense_path: _Path, filters: Filters, active: Mapping[str, float]) -> code.CodeLists:
        """Return ranked lists of code and document candidates, not yet fused.

        Args:
            words_path: the search by words, which runs in a thread.
            dense_path: the search by vectors, which runs in a thread.
            filters: restrictions on paths and kinds.
            active: maps paths to their nearness to the open files.
        """
        shot, weights = self.shot, self.weights
        want_symbols = not self.request.kinds or bool(self.request.kinds & {"code", "symbol"})
        named = by_name(shot.graph, mentions(self.request.query), filters) if want_symbols else {}
        placed = framed(shot.graph, self.request.query) if want_symbols and weights.frames else set()
        placed = {node for node in placed if filters.allows_path(shot.graph.path(node))}
        named |= dict.fromkeys(placed, 1.0)
        around = by_graph(shot.graph, named, self.tuning.graph_depth, filters) if weights.graph else {}
        words: WordAnswer | None = self._collect(words_path)
        dense: Dense | None = self._collect(dense_path)
        of_words = ["words"] + [name for name in ("sentence", "names") if getattr(weights, name)]
        self._answers(*(of_words if words is not None else []), *(["dense"] if dense is not None else []))
        if want_symbols:
            self._answers(*(["exact", "graph"] if weights.graph else ["exact"]))
        self._answers(*(name for name in ("alike", "echo") if getattr(weights, name) and dense is not None))
        self._answers(*(["joined"] if weights.joined else []))
        if active:
            self._answers("files")
        self.notes += _word_notes(words)
        share = _coverage(shot.covered) if dense is not None else 0.0
        if dense is not None and share < 1:
            self.missing["dense"] = f"vectors {share:.0%}"
        signs = code.Signs(named, placed, around, active, self.aids.churn)
        coded = code.gather(self.request.query, shot, code.Answers(words, dense, share), signs, weights, self.tuning)
        self._answers(*(one.name for one in coded.lists if one.name in _SELDOM and one.scores and one.weight))
        return coded

    def _memories(self, index: MemoryIndex, vector: F32 | None, active: Mapping[str, float]) -> memories.MemoryLists:
        request, view = self.request, self.shot.graph
        nodes = {self._node(path): value for path, value in active.items()}
        allowed = _about_within(index, view, request.within, self.aids.project) if request.within else None
        words = query_words(self.text)
        with index.reading():  # prevents a switch of the model between the two reads
            usable = vector if index.model_id and self.embedder is not None and index.model_id == self.embedder.model_id else None
            query = memories.MemoryQuery(request, words, usable, self._now())
            found = memories.gather(index, query, self.tuning, nodes, allowed)
        share = _coverage(index.covered())
        if usable is not None and share < 1:
            self.missing["memory vectors"] = f"vectors {share:.0%}"
        there = (
            ("words", True),
            ("dense", usable is not None and share > 0),
            ("time", True),
            ("graph", True),
            ("files", bool(active)),
            ("dates", bool(found.dates)),
        )
        self._answers(*(name for name, is_there in there if is_there))
        if not self.request.wants_code and found.found.unknown:
            self.notes.append(f"no memory contains: {', '.join(found.found.unknown)}")
        return found

    def _ranked_memories(
        self, index: MemoryIndex, found: memories.MemoryLists, coded: code.CodeLists | None
    ) -> list[memories.ScoredMemory]:
        def ranked_by(text: str, lists: memories.MemoryLists) -> list[memories.ScoredMemory]:
            if coded is not None:
                words = query_words(text)
                lists = memories.beside_code(lists, index, words, self._rows_of_code(words), _cosines(coded))
            return memories.rank(index, memories.join(lists, self.tuning), lists, self.request, self.tuning, self.aids.judge)

        ranked = ranked_by(self.text, found)
        if self.aids.hypothesis is None or self.embedder is None or sum(one.score > _GOOD for one in ranked) >= _ENOUGH:
            return ranked[: self.request.k]
        imagined = self._collect(_Path("hypothesis", _pool("hypothesis").submit(self.aids.hypothesis, self.request.query), ""))
        if not imagined:
            return ranked[: self.request.k]
        self._answers("hypothesis")
        self.notes.append("few memories fit: searched for a hypothetical one as well")
        query = memories.MemoryQuery(self.request, query_words(imagined), query_vector(self.embedder, imagined), self._now())
        again = memories.gather(index, query, self.tuning, {}, None)
        best = {one.row.id: one for one in ranked_by(imagined, again)}
        for one in ranked:
            if one.row.id not in best or one.score >= best[one.row.id].score:
                best[one.row.id] = one
        return sorted(best.values(), key=lambda one: (-one.score, one.row.id))[: self.request.k]

    def _without_strangers(
        self, index: MemoryIndex, scored: list[memories.ScoredMemory], hits: Sequence[SearchHit], coded: code.CodeLists
    ) -> list[memories.ScoredMemory]:
        """Lower the scores of memories that are unrelated to the best code hits.

        Such memories then rank below all code hits; `mixed.without_strangers` has the rules. If the function leaves out memories, a note
        is added to the answer.
        """
        view = self.shot.graph

        def paths_of(memory_id: str) -> set[str]:
            paths = set()
            for target in index.targets(memory_id):
                node = view.index_of.get(target)
                path = view.path(node) if node is not None else index.path_of(target)
                if path:
                    paths.add(path)
            return paths

        filling = self.embedder is not None and coded.share == 0
        kept, left_out = without_strangers(scored, hits, paths_of, vectors=coded.share > 0, coming=filling)
        if left_out:
            self.notes.append("lessons of commits are left out until semantic search of code answers")
        return kept

    def _beside_memories(self, coded: code.CodeLists) -> float:
        """Return the factor that makes code scores comparable with memory scores.

        `coded` has the code candidates. Code gets scores from more ranked lists than memories do. Without the factor, code would rank too
        high.
        """
        said = sum(one.weight for one in coded.lists if one.name in _TEXTS and one.scores)
        said += (self.weights.alike + self.weights.echo) * coded.share
        full = self.tuning.memory.words + self.tuning.memory.dense
        return min(1.0, full / said) if said else 1.0

    def _rows_of_code(self, words: Sequence[str]) -> Elsewhere:
        """Count, for each word of the query, the chunks of code that contain it."""
        return Elsewhere(*self.shot.words.rows_with(words)) if self.shot.words is not None else Elsewhere({}, 0)

    def _now(self) -> datetime:
        return self.request.as_of or self.aids.judge.now()

    def _node(self, path: str) -> str:
        """Return the node id of a file, even if the index lacks the file.

        Memories may name such files.
        """
        node = self.shot.graph.file_node(path)
        return self.shot.graph.ids[node] if node is not None else file_id(self.aids.project, path)


def _lowered(voted: Sequence[Voted], by: float) -> list[Voted]:
    """Multiply the scores of the code hits `voted`, and their parts, by `by`."""
    if by == 1:
        return list(voted)
    return [Voted(one.hit.times(by), one.score * by, one.boost * by, one.boosted_by) for one in voted]


def _cosines(coded: code.CodeLists) -> Collection[float]:
    """Return the cosines of all code candidates that were found by vectors.

    `coded` has the code candidates of the search.
    """
    return next(one.scores for one in coded.lists if one.name == "dense").values()


@cache
def _pool(path: str) -> ThreadPoolExecutor:
    """Return the thread pool of one search method, such as search by words.

    Each method has its own threads, so that a query that waits for a model to load does not delay the word search of another query. Threads
    are sufficient, because SQLite, the model and the matrix product release the interpreter lock.
    """
    return ThreadPoolExecutor(2, thread_name_prefix=f"graphmem-{path}")


def _about_within(index: MemoryIndex, view: GraphView, within: Sequence[str], project: str) -> set[str]:
    """Return memories about code in given files or below given directories.

    `within` has the paths of the files and directories.
    """
    filters = Filters((), tuple(within))
    nodes = {file_id(project, path) for path in within}
    nodes |= {view.ids[int(node)] for path in view.paths if filters.allows_path(path) for node in view.by_path(path)}
    nodes |= {view.ids[node] for path in view.paths if filters.allows_path(path) and (node := view.file_node(path)) is not None}
    return index.about_any(nodes)


def _coverage(covered: tuple[int, int]) -> float:
    have, total = covered
    return have / total if total else 0.0


def _word_notes(words: WordAnswer | None) -> list[str]:
    """Return notes on words of the query that were replaced or ignored."""
    if words is None:
        return []
    notes = [f"ignored because too many texts have them: {', '.join(words.left_out)}"] if words.left_out else []
    return notes + [
        f"no text has {word!r}; searched for {', '.join(f'{stem}…' for stem in near)} instead" for word, near in words.replaced.items()
    ]


def _chunk_kinds(kinds: frozenset[str]) -> tuple[str, ...]:
    """Return the kinds of chunks to search for the wanted kinds of results.

    Symbols are found through the chunks that contain their code, so for symbols the result is code chunks.
    """
    wanted = {"code" if kind == "symbol" else kind for kind in kinds - SYSTEM_KINDS if kind != "memory"}
    return tuple(sorted(wanted))
