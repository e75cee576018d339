"""Layers of a dependency graph, and the edges to cut to obtain them.

Source:
    P. Eades, X. Lin, W. F. Smyth, A fast and effective heuristic for the feedback arc set problem, Inf. Process. Lett. 47 (1993) 319-323,
    here with weights: the node with the largest surplus of outgoing weight comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import networkx as nx

T = TypeVar("T", int, str)

ROUNDS: Final = 8  # rounds that improve an order; most settle in three
ALARMS: Final = 20  # at most one in this many dependencies is marked as worth cutting


def components(edges: Iterable[tuple[T, T]]) -> list[list[T]]:
    """Return groups of two or more nodes that all reach each other.

    An edge is (from, to). The largest groups come first. Ties are ordered by the lowest member. The members of a group
    are ascending.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    graph: nx.DiGraph = nx.DiGraph()
    graph.add_edges_from(sorted(edges))
    found: list[list[T]] = [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return sorted(found, key=lambda group: (-len(group), group))


def feedback(weights: Mapping[tuple[T, T], float]) -> list[tuple[T, T]]:
    """Return a small set of light edges whose removal breaks all cycles.

    `weights` maps an edge (from, to) to its weight. A heuristic orders the nodes of each cycle, and single nodes are moved to improve the
    order. The edges against the order form the set. Then edges that close no cycle are taken out of the set again, the heaviest first. The
    result is sorted by weight, the lightest first.
    """
    cut: list[tuple[T, T]] = []
    for group in components(weights):
        inside = {pair: weight for pair, weight in weights.items() if pair[0] in set(group) and pair[1] in set(group)}
        cut.extend(_irredundant(inside, _against(inside, _sifted(inside, _order(inside, group)))))
    return sorted(cut, key=lambda pair: (weights[pair], pair))


def frees(weights: Mapping[tuple[T, T], float], cut: Iterable[tuple[T, T]]) -> dict[tuple[T, T], int]:
    """Return how many nodes leave their cycle when one edge is removed.

    `weights` maps each edge (from, to) of the graph to its weight. Each edge of `cut` is removed alone. A node leaves if it is in no cycle
    afterwards. The result maps an edge to the number of nodes, and leaves out edges that free no node.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    found: dict[tuple[T, T], int] = {}
    wanted = sorted(cut)
    for group in components(weights):
        members = set(group)
        graph: nx.DiGraph = nx.DiGraph()
        graph.add_edges_from(pair for pair in sorted(weights) if members.issuperset(pair))
        for pair in wanted:
            if members.issuperset(pair):
                graph.remove_edge(*pair)
                bound = sum(len(one) for one in nx.strongly_connected_components(graph) if len(one) > 1)
                graph.add_edge(*pair)
                if bound < len(group):
                    found[pair] = len(group) - bound
    return found


def worth_cutting(weights: Mapping[tuple[T, T], float], cut: Iterable[tuple[T, T]]) -> list[tuple[T, T]]:
    """Return those edges of `cut` that are worth removing.

    An edge is (from, to), and `weights` maps each edge of the graph to its weight. Each returned edge alone frees a node from its cycle.
    They are sorted by weight per freed node, lightest first. The list has at most one edge for every `ALARMS` edges in `weights`.
    """
    freed = frees(weights, cut)
    order = sorted(freed, key=lambda pair: (weights[pair] / freed[pair], weights[pair], pair))
    return order[: len(weights) // ALARMS]


def strata(nodes: Sequence[T], weights: Mapping[tuple[T, T], float]) -> dict[T, int]:
    """Return the layer of each node; nodes of a cycle share a layer.

    The keys of `weights` are edges (from, to). A node is above the nodes that it depends on.
    """
    first = {one: group[0] for group in components(weights) for one in group}
    folded: dict[tuple[T, T], float] = {}
    for (a, b), weight in weights.items():
        pair = first.get(a, a), first.get(b, b)
        if pair[0] != pair[1]:
            folded[pair] = folded.get(pair, 0.0) + weight
    found = layers(sorted({first.get(one, one) for one in nodes}), folded, ())
    return {one: found[first.get(one, one)] for one in nodes}


def layers(nodes: Sequence[T], weights: Mapping[tuple[T, T], float], cut: Sequence[tuple[T, T]]) -> dict[T, int]:
    """Map each node of a dependency graph to its layer.

    The keys of `weights` are the edges (from, to). A node without dependencies has layer 0. Any other node is one layer above its highest
    dependency. Edges in `cut` are ignored.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    skipped = set(cut)
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(sorted(nodes))
    graph.add_edges_from(pair for pair in sorted(weights) if pair not in skipped)
    found: dict[T, int] = {}
    for node in reversed(list(nx.topological_sort(graph))):
        found[node] = max((found[below] + 1 for below in graph.successors(node)), default=0)
    return found


def _order(weights: Mapping[tuple[T, T], float], group: Sequence[T]) -> list[T]:
    """Return a group's nodes in an order with most edge weight forward.

    Nodes are taken one by one. Only edges between nodes that are not yet taken count:

    * A node without outgoing edges goes to the end, before those that are already there.
    * Otherwise, a node without incoming edges goes to the start, after those that are already there.
    * Otherwise, the node with the largest outgoing minus incoming weight goes to the start in the same way.
    """
    out: dict[T, dict[T, float]] = defaultdict(dict)
    into: dict[T, dict[T, float]] = defaultdict(dict)
    for (a, b), weight in weights.items():
        out[a][b] = weight
        into[b][a] = weight
    left = list(group)
    head: list[T] = []
    tail: list[T] = []
    surplus = {one: sum(out[one].values()) - sum(into[one].values()) for one in left}

    def take(one: T) -> None:
        left.remove(one)
        for other, weight in out.pop(one, {}).items():
            del into[other][one]
            surplus[other] += weight
        for other, weight in into.pop(one, {}).items():
            del out[other][one]
            surplus[other] -= weight

    while left:
        sink = next((one for one in left if not out[one]), None)
        if sink is not None:
            take(sink)
            tail.append(sink)
            continue
        source = next((one for one in left if not into[one]), None)
        chosen = source if source is not None else max(left, key=lambda one: surplus[one])  # ties: the first, `left` is ascending
        take(chosen)
        head.append(chosen)
    return head + tail[::-1]


def _sifted(weights: Mapping[tuple[T, T], float], order: list[T]) -> list[T]:
    """Reorder the nodes in `order` so that lighter edges lead backward.

    Each node moves to the position at which the edges that lead backward have the least weight. The moves are repeated until no move helps,
    at most `ROUNDS` times.
    """
    out: dict[T, dict[T, float]] = defaultdict(dict)
    into: dict[T, dict[T, float]] = defaultdict(dict)
    for (a, b), weight in sorted(weights.items()):
        out[a][b] = weight
        into[b][a] = weight
    for _ in range(ROUNDS):
        moved = False
        for node in tuple(order):  # `order` itself changes
            at = order.index(node)
            rest: list[T] = order[:at] + order[at + 1 :]
            # Weight that leads back with the node at the front, and then after each further node.
            cost = best = sum(into[node].values())
            place: int = 0
            costs: list[float] = [cost]
            for i, other in enumerate(rest, 1):
                cost += out[node].get(other, 0.0) - into[node].get(other, 0.0)
                costs.append(cost)
                if cost < best:
                    best, place = cost, i
            if best < costs[at]:
                rest.insert(place, node)
                order = rest
                moved = True
        if not moved:
            break
    return order


def _against(weights: Mapping[tuple[T, T], float], order: Sequence[T]) -> list[tuple[T, T]]:
    place = {one: i for i, one in enumerate(order)}
    return [pair for pair in weights if place[pair[0]] > place[pair[1]]]


def _irredundant(weights: Mapping[tuple[T, T], float], cut: Sequence[tuple[T, T]]) -> list[tuple[T, T]]:
    import networkx as nx  # takes 70 ms; impact questions do not need it

    gone = set(cut)
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_edges_from(pair for pair in weights if pair not in gone)
    kept = []
    for a, b in sorted(cut, key=lambda pair: (-weights[pair], pair)):
        if a in graph and b in graph and nx.has_path(graph, b, a):
            kept.append((a, b))
        else:
            graph.add_edge(a, b)
    return kept
