"""GraphQL fields whose data is loaded separately from their object.

Such fields are, for example, the edges and the source text of a symbol. One call loads the data for all objects at one nesting level of a
query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import strawberry
from strawberry.scalars import JSON

from graphmem import answers
from graphmem.answers import FileInfo, NearbyMemories, Site, SymbolInfo
from graphmem.answers.marks import SYMBOL
from graphmem.answers.vocabulary import EdgeKind, EdgeSource, Relation
from graphmem.api.requests.complexity import assumed, sized_by
from graphmem.api.requests.context import Info, Operation
from graphmem.api.requests.ids import cursor, global_id
from graphmem.api.requests.limits import page
from graphmem.api.requests.loaders import KnownOf, SitesOf
from graphmem.api.types.connections import PageInfo, Slice
from graphmem.api.types.derive import extends, object_type, shown
from graphmem.api.types.describe import field, gql_type, resolved

DEFAULT_FIRST = 20
_EVERY = 1_000_000_000  # used only to count the edges of one symbol
KNOWN_FIRST = 5


@dataclass(frozen=True, slots=True)
class EdgeItem:
    """An edge in a page of a symbol's edges, with its cursor."""

    cursor: str
    site: Site


@dataclass(frozen=True, slots=True)
class Edges:
    """A page of edges of one symbol in the code graph.

    The total number of edges is counted only if a query asks for it.
    """

    edges: list[EdgeItem]
    page_info: Slice
    symbol_id: str
    relation: Relation


async def edges(operation: Operation, symbol_id: str, relation: Relation, first: int, after: str | None) -> Edges:
    """Return a page of a symbol's edges of one relation, such as its callers.

    `first` is the maximum number of edges, and `after` is the cursor of the edge before the page. One call loads the edges of all symbols
    at one nesting level of a query.
    """
    at = page(operation.limits, first, after)
    end = at.offset + at.first
    sites = await operation.loaders.sites.load(SitesOf(relation, end + 1, symbol_id))
    listed = sites[at.offset : end]
    items = [EdgeItem(cursor(at.offset + i), site) for i, site in enumerate(listed)]
    return Edges(items, Slice(at.offset, len(listed), len(sites) > end), symbol_id, relation)


def _relation(relation: Relation, description: str) -> Any:
    """Declare a GraphQL field for edges of one relation, such as callers.

    The field has pages. Edges of code come before edges of tests; within each group, the most certain come first.
    """

    async def resolve(
        parent: strawberry.Parent[SymbolInfo | FileInfo], info: Info, first: int = DEFAULT_FIRST, after: str | None = None
    ) -> Edges:
        return await edges(info.context, parent.id, relation, first, after)

    return strawberry.field(
        resolver=resolve, description=description, graphql_type=SymbolEdgeConnection, directives=[sized_by("first", "edges")]
    )


@gql_type
class SymbolEdge:
    """An edge in the list of one symbol's edges.

    `node` is the symbol at the other end. The other fields say how the edge was found, and with which confidence.
    """

    cursor: str

    @resolved("Symbol")
    @staticmethod
    def node(parent: strawberry.Parent[EdgeItem]) -> SymbolInfo:
        """The symbol at the other end of the edge."""
        return parent.site.symbol

    @resolved(shown(EdgeKind))
    @staticmethod
    def kind(parent: strawberry.Parent[EdgeItem]) -> str:
        """The kind of the edge, such as CALLS."""
        return parent.site.kind

    @resolved()
    @staticmethod
    def confidence(parent: strawberry.Parent[EdgeItem]) -> float:
        """Confidence of the edge, in (0, 1]."""
        return parent.site.confidence

    @resolved(shown(EdgeSource))
    @staticmethod
    def source(parent: strawberry.Parent[EdgeItem]) -> str:
        """The source of the evidence for the edge."""
        return parent.site.source

    @resolved()
    @staticmethod
    def rule(parent: strawberry.Parent[EdgeItem]) -> str:
        """The resolution rule that found the target of the edge."""
        return parent.site.rule

    @resolved()
    @staticmethod
    def lines(parent: strawberry.Parent[EdgeItem]) -> list[int]:
        """Line numbers of the code that causes the edge, in its source's file.

        The source is the symbol where the edge starts. The numbers are 1-based and ascending.
        """
        return parent.site.lines


@gql_type
class SymbolEdgeConnection:
    """A page of a symbol's edges in one relation, such as its callers.

    The members of a symbol are in the order of the file. In every other relation, edges of code come before edges of tests. Within each of
    these two groups, the most certain come first.
    """

    edges: list[SymbolEdge]
    page_info: PageInfo

    @resolved()
    @staticmethod
    async def total_count(parent: strawberry.Parent[Edges], info: Info) -> int:
        """Total number of edges; computed only if requested."""
        return len(await info.context.loaders.sites.load(SitesOf(parent.relation, _EVERY, parent.symbol_id)))


def _memories_field() -> Any:
    """Declare the GraphQL field for the memories about a symbol or file.

    One call loads the memories for all objects at one nesting level of a query.
    """

    async def resolve(parent: strawberry.Parent[SymbolInfo | FileInfo], info: Info, first: int = KNOWN_FIRST) -> NearbyMemories:
        limit = page(info.context.limits, first, None).first
        return await info.context.loaders.known.load(KnownOf(limit, parent.id))

    return strawberry.field(
        resolver=resolve,
        description="Memories about the file and the code around it: warnings first, then by closeness to the code × trust in the source "
        "× current confidence.",
        graphql_type=object_type(NearbyMemories),
        directives=[sized_by("first", "memories")],
    )


@extends(SymbolInfo)
class SymbolFields:
    """GraphQL fields of a symbol, each loaded only if a query asks for it."""

    ref: str = field("`path:qualname`, a reference that matches only this symbol")

    callers = _relation("callers", "Callers of the symbol.")
    callees = _relation("callees", "Symbols that the symbol calls.")
    references = _relation("references", "Symbols that read, write or pass on the symbol, or name it in a type.")
    bases = _relation("bases", "Classes that the symbol inherits from.")
    subclasses = _relation("subclasses", "Classes that inherit from the symbol.")
    overrides = _relation("overrides", "Methods that the symbol overrides.")
    overridden_by = _relation("overridden_by", "Methods that override the symbol.")
    members = _relation("members", "Symbols defined directly inside the symbol.")
    tests = _relation("tests", "Tests that execute the symbol, or depend on it.")
    known = _memories_field()

    @resolved()
    @staticmethod
    async def doc(parent: strawberry.Parent[SymbolInfo], info: Info) -> str:
        """First paragraph of the symbol's docstring or comment."""
        return str((await _details(parent, info)).get("doc", ""))

    @resolved()
    @staticmethod
    async def modifiers(parent: strawberry.Parent[SymbolInfo], info: Info) -> list[str]:
        """Modifiers of the symbol, such as abstract, async or static; sorted."""
        return list((await _details(parent, info)).get("modifiers", ()))

    @resolved()
    @staticmethod
    async def complexity(parent: strawberry.Parent[SymbolInfo], info: Info) -> int:
        """Number of branching points in the symbol plus 1; 0 without a body."""
        return int((await _details(parent, info)).get("complexity", 0))

    @resolved("Symbol | None")
    @staticmethod
    async def parent(parent: strawberry.Parent[SymbolInfo], info: Info) -> SymbolInfo | None:
        """The symbol that encloses this symbol; null for a module symbol."""
        enclosing = (await _details(parent, info)).get("parent", "")
        return await info.context.loaders.symbols.load(enclosing) if enclosing else None

    @resolved("list[Symbol]", directives=[assumed(5)])
    @staticmethod
    async def overloads(parent: strawberry.Parent[SymbolInfo], info: Info) -> list[SymbolInfo]:
        """The other definitions of this name in the file, such as overloads."""
        others = (await _details(parent, info)).get("overloads", ())
        found = [await info.context.loaders.symbols.load(other) for other in others]
        return [other for other in found if other is not None]

    @resolved("File | None")
    @staticmethod
    async def file(parent: strawberry.Parent[SymbolInfo], info: Info) -> FileInfo | None:
        """The file that defines the symbol; null for a symbol outside the project."""
        return await info.context.loaders.files.load(parent.path) if parent.path else None

    @resolved("str | None")
    @staticmethod
    async def source(parent: strawberry.Parent[SymbolInfo], info: Info) -> str:
        """Source text of the symbol.

        Null with an error if the file changed since the index run.
        """
        return await info.context.loaders.sources.load(parent.id)


async def _details(symbol: SymbolInfo, info: Info) -> Mapping[str, Any]:
    return await info.context.loaders.details.load(symbol.id)


@extends(FileInfo)
class FileFields:
    """Separately loaded GraphQL fields of a file."""

    members = _relation("members", "The module symbol of the file; its members are the file's outline.")
    importers = _relation("references", "Symbols and files that import the file.")
    known = _memories_field()


Symbol = object_type(SymbolInfo)
File = object_type(FileInfo)


@extends(answers.MemoryAnchor)
class AnchorFields:
    """Separately loaded GraphQL fields of an anchor.

    An anchor is a link from a memory to code.
    """

    @resolved(Symbol | None)
    @staticmethod
    async def symbol(parent: strawberry.Parent[answers.MemoryAnchor], info: Info) -> answers.SymbolInfo | None:
        """The linked symbol; null if it is gone, or if a file is linked."""
        return await info.context.loaders.symbols.load(parent.id)


@extends(answers.SearchHit)
class SearchHitFields:
    """Separately loaded GraphQL fields of a search hit."""

    @resolved(Symbol | None)
    @staticmethod
    async def symbol(parent: strawberry.Parent[answers.SearchHit], info: Info) -> answers.SymbolInfo | None:
        """The definition that contains the hit; null for prose and data."""
        return await info.context.loaders.symbols.load(parent.node)


@dataclass(frozen=True, slots=True)
class EdgeOfSubgraph:
    """An edge of a subgraph with the symbols at its two ends.

    The edge is a row of `answers.Subgraph.edges`.
    """

    src: answers.SymbolInfo
    dst: answers.SymbolInfo
    kind: str
    confidence: float
    rule: str


@gql_type
class SubgraphEdge:
    """An edge between two nodes of a subgraph: `src` depends on `dst`."""

    src: Symbol  # type: ignore[valid-type]
    dst: Symbol  # type: ignore[valid-type]
    kind: shown(EdgeKind)  # type: ignore[valid-type]
    confidence: float
    rule: str


@extends(answers.Subgraph)
class SubgraphFields:
    """GraphQL fields of a subgraph that are computed from its nodes and edges."""

    @resolved(list[SubgraphEdge])
    @staticmethod
    def edges(parent: strawberry.Parent[answers.Subgraph]) -> list[EdgeOfSubgraph]:
        """Edges among the nodes; for more than a few hundred, use `columns`."""
        nodes = parent.nodes
        return [EdgeOfSubgraph(nodes[src], nodes[dst], kind, sure, rule) for src, dst, kind, sure, rule in parent.edges]

    @resolved(JSON)
    @staticmethod
    def columns(parent: strawberry.Parent[answers.Subgraph]) -> Any:
        """The whole subgraph in columns, for drawing thousands of nodes.

        `nodes` holds equally long lists id, kind, name, qualname, path, startLine, isTest; `edges`
        holds src and dst (positions in `nodes`), kind, confidence, rule.
        """
        nodes = parent.nodes
        src, dst, kind, confidence, rule = (list(column) for column in zip(*parent.edges, strict=True)) if parent.edges else ([],) * 5
        return {
            "nodes": {
                "id": [global_id(SYMBOL, node.id) for node in nodes],
                "kind": [node.kind for node in nodes],
                "name": [node.name for node in nodes],
                "qualname": [node.qualname for node in nodes],
                "path": [node.path for node in nodes],
                "startLine": [node.start_line for node in nodes],
                "isTest": [node.is_test for node in nodes],
            },
            "edges": {"src": src, "dst": dst, "kind": kind, "confidence": confidence, "rule": rule},
        }
