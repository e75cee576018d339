"""Pictures of the graph for the explorer, with each object's position."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.analysis.impact import expand
from graphmem.analysis.refs import resolve_ref
from graphmem.analysis.semantic.roles import ROLES
from graphmem.analysis.weights import IMPACT_KINDS
from graphmem.answers import Picture
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.operations.arguments import one_of
from graphmem.resolution.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.explorer.atlas import Atlas, Plan
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.structure.derived import Semantics
    from graphmem.project.structure.semantic_source import SemanticSource

MAX_EDGES: Final = 6_000  # edges between files sent with the map, heaviest first
MAX_SYMBOLS: Final = 5_000  # symbols of one picture


@dataclass(eq=False, repr=False)
class Pictures:
    """Lays out parts of the graph for the explorer: map, files, neighbours."""

    graph: GraphSource
    semantics: SemanticSource  # modules and layers of the graph
    _atlases: dict[tuple[str, ...], Atlas] = field(default_factory=dict, init=False)  # of one generation, by roles
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def atlas(self, edges: int = MAX_EDGES, roles: Sequence[str] | None = None) -> Picture:
        """Return the map of the project: modules, files and dependencies.

        Args:
            edges: maximum number of edges between files, heaviest first; edges between modules are always complete.
            roles: only files of these roles, such as "code" or "test"; None for all files.

        Raises:
            BadInputError: `edges` is negative.
            NotIndexedError: nothing was indexed yet.
        """
        if edges < 0:
            raise BadInputError(f"edges, the maximum number of edges, is {edges}; use 0 or more", argument="edges", value=edges)
        here, atlas = self._drawn(roles)
        from graphmem.explorer.atlas import columns

        made, left_out = columns(atlas, edges)
        with here.lock:
            role = here.roles
        made["files"]["role"] = [role[path] for path in atlas.paths]
        counts = Counter(role.values())
        made["roles"] = {"role": list(ROLES), "files": [counts[one] for one in ROLES]}
        return Picture(made, left_out, self.graph.state())

    def atlas_symbols(self, paths: Sequence[str], limit: int = MAX_SYMBOLS, roles: Sequence[str] | None = None) -> Picture:
        """Return symbols of given files with their positions on the map.

        The edges between the symbols are included.

        Args:
            paths: paths of files, as the map gives them.
            limit: maximum number of symbols, at least 1. Symbols beyond the limit are left out; the answer has their number.
            roles: the same roles, such as "code" or "test", as in the call of `atlas`.

        Raises:
            BadInputError: `limit` is out of range.
            SymbolNotFoundError: a path is not in the index.
            NotIndexedError: nothing was indexed yet.
        """
        if limit < 1:
            raise BadInputError(f"limit, the maximum number of symbols, is {limit}; use 1 or more", argument="limit", value=limit)
        here, atlas = self._drawn(roles)
        place = {path: i for i, path in enumerate(atlas.paths)}
        unknown = next((path for path in paths if path not in place), None)
        if unknown is not None:
            raise SymbolNotFoundError(
                f"the index no longer has the file {unknown!r} of the map; load the map again", ref=unknown, suggestions=[]
            )
        from graphmem.explorer.atlas import symbol_columns

        made, left_out = symbol_columns(here.view, atlas, [place[path] for path in paths], limit)
        return Picture(made, left_out, self.graph.state())

    def neighbourhood(
        self,
        refs: Sequence[str],
        depth: int = 1,
        kinds: Sequence[str] | None = None,
        min_confidence: float = 0.0,
        limit: int = 200,
        fold_tests: bool = False,
    ) -> Picture:
        """Return symbols with the code they use and the code that uses them.

        Each symbol has a position in the picture. A class in the middle includes its members.

        Args:
            refs: names of the symbols in the middle, such as `Cart.total`.
            depth: maximum number of edges from the middle to each side, 1 to 4.
            kinds: kinds of edges to follow; None for the kinds that the operation `impact` follows.
            min_confidence: least confidence of edges, 0 to 1.
            limit: maximum number of nodes, at least 1; the answer reports how many more nodes exist.
            fold_tests: show all tests at the same distance from the middle as one node with their number.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
            BadInputError: a bound is out of range.
        """
        view = self.graph.view()
        seeds = list(dict.fromkeys(node for ref in refs for node in resolve_ref(view, ref, self.graph.root())))
        from graphmem.explorer import around

        bounds = around.Bounds(depth, tuple(kinds) if kinds is not None else IMPACT_KINDS, min_confidence, limit)
        made, left_out = around.neighbourhood(view, seeds, bounds, fold_tests=fold_tests, own=expand(view, seeds))
        used = sorted(set(made["edges"]["rule"]) & RULES.keys())
        made["rules"] = {"rule": used, "sentence": [RULES[rule].sentence for rule in used]}
        return Picture(made, left_out, self.graph.state())

    def _drawn(self, roles: Sequence[str] | None) -> tuple[Semantics, Atlas]:
        """Return results derived from the newest graph, and the project's map.

        The map shows only files with one of `roles`, such as "code" or "test"; None for all files.
        """
        from graphmem.explorer.atlas import draw

        for one in roles or ():
            one_of("roles", one, ROLES)
        key = ROLES if roles is None else tuple(sorted(set(roles)))
        here = self.semantics.newest()
        view = here.view
        with self._lock:
            if any(one.generation != view.generation for one in self._atlases.values()):
                self._atlases.clear()
            if key not in self._atlases:
                with here.lock:
                    self._atlases[key] = draw(view, _plan(here, set(key)))
            return here, self._atlases[key]


def _plan(here: Semantics, roles: set[str]) -> Plan:
    """Return which modules the map shows, and the row of each on the map.

    Only modules with files of the given roles are shown. A module is drawn above the modules that it depends on; the modules of a cycle
    share a row. Dependencies of tests are ignored, because tests may use everything. Modules that hold only tests are drawn on top, and
    files without code at the bottom.
    """
    from graphmem.explorer.atlas import Plan

    found = here.modules
    names = [group.name for group in found.groups]
    role = here.roles
    layers = {names[i]: 1 + stratum for i, stratum in found.stratum.items()}
    above = max(layers.values(), default=0) + 1
    layers.update({group.name: above for group in found.groups if all(role[path] == "test" for path in group.paths)})
    layers[""] = 0
    return Plan(
        module_of={path: found.name_of(path) for path, one in role.items() if one in roles},
        titles={name: title.text for name, title in zip(names, here.titles, strict=True)},
        worded={name for name, title in zip(names, here.titles, strict=True) if title.source == "names"},
        layers=layers,
        inner={names[i]: layer for i, layer in found.layer.items()},
        knots=[[names[i] for i in knot if layers[names[i]] != above] for knot in found.knots],
        cuts={(names[a], names[b]): len(found.ordering[a, b]) for a, b in sorted(found.worth_cutting)},
    )
