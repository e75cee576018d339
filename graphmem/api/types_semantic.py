"""GraphQL types of what a system is made of: modules, cycles, entry points, flows."""

from __future__ import annotations

from enum import StrEnum

import strawberry

from graphmem.answers import semantic as answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.ids import MODULE, global_id
from graphmem.api.types_index import Count, IndexState, Row, counts, state
from graphmem.api.types_report import PathStep
from graphmem.api.types_symbol import Symbol


@strawberry.enum(description="Between what cycles are looked for.")
class CycleLevel(StrEnum):
    """See `service.semantic.LEVELS`."""

    FILES = "files"
    MODULES = "modules"


@strawberry.enum(description="Kinds of entry points.")
class EntryKind(StrEnum):
    """See `analysis.semantic.entries.ENTRY_KINDS`."""

    MAIN = "main"
    COMMAND = "command"
    ROUTE = "route"
    EVENT = "event"
    TASK = "task"
    EXPORT = "export"
    TEST = "test"
    FIXTURE = "fixture"


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
    paragraph: str = field("what a language model says of it; empty while none has")

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.ModuleInfo]) -> str:
        """Stable as long as most of its files stay together."""
        return global_id(MODULE, parent.id)

    @resolved(list[Count], [assumed(5)])
    @staticmethod
    def languages(parent: strawberry.Parent[answers.ModuleInfo]) -> list[Row]:
        """Files by language, most first."""
        return counts(parent.languages)

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def entry_points(parent: strawberry.Parent[answers.ModuleInfo]) -> list[Row]:
        """Entry points by kind."""
        return counts(parent.entry_points)


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
        return counts(parent.kinds)


@gql_type
class ModuleMap:
    """What the system is made of."""

    modules: list[Module] = field("most lines first", directives=[assumed(100)])
    dependencies: list[ModuleDependency] = field("heaviest first", directives=[assumed(500)])
    modularity: float = field("of the partition over the dependencies, -0.5 to 1")
    notes: list[str] = field("what the map is made without")
    index_state: IndexState = state()


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
        return counts(parent.kinds)


@gql_type
class ModuleDetail:
    """One module, opened."""

    module: Module
    files: list[ModuleFile] = field("by path", directives=[assumed(200)])
    links: list[FileLink] = field("between its files, heaviest first", directives=[assumed(1000)])
    dependencies: list[ModuleDependency] = field("what it depends on", directives=[assumed(30)])
    dependents: list[ModuleDependency] = field("what depends on it", directives=[assumed(30)])
    index_state: IndexState = state()


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
    index_state: IndexState = state()


@gql_type
class FrameworkName:
    """A name under which a framework knows a function: an edge HANDLES and the key it leads to."""

    kind: str = field("route, event, command or task")
    name: str = field("as it is written; of an event the variable that is it")
    framework: str = field("as the table that knows it calls it; empty when that is not told")
    confidence: float
    rule: str
    line: int = field("where it is said in the file of the function; 0 when another file says it")


@gql_type
class EntryPoint:
    """An entry point: where execution may begin from outside."""

    symbol: Symbol
    kind: EntryKind
    module: str = field("name of the module it is in")
    reach: int = field("symbols within eight confident calls")
    names: list[FrameworkName] = field("under which frameworks know it, by kind and name")


@gql_type
class EntryPointPage:
    """Entry points by kind, then path and line."""

    entry_points: list[EntryPoint]
    total: int
    index_state: IndexState = state()

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def by_kind(parent: strawberry.Parent[answers.EntryPointPage]) -> list[Row]:
        """How many there are of each kind, whatever was asked."""
        return counts(parent.by_kind)


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
    paragraph: str = field("what a language model says of it; empty while none has")


@gql_type
class FlowPage:
    """Flows, those through the most modules first."""

    flows: list[Flow]
    total: int
    index_state: IndexState = state()
