"""Impact analysis: what may behave differently if a symbol changes.

One walk from the symbol (see `walk`) follows the edges of `weights.TRAVEL`. The reached symbols (hits) are then sorted and grouped, tests
are separated, and calls without a known target are counted. `total`, `by_depth` and the risk cover everything the walk reached. `limit`
cuts only the list of hits, and the report states whether it was cut.

A separate walk finds tests at any depth. The confidence of a test is the chance that the test runs a target (`chances`). A test with a
completely recorded last run is a hit only if it ran a target in that run. The source text may show a path from another such test to a
target. This test is left out, and the report counts such tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from graphmem.analysis import recall, risk
from graphmem.analysis.chances import Reached
from graphmem.analysis.completeness import (
    NO_RUNS,
    Runs,
    Unsure,
    failed_in,
    faint_neighbours,
    families,
    in_order,
    miss_chance,
    nearest,
    possible_sites,
    runnable,
    tests_with_process,
    unjudged_tests,
    verdict,
)
from graphmem.analysis.impact_causes import causes
from graphmem.analysis.impact_entries import counts_by_depth, groups_of, hits_of
from graphmem.analysis.impact_question import Question, Start
from graphmem.analysis.impact_reach import TESTS, Found, at_most, shown_confidences, walked, without_refuted
from graphmem.analysis.overloads import joined, unlisted_callers
from graphmem.analysis.standing import standing
from graphmem.analysis.surface import outside_callers
from graphmem.analysis.walk import FloatArray, forward, reverse, step_values
from graphmem.analysis.weights import IMPACT_KINDS, WEIGHTS
from graphmem.answers import ImpactHit, ImpactReport, IndexState, Risk
from graphmem.model import EdgeKind, EdgeSource
from graphmem.projection.graph.arrays import CLASS_CODES, FILE, SYMBOL, distinct
from graphmem.runtime.data.text_only import LANGUAGE, text_only_language

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.answers.vocabulary import Direction, Epistemic
    from graphmem.answers.vocabulary import EdgeKind as EdgeWord
    from graphmem.projection.graph.view import GraphView

DEFINES: Final = (EdgeKind.DEFINES,)
_SITES: Final = tuple(kind for kind in IMPACT_KINDS if kind != EdgeKind.TESTS)  # kinds whose edges have a site of their own in the source


def expand(view: GraphView, targets: Collection[int]) -> list[int]:
    """Return the given nodes and all nodes inside them, ascending.

    A class contains its members, and a file its symbols.
    """
    seen: set[int] = set()
    stack = list(targets)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if view.label[node] == FILE:
            stack.extend(int(symbol) for symbol in view.by_path(view.path(node)))
        elif view.label[node] == SYMBOL and view.kind[node] in CLASS_CODES:
            stack.extend(view.dst[view.out_edges(node, DEFINES)].tolist())
    return sorted(seen)


def impact(view: GraphView, targets: Sequence[int], question: Question, state: IndexState, runs: Runs = NO_RUNS) -> ImpactReport:
    """Return a report on what a change of nodes and their members affects.

    The report lists dependents, or dependencies if the question asks for them.

    Args:
        view: the graph to walk.
        targets: node indices, at least one.
        question: the direction (dependents or dependencies), edge kinds and limits.
        state: state of the index, for the report.
        runs: tests with recorded runs that are still valid.
    """
    return united_impact(view, targets, [Start(expand(view, targets), question.kinds)], question, state, runs)


def united_impact(
    view: GraphView,
    targets: Sequence[int],
    starts: Sequence[Start],
    question: Question,
    state: IndexState,
    runs: Runs = NO_RUNS,
) -> ImpactReport:
    """Return one impact report for several walks through the graph.

    Each walk has its own start nodes. If several walks reach a node, the node's depth is the fewest steps, and its path is the most
    confident one.

    Args:
        view: the graph to walk.
        targets: node indices of the changed symbols.
        starts: for each walk, its first nodes and its edge kinds.
        question: the direction (dependents or dependencies) and limits.
        state: state of the index, for the report.
        runs: tests with recorded runs that are still valid.
    """
    backwards = question.direction == "dependents"
    walks = _walked(view, starts, question, runs)
    found, seeds = walks.found, walks.seeds
    unsure = _unsure(view, walks, question, runs)
    said = verdict(view, targets, found.nodes, unsure, state, judges=walks.judges)
    reached = Reached(found.nodes, found.depths, found.confidences)
    if backwards:
        found = found._replace(confidences=shown_confidences(view, reached, seeds))
    listed = hits_of(view, at_most(view, found, question.limit), towards_seed=backwards)
    test_hits = [hit for hit in listed if hit.symbol.is_test]
    left_out = len(found.nodes) - len(listed)
    touched = np.concatenate([found.nodes, np.asarray(seeds, dtype=found.nodes.dtype)])
    ranked = backwards and len(targets) == 1 and question.estimates
    floor = question.min_confidence
    return ImpactReport(
        targets=[view.info(node) for node in targets],
        direction=cast("Direction", question.direction),
        max_depth=question.max_depth,
        min_confidence=floor,
        kinds=cast("list[EdgeWord]", list(question.kinds)),
        hits=[hit for hit in listed if not hit.symbol.is_test],
        tests=_by_use(view, test_hits, seeds) if backwards else test_hits,
        total=len(found.nodes),
        by_depth=counts_by_depth(found),
        by_file=groups_of(view, found, modules=False),
        by_module=groups_of(view, found, modules=True),
        risk=_risk(view, found, targets, seeds, unsure.possible_count, said, ranked=ranked),
        epistemic=said,
        causes=causes(view, found.nodes, unsure, state, question, walks.further, left_out),
        possible=unsure.possible,
        truncated=left_out > 0,
        state=state,
        miss_chance=miss_chance(view, walks.used, floor, targets, reached, said) if backwards and question.estimates else None,
        known_calls=recall.known_in(view, touched) if question.estimates else [],
    )


class _Walks(NamedTuple):
    """The nodes that the walks through the graph for one question reach.

    Attributes:
        seeds: the nodes where the walks begin, such as the changed symbol.
        used: for each walk, (value of each edge, nodes where it begins).
        found: the reached nodes.
        further: number of nodes that are more steps away than the question allows; see `walked`.
        judges: whether recorded runs have removed tests from `found`.
        not_run: the removed tests.
    """

    seeds: list[int]
    used: list[tuple[FloatArray, Sequence[int]]]
    found: Found
    further: int
    judges: bool
    not_run: list[int]


def _walked(view: GraphView, starts: Sequence[Start], question: Question, runs: Runs) -> _Walks:
    values = [step_values(view, start.kinds, WEIGHTS) for start in starts]
    if question.direction == "dependents":
        values = [joined(view, value, start.seeds) for value, start in zip(values, starts, strict=True)]
    seeds = [seed for start in starts for seed in start.seeds]
    united, further = walked(view, starts, values, question)
    judges = question.direction == "dependents" and _may_judge(view, starts, seeds, runs)
    found, not_run = without_refuted(view, united, seeds, runs.judged, np.max(values, axis=0)) if judges else (united, [])
    used = [(value, start.seeds) for value, start in zip(values, starts, strict=True)]
    return _Walks(seeds, used, found, further, judges, not_run)


def _unsure(view: GraphView, walks: _Walks, question: Question, runs: Runs) -> Unsure:
    """Return the known gaps of an answer.

    An example is a call whose target is unknown. `walks` has the nodes that the answer is made from, `question` its limits, and `runs` the
    tests with recorded runs.
    """
    backwards = question.direction == "dependents"
    seeds, found = walks.seeds, walks.found.nodes
    able = families(view, seeds)
    possible, possible_count = possible_sites(view, seeds, able) if backwards else ([], 0)
    values = [value for value, _ in walks.used]
    unjudged = unjudged_tests(view, np.max(values, axis=0), seeds, found, runs, able) if walks.judges else []
    return Unsure(
        possible,
        possible_count,
        faint_neighbours(view, reverse(view) if backwards else forward(view), walks.used, found, question.min_confidence),
        walks.not_run,
        unjudged,
        tests_with_process(view, found, unjudged, runs, able) if walks.judges else [],
        nearest(view, failed_in(view, able), seeds),
        in_order(view, np.asarray(unlisted_callers(view, seeds, found.tolist()), dtype=np.int64)) if backwards else [],
    )


def _may_judge(view: GraphView, starts: Sequence[Start], seeds: Sequence[int], runs: Runs) -> bool:
    """Whether recorded test runs can show that tests do not reach the targets.

    `starts` and `seeds` are the start nodes of the walks through the graph.
    """
    if not runs.judged or not seeds or not runnable(view, seeds):
        return False
    return all(EdgeKind.TESTS in start.kinds for start in starts if start.seeds)


def _by_use(view: GraphView, tests: Sequence[ImpactHit], seeds: Sequence[int]) -> list[ImpactHit]:
    """Sort tests: first those whose recorded run executed a seed.

    A seed is a node where the search for dependents began, such as the changed symbol. Then come tests that a runner can run, and of these,
    tests with a TESTS edge to a seed.
    """
    about = {view.ids[node] for seed in seeds for node in view.src[view.in_edges(seed, TESTS)].tolist()}
    return sorted(
        tests,
        key=lambda hit: (
            not ran_target(hit),
            not hit.symbol.is_runnable,
            hit.symbol.id not in about,
            -round(hit.confidence, 2),
            hit.depth,
        ),
    )


def reach(view: GraphView, seeds: Sequence[int], question: Question) -> tuple[FloatArray, Reached]:
    """Return the value of each edge, and the nodes an impact search finds.

    The value of an edge is its confidence times the weight of its kind. The search begins at `seeds` and follows the edges to dependents or
    dependencies, as `question` says. Tests are included at any depth.
    """
    values = joined(view, step_values(view, question.kinds, WEIGHTS), seeds)
    found, _ = walked(view, [Start(seeds, question.kinds)], [values], question)
    return values, Reached(found.nodes, found.depths, found.confidences)


def ran_target(hit: ImpactHit) -> bool:
    """Whether a hit is a test that ran the target in a recorded test run."""
    return len(hit.path) == 1 and hit.path[0].source == EdgeSource.RUNTIME.value


def _text_only(view: GraphView, node: int) -> str:
    """Return the language of a file that is only searched as text, or "".

    The result is "" for a file whose code is parsed.
    """
    number = int(view.path_index[node])
    is_text = number >= 0 and view.arrays.paths.language[number].as_py() == LANGUAGE
    return text_only_language(view.path(node)) if is_text else ""


def _risk(
    view: GraphView, found: Found, targets: Sequence[int], seeds: Sequence[int], unresolved: int, verdict: Epistemic, *, ranked: bool
) -> Risk:
    others = ~view.is_test[found.nodes]
    cases = int(np.count_nonzero(view.is_runnable[found.nodes]))
    nodes, depths = found.nodes[others], found.depths[others]
    files = {view.paths[number] for number in distinct(view.path_index[nodes]).tolist() if number >= 0}
    home = {view.path(node).rpartition("/")[0] for node in targets}
    used = np.concatenate([view.in_edges(seed, _SITES) for seed in seeds] or [np.empty(0, dtype=np.int64)])
    return risk.assess(
        risk.Facts(
            dependents=len(nodes),
            direct=int(np.count_nonzero(depths == 1)),
            standing=standing(view, targets[0]) if ranked else None,
            files=len(files),
            weight=float(np.sum(found.confidences[others] / depths)),
            entry_points=int(np.count_nonzero(view.is_entry_point[nodes])),
            modules=len({path.rpartition("/")[0] for path in files} - home),
            tests=cases or int(np.count_nonzero(~others)),
            outside=outside_callers(view, targets),
            unresolved=unresolved,
            resolved=view.sites_of(used),
            unknown=verdict == "unknown" and not len(found.nodes),
            text_only=next((name for node in targets if (name := _text_only(view, node))), ""),
        )
    )
