"""Impact reports: affected symbols with call paths, and their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.impact_question import MAX_DEPTH
from graphmem.answers import ImpactGroup, ImpactHit, PathStep, SymbolInfo
from graphmem.projection.graph.arrays import EDGE_KINDS, EDGE_SOURCES, distinct, grouped

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.analysis.impact_reach import Found
    from graphmem.analysis.walk import IntArray
    from graphmem.projection.graph.view import GraphView

VERDICTS: Final = ("will break", "likely", "possible")


def path_steps(view: GraphView, edges: Collection[int]) -> dict[int, PathStep]:
    """Convert edges to steps of paths, as answers show them.

    `edges` are rows: positions of edges in the arrays of the graph. The result maps each row to its step.
    """
    return _steps_and_symbols(view, edges, ())[0]


def _steps_and_symbols(
    view: GraphView, edges: Collection[int], hits: Sequence[int] | IntArray
) -> tuple[dict[int, PathStep], dict[int, SymbolInfo]]:
    """Convert edges to steps of paths, and nodes to symbols, for answers.

    `edges` are rows: positions of edges in the arrays of the graph. The nodes are `hits` and the ends of `edges`. The results are two maps:
    from row to step, and from node to symbol. Steps and hits share symbol objects, so each symbol is rendered once.
    """
    rows = np.fromiter(edges, dtype=np.int64, count=len(edges))
    nodes = distinct(np.concatenate([view.src[rows], view.dst[rows], np.asarray(hits, dtype=np.int64)]))
    infos = dict(zip(nodes.tolist(), view.infos(nodes), strict=True))
    steps = {
        edge: PathStep(infos[src], infos[dst], EDGE_KINDS[kind], confidence, EDGE_SOURCES[source], view.rules[rule], line)
        for edge, src, dst, kind, confidence, source, rule, line in zip(
            rows.tolist(),
            view.src[rows].tolist(),
            view.dst[rows].tolist(),
            view.edge_kind[rows].tolist(),
            np.round(view.confidence[rows].astype(np.float64), 4).tolist(),
            view.edge_source[rows].tolist(),
            view.edge_rule[rows].tolist(),
            view.line[rows].tolist(),
            strict=True,
        )
    }
    return steps, infos


def hits_of(view: GraphView, found: Found, *, towards_seed: bool) -> list[ImpactHit]:
    """Convert reached nodes to entries of an impact report, in their order.

    `found` has the nodes that a walk through the graph reached. The seed of a path is the node at which the walk began. `towards_seed` is
    True if the edges of a path point to its seed, as in a search for dependents.
    """
    nodes, which = found.nodes, found.which
    paths: list[list[int]] = [[] for _ in range(len(nodes))]
    for number, one in enumerate(found.walks):
        rows = np.flatnonzero(which == number)
        for row, path in zip(rows.tolist(), one.paths(found.ends[rows].tolist()), strict=True):
            paths[row] = path
    steps, infos = _steps_and_symbols(view, {edge for path in paths for edge in path}, nodes)
    depths, confidences = found.depths.tolist(), np.round(found.confidences.astype(np.float64), 4).tolist()
    hits = []
    for info, depth, confidence, path in zip(map(infos.__getitem__, nodes.tolist()), depths, confidences, paths, strict=True):
        walked = [steps[edge] for edge in path]
        target = walked[0].dst.id if towards_seed else walked[0].src.id
        hits.append(ImpactHit(info, depth, "affected" if info.is_test else VERDICTS[min(depth, 3) - 1], confidence, walked, target))
    return hits


def counts_by_depth(found: Found) -> list[int]:
    """Return the number of nodes at each depth, from depth 1."""
    counts: list[int] = np.bincount(found.depths, minlength=1)[1:].tolist()
    return counts


def groups_of(view: GraphView, found: Found, *, modules: bool) -> list[ImpactGroup]:
    """Group the entries of a report by file, or by directory.

    `modules` chooses directories. Groups with the most entries come first, then the order is by name.
    """
    if not len(found.nodes):
        return []
    numbers, group, counts = grouped(view.path_index[found.nodes])
    surest, nearest = np.zeros(len(numbers), found.confidences.dtype), np.full(len(numbers), MAX_DEPTH)
    np.maximum.at(surest, group, found.confidences)
    np.minimum.at(nearest, group, found.depths)
    rows: dict[str, tuple[int, float, int]] = {}
    for number, *own in zip(numbers.tolist(), counts.tolist(), surest.tolist(), nearest.tolist(), strict=True):
        path = view.paths[number] if number >= 0 else "(external)"
        name = (path.rpartition("/")[0] or ".") if modules and number >= 0 else path
        hits, confidence, depth = rows.get(name, (0, 0.0, MAX_DEPTH))
        rows[name] = (hits + own[0], max(confidence, own[1]), min(depth, own[2]))
    groups = [ImpactGroup(name, hits, round(confidence, 4), depth) for name, (hits, confidence, depth) in rows.items()]
    return sorted(groups, key=lambda group: (-group.hits, group.name))
