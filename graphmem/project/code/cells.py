"""Name the notebook cells in which the uses of an answer are."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.parsing.contents import read_inside
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.notebook import is_notebook
from graphmem.parsing.sources import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmem.answers import ImpactHit, Site
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView

KEPT: Final = 64
"""Notebooks whose cells are kept."""

_Cells = tuple[list[int], list[int]]
"""First lines of cells with code, in order, and the numbers of these cells."""


@dataclass(eq=False, repr=False)
class NotebookCells:
    """Finds the cell of a line in a notebook.

    The graph has lines but no cells, so the notebook is read. A notebook that changed since it was indexed has no cells.
    """

    graph: GraphSource
    _kept: dict[tuple[str, str], _Cells] = field(default_factory=dict, init=False)

    def of_hits(self, view: GraphView, hits: list[ImpactHit]) -> list[ImpactHit]:
        """Return an impact report's hits, with the notebook cells of their calls.

        A hit is a symbol that depends on changed code. Its path has steps (edges, such as calls). Each step in a notebook gets the cell of
        its line.
        """
        return [
            dataclasses.replace(hit, path=[dataclasses.replace(step, cell=self.named(view, step.src.path, step.line)) for step in hit.path])
            if any(is_notebook(step.src.path) for step in hit.path)
            else hit
            for hit in hits
        ]

    def of_sites(self, view: GraphView, sites: Iterable[Site], path: str = "") -> list[Site]:
        """Return edges of a symbol, each with the notebook cell of its first line.

        `sites` are the edges. `path` is the file that has the lines of all edges. If it is "", the lines of an edge are in the file of the
        symbol at its other end.
        """
        return [
            dataclasses.replace(site, cell=cell)
            if site.lines and (cell := self.named(view, path or site.symbol.path, site.lines[0]))
            else site
            for site in sites
        ]

    def named(self, view: GraphView, path: str, line: int) -> str:
        """Return the notebook cell of a line, as in "cell 12"; "" for other files."""
        number = view.path_number.get(path) if is_notebook(path) else None
        if number is None:
            return ""
        content = view.arrays.paths.content_hash[number].as_py()
        key = (path, content)
        if key not in self._kept:
            self._kept[key] = self._read(path, content, view.arrays.paths.language[number].as_py() or "text")
            for old in list(self._kept)[:-KEPT]:
                self._kept.pop(old, None)
        starts, numbers = self._kept[key]
        at = bisect_right(starts, line)
        return f"cell {numbers[at - 1]}" if at else ""

    def _read(self, path: str, content: str, language: str) -> _Cells:
        data = read_inside(self.graph.root(), path)
        if content_hash(data) != content:
            return [], []
        cells = [cell for cell in source_of(path, data, language).cells if cell.is_code]
        return [cell.lines[0][0] for cell in cells], [cell.number for cell in cells]
