"""Calibrated probabilities for the tests of an impact answer.

One model gives the chance that a listed test runs the target. The other model gives the chance that a test outside the list runs the
target. Both are logistic models. Their features describe the walk through the graph that found the tests. `python -m benchmarks
completeness` fits the coefficients to recorded test runs and writes them to `chances.json` beside this file. docs/impact.md has the
reliability table.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphmem.analysis.walk import MAX_STEP_VALUES, BoolArray, FloatArray, IntArray, forward, reverse
from graphmem.analysis.walk import reached as nodes_reached
from graphmem.analysis.words_of_names import name_features
from graphmem.model import LIBRARY_HOOK
from graphmem.projection.graph.arrays import FILE, FUNCTION_CODES, SYMBOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.projection.graph.view import GraphView

FULL_DEPTH: Final = 50  # most steps of a path to a test
STORED: Final = "chances.json"
TEST_FEATURES: Final = ("confidence", "depth", "share", "count", "named", "class_named", "file_named")
MISS_FEATURES: Final = ("none_named", "file_gap", "lines", "hooked", "hooked_share", "unreached_share")
MOST_NEAR: Final = 64  # per graph; each takes 8 bytes for each test that is near
_NEAR: WeakKeyDictionary[GraphView, dict[tuple[int, float, tuple[int, ...]], tuple[FloatArray, IntArray]]] = WeakKeyDictionary()
_PROJECT: WeakKeyDictionary[GraphView, dict[tuple[int, float], ProjectFeatures]] = WeakKeyDictionary()
_SUREST: Final = 0.97  # highest chance of a path found from text alone
_LEAST: Final = 0.01


class Model(NamedTuple):
    """A logistic model, which gives a chance for a row of features.

    The chance is 1 / (1 + e^-(intercept + features · weights)).
    """

    intercept: float
    weights: tuple[float, ...]

    def chances(self, features: FloatArray) -> FloatArray:
        """Return the probability that the model gives each row of `features`."""
        slopes = np.asarray(self.weights, dtype=np.float32)
        chances: FloatArray = (1 / (1 + np.exp(-(features @ slopes + np.float32(self.intercept))))).astype(np.float32)
        return chances


class ProjectFeatures(NamedTuple):
    """Facts about a project that determine the chance of a missed test.

    A missed test runs a changed symbol, but the impact answer does not list it. Many functions that frameworks call, or that no test
    reaches, are a sign of calls without an edge. Functions in the code of tests are not counted.
    """

    hooked: BoolArray  # of each node: library classes call it, such as `clean_email` of a form of Django
    hooked_share: float  # of the functions, those that library classes call
    unreached_share: float  # of the functions, those that no test reaches
    values: FloatArray  # kept, so that no other array gets their id


class Reached(NamedTuple):
    """Nodes that a walk through the graph reached, with depth and confidence.

    The three arrays have one element for each node, in the same order.
    """

    nodes: IntArray
    depths: IntArray
    confidences: FloatArray


@cache
def model(name: str) -> Model:
    """Load the stored model of this name: `test` or `miss`."""
    stored = json.loads((files("graphmem.analysis") / STORED).read_text(encoding="utf-8"))[name]
    names = TEST_FEATURES if name == "test" else MISS_FEATURES
    return Model(stored["intercept"], tuple(stored["weights"][one] for one in names))


def test_features(view: GraphView, reached: Reached, targets: Sequence[int]) -> FloatArray:
    """Return the features of each reached node, shape (nodes, features).

    From the row of a test, the model `test` computes the chance that the test runs one of `targets`. The last three features compare
    names (see `name_features`). They are 0 for nodes outside the code of tests.
    """
    tests = int(np.count_nonzero(view.is_test_case))
    named = int(np.count_nonzero(view.is_test_case[reached.nodes]))
    confidence = np.clip(reached.confidences.astype(np.float64), _LEAST, _SUREST)
    names = np.zeros((len(confidence), 3), dtype=np.float32)
    tests_alone = np.flatnonzero(view.is_test[reached.nodes])
    names[tests_alone] = name_features(view, reached.nodes[tests_alone], targets)
    return np.column_stack(
        [
            np.log(confidence / (1 - confidence)),
            np.minimum(reached.depths, 20),
            np.full(len(confidence), named / max(tests, 1)),
            np.full(len(confidence), np.log1p(named)),
            names,
        ]
    ).astype(np.float32)


def miss_features(view: GraphView, values: FloatArray, floor: float, targets: Sequence[int], reached: Reached) -> FloatArray:
    """Return the features from which the chance of a missed test is computed.

    A missed test runs a target but is not in the impact answer. The result has the shape (len(MISS_FEATURES),).

    Args:
        view: the graph.
        values: value of each edge: its confidence times the weight of its kind.
        floor: lowest product of edge values on a path; the walk follows no path with a lower product.
        targets: nodes whose impact was asked for, not empty.
        reached: nodes that the walk reached.
    """
    cases = np.zeros(view.n, dtype=bool)
    cases[reached.nodes] = view.is_test_case[reached.nodes]
    paths = {view.path(node) for node in targets if view.label[node] in (FILE, SYMBOL)}
    neighbours = [one for path in sorted(paths) for one in view.by_path(path).tolist()]
    lines = sum(int(view.end_line[node] - view.start_line[node]) for node in targets)
    project = _project_features(view, values, floor)
    return np.array(
        [
            float(not cases.any()),
            _gap(view, values, floor, neighbours, cases),
            np.log1p(max(0, lines)),
            float(project.hooked[np.asarray(targets)].any()),
            project.hooked_share,
            project.unreached_share,
        ],
        dtype=np.float32,
    )


def _gap(view: GraphView, values: FloatArray, floor: float, seeds: Sequence[int], cases: BoolArray) -> float:
    """Return the share of tests that reach code near a target, but no target.

    The result is a share of all tests of the project. `seeds` are nodes near a target, such as those of its file. `cases` has a boolean for
    each node of the graph: True for a test that reaches a target. `values` has the value of each edge. Paths whose product of values is
    below `floor` are ignored.
    """
    tests = int(np.count_nonzero(view.is_test_case))
    if not seeds or not tests:
        return 0.0
    return int(np.count_nonzero(~cases[_tests_near(view, values, floor, seeds)])) / tests


def _tests_near(view: GraphView, values: FloatArray, floor: float, seeds: Sequence[int]) -> IntArray:
    """Return the tests from which a path leads to any of the nodes `seeds`.

    The tests are node numbers, ascending. `values` has the value of each edge. Paths whose product of values is below `floor` are ignored.
    The results of recent calls are cached for each graph, because an editor requests the impact of each definition of a file.
    """
    known = _NEAR.setdefault(view, {})
    key = (id(values), floor, tuple(seeds))
    found = known.get(key)
    if found is None:
        around = nodes_reached(reverse(view), values, seeds, floor)
        if len(known) >= MOST_NEAR:
            known.clear()
        found = known[key] = (values, around[view.is_test_case[around]])  # the values are kept, so that no other array gets their id
    return found[1]


def _project_features(view: GraphView, values: FloatArray, floor: float) -> ProjectFeatures:
    """Return the features of a project that are the same for all targets.

    `values` has the value of each edge. Paths whose product of values is below `floor` are ignored. The result is cached for each graph.
    """
    known = _PROJECT.setdefault(view, {})
    found = known.get((id(values), floor))
    if found is None:
        counted = np.isin(view.kind, FUNCTION_CODES) & ~view.is_test
        is_hook = np.array([rule == LIBRARY_HOOK for rule in view.rules], dtype=bool)
        hooked = np.zeros(view.n, dtype=bool)
        hooked[view.dst[is_hook[view.edge_rule]]] = True
        reached = np.zeros(view.n, dtype=bool)
        reached[nodes_reached(forward(view), values, np.flatnonzero(view.is_test_case).tolist(), floor)] = True
        functions = max(1, int(np.count_nonzero(counted)))
        hooked_share, unreached_share = (int(np.count_nonzero(part & counted)) / functions for part in (hooked, ~reached))
        if len(known) >= MAX_STEP_VALUES:
            known.clear()
        found = known[id(values), floor] = ProjectFeatures(hooked, hooked_share, unreached_share, values)
    return found


def after_a_run() -> float:
    """Return the measured chance of a missed test if the answer is exact.

    A missed test runs a target but is not in the impact answer. In an exact answer, every test that may run a target has a valid recorded
    run. The chance is stored beside the models.
    """
    return float(json.loads((files("graphmem.analysis") / STORED).read_text(encoding="utf-8"))["after_a_run"])


def chances_of_tests(view: GraphView, reached: Reached, targets: Sequence[int]) -> FloatArray:
    """Return, for each reached test, the chance that it runs a target.

    The result has one element for each node of `reached`. Elements of nodes that are not tests have no meaning.
    """
    return model("test").chances(test_features(view, reached, targets))


def chance_of_a_miss(view: GraphView, values: FloatArray, floor: float, targets: Sequence[int], reached: Reached) -> float:
    """Return the chance, 0 to 1, that an impact answer misses a test.

    A missed test runs a target but is not in the answer. The chance is computed for the case that at least one test of the project runs the
    target. For the parameters, see `miss_features`.
    """
    features = miss_features(view, values, floor, targets, reached)
    return float(model("miss").chances(features[None, :])[0])
