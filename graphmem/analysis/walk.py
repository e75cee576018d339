"""The bounded best-path walk that impact analysis and paths share.

Level by level from the seeds, each level handing on only what it improved. After level d a node's
value is the greatest product of step values over all paths of at most d edges, which is exact for the
depth bound; the level a node is first seen at is its depth. Values only fall along a path, so a node
under the floor can be dropped at once. (Bellman-Ford over the (max, x) semiring, cut at `max_depth`.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphmem.projection.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from graphmem.projection.graph import GraphView

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]


# A pass over all edges is most of a small question's time, and nearly every question has the same kinds.
MAX_STEP_VALUES: Final = 8  # a graph; each is 4 bytes an edge
_STEP_VALUES: WeakKeyDictionary[GraphView, dict[Hashable, FloatArray]] = WeakKeyDictionary()


class Adjacency(NamedTuple):
    """Neighbours in one direction: node i's are nodes[pointers[i]:pointers[i + 1]], over the edge rows beside them."""

    pointers: NDArray[np.int32]
    nodes: NDArray[np.int32]
    edges: NDArray[np.int32] | None  # None: position and edge row are the same


def forward(view: GraphView) -> Adjacency:
    """What each node depends on."""
    return Adjacency(view.out_ptr, view.dst, None)


def reverse(view: GraphView) -> Adjacency:
    """Who depends on each node."""
    return Adjacency(view.in_ptr, view.in_src, view.in_edge)


@dataclass(frozen=True, slots=True)
class _Level:
    """What one level improved, sorted by node: the entry each node was improved from."""

    nodes: IntArray
    parents: IntArray
    edges: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a walk. Arrays are parallel, sorted by (depth, -confidence, node)."""

    nodes: IntArray  # reached nodes, seeds excluded
    depths: IntArray  # fewest steps, 1-based
    confidences: FloatArray  # best product within the depth bound
    levels: list[_Level]
    cut_by_depth: bool  # something could have been reached beyond max_depth

    def paths(self, nodes: Sequence[int]) -> list[list[int]]:
        """For each reached node the edge rows of its most confident path, from the seed outwards."""
        if not self.levels:
            return [[] for _ in nodes]
        last: dict[int, tuple[int, int]] = {}  # node -> (level, entry) that improved it last
        wanted = np.asarray(nodes, dtype=np.int64)
        for number, level in enumerate(self.levels):
            at = np.minimum(np.searchsorted(level.nodes, wanted), len(level.nodes) - 1)
            here = level.nodes[at] == wanted
            last.update((node, (number, entry)) for node, entry in zip(wanted[here].tolist(), at[here].tolist(), strict=True))
        # A level hands on only what the level before improved, so an entry's parent stands in that level.
        edges = [level.edges.tolist() for level in self.levels]
        parents = [
            np.searchsorted(before.nodes, level.parents).tolist() for before, level in zip(self.levels, self.levels[1:], strict=False)
        ]
        found = []
        for node in nodes:
            number, entry = last[int(node)]
            path = [edges[number][entry]]
            while number:
                entry = parents[number - 1][entry]
                number -= 1
                path.append(edges[number][entry])
            found.append(path[::-1])
        return found


def step_values(view: GraphView, kinds: Collection[str], weights: dict[str, float]) -> FloatArray:
    """Value of each edge row for a walk, shape (edges,): confidence x weight of its kind, 0 for kinds left out."""
    known = _STEP_VALUES.setdefault(view, {})
    key = (frozenset(kinds), tuple(sorted(weights.items())))
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
    """Walk from the seeds over a compressed adjacency.

    Args:
        adjacency: `reverse(view)` for dependents, `forward(view)` for dependencies.
        values: step value of each edge row, in [0, 1]; 0 switches an edge off.
        seeds: node indices; they are never hits.
        max_depth: most edges on a path, at least 1.
        floor: least product that is followed, in (0, 1].

    Returns:
        Every node within the bounds. Equal values keep the shorter path, then the smaller parent index.
    """
    size = len(adjacency.pointers) - 1
    best = np.zeros(size, dtype=np.float32)
    depth = np.zeros(size, dtype=np.int64)
    frontier = np.unique(np.asarray(seeds, dtype=np.int64))
    best[frontier] = 2.0  # no path improves a seed
    handed_on = np.ones(len(frontier), dtype=np.float32)
    levels: list[_Level] = []
    for number in range(1, max_depth + 2):
        nodes, parents, edges, reached = _expand(adjacency, values, frontier, handed_on, best, floor)
        if not len(nodes):
            return _collect(best, depth, levels, cut_by_depth=False)
        if number > max_depth:
            return _collect(best, depth, levels, cut_by_depth=bool(np.any(depth[nodes] == 0)))
        fresh = nodes[depth[nodes] == 0]
        depth[fresh] = number
        best[nodes] = reached
        levels.append(_Level(nodes, parents, edges, reached))
        frontier, handed_on = nodes, reached
    raise AssertionError("the loop returns at max_depth + 1")


def _expand(
    adjacency: Adjacency, values: FloatArray, frontier: IntArray, handed_on: FloatArray, best: FloatArray, floor: float
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """One level: for each node that improves, its best entry; sorted by node."""
    starts = adjacency.pointers[frontier].astype(np.int64)
    counts = adjacency.pointers[frontier + 1].astype(np.int64) - starts
    offsets = np.cumsum(counts)
    total = int(offsets[-1]) if len(offsets) else 0
    if not total:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, nothing, np.empty(0, dtype=np.float32)
    positions = np.arange(total) + np.repeat(starts - offsets + counts, counts)
    nodes = adjacency.nodes[positions].astype(np.int64)
    edges = positions if adjacency.edges is None else adjacency.edges[positions].astype(np.int64)
    reached = np.repeat(handed_on, counts) * values[edges]
    keep = np.flatnonzero((reached >= floor) & (reached > best[nodes]))
    nodes, edges, reached = nodes[keep], edges[keep], reached[keep]
    parents = np.repeat(frontier, counts)[keep]
    order = np.lexsort((edges, parents, -reached, nodes))
    nodes, parents, edges, reached = nodes[order], parents[order], edges[order], reached[order]
    first = np.ones(len(nodes), dtype=bool)
    first[1:] = nodes[1:] != nodes[:-1]
    return nodes[first], parents[first], edges[first], reached[first]


def _collect(best: FloatArray, depth: IntArray, levels: list[_Level], *, cut_by_depth: bool) -> Walk:
    nodes = np.flatnonzero(depth)
    order = np.lexsort((nodes, -best[nodes], depth[nodes]))
    nodes = nodes[order]
    return Walk(nodes, depth[nodes], best[nodes], levels, cut_by_depth)
