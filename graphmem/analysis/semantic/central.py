"""Central symbols: those that many others depend on, also indirectly.

Source:
    L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank citation ranking (1999), damping 0.85. Rank flows from dependents to
    dependencies, weighted by the confidence of the edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.beside import beside
from graphmem.analysis.semantic.files import DEPENDENCY_KINDS
from graphmem.analysis.semantic.heat import F64
from graphmem.projection.graph.arrays import CLASS_CODES, FUNCTION_CODES, NODE_KINDS, SYMBOL
from graphmem.projection.graph.edges import kind_mask

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView

DAMPING: Final = 0.85
ITERATIONS: Final = 100
TOLERANCE: Final = 1e-10
_DECLARED: Final = tuple(NODE_KINDS.index(kind) for kind in ("interface", "type", "enum"))  # they declare types, and run no code
_SKIPPED: Final = tuple(NODE_KINDS.index(kind) for kind in ("module", "variable"))


def page_rank(view: GraphView) -> F64:
    """Return the centrality of each node, relative to the mean, shape (n,).

    A node is central if many nodes depend on it, also indirectly. Tests neither give nor receive rank.
    """
    counted = (view.label == SYMBOL) & ~view.is_test
    rows = np.flatnonzero(kind_mask(DEPENDENCY_KINDS)[view.edge_kind] & counted[view.src] & counted[view.dst] & (view.src != view.dst))
    src, dst = view.src[rows], view.dst[rows]
    weight = view.confidence[rows].astype(np.float64)
    out = np.bincount(src, weight, minlength=view.n)
    share = weight / out[src]
    n = int(counted.sum())
    if not n:
        return np.zeros(view.n)
    rank = np.where(counted, 1.0, 0.0)
    for _ in range(ITERATIONS):
        given = np.bincount(dst, rank[src] * share, minlength=view.n)
        lost = rank[counted & (out == 0)].sum() / n
        after = np.where(counted, 1 - DAMPING + DAMPING * (given + lost), 0.0)
        if np.abs(after - rank).sum() < TOLERANCE * n:
            return after
        rank = after
    return rank


def central(view: GraphView, rank: F64, limit: int) -> list[int]:
    """Return the nodes of the most central definitions, highest rank first.

    Functions, methods and classes come first, then interfaces, types and enums. Last come definitions at which nobody begins to read:
    functions inside functions, modules and classes that only contain other types, and code outside the product, such as examples and
    scripts.
    """
    kept = np.flatnonzero((view.label == SYMBOL) & ~view.is_test & ~np.isin(view.kind, _SKIPPED))
    declared = np.isin(view.kind[kept], _DECLARED)
    parent = view.parent[kept]
    local = (parent >= 0) & np.isin(view.kind[parent], FUNCTION_CODES)
    late = np.where(local | _only_contain(view)[kept] | beside(view)[kept], 2, declared)
    order = np.lexsort((kept, view.start_line[kept], view.path_index[kept], -np.round(rank[kept], 6), late))
    found: list[int] = kept[order][:limit].tolist()
    return found


def _only_contain(view: GraphView) -> npt.NDArray[np.bool_]:
    """Return which nodes define types and nothing else, shape (n,).

    An example is Ruby's `module Shop` around the class of a file: each file opens it again, and uses of its name may mean any of them.
    """
    inside = np.flatnonzero((view.label == SYMBOL) & (view.parent >= 0))
    types = np.isin(view.kind[inside], CLASS_CODES)
    holds_types, holds_others = np.zeros(view.n, np.bool_), np.zeros(view.n, np.bool_)
    holds_types[view.parent[inside[types]]] = True
    holds_others[view.parent[inside[~types]]] = True
    found: npt.NDArray[np.bool_] = holds_types & ~holds_others
    return found
