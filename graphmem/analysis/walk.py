"""Find the most confident paths in the graph by a walk along its edges.

Impact analysis and the search for paths use this walk. The walk goes level by level from the start nodes ("seeds"). Each level continues
only from nodes for which it found a better path. After level d, the value of a node is the greatest product of step values over all paths
of at most d edges. The result is exact for paths of at most `max_depth` edges. The depth of a node is the first level that reaches it.
Values never increase along a path, so nodes with a value below the minimum (`floor`) are dropped at once. (Bellman-Ford over the (max, x)
semiring, cut at `max_depth`.)

Edges from a wrapper to the wrapped functions are an exception; their rules are in `weights.STAND_INS`. A path of dependencies may begin
with such an edge, but may not pass through one later. So a walk towards dependencies follows these edges only in the first level. A walk
towards dependents follows a path from its end, so there such an edge can only be the last step (`Walk.last`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphmem.analysis.weights import STAND_INS
from graphmem.projection.graph.arrays import EDGE_KINDS, distinct, ranges

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from graphmem.projection.graph.view import GraphView

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


# A pass over all edges takes most of the time of a small question, and nearly all questions use the same kinds.
_MASKED: Final = 64  # nodes are sorted by a mask of all nodes if they are more than one in 64
MAX_STEP_VALUES: Final = 8  # per graph; each takes 4 bytes an edge
_STEP_VALUES: WeakKeyDictionary[GraphView, dict[Hashable, FloatArray]] = WeakKeyDictionary()


class Adjacency(NamedTuple):
    """Neighbours of each node in one direction, as compressed rows.

    The neighbours of node i are nodes[pointers[i]:pointers[i + 1]]. The edges to them are at the same positions of `edges`, as edge rows.
    """

    pointers: NDArray[np.int32]
    nodes: NDArray[np.int32]
    edges: NDArray[np.int32] | None  # None: position and edge row are equal
    is_forward: bool = False  # from a dependent to its dependencies
    begins: IntArray = np.empty(0, dtype=np.int64)  # edge rows that may only begin a path of dependencies, ascending
    near: NDArray[np.int32] = np.empty(0, dtype=np.int32)  # the near end of each edge row, if there are any in `begins`
    far: NDArray[np.int32] = np.empty(0, dtype=np.int32)  # the far end
    is_begin: BoolArray = np.empty(0, dtype=np.bool_)  # of each edge row, if there are any in `begins`
    at_begin: BoolArray = np.empty(0, dtype=np.bool_)  # for each node, whether an edge of `begins` can be walked from it


_ADJACENCIES: WeakKeyDictionary[GraphView, dict[bool, Adjacency]] = WeakKeyDictionary()


def forward(view: GraphView) -> Adjacency:
    """Return the dependencies of each node, in the form that `walk` needs."""
    return _adjacency(view, is_forward=True)


def reverse(view: GraphView) -> Adjacency:
    """Return the dependents of each node, in the form that `walk` needs."""
    return _adjacency(view, is_forward=False)


def _adjacency(view: GraphView, *, is_forward: bool) -> Adjacency:
    """Return the neighbours of all nodes in one direction; cached by graph.

    With `is_forward`, the neighbours are the dependencies of a node, else its dependents.
    """
    known = _ADJACENCIES.setdefault(view, {})
    if is_forward not in known:
        near, far = (view.src, view.dst) if is_forward else (view.dst, view.src)
        begins = stand_ins(view)
        is_begin, at_begin = np.zeros(len(near), dtype=np.bool_), np.zeros(view.n, dtype=np.bool_)
        is_begin[begins] = True
        at_begin[near[begins]] = True
        pointers, edges = (view.out_ptr, None) if is_forward else (view.in_ptr, view.in_edge)
        nodes = view.dst if is_forward else view.in_src
        known[is_forward] = Adjacency(pointers, nodes, edges, is_forward, begins, near, far, is_begin, at_begin)
    return known[is_forward]


def stand_ins(view: GraphView) -> IntArray:
    """Return the edges from wrappers to wrapped functions.

    They are the edges whose rule is in `STAND_INS`, in ascending order. An edge is given by its row: its position in the arrays of the
    graph.
    """
    codes = [code for code, rule in enumerate(view.rules) if rule in STAND_INS]
    if not codes:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.isin(view.edge_rule, np.asarray(codes, dtype=view.edge_rule.dtype)))


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes to which one level of a walk found a better path than before.

    The nodes are ascending. Each node has three values: the node before it on the path, the last edge of the path, and the path's value.
    """

    nodes: IntArray
    parents: IntArray
    edges: IntArray
    values: FloatArray


class _Last(NamedTuple):
    """The last edge of a path; the walk does not continue after this edge."""

    edge: int
    level: int  # level of the entry before it; -1 for a seed
    entry: int
    depth: int
    value: float


@dataclass(frozen=True, slots=True)
class Walk:
    """Nodes that a walk reached, as parallel arrays.

    The arrays are sorted by (depth, -confidence, node).
    """

    nodes: IntArray  # reached nodes, without seeds
    depths: IntArray  # fewest steps, 1-based
    confidences: FloatArray  # best product within the depth bound
    levels: list[_Level]
    cut_by_depth: bool  # a node beyond max_depth could have been reached
    last: dict[int, _Last]  # nodes whose most confident path ends with an edge after which no path continues

    def paths(self, nodes: Sequence[int]) -> list[list[int]]:
        """Return the edges of the most confident path to each of `nodes`.

        An edge is given by its row: its position in the arrays of the graph. The first edge of a path is the one at the seed (start node).
        """
        last: dict[int, tuple[int, int]] = {}  # node -> (level, entry) that improved it last
        wanted = np.asarray([node for node in nodes if node not in self.last], dtype=np.int64)
        for number, level in enumerate(self.levels):
            at = np.minimum(np.searchsorted(level.nodes, wanted), len(level.nodes) - 1)
            here = level.nodes[at] == wanted
            last.update((node, (number, entry)) for node, entry in zip(wanted[here].tolist(), at[here].tolist(), strict=True))
        # A level passes on only the nodes that the level before improved, so the parent of an entry is in that level.
        edges = [level.edges.tolist() for level in self.levels]
        parents = [
            np.searchsorted(before.nodes, level.parents).tolist() for before, level in zip(self.levels, self.levels[1:], strict=False)
        ]
        found = []
        for node in nodes:
            final = self.last.get(int(node))
            number, entry = last[int(node)] if final is None else (final.level, final.entry)
            path = [] if final is None else [final.edge]
            while number >= 0:
                path.append(edges[number][entry])
                entry = parents[number - 1][entry] if number else 0
                number -= 1
            found.append(path[::-1])
        return found


def step_values(view: GraphView, kinds: Collection[str], weights: dict[str, float]) -> FloatArray:
    """Return the value of each edge for a search along edges, shape (edges,).

    The value is the edge's confidence times the weight of its kind. The value is 0 for edges whose kind is not in `kinds`.
    """
    known = _STEP_VALUES.setdefault(view, {})
    key = (frozenset(kinds), frozenset(weights.items()))
    values = known.get(key)
    if values is not None:
        return values
    table = np.zeros(256, dtype=np.float32)
    for code, kind in enumerate(EDGE_KINDS):
        if kind in kinds:
            table[code] = weights.get(kind, 1.0)
    values = table[view.edge_kind] * view.confidence
    if len(known) >= MAX_STEP_VALUES:
        known.clear()
    known[key] = values
    return values


def walk(adjacency: Adjacency, values: FloatArray, seeds: Sequence[int], max_depth: int, floor: float) -> Walk:
    """Walk from start nodes along edges; return the nodes reached, with paths.

    Args:
        adjacency: `reverse(view)` for dependents, `forward(view)` for dependencies.
        values: step value of each edge row, in [0, 1]; 0 disables an edge.
        seeds: the start nodes; they are never in the result.
        max_depth: maximum number of edges in a path, at least 1.
        floor: lowest product of step values that the walk follows, in (0, 1].

    Returns:
        Every node within the limits, except start nodes. If two paths to a node have equal values, the shorter one is kept. If they are
        equally long, the one whose previous node has the lower index is kept.
    """
    size = len(adjacency.pointers) - 1
    best = np.zeros(size, dtype=np.float32)
    depth = np.zeros(size, dtype=np.uint8)
    frontier = distinct(np.asarray(seeds, dtype=np.int64))
    best[frontier] = 2.0  # no path can improve a seed
    handed_on = np.ones(len(frontier), dtype=np.float32)
    levels: list[_Level] = []
    cut_by_depth = False
    for number in range(1, max_depth + 2):
        skips = bool(len(adjacency.begins)) and not (adjacency.is_forward and number == 1)
        nodes, parents, edges, reached = _expand(adjacency, values, frontier, handed_on, best, floor, skips=skips)
        if not len(nodes):
            break
        if number > max_depth:
            cut_by_depth = bool(np.any(depth[nodes] == 0))
            break
        fresh = nodes[depth[nodes] == 0]
        depth[fresh] = number
        best[nodes] = reached
        levels.append(_Level(nodes, parents, edges, reached))
        frontier, handed_on = nodes, reached
    last: dict[int, _Last] = {}
    if not adjacency.is_forward:
        for step in _last_steps(adjacency, values, distinct(np.asarray(seeds, dtype=np.int64)), levels, floor):
            node = int(adjacency.far[step.edge])
            if best[node] > 1:  # a seed
                continue
            if step.depth > max_depth:
                cut_by_depth |= bool(depth[node] == 0)
                continue
            depth[node] = min(int(depth[node]) or step.depth, step.depth)
            if step.value > best[node]:
                best[node] = step.value
                last[node] = step
    return _collect(best, depth, levels, last, cut_by_depth=cut_by_depth)


def _last_steps(adjacency: Adjacency, values: FloatArray, seeds: IntArray, levels: list[_Level], floor: float) -> Iterator[_Last]:
    """Yield the edges after which a search along edges cannot continue.

    The edges lead on from the start nodes `seeds` and from the nodes of each level of the search. They are sorted by depth and row. An edge
    is yielded only if the product of the values on its path is at least `floor`.
    """
    if not len(adjacency.begins):
        return
    rows = near = None
    entries = [(seeds, np.ones(len(seeds), dtype=np.float32)), *((level.nodes, level.values) for level in levels)]
    for number, (nodes, handed_on) in enumerate(entries):
        if not adjacency.at_begin[nodes].any():
            continue
        if rows is None or near is None:  # most walks meet no such edge
            rows = adjacency.begins[values[adjacency.begins] > 0]
            near = adjacency.near[rows]
        at = np.minimum(np.searchsorted(nodes, near), len(nodes) - 1)
        reached = handed_on[at] * values[rows]
        for place in np.flatnonzero((nodes[at] == near) & (reached >= floor)).tolist():
            yield _Last(int(rows[place]), number - 1, int(at[place]), number + 1, float(reached[place]))


def reached(adjacency: Adjacency, values: FloatArray, seeds: Sequence[int], floor: float) -> IntArray:
    """Return the nodes that a search along edges reaches at any depth.

    The nodes are ascending, and the parameters are those of `walk`. The call takes about half the time of `walk`, because it does not store
    paths.
    """
    size = len(adjacency.pointers) - 1
    best = np.zeros(size, dtype=np.float32)
    first = frontier = distinct(np.asarray(seeds, dtype=np.int64))
    best[first] = 2.0  # no path improves a seed
    handed_on = np.ones(len(first), dtype=np.float32)
    found: list[IntArray] = []
    is_first = True
    while len(frontier):
        counts, nodes, edges = _neighbours(adjacency, frontier)
        worth = np.repeat(handed_on, counts) * values[edges]
        if len(adjacency.begins) and not (is_first and adjacency.is_forward):
            worth[adjacency.is_begin[edges]] = 0
        keep = np.flatnonzero((worth >= floor) & (worth > best[nodes]))
        nodes = nodes[keep]
        np.maximum.at(best, nodes, worth[keep])
        frontier = _ascending(nodes, size)
        found.append(frontier)
        handed_on = best[frontier]
        is_first = False
    if not adjacency.is_forward and any(adjacency.at_begin[nodes].any() for nodes in (first, *found)):
        rows = adjacency.begins
        worth = np.minimum(best[adjacency.near[rows]], 1) * values[rows]
        nodes = adjacency.far[rows[worth >= floor]].astype(np.int64)
        found.append(nodes[best[nodes] <= 1])
    return _ascending(np.concatenate(found), size) if found else np.empty(0, dtype=np.int64)


def _ascending(nodes: IntArray, size: int) -> IntArray:
    """Return the distinct nodes of an array in ascending order.

    `size` is the number of nodes in the graph. For many nodes, a boolean array with one element for each node of the graph is used, because
    it is faster than sorting.
    """
    if len(nodes) < size // _MASKED:
        nodes = np.sort(nodes)
        first = np.ones(len(nodes), dtype=bool)
        np.not_equal(nodes[1:], nodes[:-1], out=first[1:])
        return nodes[first]
    mask = np.zeros(size, dtype=bool)
    mask[nodes] = True
    return np.flatnonzero(mask)


def _neighbours(adjacency: Adjacency, frontier: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the edges of the nodes `frontier`, as three arrays.

    The first array has the number of edges of each node. The other two have, for each edge, the node at the other end and the edge row.
    """
    counts, positions = ranges(adjacency.pointers, frontier)
    edges = positions if adjacency.edges is None else adjacency.edges[positions].astype(np.int64)
    return counts, adjacency.nodes[positions].astype(np.int64), edges


def _expand(
    adjacency: Adjacency, values: FloatArray, frontier: IntArray, handed_on: FloatArray, best: FloatArray, floor: float, *, skips: bool
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Walk one edge further from the nodes `frontier`.

    `handed_on` has the values of these nodes, and `best` the best value so far of every node. Returns four arrays with one element for each
    node to which a better path was found: the node, the node before it, the edge row and the value. `values` and `floor` are those of
    `walk`. With `skips`, edges that may only be the first step of a path are not followed.
    """
    counts, nodes, edges = _neighbours(adjacency, frontier)
    if not len(nodes):
        return nodes, nodes, nodes, np.empty(0, dtype=np.float32)
    reached = np.repeat(handed_on, counts) * values[edges]
    if skips:
        reached[adjacency.is_begin[edges]] = 0
    keep = np.flatnonzero((reached >= floor) & (reached > best[nodes]))
    nodes, edges, reached = nodes[keep], edges[keep], reached[keep]
    parents = np.repeat(frontier, counts)[keep]
    order = np.lexsort((edges, parents, -reached, nodes))
    nodes, parents, edges, reached = nodes[order], parents[order], edges[order], reached[order]
    first = np.ones(len(nodes), dtype=bool)
    first[1:] = nodes[1:] != nodes[:-1]
    return nodes[first], parents[first], edges[first], reached[first]


def _collect(best: FloatArray, depth: NDArray[np.uint8], levels: list[_Level], last: dict[int, _Last], *, cut_by_depth: bool) -> Walk:
    nodes = distinct(np.concatenate([*(level.nodes for level in levels), np.fromiter(last, np.int64, len(last))]))
    depths = depth[nodes].astype(np.int64)
    confidences = best[nodes]
    order = np.lexsort((nodes, -confidences, depths))
    return Walk(nodes[order], depths[order], confidences[order], levels, cut_by_depth, last)
