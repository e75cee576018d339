"""Impact of X: everything that could behave differently if X changes, with the evidence.

One walk (see `walk`) over the edges of `weights.TRAVEL`; then the hits are sorted, tests are set apart,
hits are grouped, and what could not be followed is counted. `total`, `by_depth` and the risk are over
everything the walk reached; only the listed hits are cut by `limit`, and the report says so.

A test whose last run is known in full is judged by that run: it is a hit where it ran a target, and where its text alone
leads to one it is not, which a cause says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from graphmem.analysis import risk
from graphmem.analysis.families import family_of
from graphmem.analysis.walk import Adjacency, FloatArray, IntArray, Walk, forward, reverse, step_values, walk
from graphmem.analysis.weights import IMPACT_KINDS, TRAVEL
from graphmem.answers import Cause, ImpactGroup, ImpactHit, ImpactReport, IndexState, PathStep, Possible, Risk
from graphmem.errors import BadInputError
from graphmem.model import EdgeKind, EdgeSource
from graphmem.projection.arrays import EDGE_KINDS, EDGE_SOURCES, FILE, NODE_KINDS, SYMBOL, Bool

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.answers.vocabulary import Direction, Epistemic
    from graphmem.answers.vocabulary import EdgeKind as EdgeWord
    from graphmem.projection.graph import GraphView

MAX_DEPTH: Final = 50
MAX_LIMIT: Final = 100_000
MAX_POSSIBLE: Final = 50
DEFINES: Final = (EdgeKind.DEFINES,)
TESTS: Final = (EdgeKind.TESTS,)
RUNNABLE: Final = frozenset({"function", "method"})
BOUNDS: Final = ("budget", "depth", "not_run")  # causes that leave nothing out but what was asked for, or is known to be wrong
CONTAINERS: Final = frozenset({"class", "interface", "enum", "type"})
VERDICTS: Final = ("will break", "likely", "possible")
WEIGHTS: Final = {kind: travel.weight for kind, travel in TRAVEL.items()}


@dataclass(frozen=True, slots=True)
class Question:
    """An impact question, checked once.

    Raises:
        BadInputError: a value is out of range or a kind or direction is unknown.
    """

    direction: str = "dependents"  # dependents | dependencies
    max_depth: int = 5  # 1..50
    min_confidence: float = 0.3  # (0, 1], of the whole path
    kinds: tuple[str, ...] = IMPACT_KINDS
    limit: int = 1000  # 1..100,000 hits listed, the rest only counted

    def __post_init__(self) -> None:
        if self.direction not in ("dependents", "dependencies"):
            raise _bad("direction", self.direction, "dependents or dependencies")
        if not 1 <= self.max_depth <= MAX_DEPTH:
            raise _bad("max_depth", self.max_depth, f"1 to {MAX_DEPTH}")
        if not 0 < self.min_confidence <= 1:
            raise _bad("min_confidence", self.min_confidence, "more than 0 and at most 1")
        if not 1 <= self.limit <= MAX_LIMIT:
            raise _bad("limit", self.limit, f"1 to {MAX_LIMIT}")
        unknown = sorted(set(self.kinds) - set(IMPACT_KINDS))
        if unknown or not self.kinds:
            raise _bad("kinds", ", ".join(unknown) or "none", f"some of {', '.join(IMPACT_KINDS)}")


def _bad(argument: str, value: object, allowed: str) -> BadInputError:
    return BadInputError(f"{argument} is {value}, allowed is {allowed}", argument=argument, value=value, allowed=allowed)


def expand(view: GraphView, targets: Collection[int]) -> list[int]:
    """Targets with what they consist of: a file with its symbols, a class with its members, ascending."""
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
    """Where a walk begins and what it may use: a changed body travels along fewer kinds than a changed name."""

    seeds: Sequence[int]
    kinds: tuple[str, ...]


def impact(
    view: GraphView, targets: Sequence[int], question: Question, state: IndexState, judged: Collection[str] = frozenset()
) -> ImpactReport:
    """The impact report of some nodes and what they consist of (members of a class, symbols of a file).

    Args:
        view: the graph to walk.
        targets: node indices, at least one.
        question: direction and bounds.
        state: shown in the report.
        judged: ids of the tests of whose last run everything is known, and nothing has changed since.
    """
    return united_impact(view, targets, [Start(expand(view, targets), question.kinds)], question, state, judged)


def united_impact(
    view: GraphView,
    targets: Sequence[int],
    starts: Sequence[Start],
    question: Question,
    state: IndexState,
    judged: Collection[str] = frozenset(),
) -> ImpactReport:
    """One report over several walks: a node keeps its fewest steps and its most confident path."""
    adjacency = reverse(view) if question.direction == "dependents" else forward(view)
    values = [step_values(view, start.kinds, WEIGHTS) for start in starts]
    walks = [
        walk(adjacency, value, start.seeds, question.max_depth, question.min_confidence)
        for value, start in zip(values, starts, strict=True)
    ]
    seeds = [seed for start in starts for seed in start.seeds]
    found, not_run = _without_refuted(view, _unite(walks, seeds), starts, question, judged)
    faint = _faint(view, adjacency, list(zip(values, starts, strict=True)), found.nodes, seeds, question.min_confidence)
    tests = view.is_test[found.nodes]
    listed = _hits(view, found, question.limit, towards_seed=question.direction == "dependents")
    hits = [hit for hit in listed if not hit.symbol.is_test]
    test_hits = sorted((hit for hit in listed if hit.symbol.is_test), key=lambda hit: not ran_target(hit))
    truncated = len(found.nodes) > len(listed)
    families = _families(view, seeds)
    possible, possible_count = _possible(view, seeds, families) if question.direction == "dependents" else ([], 0)
    failed = [path for path in view.failed_paths if _family(view, path) in families]
    causes = _causes(view, found, question, state, possible, possible_count, faint, not_run, failed, truncated=truncated)
    incomplete = any(cause.kind not in BOUNDS for cause in causes)
    lower: Epistemic = "unknown" if incomplete and not len(found.nodes) else "lower_bound"
    others = ~tests
    return ImpactReport(
        targets=[view.info(node) for node in targets],
        direction=cast("Direction", question.direction),
        max_depth=question.max_depth,
        min_confidence=question.min_confidence,
        kinds=cast("list[EdgeWord]", list(question.kinds)),
        hits=hits,
        tests=test_hits,
        total=len(found.nodes),
        by_depth=_by_depth(found, question.max_depth),
        by_file=_groups(view, found, modules=False),
        by_module=_groups(view, found, modules=True),
        risk=_risk(view, found, others, targets, incomplete=incomplete),
        epistemic=lower if incomplete else "exact",
        causes=causes,
        possible=possible,
        truncated=truncated,
        state=state,
    )


def ran_target(hit: ImpactHit) -> bool:
    """Whether a hit is known to run the target, from a run of the tests."""
    return len(hit.path) == 1 and hit.path[0].source == EdgeSource.RUNTIME.value


class _Found(NamedTuple):
    """United walks. The arrays are parallel, sorted by (depth, -confidence, node)."""

    nodes: IntArray
    depths: IntArray
    confidences: FloatArray
    walks: list[Walk]
    which: IntArray  # the walk with the most confident path
    cut_by_depth: bool


def _unite(walks: list[Walk], seeds: Sequence[int]) -> _Found:
    cut = any(one.cut_by_depth for one in walks)
    if len(walks) == 1:
        only = walks[0]
        return _Found(only.nodes, only.depths, only.confidences, walks, np.zeros(len(only.nodes), dtype=np.int64), cut)
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
    return _Found(nodes[order], depths[order], confidences[order], walks, which[order], cut)


def _without_refuted(
    view: GraphView, found: _Found, starts: Sequence[Start], question: Question, judged: Collection[str]
) -> tuple[_Found, list[int]]:
    """The walk without tests that are known not to run any target; and these tests, by path and line.

    Only functions and methods are judged so: that a test did not run a class attribute nobody can say.
    """
    seeds = [seed for start in starts for seed in start.seeds]
    follows_tests = all(EdgeKind.TESTS in start.kinds for start in starts if start.seeds)
    if question.direction != "dependents" or not judged or not follows_tests:
        return found, []
    if not all(view.label[seed] == SYMBOL and NODE_KINDS[view.kind[seed]] in RUNNABLE for seed in seeds):
        return found, []
    nodes = found.nodes.tolist()
    known = np.array([view.is_test[node] and view.ids[node] in judged for node in nodes], dtype=bool)
    if not known.any():
        return found, []
    rows = np.concatenate([view.in_edges(seed, TESTS) for seed in seeds])
    refuted = known & ~np.isin(found.nodes, view.src[rows])
    keep = ~refuted
    left_out = found.nodes[refuted]
    order = np.lexsort((left_out, view.start_line[left_out], view.path_index[left_out]))
    kept = found._replace(nodes=found.nodes[keep], depths=found.depths[keep], confidences=found.confidences[keep], which=found.which[keep])
    return kept, [int(node) for node in left_out[order]]


def path_steps(view: GraphView, edges: Collection[int]) -> dict[int, PathStep]:
    """Edge rows as steps of paths; made together, because a node's texts are cheap to read only in bulk."""
    rows = np.fromiter(edges, dtype=np.int64, count=len(edges))
    nodes = np.unique(np.concatenate([view.src[rows], view.dst[rows]]))
    infos = dict(zip(nodes.tolist(), view.infos(nodes), strict=True))
    return {
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


def _hits(view: GraphView, found: _Found, limit: int, *, towards_seed: bool) -> list[ImpactHit]:
    """The first rows as hits, in their order."""
    nodes, which = found.nodes[:limit], found.which[:limit]
    paths: list[list[int]] = [[] for _ in range(len(nodes))]
    for number, one in enumerate(found.walks):
        rows = np.flatnonzero(which == number)
        for row, path in zip(rows.tolist(), one.paths(nodes[rows].tolist()), strict=True):
            paths[row] = path
    steps = path_steps(view, {edge for path in paths for edge in path})
    infos = view.infos(nodes)
    depths, confidences = found.depths[:limit].tolist(), np.round(found.confidences[:limit].astype(np.float64), 4).tolist()
    hits = []
    for info, depth, confidence, path in zip(infos, depths, confidences, paths, strict=True):
        walked = [steps[edge] for edge in path]
        target = walked[0].dst.id if towards_seed else walked[0].src.id
        hits.append(ImpactHit(info, depth, "affected" if info.is_test else VERDICTS[min(depth, 3) - 1], confidence, walked, target))
    return hits


def _by_depth(found: _Found, max_depth: int) -> list[int]:
    counts = np.bincount(found.depths, minlength=max_depth + 1)[1:]
    return [int(count) for count in np.trim_zeros(counts, "b")]


def _groups(view: GraphView, found: _Found, *, modules: bool) -> list[ImpactGroup]:
    """Hits by file or by directory: most hits first, then name."""
    paths = view.path_index[found.nodes]
    rows: dict[str, tuple[int, float, int]] = {}
    order = np.argsort(paths, kind="stable")
    bounds = np.flatnonzero(np.diff(paths[order])) + 1
    for part in np.split(order, bounds):
        if not len(part):
            continue
        number = int(paths[part[0]])
        path = view.paths[number] if number >= 0 else "(external)"
        name = (path.rpartition("/")[0] or ".") if modules and number >= 0 else path
        hits, confidence, depth = rows.get(name, (0, 0.0, MAX_DEPTH))
        rows[name] = (
            hits + len(part),
            max(confidence, float(found.confidences[part].max())),
            min(depth, int(found.depths[part].min())),
        )
    groups = [ImpactGroup(name, hits, round(confidence, 4), depth) for name, (hits, confidence, depth) in rows.items()]
    return sorted(groups, key=lambda group: (-group.hits, group.name))


def _family(view: GraphView, path: str) -> str:
    return family_of(str(view.arrays.paths.language[view.path_number[path]].as_py()))


def _families(view: GraphView, seeds: Sequence[int]) -> frozenset[str]:
    """Families of languages whose files can name one of these; every one when there are none, or one lies outside."""
    numbers = set(view.path_index[np.asarray(seeds, dtype=np.int64)].tolist())
    if not numbers or -1 in numbers:
        return frozenset(map(family_of, view.arrays.paths.language.unique().to_pylist())) - {""}
    return frozenset(_family(view, view.paths[number]) for number in numbers) - {""}


def _possible(view: GraphView, seeds: Sequence[int], families: Collection[str]) -> tuple[list[Possible], int]:
    """Sites that call the name of something whose change is asked about and could not be resolved, in languages that can name it.

    Returns:
        The first 50 by path and line, and the number of all.
    """
    names = sorted({view.name(node) for node in seeds if view.label[node] == SYMBOL})
    sites = [site for name in names for site in view.unresolved_named(name)]
    able = {path for path in {site.path for site in sites} if _family(view, path) in families}
    sites = [site for site in sites if site.path in able]
    sites.sort(key=lambda site: (site.path, site.line, site.name))
    first = [site for site in sites if site.caller >= 0][:MAX_POSSIBLE]
    return [Possible(view.info(site.caller), site.name, site.line, site.reason) for site in first], len(sites)


def _faint(
    view: GraphView,
    adjacency: Adjacency,
    starts: Sequence[tuple[FloatArray, Start]],
    found: IntArray,
    seeds: Sequence[int],
    floor: float,
) -> list[int]:
    """Direct neighbours that were left out because of the floor alone, by path and line."""
    nodes: list[IntArray] = []
    for values, start in starts:
        for seed in start.seeds:
            part = np.arange(adjacency.pointers[seed], adjacency.pointers[seed + 1])
            worth = values[part if adjacency.edges is None else adjacency.edges[part]]
            nodes.append(adjacency.nodes[part[(worth > 0) & (worth < floor)]].astype(np.int64))
    left_out = np.setdiff1d(np.concatenate(nodes) if nodes else np.empty(0, dtype=np.int64), np.concatenate([found, np.asarray(seeds)]))
    order = np.lexsort((left_out, view.start_line[left_out], view.path_index[left_out]))
    return [int(node) for node in left_out[order]]


def _causes(
    view: GraphView,
    found: _Found,
    question: Question,
    state: IndexState,
    possible: list[Possible],
    possible_count: int,
    faint: list[int],
    not_run: list[int],
    failed: list[str],
    *,
    truncated: bool,
) -> list[Cause]:
    causes: list[Cause] = []
    if not_run:
        examples = [view.info(node).ref for node in not_run[:5]]
        message = "tests are left out: their text leads here, but they did not come here when they ran, and nothing they ran has changed"
        causes.append(Cause("not_run", message, len(not_run), examples))
    if faint:
        examples = [view.info(node).ref for node in faint[:5]]
        leads = "symbol leads" if len(faint) == 1 else "symbols lead"
        message = f"{leads} to a target with less confidence than {question.min_confidence:g}; a lower floor shows them"
        causes.append(Cause("low_confidence", message, len(faint), examples))
    if possible_count:
        examples = [f"{one.caller.path}:{one.line}" for one in possible[:5]]
        uses = "call site uses" if possible_count == 1 else "call sites use"
        causes.append(Cause("unresolved_calls", f"{uses} a target's name on a receiver of unknown type", possible_count, examples))
    if failed:
        files = "file" if len(failed) == 1 else "files"
        causes.append(Cause("failed_files", f"{files} could not be read in full", len(failed), failed[:5]))
    if state.stale_files:
        rests_on = {view.paths[number] for number in np.unique(view.path_index[found.nodes]).tolist() if number >= 0}
        examples = sorted(state.stale, key=lambda path: (path not in rests_on, path))[:5]
        have = "file has" if state.stale_files == 1 else "files have"
        causes.append(Cause("stale", f"{have} changed since the index was made", state.stale_files, examples))
    if found.cut_by_depth:
        causes.append(Cause("depth", f"there are more beyond depth {question.max_depth}", 0))
    if truncated:
        message = f"more are counted, only the first {question.limit} are listed; totals are exact"
        causes.append(Cause("budget", message, len(found.nodes) - question.limit))
    return causes


def _risk(view: GraphView, found: _Found, others: Bool, targets: Sequence[int], *, incomplete: bool) -> Risk:
    weight = float(np.sum(found.confidences[others] / found.depths[others]))
    entries = int(np.count_nonzero(view.is_entry_point[found.nodes[others]]))
    home = {view.path(node).rpartition("/")[0] for node in targets}
    reached = {view.paths[int(index)].rpartition("/")[0] for index in np.unique(view.path_index[found.nodes[others]]) if index >= 0}
    modules = len(reached - home)
    return risk.assess(weight, entries, modules, int(np.count_nonzero(~others)), incomplete=incomplete)
