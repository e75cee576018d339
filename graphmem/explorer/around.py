"""Arrange a symbol's dependencies and dependents in columns for a picture.

Dependencies are on the left, dependents on the right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from graphmem.errors import BadInputError
from graphmem.projection.graph.edges import kind_mask

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from graphmem.projection.graph.view import GraphView

MAX_DEPTH: Final = 4
COLUMN: Final = 260.0  # from one column to the next, in units of the picture; a name of 28 letters fits
ROW: Final = 30.0
TALLEST: Final = 28  # rows of a column; more go into a second column beside it
SITES: Final = 5  # lines of an edge that are sent
SWEEPS: Final = 6  # over the columns, sorting each by where its neighbours are


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a neighbourhood: of the nodes some steps around given nodes.

    Attributes:
        depth: number of steps to each side, 1 to 4.
        kinds: kinds of edges to follow and to show.
        min_confidence: lowest confidence of the edges, in [0, 1].
        limit: maximum number of nodes. Within a step, the project's own nodes come before used packages, then code before tests, then
            nodes with more confident edges.

    Raises:
        BadInputError: a bound is out of range.
    """

    depth: int
    kinds: Collection[str]
    min_confidence: float
    limit: int

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MAX_DEPTH:
            raise BadInputError(
                f"depth, the number of steps from the symbol, is {self.depth}; use 1 to {MAX_DEPTH} steps",
                argument="depth",
                value=self.depth,
            )
        if not 0 <= self.min_confidence <= 1:
            raise BadInputError(
                f"min_confidence is {self.min_confidence}; use a number from 0 to 1", argument="min_confidence", value=self.min_confidence
            )
        if self.limit < 1:
            raise BadInputError(f"limit, the maximum number of symbols, is {self.limit}; use 1 or more", argument="limit", value=self.limit)


def neighbourhood(
    view: GraphView, seeds: Sequence[int], bounds: Bounds, *, fold_tests: bool = False, own: Collection[int] = ()
) -> tuple[dict[str, Any], int]:
    """Return the nodes within some steps of given nodes, and their edges.

    Steps to the left follow only dependencies, and steps to the right only dependents.

    Args:
        view: the graph.
        seeds: nodes in the middle.
        bounds: limits of the steps, the edges and the nodes.
        fold_tests: show the tests of a step to the right as one node. Its kind is `tests`, and its `count` is their number. Ignored if
            every seed is a test.
        own: members of the seeds, such as methods of a class. They are not shown. Their edges are shown as edges of the seed that
            contains them.

    Returns:
        Columns (lists of values) of nodes and edges, and the number of nodes left out because of the limit. `side` of a node is its
            number
            of steps to the right, negative to the left. In an edge, `src` depends on `dst`.
    """
    live = kind_mask(bounds.kinds)[view.edge_kind] & (view.confidence >= bounds.min_confidence)
    holder = _holders(view, seeds, own)
    around = _Around(dict.fromkeys(seeds, 0), holder, fold=fold_tests and not all(view.is_test[node] for node in seeds))
    for step in range(1, bounds.depth + 1):
        around.widen(view, live, step, bounds.limit)
    return _shown(view, around, live), around.left_out


class _Around:
    """The nodes around the seeds, found step by step.

    The seeds are the nodes in the middle of the picture.

    Attributes:
        side: nodes -> number of steps to the right, negative to the left.
        holder: members of seeds -> their seed.
        folded: tests that are shown as one node -> their step.
        left_out: number of nodes beyond the limit.
    """

    def __init__(self, side: dict[int, int], holder: dict[int, int], *, fold: bool) -> None:
        self.side = side
        self.holder = holder
        self.folded: dict[int, int] = {}
        self.left_out = 0
        self._fold = fold
        self._frontier = {1: [*side, *holder], -1: [*side, *holder]}

    def widen(self, view: GraphView, live: npt.NDArray[np.bool_], step: int, limit: int) -> None:
        """Add the neighbours of the outermost nodes, on both sides, up to a limit.

        `step` is the distance of these neighbours from the middle of the picture, in edges, and `limit` the maximum number of all nodes.
        Only `live` edges are followed.
        """
        right = _next(view, self._frontier[1], 1, live, self.side, self.holder)
        if self._fold:
            for test in (node for node in right if view.is_test[node]):
                self.folded.setdefault(test, step)
            right = [node for node in right if node not in self.folded]
        met = set(right)  # a node on both sides is shown with the dependents
        left = [node for node in _next(view, self._frontier[-1], -1, live, self.side, self.holder) if node not in met]
        room = max(0, limit - len(self.side))
        taken = right[: max(room - len(left), room - room // 2)]  # half the room, and the rest of the other side's half
        self._frontier = {1: taken, -1: left[: room - len(taken)]}
        self.left_out += len(right) + len(left) - sum(map(len, self._frontier.values()))
        for way, nodes in self._frontier.items():
            self.side.update(dict.fromkeys(nodes, way * step))


def _shown(view: GraphView, around: _Around, live: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return the columns `nodes` and `edges` of the picture.

    Both are dicts from names, such as "path", to lists with one value for each node or edge. `around` has the nodes that were found. Only
    `live` edges are shown. The tests that are shown as one node come last.
    """
    side = around.side
    nodes = list(side)
    place = {node: i for i, node in enumerate(nodes)}
    place.update((member, place[seed]) for member, seed in around.holder.items())
    edges = _edges(view, place, live)
    groups, uses = _folded(view, around.folded, place, live)
    steps = sorted(groups)
    sides = [*(side[node] for node in nodes), *steps]
    order = [f"{int(not view.path(node))}{int(view.is_test[node])} {view.path(node)}" for node in nodes]
    x, y = _columns(sides, [*((a, b) for a, b, _ in edges), *((a, b) for a, b, _ in uses)], [*order, *("2" for _ in steps)])
    infos = view.infos(nodes)
    none = [""] * len(steps)
    return {
        "nodes": {
            "id": [*(one.id for one in infos), *none],
            "ref": [*(one.ref for one in infos), *none],
            "name": [*(one.name for one in infos), *none],
            "kind": [*(one.kind for one in infos), *("tests" for _ in steps)],
            "path": [*(one.path for one in infos), *none],
            "line": [*(one.start_line for one in infos), *(0 for _ in steps)],
            "test": [*(one.is_test for one in infos), *(True for _ in steps)],
            "count": [*(1 for _ in infos), *(groups[step] for step in steps)],
            "side": sides,
            "x": x,
            "y": y,
        },
        "edges": {
            "src": [*(a for a, _, _ in edges), *(a for a, _, _ in uses)],
            "dst": [*(b for _, b, _ in edges), *(b for _, b, _ in uses)],
            "kind": [view.kind_of(row) for _, _, row in (*edges, *uses)],
            "confidence": [round(float(view.confidence[row]), 2) for _, _, row in (*edges, *uses)],
            "rule": [view.rule_of(row) for _, _, row in (*edges, *uses)],
            "lines": [*(view.lines_of(row)[:SITES] for _, _, row in edges), *([] for _ in uses)],
        },
    }


def _holders(view: GraphView, seeds: Sequence[int], own: Collection[int]) -> dict[int, int]:
    """Map each node in `own` that is not a seed to the seed that contains it.

    The seeds are the nodes in the middle of the picture. The seed that contains a node is its innermost enclosing definition among the
    seeds. If there is none, the node is mapped to its file, if the file is a seed. Otherwise the node is mapped to the first seed.
    """
    found: dict[int, int] = {}
    files = {view.path(seed): seed for seed in seeds if view.file_node(view.path(seed)) == seed}
    for node in set(own) - set(seeds):
        above = int(view.parent[node])
        while above >= 0 and above not in seeds:
            above = int(view.parent[above])
        found[node] = above if above >= 0 else files.get(view.path(node), seeds[0])
    return dict(sorted(found.items()))


def _edges(view: GraphView, place: Mapping[int, int], live: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return (from, to, row) for each edge between two places in the picture.

    `from` and `to` are places, and `row` is the edge's row in the graph. `place` maps nodes to places. A node in the middle of the picture
    and its members, such as methods, share a place. Edges that are not `live` are left out. Of several edges of one kind between two
    places, only the most certain is kept. Of equally certain ones, the first is kept.
    """
    best: dict[tuple[int, int, int], int] = {}
    for node, a in place.items():
        for row in view.out_edges(node).tolist():
            b = place.get(int(view.dst[row]))
            if b is None or a == b or not live[row]:
                continue
            key = (a, b, int(view.edge_kind[row]))
            known = best.get(key)
            if known is None or view.confidence[row] > view.confidence[known]:
                best[key] = row
    return sorted((a, b, row) for (a, b, _), row in best.items())


def _folded(
    view: GraphView, folded: Mapping[int, int], place: Mapping[int, int], live: npt.NDArray[np.bool_]
) -> tuple[dict[int, int], list[tuple[int, int, int]]]:
    """Replace all tests at the same distance by one node.

    The distance is the number of steps from the symbols in the middle of the picture.

    Args:
        view: the graph.
        folded: maps each test to its distance.
        place: maps the other nodes to their places in the picture.
        live: whether each edge of the graph is followed.

    Returns:
        The number of tests at each distance. Then the edges (from, to, row) of the new nodes, where `from` is the place of a new node, and
        `to` is the place of a node that its tests use. `row` is the edge's row in the graph. Of all edges between two places, only the most
        certain is kept.
    """
    groups: dict[int, int] = {}
    for step in folded.values():
        groups[step] = groups.get(step, 0) + 1
    number = {step: 1 + max(place.values()) + i for i, step in enumerate(sorted(groups))}
    best: dict[tuple[int, int], int] = {}
    for node, at in place.items():
        for row in view.in_edges(node).tolist():
            step = folded.get(int(view.src[row]), 0)
            if not step or not live[row]:
                continue
            known = best.get((number[step], at))
            if known is None or view.confidence[row] > view.confidence[known]:
                best[number[step], at] = row
    return groups, [(a, b, row) for (a, b), row in sorted(best.items())]


def _next(
    view: GraphView, frontier: Sequence[int], way: int, live: npt.NDArray[np.bool_], side: Mapping[int, int], hidden: Collection[int]
) -> list[int]:
    """Return the new nodes one step beyond `frontier`, most important first.

    The project's own nodes come before externals (used packages), then code before tests, then nodes with more confident edges. `way` is 1
    for dependents and -1 for dependencies. Only `live` edges are followed. Nodes in `side` (already shown) and `hidden` are not new.
    """
    found: dict[int, float] = {}
    for node in frontier:
        rows = view.in_edges(node) if way > 0 else view.out_edges(node)
        for row in rows[live[rows]].tolist():
            other = int(view.src[row] if way > 0 else view.dst[row])
            if other not in side and other not in hidden:
                found[other] = max(found.get(other, 0.0), float(view.confidence[row]))
    return sorted(
        found,
        key=lambda node: (not view.path(node), bool(view.is_test[node]), -found[node], view.path(node), int(view.start_line[node]), node),
    )


def _columns(sides: Sequence[int], edges: Sequence[tuple[int, int]], order: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return x and y of each node, one column for each step from the middle.

    Args:
        sides: the column of each node; 0 is the middle.
        edges: pairs of positions in `sides`. A node is placed near the nodes to which it has edges.
        order: strings that decide between equally placed nodes.

    Source:
        Sugiyama, Tagawa, Toda 1981, the barycentre method.
    """
    members: dict[int, list[int]] = {}
    for i, column in enumerate(sides):
        members.setdefault(column, []).append(i)
    near: dict[int, list[int]] = {}
    for a, b in edges:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    height = np.zeros(len(sides))
    for held in members.values():
        held.sort(key=lambda i: (order[i], i))
        height[held] = np.arange(len(held)) - (len(held) - 1) / 2
    for _ in range(SWEEPS):
        for column in sorted(members, key=lambda one: (abs(one), one)):
            held = members[column]
            wanted = {i: float(np.mean([height[j] for j in near[i] if sides[j] != column] or [height[i]])) for i in held if i in near}
            held.sort(key=lambda i: (wanted.get(i, height[i]), order[i], i))
            height[held] = np.arange(len(held)) - (len(held) - 1) / 2
    x, y = [0.0] * len(sides), [0.0] * len(sides)
    for way in (1, -1):
        lane0 = 0 if way > 0 else 1  # the middle is laid out with the right side
        for column in sorted((one for one in members if one * way > 0 or (way > 0 and not one)), key=abs):
            held = members[column]
            lanes = -(-len(held) // TALLEST) if column else 1
            rows = -(-len(held) // lanes)
            for at, i in enumerate(held):
                x[i] = way * COLUMN * (lane0 + at % lanes)
                y[i] = round(ROW * (at // lanes - (rows - 1) / 2), 2)
            lane0 += lanes
    return x, y
