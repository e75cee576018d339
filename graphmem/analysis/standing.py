"""Rank a symbol by direct dependents, compared with other symbols.

The risk level of a change depends on absolute numbers, so most symbols of a library have the same level. This rank, called the standing,
also distinguishes symbols of the same level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphmem.analysis.walk import step_values
from graphmem.analysis.weights import IMPACT_KINDS, WEIGHTS
from graphmem.projection.graph.arrays import CLASS_CODES, NODE_KINDS, SYMBOL, distinct

if TYPE_CHECKING:
    import numpy.typing as npt

    from graphmem.projection.graph.view import GraphView

_FLOOR: Final = 0.3  # lowest value of an edge that counts, as in a walk with the default bounds
_MODULE: Final = NODE_KINDS.index("module")
_COUNTS: Final[WeakKeyDictionary[GraphView, _Counts]] = WeakKeyDictionary()


class _Counts(NamedTuple):
    """Counts of each symbol's direct dependents, without tests."""

    of_node: npt.NDArray[np.int64]  # shape (nodes,)
    ascending: npt.NDArray[np.int64]  # those of the ranked symbols


def standing(view: GraphView, node: int) -> float | None:
    """Return the share of symbols with fewer direct dependents than `node`.

    Dependents are counted with the default limits of an impact question, so the result does not depend on a question.

    Returns:
        The share of the project's symbols, 0 to 1. None for a file, a test, code outside any definition and a symbol of another project.
    """
    if view.label[node] != SYMBOL or view.is_test[node] or view.kind[node] == _MODULE:
        return None
    counts = _COUNTS.get(view)
    if counts is None:
        counts = _COUNTS[view] = _direct_dependents(view)
    return float(np.searchsorted(counts.ascending, counts.of_node[node])) / len(counts.ascending)


def _direct_dependents(view: GraphView) -> _Counts:
    """Count the direct dependents of each symbol.

    Tests and module symbols (code outside definitions) are left out. As in an impact report, a dependent of a class's member is also a
    dependent of the class. The class's own members are not its dependents.
    """
    ranked = (view.label == SYMBOL) & ~view.is_test & (view.kind != _MODULE)
    holds = np.isin(view.kind, CLASS_CODES) & (view.kind != _MODULE)
    above = np.where((view.parent >= 0) & holds[view.parent], view.parent, -1).astype(np.int64)  # products of two nodes exceed 32 bits
    rows = np.flatnonzero((step_values(view, IMPACT_KINDS, WEIGHTS) >= _FLOOR) & ~view.is_test[view.src] & ranked[view.dst])
    src, owner = view.src[rows].astype(np.int64), view.dst[rows].astype(np.int64)
    found = [np.empty(0, dtype=np.int64)]
    while len(owner):
        outside = ~_within(src, owner, above)
        found.append(owner[outside] * len(view.label) + src[outside])
        owner = above[owner]
        src, owner = src[owner >= 0], owner[owner >= 0]
    pairs = distinct(np.concatenate(found))
    of_node = np.bincount(pairs // max(len(view.label), 1), minlength=len(view.label))
    return _Counts(of_node, np.sort(of_node[ranked]))


def _within(nodes: npt.NDArray[np.int64], owners: npt.NDArray[np.int64], above: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each node is a given class, or a member of it at any depth.

    `owners` has the class for each node. `above` maps a node to the class that contains it, or -1.
    """
    inside = np.zeros(len(nodes), dtype=bool)
    at = nodes
    while (at >= 0).any():
        inside |= at == owners
        at = np.where(at >= 0, above[at], -1)
    return inside
