"""Measure search on the project's own commits, and propose better weights.

Weights say how much each signal, such as matching words or vectors, counts when hits are ranked. A person decides whether new weights are
used. The method is described in `search.evaluate`.
"""

from __future__ import annotations

import dataclasses
import math
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.answers.evaluation import SearchEvaluation, SearchWay, SearchWeight
from graphmem.errors import BadInputError, GitError
from graphmem.history import git_log
from graphmem.project.history.history_source import CHURN_HALF_LIFE_S
from graphmem.project.searches.phases import BUILT_IN, CHOICES
from graphmem.search import evaluate
from graphmem.search.request import Tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from graphmem.history.co_edits import History
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.history.history_source import HistorySource
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.projections import Projections
    from graphmem.search.accepted import WeightBook
    from graphmem.vectors.filler import VectorFiller

SECONDS: Final = 120.0  # for one evaluation; a third of it for the candidates of the cases
_READ: Final = 4_000  # newest commits that are looked at
_MOST_FILES: Final = 8  # changed files of a case
_LEAST_WORDS: Final = 3  # of its message
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(eq=False, repr=False)
class ProjectChurn:
    """Computes how often each file of a project changes, for ranking hits."""

    history: HistorySource
    _made: tuple[int, Mapping[str, float]] = field(default=(-1, {}), init=False)

    def __call__(self) -> Mapping[str, float]:
        """Return how often each file changes at present, 0 to 1, by path.

        `churns` computes this number.
        """
        history = self.history.known()
        if self._made[0] != len(history):
            self._made = (len(history), churns(history, [math.inf])[0])
        return self._made[1]


@dataclass(eq=False, repr=False)
class SearchWeighing:
    """Measures search, and stores the ranking weights that a person accepts."""

    graph: GraphSource
    projections: Projections
    vectors: VectorFiller
    history: HistorySource
    weights: WeightBook
    now: Callable[[], datetime]

    def search_evaluation(self, commits: int = 200) -> SearchEvaluation:
        """Measure search on recent commits of the project, and propose weights.

        The commit messages are the queries, and the files that each commit changed are the right answers. The evaluation takes up to two
        minutes. Nothing is changed.

        Raises:
            BadInputError: `commits` is out of range.
            NotIndexedError: nothing is indexed.
        """
        begun = time.monotonic()
        view, shot = self.graph.view(), self.projections.snapshot(newest=True)
        root, notes = self.graph.root_or_none(), []
        try:
            found = cases_of(root, view, commits) if root is not None else []
        except GitError as error:
            found = []
            notes.append(f"the history was not read: {error.message}")
        embedder = self.vectors.query_embedder(shot.vectors.model_id if shot.vectors is not None else "")
        past = churns(self.history.known(), [at for at, _ in found])
        cases = [case._replace(churn=known) for (_, case), known in zip(found, past, strict=True)]
        ready = evaluate.prepared(shot, embedder, cases, self.graph.state(), begun + SECONDS / 3)
        if len(ready) < evaluate.ENOUGH:
            notes.append(f"{len(ready)} usable commits; {evaluate.ENOUGH} are needed before weights are proposed")
        factors = evaluate.proposed(shot, ready, begun + SECONDS)
        if len(ready) >= evaluate.ENOUGH and not factors:
            notes.append("no other weights are better on both halves of the commits, so the built-in ones are right here")
        has_vectors = any(one.found.share for one in ready)
        if ready and not has_vectors:
            notes.append("vectors are missing, so search by words alone was measured")
        accepted = self.weights.accepted()
        _, newer = evaluate.halves(ready)
        ways: dict[str, Mapping[str, float]] = {"built-in weights": {}}
        if has_vectors:
            ways["without vectors"] = {"vectors": 0.0, "alike": 0.0}
        if accepted is not None:
            ways["accepted weights"] = accepted.factors
        if factors:
            ways["proposed weights"] = factors
        measured = {
            name: evaluate.mean(evaluate.scores(shot, newer, evaluate.with_factors(Tuning(), way))) for name, way in ways.items() if newer
        }
        return SearchEvaluation(
            commits=len(ready),
            checked=len(newer),
            model=embedder.model_id if embedder is not None else "",
            accepted_at=accepted.at if accepted is not None else "",
            ways=[SearchWay(name, one.first, one.recall) for name, one in measured.items()],
            weights=[
                SearchWeight(knob, built_in, self.weights.factors().get(knob, built_in), factors.get(knob))
                for knob, built_in in evaluate.BUILT_IN.items()
            ],
            notes=notes,
        )

    def choose_search_weights(self, choice: str, commits: int = 200) -> SearchEvaluation:
        """Choose the weights with which search ranks hits; they apply at once.

        Args:
            choice: "proposed" evaluates and applies the proposal, "built-in" restores the built-in weights.
            commits: the maximum number of commits to evaluate.

        Raises:
            BadInputError: the choice is unknown, or nothing is proposed.
            DiskFullError: the disk is full; the weights in force stay.
        """
        if choice not in CHOICES:
            raise BadInputError(
                f"unknown decision {choice!r} on the proposed weights; use one of {', '.join(CHOICES)}", argument="choice", value=choice
            )
        if choice == BUILT_IN:
            self.weights.reset()
            weights = [SearchWeight(knob, factor, factor, None) for knob, factor in evaluate.BUILT_IN.items()]
            return SearchEvaluation(0, 0, "", "", [], weights, [])
        found = self.search_evaluation(commits)
        factors = {one.name: one.proposed for one in found.weights if one.proposed is not None}
        if not factors:
            why = found.notes[0] if found.notes else "nothing is better"
            raise BadInputError(
                f"no search weights are proposed ({why}), so there is nothing to accept; try again after more commits",
                argument="choice",
                value=choice,
            )
        self.weights.accept(factors, self.now(), found.commits)
        accepted = self.weights.accepted()
        weights = [SearchWeight(one.name, one.built_in, factors.get(one.name, one.built_in), one.proposed) for one in found.weights]
        return dataclasses.replace(found, accepted_at=accepted.at if accepted is not None else "", weights=weights)


def churns(history: History, moments: Sequence[float]) -> list[Mapping[str, float]]:
    """Return how often each file had been changed before given moments.

    The result has one dict for each moment, in the order of `moments`. A dict maps paths to churn, a number from 0 to 1. A change that is
    one year older counts half as much. The churn of a file is log(1 + sum of its changes), divided by the same number for the most changed
    file. So the most changed file has churn 1.
    """
    found: dict[int, Mapping[str, float]] = {}
    with history.lock:
        order = sorted(range(len(history.at)), key=history.at.__getitem__)
        start = history.at[order[0]] if order else 0.0
        counts: defaultdict[int, float] = defaultdict(float)  # with weights of the start; doubled for every year since
        done = 0
        for asked in sorted(range(len(moments)), key=moments.__getitem__):
            while done < len(order) and history.at[order[done]] < moments[asked]:
                for node in history.groups[order[done]]:
                    counts[node] += 2.0 ** ((history.at[order[done]] - start) / CHURN_HALF_LIFE_S)
                done += 1
            scale = 0.5 ** ((min(moments[asked], history.now) - start) / CHURN_HALF_LIFE_S)
            named = {history.nodes[node].path: math.log1p(count * scale) for node, count in counts.items() if history.nodes[node].alive}
            top = max(named.values(), default=0.0)
            found[asked] = {path: value / top for path, value in named.items()} if top else {}
    return [found[n] for n in range(len(moments))]


def cases_of(root: Path, view: GraphView, most: int) -> list[tuple[float, evaluate.Case]]:
    """Return the newest usable commits as test cases for search, newest first.

    Each item is (time of the commit, test case). The query of a test case is the commit message; the right answer is the changed files. A
    usable commit has a message of at least three words, and changed a few indexed files other than tests. At most `most` commits are
    returned.
    """
    here = git_log.repository(root)
    found = git_log.newest(root, here, _READ, _MOST_FILES * 3) if here is not None else []
    return list(_usable(found, view, most))


def _usable(commits: Sequence[git_log.Commit], view: GraphView, most: int) -> Iterator[tuple[float, evaluate.Case]]:
    there = frozenset(view.paths)
    count = 0
    for one in commits:
        files = frozenset(path for path in one.touched if path in there and not view.in_tests(path) and len(view.by_path(path)) > 1)
        if 1 <= len(files) <= _MOST_FILES and len(_WORD.findall(one.subject)) >= _LEAST_WORDS:
            yield one.at, evaluate.Case(one.subject, files)
            count += 1
            if count == most:
                return
