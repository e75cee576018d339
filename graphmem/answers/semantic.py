"""Answers about the architecture: modules, flows, cycles, findings, drift.

The conventions are those of `graphmem.answers`: frozen dataclasses of plain values, paths with '/' from the root, 1-based lines.
A module here is a group of files found by `graphmem.analysis.semantic`, and not a Python module.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import IndexState, PathStep, SymbolInfo
from graphmem.answers.marks import MODULE, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.search import SearchAnswer
from graphmem.answers.vocabulary import CycleLevel, EntryKind, HotspotLevel, Moment


@answer(name="Module")
class ModuleInfo:
    """A group of files that belong together."""

    id: Annotated[str, Doc("Stable while most of its files stay together"), GlobalId(MODULE)]
    name: Annotated[str, Doc("unique; also a reference to the module")]
    path: Annotated[str, Doc("deepest directory that contains all its files; empty for the root")]
    layer: Annotated[int, Doc("0: depends on no other module; dependencies lead to lower layers, except upward ones")]
    files: int
    symbols: int
    lines: int
    test_files: int
    heat: Annotated[float, Doc("0 to 1: how often and how recently its most changed files changed; the module that changed most has 1")]
    cohesion: Annotated[float, Doc("0 to 1: share of the dependencies of its files that stay inside the module")]
    languages: Annotated[dict[str, int], Doc("Files by language, most first"), Size(5)]
    entry_points: Annotated[dict[str, int], Doc("Entry points by kind"), Size(6)]
    central: Annotated[list[SymbolInfo], Doc("at most 5 symbols, those with the most dependents first"), Size(5)]
    x: Annotated[float, Doc("centre in the map's layout, 0 to 1 from the left")]
    y: Annotated[float, Doc("0 to 1 from the top; high layers are on top")]
    summary: Annotated[str, Doc("purpose of the module, from the documentation of its files")]
    paragraph: Annotated[str, Doc("a description by a language model; empty until a model has written one")] = ""


@answer
class ModuleDependency:
    """All edges from the files of one module to those of another."""

    src: Annotated[str, Doc("The module that depends"), GlobalId(MODULE)]
    dst: Annotated[str, Doc("The module it depends on"), GlobalId(MODULE)]
    src_name: Annotated[str, Doc("name of the module that depends")]
    dst_name: Annotated[str, Doc("name of the module it depends on")]
    weight: Annotated[int, Doc("number of edges")]
    kinds: Annotated[dict[str, int], Doc("Edges by kind, most first"), Size(4)]
    upward: Annotated[bool, Doc("true when the dependency leads from a lower to a higher layer and so closes a cycle")]
    sites: Annotated[list[PathStep], Doc("the first few edges; up to 20 for an upward dependency"), Size(4)]
    worth_cutting: Annotated[
        bool, Doc("true when cutting it alone takes a module out of its cycle; of these the cheapest, at most one dependency in twenty")
    ] = False


@answer
class ModuleMap:
    """The modules of the system and their dependencies."""

    modules: Annotated[list[ModuleInfo], Doc("most lines first"), Size(100)]
    dependencies: Annotated[list[ModuleDependency], Doc("heaviest first"), Size(500)]
    modularity: Annotated[float, Doc("modularity of the partition by dependencies, -0.5 to 1")]
    notes: Annotated[list[str], Doc("missing inputs of the map")]
    state: IndexState


@answer
class ModuleFile:
    """A file in its module."""

    path: str
    language: str
    lines: int
    symbols: int
    is_test: bool
    heat: Annotated[float, Doc("0 to 1; the hottest file of the index has 1")]
    x: Annotated[float, Doc("centre in the module's layout, 0 to 1")]
    y: float


@answer
class FileLink:
    """All edges from one file to another."""

    src: Annotated[str, Doc("path of the file that depends")]
    dst: str
    weight: int
    kinds: Annotated[dict[str, int], Doc("Edges by kind, most first"), Size(4)]


@answer
class ModuleDetail:
    """One module with its files and dependencies."""

    module: ModuleInfo
    files: Annotated[list[ModuleFile], Doc("by path"), Size(200)]
    links: Annotated[list[FileLink], Doc("between its files, heaviest first"), Size(1000)]
    dependencies: Annotated[list[ModuleDependency], Doc("dependencies on other modules"), Size(30)]
    dependents: Annotated[list[ModuleDependency], Doc("dependencies of other modules on it"), Size(30)]
    state: IndexState


@answer
class CycleCut:
    """An edge whose removal breaks a cycle."""

    src: Annotated[str, Doc("path, or name of a module")]
    dst: str
    weight: Annotated[int, Doc("number of edges to remove")]
    frees: Annotated[int, Doc("number of members that removing it takes out of the cycle")]
    sites: Annotated[list[PathStep], Doc("every edge, at most 20"), Size(5)]


@answer
class Cycle:
    """Files, or modules, that depend on each other in a cycle."""

    level: CycleLevel
    members: Annotated[list[str], Doc("paths or names of modules, ascending")]
    example: Annotated[list[str], Doc("a shortest cycle that contains the edge `cheapest`: its members in order")]
    deferred: Annotated[bool, Doc("true when every cycle passes through an import inside a function, so the files can be loaded")]
    cheapest: Annotated[CycleCut, Doc("the edge to remove first: it takes the most members out of the cycle per unit of weight")]
    cuts: Annotated[list[CycleCut], Doc("edges whose removal leaves no cycle, at most 20"), Size(10)]
    cut_count: Annotated[int, Doc("number of edges to remove, of which `cuts` may list fewer")]


@answer
class SurfaceSymbol:
    """A symbol of a module that other modules use."""

    symbol: SymbolInfo
    edges: Annotated[int, Doc("number of edges from other modules")]
    modules: Annotated[list[str], Doc("names of the modules that use it, most edges first")]


@answer
class ModuleBoundary:
    """Where a module can be separated from the others, or split in two."""

    module: Annotated[str, Doc("name of the module")]
    surface: Annotated[list[SurfaceSymbol], Doc("symbols that other modules use, most edges first: the interface that has to stay")]
    total: Annotated[int, Doc("number of symbols that other modules use")]
    incoming: Annotated[list[ModuleDependency], Doc("dependencies of other modules on it, heaviest first"), Size(30)]
    outgoing: Annotated[list[ModuleDependency], Doc("its dependencies on other modules, heaviest first"), Size(30)]
    cycles: Annotated[list[Cycle], Doc("cycles of modules that contain it"), Size(3)]
    larger: Annotated[list[str], Doc("files of the larger part when it is cut in two; empty for a module that is too small or too large")]
    smaller: Annotated[list[str], Doc("files of the smaller part")]
    crossing: Annotated[int, Doc("number of edges between the two parts")]
    state: IndexState


@answer
class CyclesAnswer:
    """Cycles, largest first."""

    level: CycleLevel
    cycles: list[Cycle]
    total: Annotated[int, Doc("exact number of cycles of the level")]
    state: IndexState


@answer
class FrameworkName:
    """A name under which a framework knows a function, from an edge HANDLES."""

    kind: Annotated[str, Doc("route, event, command or task")]
    name: Annotated[str, Doc("as written in the code; for an event the variable that holds it")]
    framework: Annotated[str, Doc("name of the framework; empty when unknown")]
    confidence: float
    rule: str
    line: Annotated[int, Doc("line of the registration; 0 when it is in another file than the function")]


@answer
class EntryPoint:
    """An entry point, where callers outside the code start execution."""

    symbol: SymbolInfo
    kind: EntryKind
    module: Annotated[str, Doc("name of the module of the entry point")]
    reach: Annotated[int, Doc("number of symbols within eight confident calls")]
    names: Annotated[list[FrameworkName], Doc("routes, events, commands and tasks that lead to the function, sorted by kind and name")]


@answer
class EntryPointPage:
    """Entry points by kind, then path and line."""

    entry_points: list[EntryPoint]
    total: int
    by_kind: Annotated[dict[str, int], Doc("Total number of entry points of each kind, whatever the filter"), Size(6)]
    state: IndexState


@answer
class Flow:
    """A path of confident calls from an entry point."""

    id: str
    name: str
    kind: Annotated[EntryKind, Doc("kind of the flow's entry point")]
    entry: SymbolInfo
    steps: Annotated[list[PathStep], Doc("consecutive calls, at most 8"), Size(6)]
    modules: Annotated[list[str], Doc("names of the modules on the path, in order")]
    confidence: Annotated[float, Doc("product of the confidences of its steps")]
    variants: Annotated[list[str], Doc("other entry points with the same path from the second step, at most 10")]
    variant_count: int
    paragraph: Annotated[str, Doc("a description by a language model; empty until a model has written one")] = ""


@answer
class FlowPage:
    """A page of flows; those that pass through most modules come first."""

    flows: list[Flow]
    total: int
    state: IndexState


@answer
class Hotspot:
    """A risky place: it changes often, is complex and has many dependents."""

    symbol: Annotated[SymbolInfo, Doc("the symbol, or the file at the level of files")]
    churn: Annotated[float, Doc("commits to the file, with less weight for old ones; 0 without history")]
    complexity: Annotated[int, Doc("1 + number of branches; the sum for a file")]
    dependents: Annotated[int, Doc("number of other symbols (at the level of files: files) that depend on it directly")]
    score: Annotated[float, Doc("0 to 100")]


@answer
class HotspotPage:
    """Hot spots, hottest first."""

    level: HotspotLevel
    hotspots: list[Hotspot]
    total: Annotated[int, Doc("number of hot spots with a score above 0")]
    churn_known: bool
    notes: list[str]
    state: IndexState


@answer
class CentralSymbol:
    """A symbol that much other code depends on."""

    symbol: SymbolInfo
    rank: Annotated[float, Doc("PageRank, as a multiple of the average symbol's")]
    dependents: Annotated[int, Doc("number of direct dependents")]


@answer
class CentralPage:
    """The most central symbols first."""

    symbols: list[CentralSymbol]
    state: IndexState


@answer
class DeadSymbol:
    """A definition that appears to be unused."""

    symbol: SymbolInfo
    reason: Annotated[str, Doc("unreferenced, only_itself, only_dead or only_tests")]
    confidence: Annotated[float, Doc("confidence that it can be removed, in (0, 1]")]
    lines: int
    why: Annotated[list[str], Doc("the evidence")]


@answer
class DeadCodePage:
    """Dead code, most certain first, then largest."""

    symbols: list[DeadSymbol]
    total: Annotated[int, Doc("number of definitions above the requested confidence")]
    lines: Annotated[int, Doc("total number of lines of these definitions")]
    notes: Annotated[list[str], Doc("sentences on definitions that were omitted, with their number")]
    state: IndexState


@answer
class Duplicate:
    """One of the places of a duplicate."""

    path: str
    start_line: int
    end_line: int
    qualname: Annotated[str, Doc("qualified name of the enclosing definition; empty for none")]


@answer
class DuplicateGroup:
    """A group of duplicate pieces of code."""

    kind: Annotated[str, Doc("how alike the copies are: exact, renamed (other names) or near (other lines)")]
    similarity: Annotated[float, Doc("lowest similarity to the first place; 1 when identical")]
    lines: Annotated[int, Doc("lines that could be saved")]
    places: Annotated[list[Duplicate], Doc("by path and line"), Size(4)]


@answer
class DuplicatePage:
    """Duplicates, most lines to save first."""

    groups: list[DuplicateGroup]
    total: int
    lines: Annotated[int, Doc("lines that all groups could save")]
    state: IndexState


@answer
class ModuleChange:
    """The change of a module between two revisions."""

    name: str
    change: Annotated[str, Doc("added, removed or changed")]
    files_before: int
    files_after: int
    came: Annotated[list[str], Doc("files that joined the module, at most 20")]
    left: Annotated[list[str], Doc("files that left the module, at most 20")]


@answer
class DependencyChange:
    """The change of a dependency between two modules."""

    src: Annotated[str, Doc("name in the head; in the base when the module was removed")]
    dst: str
    change: Annotated[str, Doc("added, removed, heavier or lighter")]
    before: Annotated[int, Doc("edges")]
    after: int
    sites: Annotated[list[PathStep], Doc("the first few edges of an added dependency"), Size(3)]


@answer
class ApiChange:
    """The change of a public definition between two revisions."""

    symbol: Annotated[SymbolInfo, Doc("the definition in the head; in the base when it was removed")]
    change: Annotated[str, Doc("added, removed, signature or moved")]
    before: Annotated[str, Doc("previous signature or path of the definition")]


@answer
class Drift:
    """Changes of the architecture between two revisions."""

    base: Annotated[str, Doc("full commit id")]
    head: Annotated[str, Doc("full commit id, or the state that was indexed")]
    modules: Annotated[list[ModuleChange], Doc("changed modules"), Size(20)]
    dependencies: Annotated[list[DependencyChange], Doc("changed dependencies"), Size(50)]
    new_cycles: Annotated[list[Cycle], Doc("cycles that are only in the head"), Size(3)]
    resolved_cycles: Annotated[list[Cycle], Doc("cycles that are only in the base"), Size(3)]
    api: Annotated[list[ApiChange], Doc("changes of public definitions, at most 500"), Size(100)]
    api_counts: Annotated[dict[str, int], Doc("Number of changed public definitions by kind; `api` may list fewer"), Size(4)]
    modularity_before: float
    modularity_after: float
    notes: list[str] = field(default_factory=list)


@answer
class Document:
    """A text to save as a file."""

    text: str
    media_type: str
    name: Annotated[str, Doc("suggested file name")]


@answer
class ParagraphState:
    """Progress of a language model's paragraphs on modules and flows."""

    model: Annotated[str, Doc("name and host of the model; empty when none is configured")]
    total: Annotated[int, Doc("number of modules, plus the flows that are listed first")]
    written: int
    refused: Annotated[int, Doc("number of paragraphs without a usable sentence")]
    running: Annotated[bool, Doc("the model is writing now")]
    notes: list[str] = field(default_factory=list)


@answer
class Sentence:
    """A sentence of a reply."""

    text: str
    cites: Annotated[list[int], Doc("numbers of the hits that support it; the first hit of the evidence is 1")]


@answer
class Reply:
    """The reply to a question: sentences of a language model, and evidence."""

    question: str
    sentences: Annotated[list[Sentence], Doc("empty without a model, or when no sentence is supported by the evidence"), Size(12)]
    evidence: Annotated[SearchAnswer, Doc("hits of the search; `cites` numbers them from 1")]
    model: Annotated[str, Doc("the model that wrote the sentences; empty for none")]
    notes: Annotated[list[str], Doc("why sentences are missing")] = field(default_factory=list)


@answer(name="Commit")
class CommitInfo:
    """A commit and the files it changed."""

    sha: str
    at: Moment
    subject: str
    files: Annotated[int, Doc("number of changed files; `paths` may list fewer")]
    paths: Annotated[list[str], Doc("paths of the first changed files, at most 30")]
    modules: Annotated[list[str], Doc("names of the modules of all its files now, ascending; [] for a commit of more than 2,000 files")]


@answer
class CommitPage:
    """Commits, newest first, without merges."""

    commits: list[CommitInfo]
    notes: Annotated[list[str], Doc("why the list is empty or incomplete")]
