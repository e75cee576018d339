"""List the edges between two symbols or files, with their source lines."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.analysis.impact import expand
from graphmem.analysis.refs import resolve_ref
from graphmem.analysis.weights import IMPACT_KINDS
from graphmem.answers.places import EdgePlaces, Edges, TextRange
from graphmem.projection.graph.arrays import NODE_KINDS
from graphmem.resolution.rules import RULES

if TYPE_CHECKING:
    from graphmem.project.code.positions import Positions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView


@dataclass(eq=False, repr=False)
class EdgeQuestions:
    """Answers why one symbol depends on another, and where in the source."""

    graph: GraphSource
    positions: Positions

    def edges(self, source: str, target: str, limit: int = 100) -> Edges:
        """Return the edges from one symbol or file to another.

        `source` and `target` name symbols or files, such as `Cart.total` or `src/cart.py`. Edges of members, such as the methods of a
        class, are included. At most `limit` edges are returned; the answer also has the number of all edges.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
        """
        view, root = self.graph.view(), self.graph.root()
        targets = set(expand(view, resolve_ref(view, target, root)))
        rows = [
            int(row)
            for node in expand(view, resolve_ref(view, source, root))
            for row in view.out_edges(node, IMPACT_KINDS)
            if int(view.dst[row]) in targets
        ]
        rows.sort(key=lambda row: (view.path(int(view.src[row])), int(view.line[row]), view.kind_of(row), row))
        ranges, stale = self._ranges(view, rows[:limit])
        sources, ends = (view.infos([int(one[row]) for row in rows[:limit]]) for one in (view.src, view.dst))
        return Edges(
            [
                EdgePlaces(
                    src=src,
                    dst=dst,
                    kind=view.kind_of(row),
                    confidence=round(float(view.confidence[row]), 4),
                    source=view.source_of(row),
                    rule=view.rule_of(row),
                    why=RULES[view.rule_of(row)].sentence if view.rule_of(row) in RULES else "",
                    lines=view.lines_of(row),
                    ranges=ranges[row],
                )
                for row, src, dst in zip(rows[:limit], sources, ends, strict=True)
            ],
            len(rows),
            stale,
        )

    def _ranges(self, view: GraphView, rows: list[int]) -> tuple[dict[int, list[TextRange]], list[str]]:
        """Map edges to the ranges of text where their targets are named.

        `rows` are the numbers of the edges in `view`. The second result has the paths of files that changed since the index run. A range
        belongs to an edge if its text names the edge's target, and the range is on a line of the edge or inside the definition from which
        the edge starts. The whole definition is searched, because the line of a call may be some lines above the name.
        """
        found: dict[int, list[TextRange]] = defaultdict(list)
        stale = []
        by_path: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            by_path[view.path(int(view.src[row]))].append(row)
        for path, here in by_path.items():
            places, is_stale = self.positions.named(view, path, {view.ids[int(view.dst[row])] for row in here})
            if is_stale:
                stale.append(path)
            for row in here:
                src, lines = int(view.src[row]), set(view.lines_of(row))
                is_inside = NODE_KINDS[view.kind[src]] not in ("module", "file")
                for written, span, around in places:
                    fits = written.line in lines or (around == src if is_inside else around < 0)
                    if fits and written.kind == view.kind_of(row) and written.target == view.ids[int(view.dst[row])]:
                        found[row].append(span)
        return found, stale
