"""Judge how complete an impact report (list of dependents) is, and why.

Source text alone never proves that nothing else depends on a symbol, so an answer from source text is a lower bound. Only a run of the
tests can make the list of affected tests exact: the run shows that no test outside the list ran a target. The report also states the chance
that it misses a test.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphmem.analysis import chances
from graphmem.analysis.families import family_of
from graphmem.analysis.walk import Adjacency, FloatArray, IntArray, reverse, walk
from graphmem.answers import Possible
from graphmem.model import EdgeKind, EdgeSource
from graphmem.projection.graph.arrays import EDGE_KINDS, EDGE_SOURCES, FUNCTION_CODES, SYMBOL, without

if TYPE_CHECKING:
    from graphmem.answers import IndexState
    from graphmem.answers.vocabulary import Epistemic
    from graphmem.projection.graph.view import GraphView

MAX_POSSIBLE: Final = 50
LEAST: Final = 0.01  # lowest confidence of a path that may matter
_FAILED: WeakKeyDictionary[GraphView, dict[frozenset[str], list[str]]] = WeakKeyDictionary()


class Runs(NamedTuple):
    """Ids of tests that ran in recorded test runs.

    `judged` are the tests with a complete run that is still valid. `met` are all tests with a recorded run, even an incomplete one.
    `with_process` are the tests of `met` that started another process: nobody knows which code it ran.
    """

    judged: Collection[str]  # tests with a complete run, of which nothing has changed since
    met: Collection[str]  # tests that ran at least in part
    with_process: Collection[str] = frozenset()  # of them those that started another process


NO_RUNS: Final = Runs(frozenset(), frozenset())


class Unsure(NamedTuple):
    """Known gaps of an impact answer, such as calls that were not followed.

    Each list of nodes is sorted by path and line.
    """

    possible: list[Possible]  # the first 50 sites
    possible_count: int
    faint: list[int]  # excluded for low confidence alone
    not_run: list[int]  # excluded tests: they ran, and not a target
    unjudged: list[int]  # tests without a valid run, outside the answer, that may run a target
    with_process: list[int]  # other tests outside the answer that started another process, whose code was not recorded
    failed: list[str]  # files that could not be parsed completely, those nearest to the targets first
    of_overloads: list[int]  # callers of other overloads of the targets


def runnable(view: GraphView, nodes: Sequence[int]) -> bool:
    """Whether all nodes are functions or methods.

    Test runs record only which functions and methods were executed.
    """
    return all(view.label[node] == SYMBOL and view.kind[node] in FUNCTION_CODES for node in nodes)


def unjudged_tests(
    view: GraphView, values: FloatArray, seeds: Sequence[int], found: IntArray, runs: Runs, able: Collection[str]
) -> list[int]:
    """Return unlisted tests that may run a target and were not judged.

    An unlisted test is not in the answer. A judged test has a valid recorded run. A test may run a target in two cases:

    * A path of edges, of any confidence, leads from the test to a target.
    * The test was never recorded, and a path leads from the test to other code in a target's file. This case does not apply to tests in
      files of helpers (see `_files_of_helpers`).

    The result is sorted by path and line.

    Args:
        view: the graph.
        values: value of each edge: its confidence times the weight of its kind.
        seeds: nodes where the search for dependents began (the targets and their members).
        found: nodes that the answer lists.
        runs: valid results of the last test runs.
        able: families of languages (see `families`) whose code can name a target.
    """
    cases = without(np.flatnonzero(view.is_test_case), found)
    nodes = [node for node in cases.tolist() if view.ids[node] not in runs.judged and family(view, view.path(node)) in able]
    if not nodes:
        return []
    around = {view.path(seed) for seed in seeds}
    backwards = reverse(view)
    near = set(walk(backwards, values, seeds, chances.FULL_DEPTH, LEAST).nodes.tolist())
    file = set(
        walk(backwards, values, [int(one) for path in around for one in view.by_path(path)], chances.FULL_DEPTH, LEAST).nodes.tolist()
    )
    helpers = _files_of_helpers(view, runs)
    may = [
        node for node in nodes if node in near or (view.ids[node] not in runs.met and node in file and view.path_index[node] not in helpers)
    ]
    return in_order(view, np.asarray(may, dtype=np.int64))


def tests_with_process(view: GraphView, found: IntArray, unjudged: Sequence[int], runs: Runs, able: Collection[str]) -> list[int]:
    """Return unlisted tests that started another process in their last run.

    The process may have run a target, but its code was not recorded. The result leaves out `unjudged`, and is sorted by path and line. The
    arguments are as for `unjudged_tests`.
    """
    left_out = {*found.tolist(), *unjudged}
    nodes = [node for one in runs.with_process if (node := view.index_of.get(one, -1)) >= 0 and node not in left_out]
    return in_order(view, np.asarray([node for node in nodes if family(view, view.path(node)) in able], dtype=np.int64))


def _files_of_helpers(view: GraphView, runs: Runs) -> set[int]:
    """Return the files with helpers for tests, by position in the graph.

    In a recorded run, tests called code in such a file. The file itself contains no test of a recorded run. The positions are those in
    `GraphView.paths`.
    """
    seen = (view.edge_kind == EDGE_KINDS.index(EdgeKind.TESTS)) & (view.edge_source == EDGE_SOURCES.index(EdgeSource.RUNTIME))
    ran = set(view.path_index[view.dst[seen]].tolist())
    return ran - {int(view.path_index[view.index_of[one]]) for one in runs.met if one in view.index_of}


def verdict(view: GraphView, targets: Sequence[int], found: IntArray, unsure: Unsure, state: IndexState, *, judges: bool) -> Epistemic:
    """Return how complete an impact answer is: exact, lower_bound or unknown.

    The answer is exact on four conditions:

    * Test runs can decide the answer (`judges`).
    * Every test that may run a target is in the answer or has a valid run. Tests that run a target only in a process that they started are
      the exception; the answer counts the tests that started a process, and names the first.
    * All files that may use a target are completely parsed.
    * No file changed since the index run.

    Otherwise the answer is lower_bound in two cases: it lists at least one node, or a target is an entry point. In all other cases it is
    unknown.

    Args:
        view: the graph.
        targets: nodes whose impact was asked for.
        found: nodes that the answer lists.
        unsure: known gaps of the answer.
        state: state of the index.
        judges: whether test runs can decide the answer. The answer must list dependents and follow test edges, and all targets must be
            functions or methods.
    """
    if judges and not unsure.unjudged and not unsure.failed and not state.stale_files:
        return "exact"
    return "lower_bound" if len(found) or any(view.is_entry_point[node] for node in targets) else "unknown"


def miss_chance(
    view: GraphView,
    walks: Sequence[tuple[FloatArray, Sequence[int]]],
    floor: float,
    targets: Sequence[int],
    found: chances.Reached,
    verdict: Epistemic,
) -> float | None:
    """Return the chance, 0 to 1, that an impact answer lacks an affected test.

    Such a test runs one of `targets`, the changed symbols, but the answer does not list it. The result is None without targets, and None if
    the index has no tests.

    Args:
        view: the graph.
        walks: for each search along the edges of the graph, (value of each edge, start nodes). The value is the edge's confidence times the
            weight of its kind.
        floor: lowest product of values on a path that the search follows.
        targets: nodes of the changed symbols.
        found: nodes that the search reached.
        verdict: how complete the answer is; for "exact", the result is a measured constant.
    """
    if not targets or not view.is_test_case.any():
        return None
    if verdict == "exact":
        return chances.after_a_run()
    seeds = [seed for _, some in walks for seed in some]
    values = max(walks, key=lambda one: len(one[1]))[0]
    return round(chances.chance_of_a_miss(view, values, floor, seeds or targets, found), 2)


def family(view: GraphView, path: str) -> str:
    """Return the language family of a file, such as that of TypeScript.

    Languages of one family, such as TypeScript and JavaScript, can use each other's names.
    """
    return family_of(view.language_of(path))


def families(view: GraphView, seeds: Sequence[int]) -> frozenset[str]:
    """Return the language families in which code can name the given nodes.

    Code in Python, for example, cannot name a definition in C. All families are returned if `seeds` is empty or contains a symbol of a used
    package.
    """
    numbers = set(view.path_index[np.asarray(seeds, dtype=np.int64)].tolist())
    if not numbers or -1 in numbers:
        return frozenset(map(family_of, set(view.languages))) - {""}
    return frozenset(family(view, view.paths[number]) for number in numbers) - {""}


def nearest(view: GraphView, paths: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Sort paths by their nearness to changed symbols.

    `seeds` are the changed symbols. Files that contain a changed symbol come first. The other files are sorted by the number of folders
    that they share with such a file, most first. Ties are sorted by name.
    """
    changed = {view.path(node) for node in seeds}
    folders = [[path[: at + 1] for at, sign in enumerate(path) if sign == "/"] for path in changed]

    def shared(path: str) -> int:
        if path in changed:
            return len(path)  # before any folder
        return max((sum(map(path.startswith, one)) for one in folders), default=0)

    return sorted(paths, key=lambda path: (-shared(path), path))


def failed_in(view: GraphView, able: frozenset[str]) -> list[str]:
    """Return the incompletely parsed files in languages of given families.

    `able` has the names of the families, such as "python". The result is cached for each graph, because every impact question needs it.
    """
    known = _FAILED.setdefault(view, {})
    if able not in known:
        known[able] = [path for path in view.failed_paths if family(view, path) in able]
    return known[able]


def in_order(view: GraphView, nodes: IntArray) -> list[int]:
    """Sort nodes by path and line."""
    return [int(node) for node in nodes[np.lexsort((nodes, view.start_line[nodes], view.path_index[nodes]))]]


def possible_sites(view: GraphView, seeds: Sequence[int], able: Collection[str]) -> tuple[list[Possible], int]:
    """Return unresolved calls that have the name of a changed symbol.

    An unresolved call has no known target. `seeds` are the changed symbols. `able` has the families of languages whose code can name
    these symbols. Calls in other languages are ignored.

    Returns:
        The first 50 calls with a known caller, by path and line, and the number of all calls, with or without a known caller.
    """
    names = sorted({view.name(node) for node in seeds if view.label[node] == SYMBOL})
    sites = [site for name in names for site in view.unresolved_named(name)]
    paths = {path for path in {site.path for site in sites} if family(view, path) in able}
    sites = [site for site in sites if site.path in paths]
    sites.sort(key=lambda site: (site.path, site.line, site.name))
    first = [site for site in sites if site.caller >= 0][:MAX_POSSIBLE]
    return [Possible(view.info(site.caller), site.name, site.line, site.reason) for site in first], len(sites)


def faint_neighbours(
    view: GraphView, adjacency: Adjacency, walks: Sequence[tuple[FloatArray, Sequence[int]]], found: IntArray, floor: float
) -> list[int]:
    """Return direct neighbours that an answer omits for low confidence.

    A neighbour is omitted if the confidence of its edge is below `floor`. The result is sorted by path and line.

    Args:
        view: the graph.
        adjacency: leads to the dependents or to the dependencies of a node.
        walks: for each search of the answer, (confidence of each edge, start nodes).
        found: nodes that the answer contains; they are not returned.
        floor: least confidence of an edge that the answer follows.
    """
    nodes: list[IntArray] = []
    for values, seeds in walks:
        for seed in seeds:
            part = np.arange(adjacency.pointers[seed], adjacency.pointers[seed + 1])
            worth = values[part if adjacency.edges is None else adjacency.edges[part]]
            nodes.append(adjacency.nodes[part[(worth > 0) & (worth < floor)]].astype(np.int64))
    faint = np.concatenate(nodes) if nodes else np.empty(0, dtype=np.int64)
    if not len(faint):
        return []
    return in_order(view, without(faint, np.concatenate([found, *(np.asarray(seeds, dtype=np.int64) for _, seeds in walks)])))
