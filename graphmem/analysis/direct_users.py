"""Direct users of a symbol: callers, tests, and helpers in test code.

Hovers, code lenses and inlay hints of editors show them, so they are counted in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphmem.analysis.relations import RELATIONS, one_edge_a_test
from graphmem.model import EdgeKind
from graphmem.projection.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmem.projection.graph import GraphView

_TESTS = EDGE_KINDS.index(EdgeKind.TESTS)


class DirectUsers(NamedTuple):
    """Nodes with a direct edge to a symbol, the most certain first.

    Among equally certain nodes, those in nearer directories come first.
    """

    callers: list[int]  # outside test code
    tests: list[int]  # that a test runner can run
    helpers: list[int]  # in test code, such as fixtures and mocks


def direct_users(view: GraphView, node: int) -> DirectUsers:
    """Return the callers and tests of a symbol, without the symbol itself.

    Code inside a test belongs to this test. A call of an abstract method runs an implementation and refers to the declaration, so users of
    the declaration are its callers.
    """
    kinds = RELATIONS["callers"].kinds
    if "abstract" in view.modifiers(node):
        kinds = (*kinds, EdgeKind.REFERENCES)
    edges = view.in_edges(node, kinds)
    outside = edges[~view.is_test[view.src[edges]]]
    used = view.in_edges(node, RELATIONS["tests"].kinds)
    used = used[view.is_test[view.src[used]]]
    inside = used[one_edge_a_test(view, used)]
    tests: dict[int, None] = {}
    helpers: dict[int, None] = {}
    for one in _ordered(view, node, inside):
        case = _case(view, one)
        if case >= 0:
            tests[case] = None
        else:
            helpers[one] = None
    tests.pop(node, None)
    helpers.pop(node, None)
    callers = dict.fromkeys(_ordered(view, node, outside))
    callers.pop(node, None)
    return DirectUsers(list(callers), list(tests), list(helpers))


def _case(view: GraphView, node: int) -> int:
    """Return the test that contains a node of test code, or -1."""
    if view.is_runnable[node]:
        return node
    while node >= 0 and not view.is_test_case[node]:
        node = int(view.parent[node])
    return node


def _ordered(view: GraphView, node: int, edges: NDArray[Any]) -> list[int]:
    """Return the sources of edges: certain ones first, then near ones."""
    if not len(edges):
        return []
    others = view.src[edges]
    files, at = np.unique(view.path_index[others], return_inverse=True)
    home = view.path(node).split("/")[:-1]
    far = np.array([_steps(home, view.paths[file].split("/")[:-1]) if file >= 0 else 0 for file in files.tolist()])
    about = view.edge_kind[edges] != _TESTS
    order = np.lexsort((others, view.start_line[others], view.path_index[others], far[at], -view.confidence[edges], about))
    return [int(one) for one in others[order]]


def _steps(home: list[str], other: list[str]) -> int:
    """Return how many directories lead from one directory to another."""
    common = 0
    for one, two in zip(home, other, strict=False):
        if one != two:
            break
        common += 1
    return len(home) + len(other) - 2 * common
