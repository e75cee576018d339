"""Communities of a weighted undirected graph by Louvain's method.

Nodes move between communities until no move raises the modularity. Then each community becomes one node, and the same begins again.

Source:
    V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, Fast unfolding of communities in large networks, J. Stat. Mech. (2008) P10008.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Final, Generic, TypeVar

LEAST_GAIN: Final = 1e-7  # of modularity; a level that gains less is the last one

Name = TypeVar("Name", bound=Hashable)


class WeightedGraph(Generic[Name]):
    """An undirected graph with weighted edges and at most one edge per pair.

    Attributes:
        names: the nodes, in the order in which they were added.
        neighbours: for each node, the positions of its neighbours with the weights of the edges; a node with a loop is its own neighbour.
    """

    def __init__(self) -> None:
        self.names: list[Name] = []
        self.neighbours: list[dict[int, float]] = []
        self._position: dict[Name, int] = {}

    def __contains__(self, name: Name) -> bool:
        return name in self._position

    def add(self, name: Name) -> int:
        """Return the position of a node, which is added if it is new."""
        position = self._position.setdefault(name, len(self.names))
        if position == len(self.names):
            self.names.append(name)
            self.neighbours.append({})
        return position

    def connect(self, one: Name, other: Name, weight: float) -> None:
        """Add an edge, or replace its weight."""
        a, b = self.add(one), self.add(other)
        self.neighbours[a][b] = self.neighbours[b][a] = weight

    def weight(self, one: Name, other: Name) -> float:
        """Return the weight of an edge; 0 without an edge."""
        return self.neighbours[self.add(one)].get(self.add(other), 0.0)

    def edges(self) -> Iterator[tuple[Name, Name, float]]:
        """Yield each edge once, by its first node."""
        names = self.names
        for a, b, weight in _edges(self.neighbours):
            yield names[a], names[b], weight


def louvain(graph: WeightedGraph[Name], resolution: float, seed: int) -> list[list[Name]]:
    """Return the communities of a graph.

    Args:
        graph: the graph.
        resolution: factor of the expected weight inside a community; larger means more and smaller communities.
        seed: seed for the order in which nodes are visited. The same graph and seed give the same communities in every process.
    """
    neighbours = graph.neighbours
    total = sum(_degrees(neighbours))
    members = [[name] for name in graph.names]
    if not total:
        return members
    chance = random.Random(seed)  # noqa: S311 -- an order, not a secret
    alone = list(range(len(neighbours)))
    neighbours = _contracted(neighbours, alone)  # neighbours in the order of edges; it decides between equal gains
    reached = _modularity(neighbours, alone, total, resolution)
    while True:
        community = _moved(neighbours, total, resolution, chance)
        joined: list[list[Name]] = [[] for _ in range(max(community) + 1)]
        for node, one in enumerate(community):
            joined[one] += members[node]
        members = joined
        gained = _modularity(neighbours, community, total, resolution)
        if gained - reached <= LEAST_GAIN:
            return members
        reached = gained
        neighbours = _contracted(neighbours, community)


def _edges(neighbours: list[dict[int, float]]) -> Iterator[tuple[int, int, float]]:
    for a, edges in enumerate(neighbours):
        for b, weight in edges.items():
            if b >= a:
                yield a, b, weight


def _degrees(neighbours: list[dict[int, float]]) -> list[float]:
    """Return the weight of each node's edges, where a loop counts twice."""
    return [sum(edges.values()) + edges.get(node, 0.0) for node, edges in enumerate(neighbours)]


def _modularity(neighbours: list[dict[int, float]], community: list[int], total: float, resolution: float) -> float:
    """Return Newman's modularity; `total` is the sum of all degrees."""
    inside = sum(weight for a, b, weight in _edges(neighbours) if community[a] == community[b])
    degree: dict[int, float] = defaultdict(float)
    for node, weight in enumerate(_degrees(neighbours)):
        degree[community[node]] += weight
    return 2 * inside / total - resolution * sum((one / total) ** 2 for one in degree.values())


def _moved(neighbours: list[dict[int, float]], total: float, resolution: float, chance: random.Random) -> list[int]:
    """Return the community of each node after all moves that gain modularity.

    Nodes are visited in random order, again and again until none moves. Communities are numbered from 0 in the order of the nodes that they
    began with.
    """
    degrees = _degrees(neighbours)
    of_community = list(degrees)  # sum of degrees
    community = list(range(len(neighbours)))
    size = total / 2  # sum of the weights of all edges
    expected = 2 * size**2
    order = list(range(len(neighbours)))
    chance.shuffle(order)
    others = [[(other, weight) for other, weight in edges.items() if other != node] for node, edges in enumerate(neighbours)]
    has_moved = True
    while has_moved:
        has_moved = False
        for node in order:
            weights: dict[int, float] = {}
            for other, weight in others[node]:
                near = community[other]
                weights[near] = weights.get(near, 0.0) + weight
            home, degree = community[node], degrees[node]
            of_community[home] -= degree
            best, best_gain = home, 0.0
            loss = -weights.get(home, 0.0) / size + resolution * (of_community[home] * degree) / expected
            for near, weight in weights.items():
                gain = loss + weight / size - resolution * (of_community[near] * degree) / expected
                if gain > best_gain:
                    best, best_gain = near, gain
            of_community[best] += degree
            if best != home:
                community[node] = best
                has_moved = True
    number = {one: i for i, one in enumerate(sorted(set(community)))}
    return [number[one] for one in community]


def _contracted(neighbours: list[dict[int, float]], community: list[int]) -> list[dict[int, float]]:
    """Return a graph with one node for each community; weights are added up."""
    smaller: list[dict[int, float]] = [{} for _ in range(max(community) + 1)]
    for a, b, weight in _edges(neighbours):
        one, other = community[a], community[b]
        smaller[one][other] = smaller[other][one] = smaller[one].get(other, 0.0) + weight
    return smaller
