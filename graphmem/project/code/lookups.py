"""Look up files, symbols, their edges and their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphmem.analysis.implementations import implementations
from graphmem.analysis.overloads import overloads
from graphmem.analysis.refs import resolve_ref
from graphmem.analysis.relations import RELATIONS, find_files, find_symbols, nodes_of, sites
from graphmem.answers import FilePage, SymbolDetail, SymbolPage
from graphmem.answers.code import Implementations
from graphmem.errors import StaleFileError, SymbolNotFoundError
from graphmem.operations.arguments import page
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.sources import source_of
from graphmem.projection.graph.arrays import NODE_KINDS, SYMBOL
from graphmem.runtime.texts.naming import in_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import FileInfo, NearbyMemories, Site, SymbolInfo
    from graphmem.project.code.cells import NotebookCells
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.memories.known import KnownCode
    from graphmem.projection.graph.view import GraphView

SITES: Final = 1000  # maximum number of edges of one relation in an answer


@dataclass(eq=False, repr=False)
class Lookups:
    """Looks up files and symbols in a graph."""

    graph: GraphSource
    known: KnownCode  # memories about symbols and files
    cells: NotebookCells

    def files(self, prefix: str = "", limit: int = 100, offset: int = 0, query: str = "") -> FilePage:
        """Return a page of files that match a prefix and words, with the total.

        The page has `limit` files, after `offset` others. A path must begin with `prefix` and contain every word of `query`. Without a
        query, files are ordered by path. With a query, files whose name (without folders) contains all words of the query come first, and
        files with a word in a folder come second. Within each group, shorter paths come first.
        """
        page(limit, offset)
        view = self.graph.view()
        prefix = in_project(prefix, self.graph.root())
        every = find_files(view, query) if query.strip() else view.paths
        paths = [path for path in every if path.startswith(prefix) and view.file_node(path) is not None]
        infos = (view.file_info(path) for path in paths[offset : offset + limit])
        return FilePage([info for info in infos if info is not None], len(paths))

    def symbols(self, query: str = "", kinds: Sequence[str] | None = None, limit: int = 50, offset: int = 0) -> SymbolPage:
        """Return a page of the symbols that match a query, with the total.

        The page has `limit` symbols of the given `kinds`, after `offset` others. The best match comes first. In a query of several words,
        each word must be in the qualified name or path. At least one word must be in the name.
        """
        page(limit, offset)
        return SymbolPage(*find_symbols(self.graph.view(), query, kinds, limit, offset))

    def symbol(self, ref: str, source: bool = False) -> SymbolDetail:
        """Return a symbol with its edges, such as its callers.

        For each relation, such as the callers, at most 1,000 symbols are returned.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
            StaleFileError: `source` is requested and the file has changed since it was indexed.
        """
        view = self.graph.view()
        node = resolve_ref(view, ref, self.graph.root())[0]
        found = {name: sites(view, node, name, SITES + 1) for name in RELATIONS}
        around = {name: self._placed(view, node, name, listed[:SITES]) for name, listed in found.items()}
        parent = int(view.parent[node])
        return SymbolDetail(
            symbol=view.info(node),
            doc=view.doc(node),
            modifiers=view.modifiers(node),
            complexity=int(view.complexity[node]),
            parent=view.info(parent) if parent >= 0 else None,
            members=[site.symbol for site in around.pop("members")],
            source=self._source(view, node) if source else "",
            overloads=view.infos(overloads(view, node)),
            known=self.known.of_nodes(view, [view.ids[node]])[view.ids[node]],
            cut=[name for name, listed in found.items() if len(listed) > SITES],
            **around,
        )

    def implementations(self, ref: str, limit: int = 1000) -> Implementations:
        """Return all subclasses of a class, or all methods that override one.

        See `CodeOperations.implementations`.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
        """
        view = self.graph.view()
        node = resolve_ref(view, ref, self.graph.root())[0]
        found = implementations(view, node)
        return Implementations(view.info(node), view.infos(found[:limit]), len(found))

    def resolve(self, ref: str) -> SymbolInfo:
        """Return the symbol that a reference such as `Cart.total` means.

        If the symbol has several overloads, the first one is returned.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
        """
        view = self.graph.view()
        return view.info(resolve_ref(view, ref, self.graph.root())[0])

    def file_info(self, paths: Sequence[str]) -> list[FileInfo | None]:
        view = self.graph.view()
        root = self.graph.root()
        return [view.file_info(in_project(path, root)) for path in paths]

    def symbol_info(self, ids: Sequence[str]) -> list[SymbolInfo | None]:
        view = self.graph.view()
        found = nodes_of(view, ids)
        infos = dict(zip(found, view.infos(list(found.values())), strict=True)) if found else {}
        return [infos.get(one) for one in ids]

    def sites(self, ids: Sequence[str], relation: str, limit: int = SITES) -> dict[str, list[Site]]:
        view = self.graph.view()
        return {one: self._placed(view, node, relation, sites(view, node, relation, limit)) for one, node in nodes_of(view, ids).items()}

    def _placed(self, view: GraphView, node: int, relation: str, found: Sequence[Site]) -> list[Site]:
        """Return `found`, edges of `node`, with the notebook cells of their lines.

        `relation` is the kind of edges, such as the callers.
        """
        return self.cells.of_sites(view, found, "" if RELATIONS[relation].incoming else view.path(node))

    def known_about(self, ids: Sequence[str], limit: int = 5) -> dict[str, NearbyMemories]:
        return self.known.of_nodes(self.graph.view(), ids, limit)

    def details(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        view = self.graph.view()
        return {
            one: {
                "doc": view.doc(node),
                "modifiers": view.modifiers(node),
                "complexity": int(view.complexity[node]),
                "parent": view.ids[view.parent[node]] if view.parent[node] >= 0 else "",
                "overloads": [view.ids[other] for other in overloads(view, node)],
            }
            for one, node in nodes_of(view, ids).items()
        }

    def source(self, id: str) -> str:  # noqa: A002 - the word of the domain
        """Return the source text of a symbol's definition, as indexed.

        Raises:
            SymbolNotFoundError: the id is unknown.
            StaleFileError: the file has changed since it was indexed, or was deleted.
        """
        view = self.graph.view()
        if id not in view.index_of:
            raise SymbolNotFoundError(f"unknown symbol id {id!r}; use the id of a symbol from another answer", ref=id, suggestions=[])
        return self._source(view, view.index_of[id])

    def _source(self, view: GraphView, node: int) -> str:
        path = view.path(node)
        if not path:
            return ""
        try:
            data = (self.graph.root() / path).read_bytes()
        except OSError:
            data = b""
        number = view.path_number[path]
        if content_hash(data) != view.arrays.paths.content_hash[number].as_py():
            raise StaleFileError(f"{path} has changed since it was indexed; run `graphmem index`", path=path)
        language = view.arrays.paths.language[number].as_py() or ""
        lines = source_of(path, data, language).text.decode("utf-8").split("\n")
        if view.label[node] != SYMBOL or NODE_KINDS[view.kind[node]] == "module":
            return "\n".join(lines)
        return "\n".join(lines[view.start_line[node] - 1 : view.end_line[node]])
