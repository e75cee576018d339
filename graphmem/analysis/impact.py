"""Impact analysis: what may behave differently if a symbol changes.

One walk from the symbol (see `walk`) follows the edges of `weights.TRAVEL`. The reached symbols (hits) are then sorted and grouped, tests
are separated, and calls without a known target are counted. `total`, `by_depth` and the risk cover everything the walk reached. `limit`
cuts only the list of hits, and the report states this.

A separate walk finds tests at any depth. The confidence of a test is the chance that the test runs a target (`chances`). A test with a
completely recorded last run is a hit only if it ran a target in that run. If a path in the source text leads from such a test to a target
but the run did not, the test is left out. The report states this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from graphmem.analysis import recall, risk
from graphmem.analysis.chances import FULL_DEPTH, Reached, chances_of_tests
from graphmem.analysis.completeness import (
    NO_RUNS,
    Runs,
    Unsure,
    causes,
    failed_in,
    faint_neighbours,
    families,
    in_order,
    miss_chance,
    nearest,
    possible_sites,
    runnable,
    unjudged_tests,
    verdict,
)
from graphmem.analysis.standing import standing
from graphmem.analysis.surface import outside_callers
from graphmem.analysis.walk import FloatArray, IntArray, Walk, forward, reverse, step_values, walk
from graphmem.analysis.weights import CONTAINERS, IMPACT_KINDS, WEIGHTS
from graphmem.answers import ImpactGroup, ImpactHit, ImpactReport, IndexState, PathStep, Risk, SymbolInfo
from graphmem.errors import BadInputError
from graphmem.model import EdgeKind, EdgeSource
from graphmem.projection.arrays import EDGE_KINDS, EDGE_SOURCES, FILE, NODE_KINDS, SYMBOL
from graphmem.runtime.text_only import LANGUAGE, text_only_language

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.answers.vocabulary import Direction, Epistemic
    from graphmem.answers.vocabulary import EdgeKind as EdgeWord
    from graphmem.projection.graph import GraphView

MAX_DEPTH: Final = 50
MAX_LIMIT: Final = 100_000
DEFINES: Final = (EdgeKind.DEFINES,)
TESTS: Final = (EdgeKind.TESTS,)
_SITES: Final = tuple(kind for kind in IMPACT_KINDS if kind != EdgeKind.TESTS)  # kinds whose edges have a site of their own in the source
VERDICTS: Final = ("will break", "likely", "possible")


@dataclass(frozen=True, slots=True)
class Question:
    """A validated impact question: direction, kinds of edges and limits.

    The direction is towards dependents or towards dependencies.

    Raises:
        BadInputError: a value is out of range, or a kind or direction is unknown.
    """

    direction: str = "dependents"  # dependents | dependencies
    max_depth: int = 5  # 1..50
    min_confidence: float = 0.3  # (0, 1], of the whole path
    kinds: tuple[str, ...] = IMPACT_KINDS
    limit: int = 1000  # 1..100,000 listed hits; the rest are only counted
    estimates: bool = True  # whether the report says how likely it misses tests and calls

    def __post_init__(self) -> None:
        if self.direction not in ("dependents", "dependencies"):
            raise _bad("direction", self.direction, "dependents or dependencies")
        if not 1 <= self.max_depth <= MAX_DEPTH:
            raise _bad("max_depth", self.max_depth, f"1 to {MAX_DEPTH}")
        if not 0 < self.min_confidence <= 1:
            raise BadInputError(
                f"min_confidence is {self.min_confidence}; use a number above 0 and up to 1",
                argument="min_confidence",
                value=self.min_confidence,
                allowed="(0, 1]",
            )
        if not 1 <= self.limit <= MAX_LIMIT:
            raise _bad("limit", self.limit, f"1 to {MAX_LIMIT}")
        unknown = sorted(set(self.kinds) - set(IMPACT_KINDS))
        if unknown or not self.kinds:
            given, allowed = ", ".join(unknown) or "none", ", ".join(IMPACT_KINDS)
            fault = f"unknown kinds of edges: {given}" if unknown else "the list of kinds of edges is empty"
            raise BadInputError(
                f"{fault}; use one or more of {allowed}",
                argument="kinds",
                value=given,
                allowed=allowed,
            )


def _bad(argument: str, value: object, allowed: str) -> BadInputError:
    return BadInputError(f"{argument} is {value}; use {allowed}", argument=argument, value=value, allowed=allowed)


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
        elif view.label[node] == SYMBOL and NODE_KINDS[view.kind[node]] in CONTAINERS:
            stack.extend(view.dst[view.out_edges(node, DEFINES)].tolist())
    return sorted(seen)


class Start(NamedTuple):
    """Nodes where a walk through the graph begins, and the edges it follows.

    The kinds of edges depend on the change. For example, a change of a function's body affects fewer dependents than a change of its name.
    So its walk follows fewer kinds of edges.
    """

    seeds: Sequence[int]
    kinds: tuple[str, ...]


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
    adjacency = reverse(view) if backwards else forward(view)
    floor = question.min_confidence
    values = [step_values(view, start.kinds, WEIGHTS) for start in starts]
    seeds = [seed for start in starts for seed in start.seeds]
    united, further = _walked(view, starts, values, question)
    judges = backwards and bool(runs.judged) and bool(seeds) and runnable(view, seeds)
    judges = judges and all(EdgeKind.TESTS in start.kinds for start in starts if start.seeds)
    found, not_run = _without_refuted(view, united, seeds, runs.judged) if judges else (united, [])
    able = families(view, seeds)
    used = [(value, start.seeds) for value, start in zip(values, starts, strict=True)]
    possible, possible_count = possible_sites(view, seeds, able) if backwards else ([], 0)
    unsure = Unsure(
        possible,
        possible_count,
        faint_neighbours(view, adjacency, used, found.nodes, floor),
        not_run,
        unjudged_tests(view, np.max(values, axis=0), seeds, found.nodes, runs, able) if judges else [],
        nearest(view, failed_in(view, able), seeds),
    )
    said = verdict(view, targets, found.nodes, unsure, state, judges=judges)
    reached = Reached(found.nodes, found.depths, found.confidences)
    if backwards:
        found = found._replace(confidences=_with_chances(view, reached, seeds))
    listed = _hits(view, _shared(view, found, question.limit), towards_seed=backwards)
    hits = [hit for hit in listed if not hit.symbol.is_test]
    test_hits = [hit for hit in listed if hit.symbol.is_test]
    if backwards:
        about = {view.ids[node] for seed in seeds for node in view.src[view.in_edges(seed, TESTS)].tolist()}
        test_hits.sort(key=lambda hit: (not ran_target(hit), not hit.symbol.is_runnable, hit.symbol.id not in about, -hit.confidence))
    left_out = len(found.nodes) - len(listed)
    touched = np.concatenate([found.nodes, np.asarray(seeds, dtype=found.nodes.dtype)])
    return ImpactReport(
        targets=[view.info(node) for node in targets],
        direction=cast("Direction", question.direction),
        max_depth=question.max_depth,
        min_confidence=floor,
        kinds=cast("list[EdgeWord]", list(question.kinds)),
        hits=hits,
        tests=test_hits,
        total=len(found.nodes),
        by_depth=_by_depth(found),
        by_file=_groups(view, found, modules=False),
        by_module=_groups(view, found, modules=True),
        risk=_risk(view, found, targets, seeds, possible_count, said, ranked=backwards and len(targets) == 1),
        epistemic=said,
        causes=causes(view, found.nodes, unsure, state, floor, question.max_depth, further, left_out),
        possible=possible,
        truncated=left_out > 0,
        state=state,
        miss_chance=miss_chance(view, used, floor, targets, reached, said) if backwards and question.estimates else None,
        known_calls=recall.known_in(view, touched) if question.estimates else [],
    )


def reach(view: GraphView, seeds: Sequence[int], question: Question) -> tuple[FloatArray, Reached]:
    """Return the value of each edge, and the nodes that an impact walk finds.

    The value of an edge is its confidence times the weight of its kind. The walk begins at `seeds`. Tests are included at any depth.
    """
    values = step_values(view, question.kinds, WEIGHTS)
    found, _ = _walked(view, [Start(seeds, question.kinds)], [values], question)
    return values, Reached(found.nodes, found.depths, found.confidences)


def _walked(view: GraphView, starts: Sequence[Start], values: Sequence[FloatArray], question: Question) -> tuple[_Found, int]:
    """Return the nodes that several walks reach, and a count of deeper nodes.

    Deeper nodes are dependents that are more than `question.max_depth` steps away and are not tests. For a question about dependencies, the
    count is 1 if there are deeper dependencies, else 0.
    """
    backwards = question.direction == "dependents"
    adjacency = reverse(view) if backwards else forward(view)
    pairs = list(zip(starts, values, strict=True))
    seeds = [seed for start in starts for seed in start.seeds]
    walks = [walk(adjacency, value, start.seeds, question.max_depth, question.min_confidence) for start, value in pairs]
    if not backwards:
        return _unite(walks, seeds), int(any(one.cut_by_depth for one in walks))
    if not any(one.cut_by_depth for one in walks):
        return _as_cases(view, _unite(walks, seeds), seeds), 0
    deep = [walk(adjacency, value, start.seeds, FULL_DEPTH, question.min_confidence) for start, value in pairs]
    found = _unite([*walks, *(_tests_alone(view, one) for one in deep)], seeds)
    beyond = np.setdiff1d(np.concatenate([one.nodes for one in deep]), np.concatenate([found.nodes, np.asarray(seeds, dtype=np.int64)]))
    return _as_cases(view, found, seeds), len(beyond)


def _as_cases(view: GraphView, found: _Found, seeds: Sequence[int]) -> _Found:
    """Replace functions inside a test by the test that contains them.

    A test runner can run only whole tests. If the test is already in `found` or `seeds`, the function is only dropped.
    """
    inner = np.flatnonzero(view.is_test[found.nodes] & ~view.is_test_case[found.nodes]).tolist()
    named = {row: case for row in inner if (case := case_of(view, int(found.nodes[row]))) >= 0}
    if not named:
        return found
    known = {*seeds, *found.nodes.tolist()}
    nodes, keep = found.nodes.copy(), np.ones(len(found.nodes), dtype=bool)
    for row, case in named.items():  # the nearest and surest of a test's functions comes first
        keep[row] = case not in known
        known.add(case)
        nodes[row] = case
    rows = np.flatnonzero(keep)
    rows = rows[np.lexsort((nodes[rows], -found.confidences[rows], found.depths[rows]))]
    return _Found(nodes[rows], found.depths[rows], found.confidences[rows], found.walks, found.which[rows], found.ends[rows])


def ran_target(hit: ImpactHit) -> bool:
    """Whether a hit is a test that ran the target in a recorded test run."""
    return len(hit.path) == 1 and hit.path[0].source == EdgeSource.RUNTIME.value


class _Found(NamedTuple):
    """Nodes that walks through the graph reached, as arrays.

    The arrays have one element per node. The nodes are sorted by (depth, -confidence, node).
    """

    nodes: IntArray
    depths: IntArray
    confidences: FloatArray
    walks: list[Walk]
    which: IntArray  # number of the walk with the most confident path
    ends: IntArray  # where that path ends: the node, or a function nested in it


def _tests_alone(view: GraphView, found: Walk) -> Walk:
    """Keep only the tests among the nodes that a walk reached.

    The path to each test can still be read, although the nodes on the path are not in the result.
    """
    tests = view.is_test[found.nodes]
    return replace(found, nodes=found.nodes[tests], depths=found.depths[tests], confidences=found.confidences[tests])


def _unite(walks: list[Walk], seeds: Sequence[int]) -> _Found:
    if len(walks) == 1:
        only = walks[0]
        return _Found(only.nodes, only.depths, only.confidences, walks, np.zeros(len(only.nodes), dtype=np.int64), only.nodes)
    nodes = np.concatenate([one.nodes for one in walks] or [np.empty(0, dtype=np.int64)])
    depths = np.concatenate([one.depths for one in walks] or [np.empty(0, dtype=np.int64)])
    confidences = np.concatenate([one.confidences for one in walks] or [np.empty(0, dtype=np.float32)])
    which = np.repeat(np.arange(len(walks)), [len(one.nodes) for one in walks])
    keep = ~np.isin(nodes, np.asarray(seeds, dtype=np.int64))
    nodes, depths, confidences, which = nodes[keep], depths[keep], confidences[keep], which[keep]
    order = np.lexsort((which, -confidences, nodes))
    first = np.ones(len(order), dtype=bool)
    first[1:] = nodes[order][1:] != nodes[order][:-1]
    starts = np.flatnonzero(first)
    fewest = np.minimum.reduceat(depths[order], starts) if len(starts) else depths
    rows = order[starts]
    nodes, depths, confidences, which = nodes[rows], fewest, confidences[rows], which[rows]
    order = np.lexsort((nodes, -confidences, depths))
    return _Found(nodes[order], depths[order], confidences[order], walks, which[order], nodes[order])


def _without_refuted(view: GraphView, found: _Found, seeds: Sequence[int], judged: Collection[str]) -> tuple[_Found, list[int]]:
    """Exclude tests that ran without executing any target.

    Returns the remaining hits, and the excluded tests sorted by path and line. Only tests in `judged`, which have a complete valid run, are
    excluded. Call this only if all targets are functions or methods, because a run does not record the use of class attributes. Code inside
    a test counts as the test.
    """
    cases = [case_of(view, node) for node in found.nodes.tolist()]
    known = np.array([case >= 0 and view.ids[case] in judged for case in cases], dtype=bool)
    rows = np.concatenate([view.in_edges(seed, TESTS) for seed in seeds])
    rows = rows[view.edge_source[rows] == EDGE_SOURCES.index(EdgeSource.RUNTIME)]  # a name does not prove that a test runs the target
    refuted = known & ~np.isin(cases, view.src[rows])
    keep = ~refuted
    kept = _Found(found.nodes[keep], found.depths[keep], found.confidences[keep], found.walks, found.which[keep], found.ends[keep])
    return kept, in_order(view, found.nodes[refuted])


def case_of(view: GraphView, node: int) -> int:
    """Return the test that a node is or that contains it; -1 without one."""
    while node >= 0 and not view.is_test_case[node]:
        node = int(view.parent[node])
    return node


def path_steps(view: GraphView, edges: Collection[int]) -> dict[int, PathStep]:
    """Map edge rows to path steps in the form that answers show."""
    return _steps_and_symbols(view, edges, ())[0]


def _steps_and_symbols(
    view: GraphView, edges: Collection[int], hits: Sequence[int] | IntArray
) -> tuple[dict[int, PathStep], dict[int, SymbolInfo]]:
    """Map edge rows to path steps, and nodes to symbols, as answers show them.

    The nodes are `hits` and the ends of `edges`. Steps and hits share symbol objects, so each symbol is rendered once.
    """
    rows = np.fromiter(edges, dtype=np.int64, count=len(edges))
    nodes = np.unique(np.concatenate([view.src[rows], view.dst[rows], np.asarray(hits, dtype=np.int64)]))
    infos = dict(zip(nodes.tolist(), view.infos(nodes), strict=True))
    steps = {
        edge: PathStep(infos[src], infos[dst], EDGE_KINDS[kind], confidence, EDGE_SOURCES[source], view.rules[rule], line)
        for edge, src, dst, kind, confidence, source, rule, line in zip(
            rows.tolist(),
            view.src[rows].tolist(),
            view.dst[rows].tolist(),
            view.edge_kind[rows].tolist(),
            np.round(view.confidence[rows].astype(np.float64), 4).tolist(),
            view.edge_source[rows].tolist(),
            view.edge_rule[rows].tolist(),
            view.line[rows].tolist(),
            strict=True,
        )
    }
    return steps, infos


def _with_chances(view: GraphView, reached: Reached, seeds: Sequence[int]) -> FloatArray:
    """Return the confidence of each reached node, as the answer shows it.

    For a test, the confidence is the chance that the test runs a target. Two groups of nodes keep the confidence of their path: nodes that
    are not tests, and tests that ran a target in a recorded run.
    """
    rows = np.concatenate([view.in_edges(seed, TESTS) for seed in seeds] or [np.empty(0, dtype=np.int64)])
    seen = view.src[rows[view.edge_source[rows] == EDGE_SOURCES.index(EdgeSource.RUNTIME)]]
    by_chance = view.is_test[reached.nodes]
    if len(seen):
        by_chance &= ~np.isin(reached.nodes, seen)
    if not by_chance.any():
        return reached.confidences
    return np.where(by_chance, chances_of_tests(view, reached, seeds), reached.confidences).astype(np.float32)


def _shared(view: GraphView, found: _Found, limit: int) -> _Found:
    """Keep at most `limit` nodes, in their order.

    If there are too many nodes, half of those kept are tests and half are other nodes. If one half is not used up, the other gets the rest.
    Among tests, those that a runner can call are kept before helper code, and then those with a higher chance.
    """
    if len(found.nodes) <= limit:
        return found
    tests = np.flatnonzero(view.is_test[found.nodes])
    others = np.flatnonzero(~view.is_test[found.nodes])
    tests = tests[np.lexsort((tests, -found.confidences[tests], ~view.is_runnable[found.nodes[tests]]))]
    share = max(limit - len(others), (limit + 1) // 2)
    tests = tests[:share]
    rows = np.sort(np.concatenate([others[: limit - len(tests)], tests]))
    return _Found(found.nodes[rows], found.depths[rows], found.confidences[rows], found.walks, found.which[rows], found.ends[rows])


def _hits(view: GraphView, found: _Found, *, towards_seed: bool) -> list[ImpactHit]:
    """Convert reached nodes to entries of an impact report, in their order.

    `towards_seed` means that the edges of a path lead towards its start node, as for dependents.
    """
    nodes, which = found.nodes, found.which
    paths: list[list[int]] = [[] for _ in range(len(nodes))]
    for number, one in enumerate(found.walks):
        rows = np.flatnonzero(which == number)
        for row, path in zip(rows.tolist(), one.paths(found.ends[rows].tolist()), strict=True):
            paths[row] = path
    steps, infos = _steps_and_symbols(view, {edge for path in paths for edge in path}, nodes)
    depths, confidences = found.depths.tolist(), np.round(found.confidences.astype(np.float64), 4).tolist()
    hits = []
    for info, depth, confidence, path in zip(map(infos.__getitem__, nodes.tolist()), depths, confidences, paths, strict=True):
        walked = [steps[edge] for edge in path]
        target = walked[0].dst.id if towards_seed else walked[0].src.id
        hits.append(ImpactHit(info, depth, "affected" if info.is_test else VERDICTS[min(depth, 3) - 1], confidence, walked, target))
    return hits


def _by_depth(found: _Found) -> list[int]:
    counts: list[int] = np.bincount(found.depths, minlength=1)[1:].tolist()
    return counts


def _groups(view: GraphView, found: _Found, *, modules: bool) -> list[ImpactGroup]:
    """Group the entries of a report by file, or by directory.

    `modules` chooses directories. Groups with the most entries come first, then the order is by name.
    """
    if not len(found.nodes):
        return []
    numbers, group, counts = np.unique(view.path_index[found.nodes], return_inverse=True, return_counts=True)
    surest, nearest = np.zeros(len(numbers), found.confidences.dtype), np.full(len(numbers), MAX_DEPTH)
    np.maximum.at(surest, group, found.confidences)
    np.minimum.at(nearest, group, found.depths)
    rows: dict[str, tuple[int, float, int]] = {}
    for number, *own in zip(numbers.tolist(), counts.tolist(), surest.tolist(), nearest.tolist(), strict=True):
        path = view.paths[number] if number >= 0 else "(external)"
        name = (path.rpartition("/")[0] or ".") if modules and number >= 0 else path
        hits, confidence, depth = rows.get(name, (0, 0.0, MAX_DEPTH))
        rows[name] = (hits + own[0], max(confidence, own[1]), min(depth, own[2]))
    groups = [ImpactGroup(name, hits, round(confidence, 4), depth) for name, (hits, confidence, depth) in rows.items()]
    return sorted(groups, key=lambda group: (-group.hits, group.name))


def _text_only(view: GraphView, node: int) -> str:
    """Return the language of a file that is only searched as text, or "".

    The result is "" for a file whose code is parsed.
    """
    number = int(view.path_index[node])
    is_text = number >= 0 and view.arrays.paths.language[number].as_py() == LANGUAGE
    return text_only_language(view.path(node)) if is_text else ""


def _risk(
    view: GraphView, found: _Found, targets: Sequence[int], seeds: Sequence[int], unresolved: int, verdict: Epistemic, *, ranked: bool
) -> Risk:
    others = ~view.is_test[found.nodes]
    cases = int(np.count_nonzero(view.is_runnable[found.nodes]))
    nodes, depths = found.nodes[others], found.depths[others]
    files = {view.paths[number] for number in np.unique(view.path_index[nodes]).tolist() if number >= 0}
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
