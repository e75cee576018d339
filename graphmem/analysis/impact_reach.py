"""Search the graph from changed symbols on, and unite several searches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphmem.analysis.chances import FULL_DEPTH, Reached, chances_of_tests
from graphmem.analysis.completeness import LEAST, in_order
from graphmem.analysis.walk import FloatArray, IntArray, Walk, forward, reverse, walk
from graphmem.model import EdgeKind, EdgeSource
from graphmem.projection.graph.arrays import EDGE_SOURCES, without
from graphmem.runtime.arrow import containing

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.analysis.impact_question import Question, Start
    from graphmem.projection.graph.view import GraphView

TESTS: Final = (EdgeKind.TESTS,)
_MEMOIZED: WeakKeyDictionary[GraphView, IntArray] = WeakKeyDictionary()


def walked(view: GraphView, starts: Sequence[Start], values: Sequence[FloatArray], question: Question) -> tuple[Found, int]:
    """Return the nodes that searches along edges reach, and a count of others.

    Each search begins at the nodes of one of `starts`, and `values` has the values of the edges for it. The others are nodes more than
    `question.max_depth` steps away. For a question about dependents, tests are not counted, because the searches find tests at any depth.
    For a question about dependencies, the count is 1 if there are any such nodes, else 0.
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
    beyond = without(np.concatenate([one.nodes for one in deep]), np.concatenate([found.nodes, np.asarray(seeds, dtype=np.int64)]))
    return _as_cases(view, found, seeds), len(beyond)


def _as_cases(view: GraphView, found: Found, seeds: Sequence[int]) -> Found:
    """Replace functions inside a test by the test that contains them.

    A test runner can run only whole tests. `found` has the nodes that the search reached, and `seeds` are the nodes where the search began.
    If the test is already among them, the function is only dropped.
    """
    inner = np.flatnonzero(view.is_test[found.nodes] & ~view.is_test_case[found.nodes]).tolist()
    named = {row: case for row in inner if (case := case_of(view, int(found.nodes[row]))) >= 0}
    if not named:
        return found
    known = {*seeds, *found.nodes.tolist()}
    nodes, keep = found.nodes.copy(), np.ones(len(found.nodes), dtype=bool)
    for row, case in named.items():  # of the functions in a test, the nearest and most confident one comes first
        keep[row] = case not in known
        known.add(case)
        nodes[row] = case
    rows = np.flatnonzero(keep)
    rows = rows[np.lexsort((nodes[rows], -found.confidences[rows], found.depths[rows]))]
    return Found(nodes[rows], found.depths[rows], found.confidences[rows], found.walks, found.which[rows], found.ends[rows])


class Found(NamedTuple):
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
    """Keep only the tests among the nodes that a search reached.

    The path to each test can still be read, although the nodes on the path are not in the result.
    """
    tests = view.is_test[found.nodes]
    return replace(found, nodes=found.nodes[tests], depths=found.depths[tests], confidences=found.confidences[tests])


def _unite(walks: list[Walk], seeds: Sequence[int]) -> Found:
    if len(walks) == 1:
        only = walks[0]
        return Found(only.nodes, only.depths, only.confidences, walks, np.zeros(len(only.nodes), dtype=np.int64), only.nodes)
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
    return Found(nodes[order], depths[order], confidences[order], walks, which[order], nodes[order])


def without_refuted(
    view: GraphView, found: Found, seeds: Sequence[int], judged: Collection[str], values: FloatArray
) -> tuple[Found, list[int]]:
    """Exclude tests that ran without executing any target.

    `seeds` are the nodes where the search began: the targets and their members. Returns the remaining hits, and the excluded tests sorted
    by path and line. Only tests in `judged`, which have a complete valid run, are excluded. Call this only if all targets are functions or
    methods, because a run does not record the use of class attributes. Code inside a test counts as the test.

    `values` has the value of each edge for the search.
    """
    cases = [case_of(view, node) for node in found.nodes.tolist()]
    known = np.array([case >= 0 and view.ids[case] in judged for case in cases], dtype=bool)
    rows = np.concatenate([view.in_edges(seed, TESTS) for seed in seeds])
    # only recorded runs prove that a test runs the target, and names do not
    rows = rows[view.edge_source[rows] == EDGE_SOURCES.index(EdgeSource.RUNTIME)]
    refuted = known & ~np.isin(cases, view.src[rows])
    if refuted.any():
        refuted &= ~np.isin(cases, _before_memoized(view, found, seeds, values))
    keep = ~refuted
    kept = Found(found.nodes[keep], found.depths[keep], found.confidences[keep], found.walks, found.which[keep], found.ends[keep])
    return kept, in_order(view, found.nodes[refuted])


def _before_memoized(view: GraphView, found: Found, seeds: Sequence[int], values: FloatArray) -> IntArray:
    """Return tests that may have got a stored result instead of a run.

    `seeds` are the targets of the question and their members. Such a test leads to a memoized function, such as one with
    `functools.lru_cache`, which is a target or leads to a target. If the function did not run in the test, an earlier test may have stored
    the result, and alone the test would run the function.
    """
    stored = np.intersect1d(_memoized(view), np.concatenate([np.asarray(seeds, dtype=np.int64), found.nodes]))
    tests = [np.empty(0, dtype=np.int64)]
    for node in stored.tolist():
        nodes = walk(reverse(view), values, [node], FULL_DEPTH, LEAST).nodes
        cases = np.array([case_of(view, one) for one in nodes[view.is_test[nodes]].tolist()], dtype=np.int64)
        tests.append(without(cases, view.src[view.in_edges(node, TESTS)].astype(np.int64)))
    return np.concatenate(tests)


def _memoized(view: GraphView) -> IntArray:
    """Return the functions whose results Python stores, by position."""
    if view not in _MEMOIZED:
        _MEMOIZED[view] = np.flatnonzero(containing(view.arrays.nodes.modifiers, "memoized").to_numpy(zero_copy_only=False))
    return _MEMOIZED[view]


def case_of(view: GraphView, node: int) -> int:
    """Return the test that contains a node, or -1 if no test does.

    If the node itself is a test, the result is the node.
    """
    while node >= 0 and not view.is_test_case[node]:
        node = int(view.parent[node])
    return node


def shown_confidences(view: GraphView, reached: Reached, seeds: Sequence[int]) -> FloatArray:
    """Return the confidence of each reached node, as the answer shows it.

    For a test, the confidence is the chance that the test runs a target; `seeds` are the targets and their members. Two groups of nodes
    keep the confidence of their path: nodes that are not tests, and tests that ran a target in a recorded run.
    """
    rows = np.concatenate([view.in_edges(seed, TESTS) for seed in seeds] or [np.empty(0, dtype=np.int64)])
    seen = view.src[rows[view.edge_source[rows] == EDGE_SOURCES.index(EdgeSource.RUNTIME)]]
    by_chance = view.is_test[reached.nodes]
    if len(seen):
        by_chance &= ~np.isin(reached.nodes, seen)
    if not by_chance.any():
        return reached.confidences
    return np.where(by_chance, chances_of_tests(view, reached, seeds), reached.confidences).astype(np.float32)


def at_most(view: GraphView, found: Found, limit: int) -> Found:
    """Keep at most `limit` nodes, in their order.

    If there are too many nodes, half of the places are for tests and half for other nodes. Places that one group does not need go to the
    other group. Tests that a runner can call are kept before helper code. Among tests of equal rank, those with the highest confidence are
    kept.
    """
    if len(found.nodes) <= limit:
        return found
    tests = np.flatnonzero(view.is_test[found.nodes])
    others = np.flatnonzero(~view.is_test[found.nodes])
    tests = tests[np.lexsort((tests, -found.confidences[tests], ~view.is_runnable[found.nodes[tests]]))]
    share = max(limit - len(others), (limit + 1) // 2)
    tests = tests[:share]
    rows = np.sort(np.concatenate([others[: limit - len(tests)], tests]))
    return Found(found.nodes[rows], found.depths[rows], found.confidences[rows], found.walks, found.which[rows], found.ends[rows])
