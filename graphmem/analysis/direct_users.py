"""Direct users of a symbol: callers, tests, and helpers in test code.

Hovers, code lenses and inlay hints of editors show them, so they are counted in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphmem.analysis.relations import RELATIONS, one_edge_a_test, tests_around
from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS, NODE_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from graphmem.projection.graph.view import GraphView

_TESTS: Final = EDGE_KINDS.index(EdgeKind.TESTS)
_USED: Final = frozenset({"class", "enum", "interface", "type", "variable"})  # kinds of symbols
_USES: Final = (EdgeKind.REFERENCES, EdgeKind.USES_TYPE, EdgeKind.INHERITS)


class DirectUsers(NamedTuple):
    """Nodes with a direct edge to a symbol, the most certain first.

    Among equally certain nodes, those in nearer directories come first.
    """

    callers: list[int]  # outside test code
    tests: list[int]  # that a test runner can run
    helpers: list[int]  # in test code, such as fixtures and mocks
    users: list[int]  # of a type or a variable outside test code, without its callers and its own members


def direct_users(view: GraphView, node: int, *, in_order: bool = True) -> DirectUsers:
    """Return the callers and tests of a symbol, without the symbol itself.

    Code inside a test belongs to this test. A call of an abstract method runs an implementation and refers to the declaration, so users of
    the declaration are its callers. Without `in_order`, the nodes are in any order, which is faster.
    """
    kinds = RELATIONS["callers"].kinds
    if "abstract" in view.modifiers(node):
        kinds = (*kinds, EdgeKind.REFERENCES)
    edges = view.in_edges(node, kinds)
    outside = edges[~view.is_test[view.src[edges]]]
    inside = view.in_edges(node, RELATIONS["tests"].kinds)
    inside = inside[view.is_test[view.src[inside]]]
    if in_order and len(inside):
        inside = inside[one_edge_a_test(view, inside, view.src[inside])]
    tests: dict[int, None] = {}
    helpers: dict[int, None] = {}
    sources = _sources(view, node, inside, in_order)
    for one, case in zip(sources, tests_around(view, np.array(sources, np.int64)).tolist(), strict=True):
        if case >= 0:
            tests[case] = None
        else:
            helpers[one] = None
    tests.pop(node, None)
    helpers.pop(node, None)
    callers = dict.fromkeys(_sources(view, node, outside, in_order))
    callers.pop(node, None)
    return DirectUsers(list(callers), list(tests), list(helpers), _users(view, node, callers, in_order))


def _users(view: GraphView, node: int, callers: Mapping[int, None], in_order: bool) -> list[int]:
    """Return the code that uses a type or a variable without calling it.

    `callers` are left out. Without `in_order`, the nodes are in any order. For a function, the list is empty. Code that uses a function
    without calling it, such as a table of handlers, rarely matters beside the function's callers.
    """
    if NODE_KINDS[view.kind[node]] not in _USED:
        return []
    edges = view.in_edges(node, _USES)
    edges = edges[~view.is_test[view.src[edges]]]
    return [
        one
        for one in dict.fromkeys(_sources(view, node, edges, in_order))
        if one not in callers and one != node and not _is_inside(view, one, node)
    ]


def _is_inside(view: GraphView, node: int, outer: int) -> bool:
    while node >= 0 and node != outer:
        node = int(view.parent[node])
    return node == outer


def _sources(view: GraphView, node: int, edges: NDArray[np.generic], in_order: bool) -> list[int]:
    """Return the source nodes of edges to a node.

    Nodes with a TESTS edge come first, then nodes with higher confidence, then those in nearer directories. Without `in_order`, the nodes
    are in any order.
    """
    others = view.src[edges]
    if not in_order or len(edges) < 2:
        return list(others.tolist())
    files, at = np.unique(view.path_index[others], return_inverse=True)
    home = view.path(node).split("/")[:-1]
    far = np.array([_steps(home, view.paths[file].split("/")[:-1]) if file >= 0 else 0 for file in files.tolist()])
    about = view.edge_kind[edges] != _TESTS
    order = np.lexsort((others, view.start_line[others], view.path_index[others], far[at], -view.confidence[edges], about))
    return list(others[order].tolist())


def _steps(home: list[str], other: list[str]) -> int:
    """Return how many directories lead from one directory to another."""
    common = 0
    for one, two in zip(home, other, strict=False):
        if one != two:
            break
        common += 1
    return len(home) + len(other) - 2 * common
