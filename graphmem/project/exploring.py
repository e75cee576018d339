"""Pictures of the graph for the explorer, with the place of every object."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.refs import resolve_ref
from graphmem.analysis.weights import IMPACT_KINDS
from graphmem.answers import Picture
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.explorer import around
from graphmem.explorer.atlas import Atlas, columns, draw, symbol_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.project.derived import SemanticSource
    from graphmem.project.graph_source import GraphSource
    from graphmem.projection.graph import GraphView

MAX_EDGES: Final = 6_000  # edges between files sent with the map, heaviest first
MAX_SYMBOLS: Final = 5_000  # symbols of one picture


@dataclass(eq=False, repr=False)
class Pictures:
    """Lays out pieces of the graph for the explorer."""

    graph: GraphSource
    semantics: SemanticSource  # modules and layers of the graph
    _atlas: Atlas | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def atlas(self, edges: int = MAX_EDGES) -> Picture:
        """Return the map of the project: modules, files and dependencies.

        Args:
            edges: maximum number of edges between files, heaviest first; edges between modules are always complete.

        Raises:
            BadInputError: `edges` is negative.
            NotIndexedError: nothing was indexed yet.
        """
        if edges < 0:
            raise BadInputError(f"edges is {edges}; give 0 or more", argument="edges", value=edges)
        _, atlas = self._drawn()
        made, left_out = columns(atlas, edges)
        return Picture(made, left_out, self.graph.state())

    def atlas_symbols(self, paths: Sequence[str], limit: int = MAX_SYMBOLS) -> Picture:
        """Return symbols of some files at their places on the map, with edges.

        Args:
            paths: paths of files, as the map gives them.
            limit: maximum number of symbols, at least 1. Symbols of the last file may be cut, and the answer reports how many are missing.

        Raises:
            BadInputError: `limit` is out of range.
            SymbolNotFoundError: a path is not in the index.
            NotIndexedError: nothing was indexed yet.
        """
        if limit < 1:
            raise BadInputError(f"limit is {limit}; give 1 or more", argument="limit", value=limit)
        view, atlas = self._drawn()
        place = {path: i for i, path in enumerate(atlas.paths)}
        unknown = next((path for path in paths if path not in place), None)
        if unknown is not None:
            raise SymbolNotFoundError(
                f"file {unknown!r} not found in the index; the map has changed, load it again", ref=unknown, suggestions=[]
            )
        made, left_out = symbol_columns(view, atlas, [place[path] for path in paths], limit)
        return Picture(made, left_out, self.graph.state())

    def neighbourhood(
        self, refs: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, min_confidence: float = 0.0, limit: int = 200
    ) -> Picture:
        """Return symbols with their dependencies and dependents, with places.

        Args:
            refs: the symbols in the middle, as for `symbol`.
            depth: steps to each side, 1 to 4.
            kinds: kinds of edges to follow; None for those that impact follows.
            min_confidence: least confidence of edges, 0 to 1.
            limit: maximum number of nodes, at least 1; the answer reports how many more nodes exist.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
            BadInputError: a bound is out of range.
        """
        view = self.graph.view()
        seeds = list(dict.fromkeys(node for ref in refs for node in resolve_ref(view, ref, self.graph.root())))
        made, left_out = around.neighbourhood(
            view,
            seeds,
            depth=depth,
            kinds=tuple(kinds) if kinds is not None else IMPACT_KINDS,
            min_confidence=min_confidence,
            limit=limit,
        )
        return Picture(made, left_out, self.graph.state())

    def _drawn(self) -> tuple[GraphView, Atlas]:
        """Return the view and its map, which is computed once a generation."""
        view = self.graph.view()
        with self._lock:
            if self._atlas is None or self._atlas.generation != view.generation:
                here = self.semantics.newest()
                with here.lock:
                    found = here.modules
                    names = {path: group.name for group in found.groups for path in group.paths}
                    layers = {group.name: found.layer[i] for i, group in enumerate(found.groups)}
                    upward = {(found.groups[a].name, found.groups[b].name): len(found.between[a, b]) for a, b in sorted(found.upward)}
                    tests = {found.files.paths[i] for i in np.flatnonzero(found.files.is_test).tolist()}
                    above = max(layers.values(), default=0) + 1
                    # Layers ignore dependencies of tests, which may use everything. Modules that hold only tests are drawn on top.
                    layers.update({group.name: above for group in found.groups if tests.issuperset(group.paths)})
                self._atlas = draw(view, names, layers, upward)
            return view, self._atlas
