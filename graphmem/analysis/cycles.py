"""Import cycles: files that cannot be understood, tested or moved alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import networkx as nx
import numpy as np

from graphmem.model import EdgeKind
from graphmem.projection.arrays import FILE
from graphmem.projection.graph import kind_mask

if TYPE_CHECKING:
    from graphmem.projection.graph import GraphView


class Cycle(NamedTuple):
    """Files that all reach each other through imports."""

    files: list[str]  # ascending
    example: list[str]  # one shortest round trip through the first file; its first path is not repeated at the end


def import_cycles(view: GraphView) -> list[Cycle]:
    """Strongly connected groups of files over IMPORTS edges, largest first, then by first path."""
    rows = np.flatnonzero(kind_mask((EdgeKind.IMPORTS,))[view.edge_kind] & (view.label[view.dst] == FILE))
    graph = nx.DiGraph()
    graph.add_edges_from((view.path(int(view.src[row])), view.path(int(view.dst[row]))) for row in rows)
    groups = [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return [Cycle(group, _round_trip(graph.subgraph(group), group[0])) for group in sorted(groups, key=lambda one: (-len(one), one))]


def _round_trip(graph: nx.DiGraph, start: str) -> list[str]:
    back = nx.single_target_shortest_path(graph, start)
    return min(([start, *back[step][:-1]] for step in sorted(graph.successors(start))), key=lambda path: (len(path), path))
