"""Find dependency cycles between files or modules, and edges to cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from graphmem.analysis.semantic.layering import components, feedback
from graphmem.answers.modules import Cycle, CycleCut
from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import networkx as nx

    from graphmem.analysis.semantic.files import I64, FileGraph
    from graphmem.answers.vocabulary import CycleLevel

SHOWN: Final = 20  # cuts per cycle, and sites per cut; the rest are counted

Pair = tuple[str, str]


class Arc(NamedTuple):
    """A dependency between two files or two modules."""

    rows: I64  # edge rows of the view
    deferred: bool  # all its imports are inside functions


def file_arcs(files: FileGraph) -> dict[Pair, Arc]:
    """Return imports between files, by pair of paths (importing, imported).

    Cycles between files are made of these imports alone.
    """
    view = files.view
    imports = EDGE_KINDS.index(EdgeKind.IMPORTS)
    found: dict[Pair, Arc] = {}
    for link in range(len(files.src)):
        rows = files.rows[files.ptr[link] : files.ptr[link + 1]]
        if (view.edge_kind[rows] == imports).any():
            pair = files.paths[files.src[link]], files.paths[files.dst[link]]
            found[pair] = Arc(rows[view.edge_kind[rows] == imports], bool(files.deferred[link]))
    return found


def cycles(level: str, files: FileGraph, arcs: Mapping[Pair, Arc]) -> list[Cycle]:
    """Return dependency cycles among files or modules, largest first.

    A cycle is a group of files or modules that all reach each other (strongly connected). Each cycle comes with the edges to cut.

    Args:
        level: "files" or "modules", stored in the answer.
        files: graph of the files, which has the places of each dependency in the code.
        arcs: dependencies between files or modules.
    """
    weights = {pair: float(len(arc.rows)) for pair, arc in arcs.items()}
    return [_cycle(level, files, arcs, weights, group) for group in components(weights)]


def _cycle(level: str, files: FileGraph, arcs: Mapping[Pair, Arc], weights: Mapping[Pair, float], group: Sequence[str]) -> Cycle:
    import networkx as nx  # takes 70 ms; impact questions do not need it

    members = set(group)
    inside = {pair: weight for pair, weight in weights.items() if pair[0] in members and pair[1] in members}
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_edges_from(sorted(inside))
    chosen = feedback(inside)
    frees = {pair: _frees(graph, pair) for pair in chosen[:SHOWN]}
    # Of equals the first, as `worth_cutting` orders them.
    cheapest = min(frees, key=lambda pair: (-frees[pair] / inside[pair], inside[pair], pair))
    loading: nx.DiGraph = nx.DiGraph()
    loading.add_edges_from(pair for pair in sorted(inside) if not arcs[pair].deferred)
    imports = files.view.edge_kind == EDGE_KINDS.index(EdgeKind.IMPORTS)
    is_late = any(arcs[pair].deferred and imports[arcs[pair].rows].any() for pair in inside)  # C# and Java use files without importing them

    def cut(pair: Pair) -> CycleCut:
        return CycleCut(*pair, weight=int(inside[pair]), frees=frees[pair], sites=files.evidence(arcs[pair].rows, SHOWN))

    back = nx.shortest_path(graph, cheapest[1], cheapest[0])
    return Cycle(
        level=cast("CycleLevel", level),
        members=list(group),
        example=[cheapest[0], *back[:-1]],
        deferred=is_late and nx.is_directed_acyclic_graph(loading),
        cheapest=cut(cheapest),
        cuts=[cut(pair) for pair in chosen[:SHOWN]],
        cut_count=len(chosen),
    )


def _frees(graph: nx.DiGraph, pair: Pair) -> int:
    """Count the nodes that leave a cycle if one edge is removed.

    `graph` is the cycle, and `pair` the edge. The graph is unchanged after the call.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    graph.remove_edge(*pair)
    bound = sum(len(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)
    graph.add_edge(*pair)
    return len(graph) - bound
