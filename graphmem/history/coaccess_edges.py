"""Find files that are connected with given files by edges of the code.

An edge is for example a call. Files with an edge between them can be expected to change together. Answers use this module to mark the files
that change together without such an edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.projection.graph.arrays import EDGE_KINDS, distinct, ranges

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView

LEAST_CONFIDENCE: Final = 0.3  # as impact's default: a less likely edge explains nothing


def joined(view: GraphView, files: Sequence[str]) -> dict[str, list[str]]:
    """Return the files that edges of the code connect with given files.

    An edge is for example a call or an import; edges in both directions are included. Edges with a confidence below `LEAST_CONFIDENCE`
    are ignored. The result maps a path to the kinds of its edges, in ascending order. The given files are left out.
    """
    nodes = np.concatenate([*(view.by_path(path) for path in files if path in view.path_number), np.empty(0, dtype=np.int64)]).astype(
        np.int64
    )
    pairs: set[tuple[int, int]] = set()
    for pointers, rows_at, ends in ((view.out_ptr, None, view.dst), (view.in_ptr, view.in_edge, view.src)):
        _, places = ranges(pointers, nodes)
        rows = places if rows_at is None else rows_at[places]
        rows = rows[view.confidence[rows] >= LEAST_CONFIDENCE]
        others = view.path_index[ends[rows]].astype(np.int64)
        codes = distinct(others * len(EDGE_KINDS) + view.edge_kind[rows])
        pairs.update(divmod(code, len(EDGE_KINDS)) for code in codes[codes >= 0].tolist())
    found: dict[str, list[str]] = {}
    for other, kind in pairs:
        found.setdefault(view.paths[other], []).append(EDGE_KINDS[kind])
    return {path: sorted(kinds) for path, kinds in sorted(found.items()) if path not in files}
