"""Find the most confident path between two symbols.

The module also finds neighbourhoods: the nodes within some steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.analysis.impact import expand
from graphmem.analysis.impact_entries import path_steps
from graphmem.analysis.near_miss import nearest_miss
from graphmem.analysis.recall import known_in
from graphmem.analysis.walk import forward, step_values, walk
from graphmem.analysis.weights import IMPACT_KINDS
from graphmem.answers import IndexState, PathAnswer, Subgraph
from graphmem.errors import BadInputError
from graphmem.projection.graph.arrays import distinct
from graphmem.projection.graph.edges import kind_mask

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.projection.graph.view import GraphView

MAX_PATH_DEPTH: Final = 30
MAX_SUBGRAPH_DEPTH: Final = 10
MAX_SUBGRAPH_NODES: Final = 20_000


def best_path(
    view: GraphView,
    sources: Sequence[int],
    targets: Sequence[int],
    state: IndexState,
    *,
    max_depth: int = 10,
    min_confidence: float = 0.05,
    kinds: Collection[str] = IMPACT_KINDS,
) -> PathAnswer:
    """Find how the source depends on the target.

    The result is the path with the greatest product of edge confidences. Ties are decided by these rules, in this order:

    * The path has the fewest steps.
    * The path ends at the target itself, and not at a member of the target.
    * The end node has the lowest index.

    A class includes its members, and a file its symbols. So a path may begin at a member of the source and end at a member of the target.
    If the source contains the target, the path may not begin at the target or its members. If the target contains the source, the path may
    not end at the source or its members.

    Args:
        view: the graph.
        sources: nodes of the source; several nodes if definitions share its path and name.
        targets: nodes of the target; several nodes if definitions share its path and name.
        state: state of the index, for the answer.
        max_depth: maximum number of edges.
        min_confidence: lowest product of edge confidences.
        kinds: kinds of the edges to follow.

    Raises:
        BadInputError: a bound is out of range.
    """
    if not 1 <= max_depth <= MAX_PATH_DEPTH:
        raise BadInputError(
            f"max_depth is {max_depth}; use a maximum depth of 1 to {MAX_PATH_DEPTH} edges", argument="max_depth", value=max_depth
        )
    if not 0 < min_confidence <= 1:
        raise BadInputError(
            f"min_confidence is {min_confidence}; use a number above 0 and up to 1", argument="min_confidence", value=min_confidence
        )
    values = step_values(view, kinds, {})
    seeds, ends = _apart(set(expand(view, sources)), set(expand(view, targets)))
    found = walk(forward(view), values, seeds, max_depth, min_confidence)
    wanted = np.flatnonzero(np.isin(found.nodes, np.asarray(ends)))
    steps, confidence = [], 0.0
    walked = [*seeds, *ends, *found.nodes.tolist()]
    if len(wanted):
        paths = dict(zip(wanted.tolist(), found.paths(found.nodes[wanted].tolist()), strict=True))
        row = min(
            paths, key=lambda at: (-float(found.confidences[at]), len(paths[at]), found.nodes[at] not in targets, int(found.nodes[at]))
        )
        path = paths[row]
        made = path_steps(view, path)
        steps = [made[edge] for edge in path]
        walked = [*view.src[path].tolist(), *view.dst[path].tolist()]
        confidence = round(float(found.confidences[row]), 4)
    return PathAnswer(
        source=view.info(sources[0]),
        target=view.info(targets[0]),
        steps=steps,
        confidence=confidence,
        max_depth=max_depth,
        epistemic="exact" if steps else "lower_bound",
        state=state,
        nearest="" if steps else nearest_miss(view, values, seeds, ends, found, (max_depth, min_confidence), MAX_PATH_DEPTH),
        known_calls=known_in(view, np.asarray(walked, dtype=np.int64)),
    )


def _apart(sources: set[int], targets: set[int]) -> tuple[list[int], list[int]]:
    """Return the start nodes and the end nodes of a path without common nodes.

    `sources` and `targets` are the two sets of nodes; both are returned as sorted lists. If one set contains the other, as a class contains
    its member, the shared nodes are removed from the larger set.
    """
    if sources < targets:
        targets = targets - sources
    elif targets < sources:
        sources = sources - targets
    return sorted(sources), sorted(targets)


def subgraph(
    view: GraphView, seeds: Sequence[int], state: IndexState, *, depth: int = 1, kinds: Collection[str] | None = None, limit: int = 500
) -> Subgraph:
    """Return the nodes within some steps of given nodes, and their edges.

    The given nodes are `seeds`, and the number of steps is at most `depth`. All edges between returned nodes are returned. Edges are
    followed in both directions. Nodes are sorted by distance, then by index, so the nearest `limit` nodes are kept. An edge is [source,
    destination, kind, confidence, rule]. Its source and destination are positions in the list of returned nodes. Edges are sorted.

    Raises:
        BadInputError: a bound is out of range.
    """
    if not 0 <= depth <= MAX_SUBGRAPH_DEPTH:
        raise BadInputError(
            f"depth, the number of edges from the start symbols, is {depth}; use 0 to {MAX_SUBGRAPH_DEPTH}", argument="depth", value=depth
        )
    if not 1 <= limit <= MAX_SUBGRAPH_NODES:
        raise BadInputError(f"limit, the maximum number of nodes, is {limit}; use 1 to {MAX_SUBGRAPH_NODES}", argument="limit", value=limit)
    live = np.ones(view.m, dtype=bool) if kinds is None else kind_mask(kinds)[view.edge_kind]
    order: list[int] = list(dict.fromkeys(seeds))
    seen = np.zeros(view.n, dtype=bool)
    seen[order] = True
    frontier = np.asarray(order, dtype=np.int64)
    for _ in range(depth):
        neighbours = []
        for node in frontier.tolist():
            outgoing, incoming = view.out_edges(node), view.in_edges(node)
            neighbours.append(view.dst[outgoing[live[outgoing]]])
            neighbours.append(view.src[incoming[live[incoming]]])
        fresh = distinct(np.concatenate(neighbours)) if neighbours else np.empty(0, dtype=np.int64)
        fresh = fresh[~seen[fresh]]
        seen[fresh] = True
        order.extend(int(node) for node in fresh)
        frontier = fresh.astype(np.int64)
        if len(order) > limit or not len(frontier):
            break
    truncated = len(order) > limit
    order = order[:limit]
    place = {node: at for at, node in enumerate(order)}
    edges: list[list[Any]] = []
    for node in order:
        for edge in view.out_edges(node).tolist():
            other = int(view.dst[edge])
            if live[edge] and other in place:
                confidence = round(float(view.confidence[edge]), 4)
                edges.append([place[node], place[other], view.kind_of(edge), confidence, view.rule_of(edge)])
    edges.sort()
    return Subgraph(view.infos(order), edges, truncated, state)
