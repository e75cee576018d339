"""Files that code edges join with given files.

Answers use them to say which co-changes the structure does not explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.projection.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from graphmem.projection.graph import GraphView

LEAST_CONFIDENCE: Final = 0.3  # as impact's default: a less likely edge explains nothing


def joined(view: GraphView, files: Sequence[str]) -> dict[str, list[str]]:
    """Kinds of edges with the given files by path, in either direction.

    Kinds are ascending. The given files are left out.
    """
    found: dict[str, set[str]] = {}
    for path in files:
        if path not in view.path_number:
            continue
        for node in view.by_path(path).tolist():
            for rows, ends in ((view.out_edges(node), view.dst), (view.in_edges(node), view.src)):
                sure = rows[view.confidence[rows] >= LEAST_CONFIDENCE]
                for end, kind in zip(ends[sure].tolist(), view.edge_kind[sure].tolist(), strict=True):
                    other = view.path(end)
                    if other:
                        found.setdefault(other, set()).add(EDGE_KINDS[kind])
    return {path: sorted(kinds) for path, kinds in sorted(found.items()) if path not in files}
