"""Definitions of one name in a file, such as overloads of a method.

If the arguments of a call do not decide which overload runs, the call has an edge to each of them, and its confidence is divided among
these edges. A change of all overloads affects the caller with the whole confidence.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import SYMBOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.analysis.walk import FloatArray
    from graphmem.projection.graph.view import GraphView

_CERTAIN: Final = 0.95
"""Most confidence that a rule gives to an edge, and so most for the shares of one call together."""


def overloads(view: GraphView, node: int) -> list[int]:
    """Return the other definitions with a symbol's name and file, by line.

    They are overloads of a function, or the getter and setter of a property.
    """
    if view.label[node] != SYMBOL or view.path_index[node] < 0:
        return []
    same = view.by_qualname(view.qualname(node))
    same = same[(view.path_index[same] == view.path_index[node]) & (same != node)]
    return sorted(same.tolist(), key=lambda one: (int(view.start_line[one]), one))


def unlisted_callers(view: GraphView, seeds: Sequence[int], found: Sequence[int]) -> list[int]:
    """Return the callers of other overloads of the changed symbols.

    `seeds` are the changed symbols. Another overload is a definition with the same name and file that is not in `seeds`. Callers of a seed,
    and those in `seeds` and `found`, are left out.
    """
    others = {other for seed in seeds for other in overloads(view, seed)}.difference(seeds)
    if not others:
        return []
    known = {*seeds, *found, *others, *(caller for seed in seeds for caller in _callers(view, seed))}
    return list(dict.fromkeys(caller for other in sorted(others) for caller in _callers(view, other) if caller not in known))


def _callers(view: GraphView, node: int) -> list[int]:
    return list(view.src[view.in_edges(node, (EdgeKind.CALLS,))].tolist())


def joined(view: GraphView, values: FloatArray, seeds: Sequence[int]) -> FloatArray:
    """Return the value of each edge, summed over the overloads of one call.

    If a call may run several overloads, it has an edge to each, and its confidence is divided among these edges. If several of these
    overloads are in `seeds`, the changed symbols, a change affects the caller more than one edge says. Each of these edges then gets the
    sum of their values. `values` has the values of all edges.
    """
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    for seed in seeds:
        if view.label[seed] == SYMBOL and view.path_index[seed] >= 0:
            groups[int(view.path_index[seed]), view.qualname(seed)].append(seed)
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        return values
    values = values.copy()
    for group in several:
        rows = np.concatenate([view.in_edges(seed, (EdgeKind.CALLS,)) for seed in group])
        callers, at = np.unique(view.src[rows], return_inverse=True)
        sums = np.bincount(at, weights=values[rows], minlength=len(callers))
        values[rows] = np.where(values[rows] > 0, np.maximum(values[rows], np.minimum(sums[at], _CERTAIN)), 0)
    return values
