"""Louvain's method finds the communities that networkx finds, without loading it."""

import random
import subprocess
import sys

import networkx as nx
import pytest

from graphmem.analysis.semantic.louvain import WeightedGraph, louvain


@pytest.mark.parametrize("seed", range(8))
def test_it_finds_the_communities_of_networkx(seed: int) -> None:
    chance = random.Random(seed)
    graph: WeightedGraph[str] = WeightedGraph()
    reference = nx.Graph()
    names = [f"n{i}" for i in range(chance.choice([5, 60, 200]))]
    for name in names:
        graph.add(name)
        reference.add_node(name)
    for _ in range(3 * len(names)):
        one, other, weight = chance.choice(names), chance.choice(names), chance.choice([0.5, 1.0, 1.5, 2.0])  # with loops
        graph.connect(one, other, weight)
        reference.add_edge(one, other, weight=weight)
    expected = nx.community.louvain_communities(reference, weight="weight", resolution=1.5, seed=seed)
    assert sorted(map(sorted, louvain(graph, 1.5, seed))) == sorted(map(sorted, expected))


def test_nodes_without_edges_stay_alone() -> None:
    graph: WeightedGraph[str] = WeightedGraph()
    graph.add("a")
    graph.add("b")
    assert louvain(graph, 1.5, 1) == [["a"], ["b"]]
    assert louvain(WeightedGraph[str](), 1.5, 1) == []


def test_dividing_files_does_not_load_networkx() -> None:
    program = (
        "import sys\n"
        "from graphmem.analysis.semantic.communities import communities\n"
        "communities(['a/x.py', 'a/y.py', 'b/z.py'], {('a/x.py', 'a/y.py'): 3.0})\n"
        "assert 'networkx' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
