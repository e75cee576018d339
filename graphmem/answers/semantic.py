"""The answers of the semantic layer: what an architect asks about the whole, not about one symbol.

The same conventions as in `graphmem.answers`: frozen dataclasses of plain values, paths with '/' from the root, 1-based lines.
Modules here are groups of files that belong together, found by `graphmem.analysis.semantic`, not Python's modules.
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

    id: Annotated[str, Doc("Stable as long as most of its files stay together"), GlobalId(MODULE)]
    name: Annotated[str, Doc("unique; a reference to the module as well")]
    path: Annotated[str, Doc("deepest folder that holds all its files; empty for the root")]
    layer: Annotated[int, Doc("0 depends on no other module; dependencies that are not upward lead to lower layers")]
    files: int
    symbols: int
    lines: int
    test_files: int
    heat: Annotated[float, Doc("0 to 1: how much its hottest files hurt, the hottest module being 1")]
    cohesion: Annotated[float, Doc("0 to 1: share of its dependencies that stays inside")]
    languages: Annotated[dict[str, int], Doc("Files by language, most first"), Size(5)]
    entry_points: Annotated[dict[str, int], Doc("Entry points by kind"), Size(6)]
    central: Annotated[list[SymbolInfo], Doc("at most 5, the most depended upon first"), Size(5)]
    x: Annotated[float, Doc("centre in the map's layout, 0 to 1 from the left")]
    y: Annotated[float, Doc("0 to 1 from the top; high layers are on top")]
    summary: Annotated[str, Doc("what it is for, from its files' documentation")]
    paragraph: Annotated[str, Doc("what a language model says of it; empty while none has")] = ""


@answer
class ModuleDependency:
    """All edges from the files of one module to those of another."""

    src: Annotated[str, Doc("The module that depends"), GlobalId(MODULE)]
    dst: Annotated[str, Doc("The module depended on"), GlobalId(MODULE)]
    src_name: Annotated[str, Doc("of the module that depends")]
    dst_name: Annotated[str, Doc("of the module depended on")]
    weight: Annotated[int, Doc("number of edges")]
    kinds: Annotated[dict[str, int], Doc("Edges by kind, most first"), Size(4)]
    upward: Annotated[bool, Doc("against the layers: it closes a cycle")]
    sites: Annotated[list[PathStep], Doc("the first few edges; up to 20 when it is upward"), Size(4)]


@answer
class ModuleMap:
    """What the system is made of."""

    modules: Annotated[list[ModuleInfo], Doc("most lines first"), Size(100)]
    dependencies: Annotated[list[ModuleDependency], Doc("heaviest first"), Size(500)]
    modularity: Annotated[float, Doc("of the partition over the dependencies, -0.5 to 1")]
    notes: Annotated[list[str], Doc("what the map is made without")]
    state: IndexState


@answer
class ModuleFile:
    """A file in its module."""

    path: str
    language: str
    lines: int
    symbols: int
    is_test: bool
    heat: Annotated[float, Doc("0 to 1, the hottest file of the index being 1")]
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
    """One module, opened."""

    module: ModuleInfo
    files: Annotated[list[ModuleFile], Doc("by path"), Size(200)]
    links: Annotated[list[FileLink], Doc("between its files, heaviest first"), Size(1000)]
    dependencies: Annotated[list[ModuleDependency], Doc("what it depends on"), Size(30)]
    dependents: Annotated[list[ModuleDependency], Doc("what depends on it"), Size(30)]
    state: IndexState


@answer
class CycleCut:
    """An edge to remove so that a cycle opens."""

    src: Annotated[str, Doc("path, or name of a module")]
    dst: str
    weight: Annotated[int, Doc("edges that have to go")]
    frees: Annotated[int, Doc("members that are in no cycle once it is gone")]
    sites: Annotated[list[PathStep], Doc("every edge, at most 20"), Size(5)]


@answer
class Cycle:
    """Files, or modules, that all depend on each other."""

    level: CycleLevel
    members: Annotated[list[str], Doc("paths or names of modules, ascending")]
    example: Annotated[list[str], Doc("a shortest round trip through the cheapest edge")]
    deferred: Annotated[bool, Doc("every way round passes an import made inside a function, so loading works")]
    cheapest: Annotated[CycleCut, Doc("the edge to cut first: it frees the most for its weight")]
    cuts: Annotated[list[CycleCut], Doc("edges that together leave no cycle, at most 20"), Size(10)]
    cut_count: Annotated[int, Doc("how many there are")]


@answer
class CyclesAnswer:
    """Cycles, largest first."""

    level: CycleLevel
    cycles: list[Cycle]
    total: Annotated[int, Doc("exact; every cycle of the level is counted")]
    state: IndexState


@answer
class FrameworkName:
    """A name under which a framework knows a function: an edge HANDLES and the key it leads to."""

    kind: Annotated[str, Doc("route, event, command or task")]
    name: Annotated[str, Doc("as it is written; of an event the variable that is it")]
    framework: Annotated[str, Doc("as the table that knows it calls it; empty when that is not told")]
    confidence: float
    rule: str
    line: Annotated[int, Doc("where it is said in the file of the function; 0 when another file says it")]


@answer
class EntryPoint:
    """An entry point: where execution may begin from outside."""

    symbol: SymbolInfo
    kind: EntryKind
    module: Annotated[str, Doc("name of the module it is in")]
    reach: Annotated[int, Doc("symbols within eight confident calls")]
    names: Annotated[list[FrameworkName], Doc("under which frameworks know it, by kind and name")]


@answer
class EntryPointPage:
    """Entry points by kind, then path and line."""

    entry_points: list[EntryPoint]
    total: int
    by_kind: Annotated[dict[str, int], Doc("How many there are of each kind, whatever was asked"), Size(6)]
    state: IndexState


@answer
class Flow:
    """A way through the code from an entry point, along confident calls."""

    id: str
    name: str
    kind: Annotated[EntryKind, Doc("of its entry point")]
    entry: SymbolInfo
    steps: Annotated[list[PathStep], Doc("consecutive calls, at most 8"), Size(6)]
    modules: Annotated[list[str], Doc("names of modules, in the order they are passed")]
    confidence: Annotated[float, Doc("product along the steps")]
    variants: Annotated[list[str], Doc("other entry points that go on the same way from the second step, at most 10")]
    variant_count: int
    paragraph: Annotated[str, Doc("what a language model says of it; empty while none has")] = ""


@answer
class FlowPage:
    """Flows, those through the most modules first."""

    flows: list[Flow]
    total: int
    state: IndexState


@answer
class Hotspot:
    """Where change hurts: often changed, complex, and depended upon."""

    symbol: Annotated[SymbolInfo, Doc("a file on the level of files")]
    churn: Annotated[float, Doc("commits that touched the file, old ones counting less; 0 without history")]
    complexity: Annotated[int, Doc("1 + branching points, summed over a file")]
    dependents: Annotated[int, Doc("other symbols, on the level of files other files, that depend on it directly")]
    score: Annotated[float, Doc("0 to 100")]


@answer
class HotspotPage:
    """Hot spots, hottest first."""

    level: HotspotLevel
    hotspots: list[Hotspot]
    total: Annotated[int, Doc("how many have a score above 0")]
    churn_known: bool
    notes: list[str]
    state: IndexState


@answer
class CentralSymbol:
    """A symbol much of the rest leans on."""

    symbol: SymbolInfo
    rank: Annotated[float, Doc("PageRank, as a multiple of the average symbol's")]
    dependents: Annotated[int, Doc("direct ones")]


@answer
class CentralPage:
    """The most central symbols first."""

    symbols: list[CentralSymbol]
    state: IndexState


@answer
class DeadSymbol:
    """A definition nothing seems to need."""

    symbol: SymbolInfo
    reason: Annotated[str, Doc("unreferenced, only_itself, only_dead or only_tests")]
    confidence: Annotated[float, Doc("that it can go, in (0, 1]")]
    lines: int
    why: Annotated[list[str], Doc("what was weighed")]


@answer
class DeadCodePage:
    """Dead code, most certain first, then largest."""

    symbols: list[DeadSymbol]
    total: Annotated[int, Doc("above the asked confidence")]
    lines: Annotated[int, Doc("of all of them")]
    notes: Annotated[list[str], Doc("what was left out, with counts")]
    state: IndexState


@answer
class Duplicate:
    """One of the places of a duplicate."""

    path: str
    start_line: int
    end_line: int
    qualname: Annotated[str, Doc("of the definition it is in; empty for none")]


@answer
class DuplicateGroup:
    """Pieces of code that say the same."""

    kind: Annotated[str, Doc("exact, renamed or near")]
    similarity: Annotated[float, Doc("lowest to the first place; 1 for the same")]
    lines: Annotated[int, Doc("that could go")]
    places: Annotated[list[Duplicate], Doc("by path and line"), Size(4)]


@answer
class DuplicatePage:
    """Duplicates, those with the most lines to save first."""

    groups: list[DuplicateGroup]
    total: int
    lines: Annotated[int, Doc("that could go, over all groups")]
    state: IndexState


@answer
class ModuleChange:
    """What became of a module between two revisions."""

    name: str
    change: Annotated[str, Doc("added, removed or changed")]
    files_before: int
    files_after: int
    came: Annotated[list[str], Doc("files that are new in it, at most 20")]
    left: Annotated[list[str], Doc("files that were in it, at most 20")]


@answer
class DependencyChange:
    """What became of a dependency between two modules."""

    src: Annotated[str, Doc("names as in the head, or in the base when the module is gone")]
    dst: str
    change: Annotated[str, Doc("added, removed, heavier or lighter")]
    before: Annotated[int, Doc("edges")]
    after: int
    sites: Annotated[list[PathStep], Doc("of an added one, the first few"), Size(3)]


@answer
class ApiChange:
    """What became of a public definition."""

    symbol: Annotated[SymbolInfo, Doc("as in the head, or in the base when it is gone")]
    change: Annotated[str, Doc("added, removed, signature or moved")]
    before: Annotated[str, Doc("its signature, or where it was")]


@answer
class Drift:
    """How the architecture changed from one revision to another."""

    base: Annotated[str, Doc("full commit id")]
    head: Annotated[str, Doc("full commit id, or what the index is of")]
    modules: Annotated[list[ModuleChange], Doc("those that changed"), Size(20)]
    dependencies: Annotated[list[DependencyChange], Doc("those that changed"), Size(50)]
    new_cycles: Annotated[list[Cycle], Doc("that were not there"), Size(3)]
    resolved_cycles: Annotated[list[Cycle], Doc("that are not there any more"), Size(3)]
    api: Annotated[list[ApiChange], Doc("of public definitions, at most 500"), Size(100)]
    api_counts: Annotated[dict[str, int], Doc("Changes of public definitions by kind, exact"), Size(4)]
    modularity_before: float
    modularity_after: float
    notes: list[str] = field(default_factory=list)


@answer
class Document:
    """A text to be kept as a file."""

    text: str
    media_type: str
    name: Annotated[str, Doc("of a file it may be kept as")]


@answer
class ParagraphState:
    """How far a language model has come with its paragraphs about modules and flows."""

    model: Annotated[str, Doc("its name and host; empty when none is configured")]
    total: Annotated[int, Doc("modules, and the flows that are listed first")]
    written: int
    refused: Annotated[int, Doc("of what it said nothing could be kept")]
    running: Annotated[bool, Doc("it is at it")]
    notes: list[str] = field(default_factory=list)


@answer
class Sentence:
    """A sentence of a reply."""

    text: str
    cites: Annotated[list[int], Doc("numbers of the hits it stands on, the first hit of the evidence being 1")]


@answer
class Reply:
    """What is known about a question: the evidence, and what a language model makes of it."""

    question: str
    sentences: Annotated[list[Sentence], Doc("none without a model, or when nothing it said stands"), Size(12)]
    evidence: Annotated[SearchAnswer, Doc("its hits are what the numbers mean, the first being 1")]
    model: Annotated[str, Doc("who wrote the sentences; empty for nobody")]
    notes: Annotated[list[str], Doc("why there are no sentences, or fewer")] = field(default_factory=list)


@answer(name="Commit")
class CommitInfo:
    """A commit, as what it did to files."""

    sha: str
    at: Moment
    subject: str
    files: Annotated[int, Doc("exact")]
    paths: Annotated[list[str], Doc("the first of them, at most 30")]
    modules: Annotated[
        list[str], Doc("names of the modules all those files are in now, ascending; [] of a commit of more than 2,000 files")
    ]


@answer
class CommitPage:
    """Commits, newest first; merges are left out."""

    commits: list[CommitInfo]
    notes: Annotated[list[str], Doc("why there are none, or not all")]
