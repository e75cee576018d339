"""Search: candidates from several paths side by side, joined, explained.

Each path has until the deadline; one that is late, missing or incomplete is named in the answer, and the others carry on.
What is ranked are *units*: a symbol together with the chunks cut at it, or a chunk that belongs to none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cache
from typing import Any, Final, NamedTuple

from graphmem.answers import IndexState, PathScore, SearchAnswer, SearchHit
from graphmem.embedding.base import Embedder
from graphmem.errors import BadInputError, DeadlineError, EmbedderError
from graphmem.projection.graph import GraphView
from graphmem.projection.projections import Snapshot
from graphmem.projection.text import query_words
from graphmem.projection.words import DamagedWordsError, WordAnswer, WordIndex
from graphmem.search.candidates import Dense, Filters, by_graph, by_name, by_vectors
from graphmem.search.fusion import MINMAX, Fused, Ranked, fuse
from graphmem.search.query_type import IDENTIFIER, SEMANTIC, STRUCTURAL, classify, mentions
from graphmem.search.snippet import snippet
from graphmem.search.units import Units, Voted, refine, unit_of_chunk

KINDS: Final = ("code", "prose", "data", "symbol", "memory")
MAX_K: Final = 200
MAX_QUERY: Final = 10_000  # characters


class Weights(NamedTuple):
    """How much each path says for one type of query."""

    words: float  # BM25 of chunks
    dense: float  # cosine
    exact: float  # symbols the query names
    graph: float  # their neighbours
    votes: float  # of other hits in the same file


class Tuning(NamedTuple):
    """What was chosen by measurement; docs/decisions/0006-fusion.md has the tables."""

    normaliser: str = MINMAX
    depth: int = 100  # candidates of the word and the dense path, each
    graph_depth: int = 15
    exact_alone: float = 2.0  # weight of names when the query is nothing but one name
    divide: bool = True  # chunks among the symbols in them
    weights: dict[str, Weights] = {  # noqa: RUF012 - a NamedTuple's default, never written to
        IDENTIFIER: Weights(words=0.6, dense=0.4, exact=0.1, graph=0.0, votes=0.2),
        SEMANTIC: Weights(words=0.4, dense=0.6, exact=0.0, graph=0.0, votes=0.2),
        STRUCTURAL: Weights(words=0.4, dense=0.2, exact=0.2, graph=0.6, votes=0.0),
    }


class Request(NamedTuple):
    """What is asked.

    Attributes:
        query: words, an identifier, or a question; not empty.
        k: hits wanted, 1 to 200.
        files: only in these files and below these directories; everywhere when empty.
        kinds: of KINDS; "code" means symbols and code outside definitions; all when empty.
        explain: fill in `parts` of every hit.
        deadline_s: seconds after which a path that has not answered is left out.
    """

    query: str
    k: int = 10
    files: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    explain: bool = True
    deadline_s: float = 2.0


class _Path(NamedTuple):
    """A path that was started: its answer, or why there is none."""

    name: str
    future: Future[Any] | None
    reason: str


def search(shot: Snapshot, embedder: Embedder | None, request: Request, state: IndexState, tuning: Tuning | None = None) -> SearchAnswer:
    """Hits for a query, best first, ties by id; the same snapshot and query give the same answer.

    Raises:
        BadInputError: an empty or overlong query, `k` out of range, an unknown kind.
    """
    _check(request)
    try:
        return _answer(shot, embedder, request, state, tuning or Tuning())
    except DamagedWordsError as error:
        if shot.words is None:
            raise
        shot.report_damage(shot.words)
        without = shot._replace(words=None, words_note=f"the word index is damaged and is being built again ({error})")
        return _answer(without, embedder, request, state, tuning or Tuning())


def _answer(shot: Snapshot, embedder: Embedder | None, request: Request, state: IndexState, tuning: Tuning) -> SearchAnswer:
    deadline = time.monotonic() + request.deadline_s
    tuning = tuning._replace(depth=max(tuning.depth, request.k))
    kind = classify(request.query)
    weights = tuning.weights[kind]
    if len(request.query.split()) == 1:
        weights = weights._replace(exact=tuning.exact_alone)
    filters = Filters(_chunk_kinds(request.kinds), request.files)
    want_symbols = not request.kinds or bool(request.kinds & {"code", "symbol"})
    want_chunks = not request.kinds or bool(request.kinds - {"memory"})

    words_path = _start_words(shot, request, tuning, filters, want_chunks, deadline)
    dense_path = _start_dense(shot, embedder, request, tuning, filters, want_chunks)
    named = by_name(shot.graph, mentions(request.query), filters) if want_symbols else {}
    around = by_graph(shot.graph, named, tuning.graph_depth, filters) if weights.graph else {}

    missing: dict[str, str] = {}
    words: WordAnswer | None = _collect(words_path, deadline, missing)
    dense: Dense | None = _collect(dense_path, deadline, missing)
    answered = [name for name, there in (("words", words), ("dense", dense)) if there is not None]
    if want_symbols:
        answered += ["exact", "graph"] if weights.graph else ["exact"]
    notes = _notes(words)
    share = _coverage(shot) if dense is not None else 0.0
    if dense is not None and share < 1:
        missing["dense"] = f"vectors {share:.0%}"

    lists, units = _ranked(request.query, shot, words, dense, named, around, weights, share, want_symbols)
    fused = fuse(lists, tuning.normaliser)
    only_symbols = bool(request.kinds) and not request.kinds & {"code", "prose", "data"}
    if only_symbols:
        fused = [hit for hit in fused if hit.id in shot.graph.index_of]
    voted = _with_votes(shot.graph, fused, units, weights.votes)
    chosen = refine(shot, voted, units, request.query, request.k) if want_symbols and tuning.divide else voted[: request.k]
    hits = _hits(shot, chosen, units, request)
    return SearchAnswer(query=request.query, query_type=kind, hits=hits, answered=answered, missing=missing, state=state, notes=notes)


# ---- paths


@cache
def _pool(path: str) -> ThreadPoolExecutor:
    """Threads of one path: SQLite, the model and the matrix product all let go of the interpreter.

    Each path has its own, so that queries that wait for a model to load do not keep others from their words.
    """
    return ThreadPoolExecutor(2, thread_name_prefix=f"graphmem-{path}")


def _start_words(shot: Snapshot, request: Request, tuning: Tuning, filters: Filters, want_chunks: bool, deadline: float) -> _Path:
    words = shot.words
    if words is None:
        return _Path("words", None, shot.words_note)
    if not want_chunks:
        return _Path("words", None, "nothing of these kinds is indexed")

    def answer(index: WordIndex) -> WordAnswer:
        return index.search(request.query, tuning.depth, kinds=filters.chunk_kinds, paths=filters.paths, deadline=deadline)

    return _Path("words", _pool("words").submit(answer, words), "")


def _start_dense(shot: Snapshot, embedder: Embedder | None, request: Request, tuning: Tuning, filters: Filters, want_chunks: bool) -> _Path:
    vectors, words = shot.vectors, shot.words
    if embedder is None:
        return _Path("dense", None, "no model")
    if vectors is None or words is None or not len(vectors):
        return _Path("dense", None, shot.vectors_note or shot.words_note or "no vectors yet")
    if vectors.model_id != embedder.model_id:
        return _Path("dense", None, f"the vectors are of {vectors.model_id}, the model is {embedder.model_id}")
    if not want_chunks:
        return _Path("dense", None, "nothing of these kinds has vectors")
    return _Path("dense", _pool("dense").submit(by_vectors, vectors, words, embedder, request.query, tuning.depth, filters), "")


def _collect(path: _Path, deadline: float, missing: dict[str, str]) -> Any:
    """Answer of a path, or None with the reason in `missing`."""
    if path.future is None:
        missing[path.name] = path.reason
        return None
    try:
        return path.future.result(timeout=max(0.0, deadline - time.monotonic()))
    except (FutureTimeoutError, DeadlineError):
        missing[path.name] = "deadline"
    except EmbedderError as error:
        missing[path.name] = error.message
    return None


def _coverage(shot: Snapshot) -> float:
    have, total = shot.covered
    return have / total if total else 0.0


def _notes(words: WordAnswer | None) -> list[str]:
    """What was made of the query's words."""
    if words is None:
        return []
    notes = [f"left out because they are in so many texts: {', '.join(words.left_out)}"] if words.left_out else []
    return notes + [f"no text has {word!r}; looked for {', '.join(near)} instead" for word, near in words.replaced.items()]


# ---- joining


def _ranked(
    query: str,
    shot: Snapshot,
    words: WordAnswer | None,
    dense: Dense | None,
    named: dict[int, float],
    around: dict[int, tuple[float, int]],
    weights: Weights,
    share: float,
    want_symbols: bool,
) -> tuple[list[Ranked], Units]:
    """Every path's candidates as scores of units."""
    view = shot.graph
    chunk_words = {hit.id: hit.score for hit in words.hits} if words is not None else {}
    chunk_dense = dense.chunks if dense is not None else {}
    chunks = sorted(chunk_words.keys() | chunk_dense.keys())
    entries = shot.words.entries(chunks, texts=False) if shot.words is not None and chunks else {}
    if dense is not None and shot.vectors is not None:
        # A cosine is cheap for any text: every candidate gets its own, whoever found it.
        known = shot.vectors.cosines(dense.query, [entry.text_hash for entry in entries.values()])
        chunk_dense = {key: known[entry.text_hash] for key, entry in entries.items() if entry.text_hash in known}
    surely = {view.ids[node]: score for node, score in named.items()}
    asked = set(query_words(query))
    unit_of = {key: unit_of_chunk(view, entry, surely, asked) if want_symbols else key for key, entry in entries.items()}
    units = Units({}, entries, unit_of)

    def best(scores: dict[str, float]) -> dict[str, float]:
        by_unit: dict[str, float] = {}
        for chunk in sorted(scores, key=lambda key: (-scores[key], key)):
            unit = unit_of.get(chunk)
            if unit is not None:
                by_unit.setdefault(unit, scores[chunk])
                units.chunk_of.setdefault(unit, chunk)
        return by_unit

    lists = [
        Ranked("words", best(chunk_words), weights.words),
        Ranked("dense", best(chunk_dense), weights.dense * share, None),
        Ranked("exact", {view.ids[node]: score for node, score in named.items()}, weights.exact, full=1.0),
        Ranked("graph", {view.ids[node]: score for node, (score, _) in around.items()}, weights.graph),
    ]
    return lists, units


def _with_votes(view: GraphView, fused: Sequence[Fused], units: Units, weight: float) -> list[Voted]:
    """Candidates raised by the best three of their file, at most by `weight` of the score's span."""
    if not fused:
        return []
    path_of = {hit.id: _path_of(view, hit.id, units) for hit in fused}
    best: dict[str, list[Fused]] = {}
    for hit in fused:
        of_file = best.setdefault(path_of[hit.id], [])
        if len(of_file) < 3:
            of_file.append(hit)
    low = min(0.0, fused[-1].score)
    total = {path: sum(hit.score - low for hit in hits) for path, hits in best.items()}
    high = max(total.values()) or 1.0
    voted = []
    for hit in fused:
        boost = weight * total[path_of[hit.id]] / high
        others = [other.id for other in best[path_of[hit.id]] if other.id != hit.id]
        voted.append(Voted(hit, hit.score + boost, boost, others[0] if boost and others else ""))
    return sorted(voted, key=lambda one: (-one.score, one.hit.id))


def _path_of(view: GraphView, unit: str, units: Units) -> str:
    node = view.index_of.get(unit)
    return view.path(node) if node is not None else units.entries[unit].path


# ---- showing


def _hits(shot: Snapshot, voted: Sequence[Voted], units: Units, request: Request) -> list[SearchHit]:
    view = shot.graph
    chunks = {one.hit.id: units.chunk_of.get(one.hit.id, "") for one in voted}
    texts = shot.words.entries([chunk for chunk in chunks.values() if chunk]) if shot.words is not None else {}
    nodes = [node for one in voted if (node := view.index_of.get(one.hit.id)) is not None]
    infos = {info.id: info for info in view.infos(nodes)}
    hits = []
    for one in voted:
        unit = one.hit.id
        entry = texts.get(chunks[unit])
        info = infos.get(unit)
        if info is not None:
            where = ("symbol", info.path, info.qualname, info.kind, info.start_line, info.end_line, info.qualname)
            text = entry.text if entry is not None else "\n".join(part for part in (info.signature, view.doc(view.index_of[unit])) if part)
        elif entry is not None:
            where = (entry.kind, entry.path, "", "", entry.start_line, entry.end_line, entry.title)
            text = entry.text
        else:
            continue  # the word index was replaced between two looks at it
        parts = [PathScore(*part) for part in one.hit.parts] if request.explain else []
        hits.append(SearchHit(unit, *where, snippet(text, request.query), one.score, parts, one.boost, one.boosted_by))
    return hits


def _chunk_kinds(kinds: frozenset[str]) -> tuple[str, ...]:
    """Kinds of chunks that are looked through: a symbol is found by its code as well as by its name."""
    wanted = {"code" if kind == "symbol" else kind for kind in kinds if kind != "memory"}
    return tuple(sorted(wanted))


def _check(request: Request) -> None:
    if not request.query.strip():
        raise BadInputError("the query is empty; say what to look for", argument="query")
    if len(request.query) > MAX_QUERY:
        raise BadInputError(
            f"the query has {len(request.query):,} characters; at most {MAX_QUERY:,} are read", argument="query", allowed=MAX_QUERY
        )
    if not 1 <= request.k <= MAX_K:
        raise BadInputError(f"k must be 1 to {MAX_K}, not {request.k}", argument="k", allowed=MAX_K, found=request.k)
    unknown = sorted(request.kinds - set(KINDS))
    if unknown:
        raise BadInputError(f"unknown kind {unknown[0]!r}; kinds are {', '.join(KINDS)}", argument="kinds", found=unknown)
