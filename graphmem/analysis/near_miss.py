"""Explain why no path between two symbols was found.

The explanation is a path that exceeds the requested limits, or else the gap that separates the two symbols.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.walk import Walk, forward, reverse, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.analysis.walk import FloatArray
    from graphmem.projection.graph.view import GraphView

LEAST: Final = 1e-4  # lowest confidence of a path beyond the bounds that is reported
_CALLS: Final = 3  # most call sites that are named


def nearest_miss(
    view: GraphView,
    values: FloatArray,
    seeds: Sequence[int],
    ends: Sequence[int],
    found: Walk,
    bounds: tuple[int, float],
    deepest: int,
) -> str:
    """Return sentences that explain why a path was not found.

    Args:
        view: the graph.
        values: value of each edge: its confidence times the weight of its kind.
        seeds: first nodes of paths.
        ends: last nodes of paths.
        found: nodes that a search from the seeds reached within the bounds.
        bounds: the requested maximum number of steps and minimum confidence.
        deepest: maximum number of steps that a question may request.
    """
    max_depth, min_confidence = bounds
    wider = walk(forward(view), values, seeds, deepest, LEAST)
    reached = np.flatnonzero(np.isin(wider.nodes, np.asarray(ends)))
    if len(reached):
        row = max(reached.tolist(), key=lambda at: (float(wider.confidences[at]), -int(wider.depths[at])))
        steps, confidence = len(wider.paths([int(wider.nodes[row])])[0]), float(wider.confidences[row])
        least = max(LEAST, math.floor(confidence * 1e4) / 1e4)
        return (
            f"beyond these bounds there is one of {steps} {'step' if steps == 1 else 'steps'} with confidence {confidence:.2g}: ask with "
            f"max_depth {max(steps, max_depth)} and min_confidence {min(least, min_confidence):g}"
        )
    back = walk(reverse(view), values, ends, max_depth, min_confidence)
    said = [
        f"at confidence {min_confidence:g} or more the source leads to {_reached(view, found)}",
        f"{_reached(view, back)} {'lead' if len(back.nodes) > 1 else 'leads'} to the target",
    ]
    before = {**dict(zip(found.nodes.tolist(), found.depths.tolist(), strict=True)), **dict.fromkeys(seeds, 0)}
    after = {**dict(zip(back.nodes.tolist(), back.depths.tolist(), strict=True)), **dict.fromkeys(ends, 0)}
    return "; ".join([*said, *(_open_calls(view, before, after) or _of_one_class(view, before, after))])


def _reached(view: GraphView, found: Walk) -> str:
    count = len(found.nodes)
    if not count:
        return "nothing"
    at = int(np.lexsort((found.nodes, -found.confidences, -found.depths))[0])
    steps = int(found.depths[at])
    far = f"{view.info(int(found.nodes[at])).ref}, {steps} {'step' if steps == 1 else 'steps'} away"
    return far if count == 1 else f"{count:,} symbols (the farthest: {far})"


def _open_calls(view: GraphView, before: Mapping[int, int], after: Mapping[int, int]) -> list[str]:
    """Return sentences on unresolved calls between the source and the target.

    An unresolved call has no known target. Such a call is reported on two conditions: the source reaches the caller, and a symbol with the
    called name leads to the target.

    Args:
        view: the graph.
        before: number of steps from the source to each node that it reaches.
        after: number of steps to the target from each node that reaches it.
    """
    by_name: dict[str, int] = {}
    for node in sorted(after, key=lambda one: (after[one], one), reverse=True):
        by_name[view.name(node)] = node
    sites = view.arrays.unresolved
    close = []
    for row in np.flatnonzero(np.isin(sites.caller, np.fromiter(before, dtype=np.int64))).tolist():
        caller, callee = int(sites.caller[row]), by_name.get(sites.name[row].as_py())
        if callee is not None:
            close.append((before[caller] + after[callee], view.paths[sites.path[row]], int(sites.line[row]), caller, callee))
    return [
        f"{view.info(caller).ref} calls {view.name(callee)} in line {line}, which could not be followed and may be {view.info(callee).ref}"
        for _, _, line, caller, callee in sorted(close)[:_CALLS]
    ]


def _of_one_class(view: GraphView, before: Mapping[int, int], after: Mapping[int, int]) -> list[str]:
    """Return a sentence on a class that may connect the source and the target.

    The source reaches one member of the class, and another member leads to the target. Such a class may connect the two, because an object
    can pass data between its methods without a call. The result has one sentence, or none if no class is found.

    Args:
        view: the graph.
        before: number of steps from the source to each node that it reaches.
        after: number of steps to the target from each node that reaches it.
    """
    parents = view.arrays.nodes.parent
    first: dict[int, int] = {}
    for node in sorted(before, key=lambda one: (before[one], one), reverse=True):
        first[int(parents[node])] = node
    pairs = [
        (before[first[owner]] + after[node], after[node], node, first[owner], owner)
        for node in after
        if (owner := int(parents[node])) >= 0 and owner in first and first[owner] != node and not view.is_test[node]
    ]
    if not pairs:
        return []
    _, steps, node, other, owner = min(pairs)
    how = "is the target" if not steps else f"leads to the target in {steps} {'step' if steps == 1 else 'steps'}"
    return [f"{view.info(other).ref} and {view.info(node).ref} are both members of {view.name(owner)}, and the second {how}"]
