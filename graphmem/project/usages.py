"""Every place where the name of a symbol stands, in all files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.analysis.refs import resolve_ref
from graphmem.answers.places import Usage, Usages
from graphmem.model import EdgeKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.project.graph_source import GraphSource
    from graphmem.project.positions import Positions
    from graphmem.projection.graph import GraphView


@dataclass(eq=False, repr=False)
class UsageQuestions:
    """Answers where a symbol is defined, imported and used."""

    graph: GraphSource
    positions: Positions

    def usages(self, ref: str, limit: int = 1000) -> Usages:
        """See `CodeOperations.usages`.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
        """
        view = self.graph.view()
        node = resolve_ref(view, ref, self.graph.root())[0]
        found: list[Usage] = []
        stale: list[str] = []
        for path in self._files(view, node):
            here = self.positions.occurrences(path)
            if here.is_stale:
                stale.append(path)
            found += [
                Usage(path, one.range, one.text, one.role, one.confidence, one.enclosing)
                for one in here.occurrences
                if one.symbol.id == view.ids[node]
            ]
        return Usages(view.info(node), found[:limit], len(found), stale)

    def _files(self, view: GraphView, node: int) -> Iterator[str]:
        """Yield files that may use a symbol.

        They are its own file, files with an edge to it, and files that import it, directly or through others.
        """
        name = view.name(node).rpartition(".")[2].encode()
        users = {view.path(int(one)) for one in view.src[view.in_edges(node)].tolist()}
        waiting = list(dict.fromkeys([view.path(node), *sorted(users)]))
        seen = {"", *waiting}
        while waiting:
            path = waiting.pop(0)
            if not path or view.file_node(path) is None:
                continue
            yield path
            for other in _importers(view, path) - seen:
                seen.add(other)
                if self._contains(other, name):  # only a file with the name can pass it on
                    waiting.append(other)

    def _contains(self, path: str, name: bytes) -> bool:
        try:
            return name in (self.graph.root() / path).read_bytes()
        except OSError:  # deleted since it was indexed, so it uses nothing
            return False


def _importers(view: GraphView, path: str) -> set[str]:
    nodes = [*view.by_path(path).tolist(), view.file_node(path)]
    return {
        view.path(int(one)) for node in nodes if node is not None for one in view.src[view.in_edges(node, (EdgeKind.IMPORTS,))].tolist()
    }
