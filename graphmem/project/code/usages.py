"""Find every place in all files where the name of a symbol is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.analysis.completeness import families, possible_sites
from graphmem.analysis.impact import expand
from graphmem.analysis.refs import resolve_ref
from graphmem.answers.places import Usage, Usages
from graphmem.model import FUNCTION_KINDS, EdgeKind
from graphmem.project.code.qualifiers import reached_by

if TYPE_CHECKING:
    from graphmem.project.code.positions import Positions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView


@dataclass(eq=False, repr=False)
class UsageQuestions:
    """Answers where a symbol is defined, imported and used."""

    graph: GraphSource
    positions: Positions

    def usages(self, ref: str, limit: int = 1000) -> Usages:
        """Return every place where a symbol is defined, imported or used.

        See `CodeOperations.usages`.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
        """
        view = self.graph.view()
        node = resolve_ref(view, ref, self.graph.root())[0]
        reached = reached_by(view, node)
        targets = {view.ids[one] for one in [*expand(view, [node]), *reached]}
        users = {view.path(int(one)) for user in [node, *reached] for one in view.src[view.in_edges(user)].tolist()}
        waiting = list(dict.fromkeys([view.path(node), *sorted(users)]))
        seen = set(waiting)
        found: list[Usage] = []
        stale: list[str] = []
        while waiting:
            written = self.positions.written([path for path in waiting if path and view.file_node(path) is not None])
            waiting = []
            for path, places in written.items():
                here, is_stale = self.positions.uses(view, path, node, targets, places)
                if is_stale:
                    stale.append(path)
                found += [Usage(path, one.range, one.text, one.role, one.confidence, one.enclosing) for one in here]
                if any(one.role != "use" for one in here):  # the file may pass the name on
                    others = sorted(_importers(view, path) - seen)
                    seen.update(others)
                    waiting += others
        possible = possible_sites(view, [node], families(view, [node]))[1] if view.info(node).kind in FUNCTION_KINDS else 0
        return Usages(view.info(node), found[:limit], len(found), possible, stale)


def _importers(view: GraphView, path: str) -> set[str]:
    nodes = [*view.by_path(path).tolist(), view.file_node(path)]
    return {
        view.path(int(one)) for node in nodes if node is not None for one in view.src[view.in_edges(node, (EdgeKind.IMPORTS,))].tolist()
    }
