"""Find and rank memories: by words and vectors, then by neighbours.

Neighbours of good hits form further ranked lists. Two memories are neighbours in three cases:

* One was learnt just before or after the other.
* Both are about the same code.
* A link joins them.

A hit passes a share of its score to its neighbours:

* The share is proportional to the fourth power of the score, so that the best hits decide.
* The memory right after a question gets most, because it may be the answer.
* All memories about the same code divide one share, so that each of many such memories gets little.

docs/decisions/0006-fusion.md has the measurements. It compares this search with a search without these lists.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from graphmem.answers import Factor
from graphmem.knowledge import MemoryRow
from graphmem.projection.memories.columns import MemoryFilter
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.memories.search import Found
from graphmem.projection.vectors import F32
from graphmem.projection.words.postings import Elsewhere
from graphmem.search.fusion import Fused, Ranked, fuse
from graphmem.search.memories import neighbours
from graphmem.search.memories.neighbours import Near
from graphmem.search.memories.phases import weight
from graphmem.search.query.query_type import is_asked
from graphmem.search.request import Judge, MemoryWeights, Request, Tuning

_SEEDS: Final = 50  # hits that pass on a share
_JUDGED_RIGHT: Final = 5  # best hits whose words form a second query
_SHARPNESS: Final = 4  # exponent of a hit's score
_ADDED: Final = 100  # neighbours of each kind that become candidates


class Scale(NamedTuple):
    """Bounds for scaling the raw scores of memories to the range 0 to 1.

    A BM25 score of 0 becomes 0, and `words` becomes 1. A cosine of `lowest` becomes 0, and `highest` becomes 1.
    """

    words: float  # BM25 of a full score
    lowest: float  # cosine of a zero score
    highest: float  # cosine of a full score


class MemoryLists(NamedTuple):
    """The results of all ways to search memories, ready for fusion.

    A field such as `words` maps the ids of the memories found in this way to their scores.
    """

    words: dict[str, float]
    dense: dict[str, float]
    time: dict[str, Near]
    graph: dict[str, Near]
    files: dict[str, float]
    dates: dict[str, float]
    found: Found
    scale: Scale
    echo: dict[str, float]


class ScoredMemory(NamedTuple):
    """A memory with its final score, and the factors that make up the score."""

    row: MemoryRow
    fused: Fused
    score: float
    factors: list[Factor]
    boost: float  # gain of the score from neighbours
    boosted_by: str


def memory_filter(request: Request) -> MemoryFilter:
    """Return the conditions on memories that a search request asks for."""
    return MemoryFilter(request.types, request.retired, request.stale, request.as_of)


class MemoryQuery(NamedTuple):
    """A search request, prepared for memories."""

    request: Request
    words: Sequence[str]  # normalised words of the query
    vector: F32 | None  # of the query; None to search without vectors
    now: datetime  # from which relative dates in the query count


def gather(
    index: MemoryIndex, query: MemoryQuery, tuning: Tuning, active: Mapping[str, float], allowed: Iterable[str] | None
) -> MemoryLists:
    """Find candidates among memories in every way, such as words and dates.

    Further ways are vectors, links, time of creation and open files.

    Args:
        index: index of all memories.
        query: the search request, and what was made from it.
        tuning: weights, and the maximum length of the lists.
        active: node id -> nearness to the active files, in (0, 1].
        allowed: restricts candidates to these memories; None for all.
    """
    request = query.request
    weights = tuning.memory
    only = memory_filter(request)
    with index.reading():
        found = index.find(query.words, query.vector, tuning.depth, only)
        scale = Scale(found.best_words, found.lowest, found.highest)
        first = fuse(text_lists(found.words, found.dense, scale, weights), tuning.normaliser)
        seeds = {hit.id: max(0.0, hit.score) ** _SHARPNESS for hit in first[:_SEEDS] if hit.score > 0}
        in_time = neighbours.in_time(index, seeds, weights.answer) if weights.time else {}
        in_graph = neighbours.in_graph(index, seeds) if weights.graph else {}
        near_files = neighbours.near_files(index, active) if weights.files else {}
        dated = neighbours.dated(index, request, query.now) if weights.dates else {}
        for near in (
            {one: value.score for one, value in in_time.items()},
            {one: value.score for one, value in in_graph.items()},
            near_files,
            dated,
        ):
            for one in sorted(near, key=lambda one: (-near[one], one))[:_ADDED]:
                found.score(one)
    pool = found.ids if allowed is None else found.ids.intersection(allowed)
    lists = MemoryLists(
        {one: value for one, value in found.words.items() if one in pool},
        {one: value for one, value in found.dense.items() if one in pool},
        {one: value for one, value in in_time.items() if one in pool},
        {one: value for one, value in in_graph.items() if one in pool},
        {one: value for one, value in near_files.items() if one in pool},
        {one: value for one, value in dated.items() if one in pool},
        found,
        scale,
        {},
    )
    if not weights.echo or not is_asked(request.query):
        return lists
    best = {hit.id: hit.score for hit in join(lists, tuning)[:_JUDGED_RIGHT] if hit.score > 0}
    return lists._replace(echo=index.echoes(best, query.words, pool))


def is_heard(lists: MemoryLists, faint: float) -> bool:
    """Whether any memory has a word of the query, or a similar vector.

    A vector is similar if its cosine with the query's vector is at least `faint`. If the result is False, the search shows no memory as a
    match.
    """
    return bool(lists.words) or max(lists.dense.values(), default=0.0) >= faint


def beside_code(lists: MemoryLists, index: MemoryIndex, words: Sequence[str], code: Elsewhere, cosines: Collection[float]) -> MemoryLists:
    """Rescale scores of memories, so that they are comparable with code.

    After rescaling, a memory gets the full score for words only if it contains all words of the query. Without rescaling, the best memory
    gets the full score, even if it has only one common word, and could outrank code with all of the words. The rarity of words is counted
    over code and memories together. Cosines of both are scaled together.

    Args:
        lists: the result of `gather`.
        index: index of all memories.
        words: normalised words of the query.
        code: number of code texts that contain each word.
        cosines: cosines of the code that was found. Empty if code has no vectors yet; memories then keep their own scale.
    """
    scores, full = index.words_beside(words, code, lists.words)
    found, cosines = lists.found, cosines or (0.0, 1.0)
    return lists._replace(words=scores, scale=Scale(full, min(found.lowest, *cosines), max(found.highest, *cosines)))


def text_lists(words: Mapping[str, float], dense: Mapping[str, float], scale: Scale, weights: MemoryWeights) -> list[Ranked]:
    """Return two ranked lists of memories: by words and by vectors.

    `words` has BM25 scores, `dense` has cosines, and `scale` their bounds. `weights` has the weights of both lists. If one of the lists is
    empty, the weight of the empty list is added to the other. So the scores have the same range with and without a model.
    """
    present = (weights.words if words else 0.0) + (weights.dense if dense else 0.0)
    share = (weights.words + weights.dense) / present if present else 1.0
    return [
        Ranked("words", words, weights.words * share, full=scale.words or None),
        Ranked("dense", dense, weights.dense * share, absent=scale.lowest, full=scale.highest),
    ]


def join(lists: MemoryLists, tuning: Tuning) -> list[Fused]:
    """Fuse all lists of memories into one ranked list, best first."""
    weights = tuning.memory
    near = [
        Ranked("time", {one: value.score for one, value in lists.time.items()}, weights.time, full=1.0),
        Ranked("graph", {one: value.score for one, value in lists.graph.items()}, weights.graph),
        Ranked("files", lists.files, weights.files),
        Ranked("dates", lists.dates, weights.dates, full=1.0),
        Ranked("echo", lists.echo, weights.echo),
    ]
    return fuse([*text_lists(lists.words, lists.dense, lists.scale, weights), *near], tuning.normaliser)


def rank(
    index: MemoryIndex, fused: Sequence[Fused], lists: MemoryLists, request: Request, tuning: Tuning, judge: Judge
) -> list[ScoredMemory]:
    """Compute final scores of fused memories; return them, best first.

    The formulas are:

        score = (0.6 relevance + 0.25 recency + 0.15 frequency) × phase × trust × (1 − doubt × (1 − confidence))
        recency = e^(−days × volatility)
        frequency = ln(1 + used) / ln(101)

    The values in the formulas are:

    * relevance: the fused score. If the query is a question, a memory that is itself a question loses relevance.
    * phase: the weight of the memory's type in the phase of work.
    * trust and confidence: returned by `judge` for the current time.
    * days: the days since the last use.
    * used: the number of uses.
    * volatility and doubt: weights in `tuning`. A memory that is not about code has the volatility 0.
    """
    weights = tuning.memory
    now = request.as_of or judge.now()
    asked = weights.asking if is_asked(request.query) else 0.0
    head = fused[: max(100, 4 * request.k)]
    rows = index.rows(hit.id for hit in head)
    scored = []
    for hit in head:
        row = rows.get(hit.id)
        if row is None:
            continue  # forgotten in the meantime
        answers = 1 - asked * index.asking(row.id)
        hit = hit.times(answers)
        about = index.about(row.id)
        used = row.last_accessed_at or row.updated_at
        age = max(0.0, (now - used).total_seconds() / 86_400)
        recency = math.exp(-age * (weights.volatility if about else 0.0))
        frequency = min(1.0, math.log1p(row.used_count) / math.log(101))
        confidence = judge.confidence(row, now, about)
        phase = weight(tuning.phases, request.phase, row.type)
        trust = judge.trust(row)
        belief = 1 - weights.doubt * (1 - min(1.0, max(0.0, confidence)))
        factor = phase * trust * belief
        score = (weights.relevance * hit.score + weights.recency * recency + weights.frequency * frequency) * factor
        near = sum(part.weight * part.normalised for part in hit.parts if part.name in ("time", "graph", "files", "dates"))
        reason = lists.graph.get(row.id) or lists.time.get(row.id)
        factors = [
            Factor("relevance", hit.score, weights.relevance),
            Factor("recency", recency, weights.recency),
            Factor("frequency", frequency, weights.frequency),
            Factor("phase", phase, 0.0),
            Factor("trust", trust, 0.0),
            Factor("confidence", confidence, weights.doubt),
        ]
        if answers < 1:
            factors.append(Factor("asks itself", answers, 0.0))
        boosted_by = reason.by if reason is not None and near else ""
        scored.append(ScoredMemory(row, hit, score, factors, weights.relevance * near * factor, boosted_by))
    scored.sort(key=lambda one: (-one.score, one.row.id))
    return _diverse(index, scored, request.k, weights)


def _diverse(index: MemoryIndex, scored: list[ScoredMemory], k: int, weights: MemoryWeights) -> list[ScoredMemory]:
    """Lower the scores of memories that repeat a better one, and sort again.

    A memory repeats another if their vectors are nearly equal. Only the best 2 × `k` memories are compared, where `k` is the number of hits
    of the search. All memories are returned. `weights` has the factor of a repetition, and the cosine from which two vectors count as
    nearly equal.
    """
    if not weights.repeated:
        return scored
    head, tail = scored[: 2 * k], scored[2 * k :]
    kept: list[tuple[ScoredMemory, F32]] = []
    result = []
    for one in head:
        vector = index.vector(one.row.id)
        twin = next((other for other, its in kept if vector is not None and float(vector @ its) >= weights.alike), None)
        if twin is not None:
            lowered = one.score * (1 - weights.repeated)
            one = one._replace(score=lowered, factors=[*one.factors, Factor(f"repeats {twin.row.short_id}", 1 - weights.repeated, 0.0)])
        elif vector is not None:
            kept.append((one, vector))
        result.append(one)
    return sorted([*result, *tail], key=lambda one: (-one.score, one.row.id))
