"""GraphQL types of the semantic layer: modules, cycles, entry points, flows, hot spots, dead code, duplicates, drift."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import strawberry

from graphmem import answers_semantic as answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.ids import MODULE, global_id
from graphmem.api.types_index import Count, IndexState, Row
from graphmem.api.types_report import PathStep
from graphmem.api.types_symbol import Symbol


@strawberry.enum(description="Between what cycles are looked for.")
class CycleLevel(StrEnum):
    """See `service.semantic.LEVELS`."""

    FILES = "files"
    MODULES = "modules"


@strawberry.enum(description="What hot spots are looked for.")
class HotspotLevel(StrEnum):
    """See `service.semantic.HOT_LEVELS`."""

    FILES = "files"
    SYMBOLS = "symbols"


@strawberry.enum(description="How somebody outside comes in.")
class EntryKind(StrEnum):
    """See `analysis.semantic.entries.ENTRY_KINDS`."""

    MAIN = "main"
    COMMAND = "command"
    ROUTE = "route"
    EXPORT = "export"
    TEST = "test"
    FIXTURE = "fixture"


def _counts(mapping: dict[str, int]) -> list[Row]:
    return [Row(name, count=count) for name, count in mapping.items()]


def _state() -> Any:
    """The field every answer has."""

    def resolve(parent: strawberry.Parent[Any]) -> Any:
        return parent.state

    return strawberry.field(resolver=resolve, description="State of the index that answered.", graphql_type=IndexState)


@gql_type
class Module:
    """A group of files that belong together."""

    name: str = field("unique; a reference to the module as well")
    path: str = field("deepest folder that holds all its files; empty for the root")
    layer: int = field("0 depends on no other module; dependencies that are not upward lead to lower layers")
    files: int
    symbols: int
    lines: int
    test_files: int
    heat: float = field("0 to 1: how much its hottest files hurt, the hottest module being 1")
    cohesion: float = field("0 to 1: share of its dependencies that stays inside")
    central: list[Symbol] = field("at most 5, the most depended upon first", directives=[assumed(5)])
    x: float = field("centre in the map's layout, 0 to 1 from the left")
    y: float = field("0 to 1 from the top; high layers are on top")
    summary: str = field("what it is for, from its files' documentation")

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.ModuleInfo]) -> str:
        """Stable as long as most of its files stay together."""
        return global_id(MODULE, parent.id)

    @resolved(list[Count], [assumed(5)])
    @staticmethod
    def languages(parent: strawberry.Parent[answers.ModuleInfo]) -> list[Row]:
        """Files by language, most first."""
        return _counts(parent.languages)

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def entry_points(parent: strawberry.Parent[answers.ModuleInfo]) -> list[Row]:
        """Entry points by kind."""
        return _counts(parent.entry_points)


@gql_type
class ModuleDependency:
    """All edges from the files of one module to those of another."""

    src_name: str = field("of the module that depends")
    dst_name: str = field("of the module depended on")
    weight: int = field("number of edges")
    upward: bool = field("against the layers: it closes a cycle")
    sites: list[PathStep] = field("the first few edges; up to 20 when it is upward", directives=[assumed(4)])

    @resolved(strawberry.ID)
    @staticmethod
    def src(parent: strawberry.Parent[answers.ModuleDependency]) -> str:
        """The module that depends."""
        return global_id(MODULE, parent.src)

    @resolved(strawberry.ID)
    @staticmethod
    def dst(parent: strawberry.Parent[answers.ModuleDependency]) -> str:
        """The module depended on."""
        return global_id(MODULE, parent.dst)

    @resolved(list[Count], [assumed(4)])
    @staticmethod
    def kinds(parent: strawberry.Parent[answers.ModuleDependency]) -> list[Row]:
        """Edges by kind, most first."""
        return _counts(parent.kinds)


@gql_type
class ModuleMap:
    """What the system is made of."""

    modules: list[Module] = field("most lines first", directives=[assumed(100)])
    dependencies: list[ModuleDependency] = field("heaviest first", directives=[assumed(500)])
    modularity: float = field("of the partition over the dependencies, -0.5 to 1")
    notes: list[str] = field("what the map is made without")
    index_state: IndexState = _state()


@gql_type
class ModuleFile:
    """A file in its module."""

    path: str
    language: str
    lines: int
    symbols: int
    is_test: bool
    heat: float = field("0 to 1, the hottest file of the index being 1")
    x: float = field("centre in the module's layout, 0 to 1")
    y: float


@gql_type
class FileLink:
    """All edges from one file to another."""

    src: str = field("path of the file that depends")
    dst: str
    weight: int

    @resolved(list[Count], [assumed(4)])
    @staticmethod
    def kinds(parent: strawberry.Parent[answers.FileLink]) -> list[Row]:
        """Edges by kind, most first."""
        return _counts(parent.kinds)


@gql_type
class ModuleDetail:
    """One module, opened."""

    module: Module
    files: list[ModuleFile] = field("by path", directives=[assumed(200)])
    links: list[FileLink] = field("between its files, heaviest first", directives=[assumed(1000)])
    dependencies: list[ModuleDependency] = field("what it depends on", directives=[assumed(30)])
    dependents: list[ModuleDependency] = field("what depends on it", directives=[assumed(30)])
    index_state: IndexState = _state()


@gql_type
class CycleCut:
    """An edge to remove so that a cycle opens."""

    src: str = field("path, or name of a module")
    dst: str
    weight: int = field("edges that have to go")
    frees: int = field("members that are in no cycle once it is gone")
    sites: list[PathStep] = field("every edge, at most 20", directives=[assumed(5)])


@gql_type
class Cycle:
    """Files, or modules, that all depend on each other."""

    level: CycleLevel
    members: list[str] = field("paths or names of modules, ascending")
    example: list[str] = field("a shortest round trip through the cheapest edge")
    deferred: bool = field("every way round passes an import made inside a function, so loading works")
    cheapest: CycleCut = field("the edge to cut first: it frees the most for its weight")
    cuts: list[CycleCut] = field("edges that together leave no cycle, at most 20", directives=[assumed(10)])
    cut_count: int


@gql_type
class CyclesAnswer:
    """Cycles, largest first."""

    level: CycleLevel
    cycles: list[Cycle]
    total: int
    index_state: IndexState = _state()


@gql_type
class EntryPoint:
    """Where somebody outside comes in."""

    symbol: Symbol
    kind: EntryKind
    module: str = field("name of the module it is in")
    reach: int = field("symbols within eight confident calls")


@gql_type
class EntryPointPage:
    """Entry points by kind, then path and line."""

    entry_points: list[EntryPoint]
    total: int
    index_state: IndexState = _state()

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def by_kind(parent: strawberry.Parent[answers.EntryPointPage]) -> list[Row]:
        """How many there are of each kind, whatever was asked."""
        return _counts(parent.by_kind)


@gql_type
class Flow:
    """A way through the code from an entry point, along confident calls."""

    id: str
    name: str
    kind: EntryKind
    entry: Symbol
    steps: list[PathStep] = field("consecutive calls, at most 8", directives=[assumed(6)])
    modules: list[str] = field("names of modules, in the order they are passed")
    confidence: float = field("product along the steps")
    variants: list[str] = field("other entry points that go on the same way from the second step, at most 10")
    variant_count: int


@gql_type
class FlowPage:
    """Flows, those through the most modules first."""

    flows: list[Flow]
    total: int
    index_state: IndexState = _state()


@gql_type
class Hotspot:
    """Where change hurts: often changed, complex, and depended upon."""

    symbol: Symbol = field("a file on the level of files")
    churn: float = field("commits that touched the file, old ones counting less; 0 without history")
    complexity: int
    dependents: int = field("other symbols, on the level of files other files, that depend on it directly")
    score: float = field("0 to 100")


@gql_type
class HotspotPage:
    """Hot spots, hottest first."""

    level: HotspotLevel
    hotspots: list[Hotspot]
    total: int
    churn_known: bool
    notes: list[str]
    index_state: IndexState = _state()


@gql_type
class CentralSymbol:
    """A symbol much of the rest leans on."""

    symbol: Symbol
    rank: float = field("PageRank, as a multiple of the average symbol's")
    dependents: int


@gql_type
class CentralPage:
    """The most central symbols first."""

    symbols: list[CentralSymbol]
    index_state: IndexState = _state()


@gql_type
class DeadSymbol:
    """A definition nothing seems to need."""

    symbol: Symbol
    reason: str = field("unreferenced, only_itself, only_dead or only_tests")
    confidence: float = field("that it can go, in (0, 1]")
    lines: int
    why: list[str] = field("what was weighed")


@gql_type
class DeadCodePage:
    """Dead code, most certain first."""

    symbols: list[DeadSymbol]
    total: int
    lines: int = field("of all of them")
    notes: list[str] = field("what was left out, with counts")
    index_state: IndexState = _state()


@gql_type
class Duplicate:
    """One of the places of a duplicate."""

    path: str
    start_line: int
    end_line: int
    qualname: str = field("of the definition it is in; empty for none")


@gql_type
class DuplicateGroup:
    """Pieces of code that say the same."""

    kind: str = field("exact, renamed or near")
    similarity: float = field("lowest to the first place; 1 for the same")
    lines: int = field("that could go")
    places: list[Duplicate] = field("by path and line", directives=[assumed(4)])


@gql_type
class DuplicatePage:
    """Duplicates, those with the most lines to save first."""

    groups: list[DuplicateGroup]
    total: int
    lines: int = field("that could go, over all groups")
    index_state: IndexState = _state()


@gql_type
class ModuleChange:
    """What became of a module between two revisions."""

    name: str
    change: str = field("added, removed or changed")
    files_before: int
    files_after: int
    came: list[str] = field("files that are new in it, at most 20")
    left: list[str] = field("files that were in it, at most 20")


@gql_type
class DependencyChange:
    """What became of a dependency between two modules."""

    src: str
    dst: str
    change: str = field("added, removed, heavier or lighter")
    before: int
    after: int
    sites: list[PathStep] = field("of an added one, the first few", directives=[assumed(3)])


@gql_type
class ApiChange:
    """What became of a public definition."""

    symbol: Symbol
    change: str = field("added, removed, signature or moved")
    before: str = field("its signature, or where it was")


@gql_type
class Drift:
    """How the architecture changed from one revision to another."""

    base: str
    head: str
    modules: list[ModuleChange] = field("those that changed", directives=[assumed(20)])
    dependencies: list[DependencyChange] = field("those that changed", directives=[assumed(50)])
    new_cycles: list[Cycle] = field("that were not there", directives=[assumed(3)])
    resolved_cycles: list[Cycle] = field("that are not there any more", directives=[assumed(3)])
    api: list[ApiChange] = field("of public definitions, at most 500", directives=[assumed(100)])
    modularity_before: float
    modularity_after: float
    notes: list[str]

    @resolved(list[Count], [assumed(4)])
    @staticmethod
    def api_counts(parent: strawberry.Parent[answers.Drift]) -> list[Row]:
        """Changes of public definitions by kind, exact."""
        return _counts(parent.api_counts)


@strawberry.enum(description="What is drawn.")
class ViewKind(StrEnum):
    """See `service.documents.VIEWS`."""

    MODULES = "modules"
    IMPACT = "impact"


@strawberry.enum(description="What a view is written in.")
class ViewFormat(StrEnum):
    """See `service.documents.FORMATS`."""

    SVG = "svg"
    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"
    JSON = "json"


@gql_type
class Document:
    """A text to be kept as a file."""

    text: str
    media_type: str
    name: str = field("of a file it may be kept as")
