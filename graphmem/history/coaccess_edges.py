"""Which files edges of the code join with some files, so that an answer can say what the structure does not explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.projection.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from graphmem.projection.graph import GraphView

LEAST_CONFIDENCE: Final = 0.3  # as impact's default: what is less likely explains nothing


def joined(view: GraphView, files: Sequence[str]) -> dict[str, list[str]]:
    """Path -> kinds of edges, ascending, between that file and the given ones, either way; the given ones are left out."""
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
