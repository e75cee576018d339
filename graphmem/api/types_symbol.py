"""GraphQL types of symbols, files and the edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import strawberry

from graphmem.answers import FileInfo, Site, SymbolInfo
from graphmem.api.complexity import sized_by
from graphmem.api.context import Info, Operation
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.enums import EdgeKind, EdgeSource, SymbolKind
from graphmem.api.ids import FILE, SYMBOL, cursor, global_id
from graphmem.api.limits import Page, page
from graphmem.api.loaders import SitesOf
from graphmem.api.verbs import Relation

T = TypeVar("T")

DEFAULT_FIRST = 20
_EVERY = 1_000_000_000  # asked for only to count the edges of one symbol


@strawberry.interface(description="Something with an id that `node` finds again.")
class Node:
    """Relay's Node."""

    id: strawberry.ID = field("opaque and stable across runs of the index")


@gql_type
class PageInfo:
    """Where a page lies in its list."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class Slice:
    """A page of rows as resolvers hand it on, before it becomes edges."""

    offset: int
    rows: int
    more: bool

    @property
    def has_next_page(self) -> bool:
        """Whether rows follow."""
        return self.more

    @property
    def has_previous_page(self) -> bool:
        """Whether rows precede."""
        return self.offset > 0

    @property
    def start_cursor(self) -> str | None:
        """Cursor of the first row."""
        return cursor(self.offset) if self.rows else None

    @property
    def end_cursor(self) -> str | None:
        """Cursor of the last row."""
        return cursor(self.offset + self.rows - 1) if self.rows else None


@dataclass(frozen=True, slots=True)
class Item:
    """An edge of a plain connection."""

    cursor: str
    node: Any


@dataclass(frozen=True, slots=True)
class Rows:
    """A plain connection: a page of a list whose length is known."""

    edges: list[Item]
    page_info: Slice
    total_count: int


def rows(found: list[T], total: int, at: Page) -> Rows:
    """A page of a list as a connection."""
    edges = [Item(cursor(at.offset + i), node) for i, node in enumerate(found)]
    return Rows(edges, Slice(at.offset, len(found), at.offset + len(found) < total), total)


@dataclass(frozen=True, slots=True)
class EdgeItem:
    """A site with its cursor."""

    cursor: str
    site: Site


@dataclass(frozen=True, slots=True)
class Edges:
    """A connection of sites; the total is only counted when asked for."""

    edges: list[EdgeItem]
    page_info: Slice
    symbol_id: str
    relation: Relation


async def edges(operation: Operation, symbol_id: str, relation: Relation, first: int, after: str | None) -> Edges:
    """A page of a symbol's edges of one relation; all symbols of a level share one call."""
    at = page(operation.limits, first, after)
    end = at.offset + at.first
    sites = await operation.loaders.sites.load(SitesOf(relation, end + 1, symbol_id))
    shown = sites[at.offset : end]
    items = [EdgeItem(cursor(at.offset + i), site) for i, site in enumerate(shown)]
    return Edges(items, Slice(at.offset, len(shown), len(sites) > end), symbol_id, relation)


def _relation(relation: Relation, description: str) -> Any:
    """A field that pages through one relation of a symbol or file, most certain first."""

    async def resolve(
        parent: strawberry.Parent[SymbolInfo | FileInfo], info: Info, first: int = DEFAULT_FIRST, after: str | None = None
    ) -> Edges:
        return await edges(info.context, parent.id, relation, first, after)

    return strawberry.field(
        resolver=resolve,
        description=description,
        graphql_type=SymbolEdgeConnection,
        directives=[sized_by("first", "edges")],
    )


@gql_type
class SymbolEdge:
    """An edge of the code graph seen from one end, with the evidence for it."""

    cursor: str

    @resolved("Symbol")
    @staticmethod
    def node(parent: strawberry.Parent[EdgeItem]) -> SymbolInfo:
        """The symbol at the other end."""
        return parent.site.symbol

    @resolved(EdgeKind)
    @staticmethod
    def kind(parent: strawberry.Parent[EdgeItem]) -> str:
        """What the edge means."""
        return parent.site.kind

    @resolved()
    @staticmethod
    def confidence(parent: strawberry.Parent[EdgeItem]) -> float:
        """How certain the edge is, in (0, 1]."""
        return parent.site.confidence

    @resolved(EdgeSource)
    @staticmethod
    def source(parent: strawberry.Parent[EdgeItem]) -> str:
        """Who says so."""
        return parent.site.source

    @resolved()
    @staticmethod
    def rule(parent: strawberry.Parent[EdgeItem]) -> str:
        """The rule that resolved it."""
        return parent.site.rule

    @resolved()
    @staticmethod
    def lines(parent: strawberry.Parent[EdgeItem]) -> list[int]:
        """Where it is written, in the file of the edge's source; 1-based, ascending."""
        return parent.site.lines


@gql_type
class SymbolEdgeConnection:
    """A page of edges of one relation: most certain first, members in the order they are written."""

    edges: list[SymbolEdge]
    page_info: PageInfo

    @resolved()
    @staticmethod
    async def total_count(parent: strawberry.Parent[Edges], info: Info) -> int:
        """How many edges there are in all; counted only when asked for."""
        return len(await info.context.loaders.sites.load(SitesOf(parent.relation, _EVERY, parent.symbol_id)))


@gql_type
class Symbol(Node):
    """A definition in the code, the module of a file, or something external that is used."""

    kind: SymbolKind
    name: str
    qualname: str = field("dotted inside the file; <module> for the code outside any definition")
    path: str = field("from the root, with '/'; empty for externals")
    start_line: int = field("1-based, decorators included")
    end_line: int = field("1-based, inclusive")
    signature: str = field("as a reader would quote it; empty where there is none")
    is_test: bool
    entry_point: str = field("main, route, command, event, task, test, fixture, export or empty")
    ref: str = field("`path:qualname`: what a person can type to mean exactly this symbol")

    callers: SymbolEdgeConnection = _relation("callers", "Who calls it.")
    callees: SymbolEdgeConnection = _relation("callees", "What it calls.")
    references: SymbolEdgeConnection = _relation("references", "Who reads, writes, passes on or names it in a type.")
    bases: SymbolEdgeConnection = _relation("bases", "What it inherits from.")
    subclasses: SymbolEdgeConnection = _relation("subclasses", "What inherits from it.")
    overrides: SymbolEdgeConnection = _relation("overrides", "What it overrides.")
    overridden_by: SymbolEdgeConnection = _relation("overridden_by", "What overrides it.")
    members: SymbolEdgeConnection = _relation("members", "What is defined directly inside it.")
    tests: SymbolEdgeConnection = _relation("tests", "Tests that exercise it.")

    @classmethod
    def is_type_of(cls, value: object, _info: Any) -> bool:
        """Resolvers return `SymbolInfo`."""
        return isinstance(value, SymbolInfo)

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[SymbolInfo]) -> str:
        """Opaque; moving the symbol within its file keeps it."""
        return global_id(SYMBOL, parent.id)

    @resolved()
    @staticmethod
    async def doc(parent: strawberry.Parent[SymbolInfo], info: Info) -> str:
        """First paragraph of the docstring or comment."""
        return str((await _details(parent, info)).get("doc", ""))

    @resolved()
    @staticmethod
    async def modifiers(parent: strawberry.Parent[SymbolInfo], info: Info) -> list[str]:
        """Such as abstract, async, exported, static; sorted."""
        return list((await _details(parent, info)).get("modifiers", ()))

    @resolved()
    @staticmethod
    async def complexity(parent: strawberry.Parent[SymbolInfo], info: Info) -> int:
        """One more than its branching points; 0 for what has no body."""
        return int((await _details(parent, info)).get("complexity", 0))

    @resolved("Symbol | None")
    @staticmethod
    async def parent(parent: strawberry.Parent[SymbolInfo], info: Info) -> SymbolInfo | None:
        """The symbol it is written in."""
        enclosing = (await _details(parent, info)).get("parent", "")
        return await info.context.loaders.symbols.load(enclosing) if enclosing else None

    @resolved("File | None")
    @staticmethod
    async def file(parent: strawberry.Parent[SymbolInfo], info: Info) -> FileInfo | None:
        """The file it is in; null for externals."""
        return await info.context.loaders.files.load(parent.path) if parent.path else None

    @resolved("str | None")
    @staticmethod
    async def source(parent: strawberry.Parent[SymbolInfo], info: Info) -> str:
        """Its text as it stands in the file; null with an error when the file changed meanwhile."""
        return await info.context.loaders.sources.load(parent.id)


async def _details(symbol: SymbolInfo, info: Info) -> Mapping[str, Any]:
    return await info.context.loaders.details.load(symbol.id)


@gql_type
class File(Node):
    """A file of the index."""

    path: str
    language: str
    module: str = field("the name other files import it by; empty when it has none")
    lines: int
    size_bytes: int
    is_test: bool
    error_count: int = field("places the parser could not read")
    diagnostic: str = field("why parts of this file are not in the graph; empty when all is")

    members: SymbolEdgeConnection = _relation("members", "The module symbol it defines; its members are the file's outline.")
    importers: SymbolEdgeConnection = _relation("references", "Who imports it.")

    @classmethod
    def is_type_of(cls, value: object, _info: Any) -> bool:
        """Resolvers return `FileInfo`."""
        return isinstance(value, FileInfo)

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[FileInfo]) -> str:
        """Opaque; the path decides it."""
        return global_id(FILE, parent.id)


@gql_type
class SymbolListEdge:
    """An entry of a list of symbols."""

    cursor: str
    node: Symbol


@gql_type
class SymbolConnection:
    """A page of symbols."""

    edges: list[SymbolListEdge]
    page_info: PageInfo
    total_count: int


@gql_type
class FileEdge:
    """An entry of a list of files."""

    cursor: str
    node: File


@gql_type
class FileConnection:
    """A page of files."""

    edges: list[FileEdge]
    page_info: PageInfo
    total_count: int
