"""Measure search on the project's own commits, and propose weights.

A case is the message of a commit with the files it changed. Messages describe changes, so proposed weights hold for descriptions, names and
error texts only. The weights for questions are not changed. Weights are chosen with the older half of the cases. The chosen weights are
proposed only if they improve the results for both halves.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from graphmem.answers import IndexState
from graphmem.embedding.base import Embedder
from graphmem.projection.snapshot import Snapshot
from graphmem.search.code import finding as code
from graphmem.search.pipeline import Aids, candidates_of
from graphmem.search.query.query_type import ERROR, IDENTIFIER, SEMANTIC
from graphmem.search.request import Request, Tuning, Weights

# Names of what can be weighed, with the paths of the pipeline.
KNOBS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "words": ("words", "sentence"),
        "vectors": ("dense",),
        "names": ("names",),
        "literal": ("literal", "message"),
        "places": ("places",),
        "votes": ("votes",),
        "alike": ("alike",),
        "joined": ("joined",),
        "churn": ("churn",),
    }
)
OF_TYPES: Final = (SEMANTIC, IDENTIFIER, ERROR)
BUILT_IN: Final[Mapping[str, float]] = MappingProxyType({knob: float(knob != "churn") for knob in KNOBS})
LARGEST: Final = 3.0  # largest factor of a proposal
ENOUGH: Final = 60  # minimum cases before anything is proposed
_FACTORS: Final = (0.5, 2.0)  # tried for each knob
_OF_CHURN: Final = (0.5, 1.0, 2.0, 3.0)
_CHURN: Final = 0.1  # weight of churn at a factor of 1
_MOST: Final = 3  # changed knobs of a proposal
_DEPTH: Final = 50  # hits of a case
_GAIN: Final = 0.005  # minimum gain of the score by each changed knob, on the older half
_LEAST: Final = 0.01  # minimum gain of the score by a proposal, on the newer half
_SURE: Final = 0.9  # share of bootstrap samples in which the newer half gains
_DRAWS: Final = 1_000


class Case(NamedTuple):
    """A commit's message as a query, and the files that search should find."""

    query: str
    files: frozenset[str]
    churn: Mapping[str, float] = MappingProxyType({})  # how often each file had changed before, 0 to 1


class Measured(NamedTuple):
    """Quality of search: the rank of the first right file, and the recall.

    The recall is the share of the right files that are among the first five results.
    """

    first: float  # mean of 1 / place of the first right file
    recall: float  # mean share of the right files among the first five

    @property
    def score(self) -> float:
        """The mean of `first` (1 / rank of the first right file) and `recall`."""
        return (self.first + self.recall) / 2


class Ready(NamedTuple):
    """A test case of search, with the candidates that were found for it.

    The candidates are collected once, and reused for each set of weights that is tried.
    """

    case: Case
    found: code.CodeLists
    request: Request
    kind: str


def prepared(shot: Snapshot, embedder: Embedder | None, cases: Sequence[Case], state: IndexState, until: float) -> list[Ready]:
    """Collect the candidates of each case; stop at the time `until`.

    `until` is a time of the clock `time.monotonic`. Only cases whose query has a type in `OF_TYPES` are included, because weights are
    proposed only for these types.
    """
    ready = []
    tuning = with_factors(Tuning(), {"churn": 1.0})
    for case in cases:
        if time.monotonic() > until:
            break
        request = Request(case.query, k=_DEPTH, kinds=frozenset({"code"}), explain=False, deadline_s=10.0)
        kind, found = candidates_of(shot, embedder, request, state, tuning, Aids(churn=case.churn))
        if kind in OF_TYPES:
            ready.append(Ready(case, found, request, kind))
    return ready


def scaled(weights: Weights, factors: Mapping[str, float]) -> Weights:
    """Return search weights multiplied by proposed factors.

    `factors` maps a group of weights, which are changed together, to its factor.
    """
    built_in = weights._replace(churn=_CHURN)
    changed = {path: getattr(built_in, path) * factor for knob, factor in factors.items() for path in KNOBS[knob]}
    return weights._replace(**changed)


def with_factors(tuning: Tuning, factors: Mapping[str, float]) -> Tuning:
    """Return the settings of search with weights multiplied by factors.

    `factors` maps a group of weights, which are changed together, to its factor.
    """
    if not factors:
        return tuning
    changed = {kind: scaled(tuning.weights[kind], factors) for kind in OF_TYPES}
    return tuning._replace(weights=MappingProxyType({**tuning.weights, **changed}))


def scores(shot: Snapshot, ready: Sequence[Ready], tuning: Tuning) -> list[Measured]:
    """Measure how well search ranks the right files of each test case.

    A case has a commit's message as the query, and the changed files as the right files. The result has one measurement for each test case
    in `ready`. `tuning` has the weights to measure.
    """
    return [_scored(shot, one, tuning) for one in ready]


def _scored(shot: Snapshot, one: Ready, tuning: Tuning) -> Measured:
    weights = tuning.weights[one.kind]
    lists = [
        each._replace(weight=getattr(weights, each.name) * (one.found.share if each.name == "dense" else 1.0)) for each in one.found.lists
    ]
    voted = code.join(shot, one.found._replace(lists=lists), one.request, weights, tuning, None)
    files = list(dict.fromkeys(one.found.units.path(hit.hit.id) for hit in voted))
    first = next((1 / place for place, path in enumerate(files, 1) if path in one.case.files), 0.0)
    return Measured(first, len(one.case.files.intersection(files[:5])) / min(5, len(one.case.files)))


def mean(measured: Sequence[Measured]) -> Measured:
    """Return the mean of several measurements; zeros if there are none."""
    if not measured:
        return Measured(0.0, 0.0)
    first, recall = np.mean(np.array(measured), axis=0).tolist()
    return Measured(first, recall)


def halves(ready: Sequence[Ready]) -> tuple[Sequence[Ready], Sequence[Ready]]:
    """Divide cases, which are newest first, into (older half, newer half).

    A case is a commit whose message is searched for. `ready` are the cases.
    """
    middle = len(ready) // 2
    return ready[middle:], ready[:middle]


def proposed(shot: Snapshot, ready: Sequence[Ready], until: float) -> dict[str, float]:
    """Propose a factor for each group of weights; {} without an improvement.

    In each step, one group gets the factor that improves the results for the older half of the cases most. Afterwards, the last steps are
    undone until the results for the newer half are also better than without factors.

    Args:
        shot: the searched snapshot.
        ready: cases, newest first.
        until: time of the monotonic clock at which no further change is tried.
    """
    older, newer = halves(ready)
    if len(ready) < ENOUGH:
        return {}
    series: list[dict[str, float]] = [{}]
    best = mean(scores(shot, older, Tuning())).score
    while len(series) <= _MOST:
        tried = []
        for knob, factor in _changes(series[-1]):
            if time.monotonic() > until:
                break
            factors = {**series[-1], knob: factor}
            tried.append((mean(scores(shot, older, with_factors(Tuning(), factors))).score, knob, factors))
        gained, _, factors = max(tried, key=lambda one: (one[0], one[1]), default=(0.0, "", {}))
        if gained < best + _GAIN:
            break
        best = gained
        series.append(factors)
    before = np.array([one.score for one in scores(shot, newer, Tuning())])
    for factors in reversed(series[1:]):
        gains = np.array([one.score for one in scores(shot, newer, with_factors(Tuning(), factors))]) - before
        draws = np.random.default_rng(1).choice(gains, (_DRAWS, len(gains))).mean(axis=1)
        if gains.mean() >= _LEAST and (draws > 0).mean() >= _SURE:
            return factors
    return {}


def _changes(made: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield (group of weights, factor) for each change that can be tried next.

    Only groups without a factor in `made` are yielded.
    """
    for knob in KNOBS:
        if knob not in made:
            for factor in _OF_CHURN if knob == "churn" else _FACTORS:
                yield knob, factor
