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
from graphmem.projection.memories import MemoryIndex
from graphmem.projection.memory_columns import MemoryFilter
from graphmem.projection.memory_search import Found
from graphmem.projection.postings import Elsewhere
from graphmem.projection.vectors import F32
from graphmem.search.dates import nearness, periods
from graphmem.search.fusion import Fused, Ranked, fuse
from graphmem.search.phases import weight
from graphmem.search.query_type import is_asked
from graphmem.search.request import Judge, MemoryWeights, Request, Tuning

_SEEDS: Final = 50  # hits that pass on a share
_JUDGED_RIGHT: Final = 5  # best hits whose words form a second query
_SHARPNESS: Final = 4  # exponent of a hit's score
_ROOT: Final = 2  # root taken of the total share that a memory receives
_STEPS: Final = (1.0, 0.5)  # share of a neighbour in time, one and two positions away
_MOMENT_S: Final = 3600.0  # seconds after which a neighbour in time counts 1/e, unless both belong to one session
_MAX_SHARED: Final = 500  # maximum memories of one node: more are unrelated
_ADDED: Final = 100  # neighbours of each kind that become candidates
_MOST_DATED: Final = 1000  # memories around one date
_FAINT_DATE: Final = 0.03  # nearness to a date below which it does not count
_SUSPECT: Final = 0.8  # factor for a link whose code has changed
_RELATED: Final[Mapping[str, float]] = {"required_with": 1.0, "validates": 0.5, "derived_from": 0.5, "supersedes": 0.5}


class Near(NamedTuple):
    """A score that a memory gets because a neighbouring memory is a good hit.

    Neighbours are, for example, the memories created just before or after a memory.
    """

    score: float
    by: str  # the neighbour with the largest share


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
        in_time = _in_time(index, seeds, weights.answer) if weights.time else {}
        in_graph = _in_graph(index, seeds) if weights.graph else {}
        near_files = _near_files(index, active) if weights.files else {}
        dated = _dated(index, request, query.now) if weights.dates else {}
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
    """Whether any memory has a word of the query or a similar vector.

    A vector is similar if its cosine with the query's vector is at least `faint`. If the result is False, the search shows no memory as a
    match.
    """
    return bool(lists.words) or max(lists.dense.values(), default=0.0) >= faint


def beside_code(lists: MemoryLists, index: MemoryIndex, words: Sequence[str], code: Elsewhere, cosines: Collection[float]) -> MemoryLists:
    """Rescale scores of memories so that they are comparable with code.

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

    `words` has BM25 scores, `dense` has cosines, and `scale` their bounds. If one of the lists is empty, the weight of the empty list is
    added to the other. So the scores have the same range with and without a model.
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
    of the search. All memories are returned.
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


def _in_time(index: MemoryIndex, seeds: Mapping[str, float], answer: float) -> dict[str, Near]:
    """Return a score for memories that were learnt just before or after a hit.

    `seeds` maps the best hits to their scores. The memory right after a question counts `answer` times as much, because it may be the
    answer. If a hit and its neighbour in time are both linked to code, the neighbour gets no score. The reason is that the graph of the
    code relates such memories better than the time does.
    """
    total: dict[str, float] = {}
    best: dict[str, tuple[float, str]] = {}
    coded = {seed: bool(index.targets(seed)) for seed in seeds}
    for seed, mass in seeds.items():
        if not mass:
            continue
        asks = index.asking(seed) > 0
        for moment in index.moments(seed, len(_STEPS)):
            if moment.id not in coded:
                coded[moment.id] = bool(index.targets(moment.id))
            if coded[seed] and coded[moment.id]:
                continue
            near = 1.0 if moment.together else math.exp(-moment.gap_s / _MOMENT_S)
            if asks and moment.is_later and moment.steps == 1:
                near *= answer
            _pass_on(total, best, moment.id, _STEPS[moment.steps - 1] * near * mass, seed)
    return _nearness(total, best)


def _in_graph(index: MemoryIndex, seeds: Mapping[str, float]) -> dict[str, Near]:
    """Return a score for each memory that is related to one of the best hits.

    `seeds` maps the best hits to their scores. A memory is scored if it is about the same code as a best hit, or if a link joins the two.
    """
    total: dict[str, float] = {}
    best: dict[str, tuple[float, str]] = {}
    arrived: dict[str, dict[str, float]] = {}  # node -> seed -> mass
    for seed, mass in seeds.items():
        links = index.targets(seed) if mass else {}
        for target, anchor in links.items():
            arrived.setdefault(target, {})[seed] = mass * (_SUSPECT if anchor == "suspect" else 1.0) / len(links)
        for link in index.relates(seed) if mass else ():
            other = link.dst if link.src == seed else link.src
            _pass_on(total, best, other, _RELATED.get(link.kind, 0.0) * link.confidence * mass, seed)
    for target in sorted(arrived):
        masses = arrived[target]
        memories = index.live_about(target)
        if not 1 < len(memories) <= _MAX_SHARED:
            continue
        # The two strongest are enough to name one that differs from the memory itself.
        strongest = sorted(masses, key=lambda seed: (-masses[seed], seed))[:2]
        whole = math.fsum(masses.values())
        for one in memories:
            by = strongest[0] if strongest[0] != one or len(strongest) == 1 else strongest[1]
            _pass_on(total, best, one, (whole - masses.get(one, 0.0)) / len(memories), by)
    return _nearness(total, best)


def _near_files(index: MemoryIndex, active: Mapping[str, float]) -> dict[str, float]:
    """Return a score for each memory whose code is near the open files.

    `active` maps nodes to their nearness. The nearness of a node is divided among the memories about it. Each of these memories passes its
    share on to all code that it is about. The memories about this code then get the scores.
    """
    own: dict[str, float] = {}
    for node in sorted(active):
        memories = index.live_about(node)
        for one in memories if len(memories) <= _MAX_SHARED else ():
            own[one] = own.get(one, 0.0) + active[node] / len(memories)
    arrived: dict[str, float] = {}
    for one, mass in own.items():
        targets = index.targets(one)
        for target in targets:
            arrived[target] = arrived.get(target, 0.0) + mass / len(targets)
    total: dict[str, float] = {}
    for target in sorted(arrived):
        memories = index.live_about(target)
        for one in memories if len(memories) <= _MAX_SHARED else ():
            total[one] = total.get(one, 0.0) + arrived[target] / len(memories)
    return total


def _dated(index: MemoryIndex, request: Request, now: datetime) -> dict[str, float]:
    """Return how near the creation of each memory is to a date in the query.

    Nearness is in (0, 1]. Memories that are not near any date are left out.
    """
    years = index.years()
    spans = periods(request.query, now, years) if years is not None else []
    created = index.created_between((span.window for span in spans), _MOST_DATED)
    return {one: near for one, at in created.items() if (near := nearness(at, spans)) >= _FAINT_DATE}


def _pass_on(total: dict[str, float], best: dict[str, tuple[float, str]], one: str, mass: float, by: str) -> None:
    if mass > 0:
        total[one] = total.get(one, 0.0) + mass
        if one not in best or mass > best[one][0]:
            best[one] = (mass, by)


def _nearness(total: Mapping[str, float], best: Mapping[str, tuple[float, str]]) -> dict[str, Near]:
    return {one: Near(mass ** (1 / _ROOT), best[one][1]) for one, mass in total.items()}
