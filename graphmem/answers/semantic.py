"""The answers of the semantic layer: what an architect asks about the whole, not about one symbol.

The same conventions as in `graphmem.answers`: frozen dataclasses of plain values, paths with '/' from the root, 1-based lines.
Modules here are groups of files that belong together, found by `graphmem.analysis.semantic`, not Python's modules.
"""

from __future__ import annotations

from dataclasses import field

from graphmem.answers.code import IndexState, PathStep, SymbolInfo
from graphmem.answers.plain import answer
from graphmem.answers.search import SearchAnswer


@answer
class ModuleInfo:
    """A group of files that belong together."""

    id: str  # stable as long as most of its files stay together
    name: str  # unique in its map; a reference to the module as well
    path: str  # deepest folder that holds all its files; "" is the root
    layer: int  # 0 depends on no other module; each dependency that is not upward leads to a lower layer
    files: int
    symbols: int
    lines: int
    test_files: int
    heat: float  # 0..1: its share of the change and complexity, the hottest module being 1
    cohesion: float  # 0..1: share of the weight of its files' dependencies that stays inside
    languages: dict[str, int]  # language -> files, most files first
    entry_points: dict[str, int]  # kind -> symbols
    central: list[SymbolInfo]  # at most 5, the most depended upon first
    x: float  # centre in the map's layout, 0..1 from the left
    y: float  # 0..1 from the top; high layers are on top
    summary: str  # what it is for, in one or two sentences; from its files' documentation
    paragraph: str = ""  # what a language model says of it; "" while none has, see `ParagraphState`


@answer
class ModuleDependency:
    """All edges from the files of one module to those of another."""

    src: str  # id of the module that depends
    dst: str  # id of the module depended on
    src_name: str
    dst_name: str
    weight: int  # number of edges
    kinds: dict[str, int]  # EdgeKind -> edges, most first
    upward: bool  # against the layers: it closes a cycle
    sites: list[PathStep]  # the first few edges by confidence; all of them when it is upward and there are at most 20


@answer
class ModuleMap:
    """What the system is made of."""

    modules: list[ModuleInfo]  # most lines first
    dependencies: list[ModuleDependency]  # heaviest first
    modularity: float  # of the partition over the files' dependencies (Newman), -0.5..1
    notes: list[str]  # what the map is made without, one sentence each
    state: IndexState


@answer
class ModuleFile:
    """A file in its module."""

    path: str
    language: str
    lines: int
    symbols: int
    is_test: bool
    heat: float  # 0..1, the hottest file of the index being 1
    x: float  # centre in the module's layout, 0..1
    y: float


@answer
class FileLink:
    """All edges from one file to another."""

    src: str  # path of the file that depends
    dst: str
    weight: int
    kinds: dict[str, int]


@answer
class ModuleDetail:
    """One module, opened."""

    module: ModuleInfo
    files: list[ModuleFile]  # by path
    links: list[FileLink]  # between its files, heaviest first
    dependencies: list[ModuleDependency]  # what it depends on, heaviest first
    dependents: list[ModuleDependency]
    state: IndexState


@answer
class CycleCut:
    """An edge to remove so that a cycle opens."""

    src: str  # path or module name
    dst: str
    weight: int  # edges that have to go
    frees: int  # members that are in no cycle once it is gone
    sites: list[PathStep]  # every edge, at most 20


@answer
class Cycle:
    """Files, or modules, that all depend on each other."""

    level: str  # files | modules
    members: list[str]  # paths or module names, ascending
    example: list[str]  # one shortest round trip through the cheapest edge; its first member is not repeated at the end
    deferred: bool  # every way round passes an import that is made inside a function, so loading works
    cheapest: CycleCut  # the cheapest single edge to cut first
    cuts: list[CycleCut]  # edges that together leave no cycle among the members, cheapest first; at most 20
    cut_count: int  # how many there are


@answer
class CyclesAnswer:
    """Cycles, largest first."""

    level: str
    cycles: list[Cycle]
    total: int  # exact; every cycle of the level is counted
    state: IndexState


@answer
class FrameworkName:
    """A name under which a framework knows a function: an edge HANDLES and the key it leads to."""

    kind: str  # route | event | command | task
    name: str  # as written: "/users/<id>"; of an event the variable that is it
    framework: str  # as the table that knows it calls it; ""
    confidence: float
    rule: str
    line: int  # where it is said in the file of the function; 0 when another file says it


@answer
class EntryPoint:
    """An entry point: where execution may begin from outside."""

    symbol: SymbolInfo
    kind: str  # main | route | command | test | fixture | export
    module: str  # name of the module it is in
    reach: int  # symbols it can reach along confident calls
    names: list[FrameworkName]  # by kind and name


@answer
class EntryPointPage:
    """Entry points by kind, then path and line."""

    entry_points: list[EntryPoint]
    total: int
    by_kind: dict[str, int]
    state: IndexState


@answer
class Flow:
    """A way through the code from an entry point, along confident calls."""

    id: str
    name: str
    kind: str  # of its entry point
    entry: SymbolInfo
    steps: list[PathStep]  # consecutive calls, at most 8
    modules: list[str]  # names, in the order they are passed
    confidence: float  # product along the steps
    variants: list[str]  # refs of other entry points that take the same way from the second step on, at most 10
    variant_count: int
    paragraph: str = ""  # what a language model says of it; "" while none has


@answer
class FlowPage:
    """Flows, those through the most modules first."""

    flows: list[Flow]
    total: int
    state: IndexState


@answer
class Hotspot:
    """Where change hurts: often changed, complex, and depended upon."""

    symbol: SymbolInfo  # of kind file on the level of files
    churn: float  # commits that touched the file, old ones counting less; 0 without history
    complexity: int  # 1 + branching points, summed over a file
    dependents: int  # other symbols (on the level of files: other files) that depend on it directly
    score: float  # 0..100, see docs/semantic.md


@answer
class HotspotPage:
    """Hot spots, hottest first."""

    level: str  # files | symbols
    hotspots: list[Hotspot]
    total: int  # how many have a score above 0
    churn_known: bool
    notes: list[str]
    state: IndexState


@answer
class CentralSymbol:
    """A symbol much of the rest leans on."""

    symbol: SymbolInfo
    rank: float  # PageRank along dependencies, as a multiple of the average symbol's
    dependents: int  # direct ones


@answer
class CentralPage:
    """The most central symbols first."""

    symbols: list[CentralSymbol]
    state: IndexState


@answer
class DeadSymbol:
    """A definition nothing seems to need."""

    symbol: SymbolInfo
    reason: str  # unreferenced | only_itself | only_dead | only_tests
    confidence: float  # (0, 1] that it can go
    lines: int
    why: list[str]  # what was weighed, one phrase each


@answer
class DeadCodePage:
    """Dead code, most certain first, then largest."""

    symbols: list[DeadSymbol]
    total: int  # above the asked confidence
    lines: int  # of all of them
    notes: list[str]  # what was left out because it may be used from outside, with counts
    state: IndexState


@answer
class Duplicate:
    """One of the places of a duplicate."""

    path: str
    start_line: int
    end_line: int
    qualname: str  # of the definition it is in; "" for none


@answer
class DuplicateGroup:
    """Pieces of code that say the same."""

    kind: str  # exact (same tokens) | renamed (same but for names and literals) | near
    similarity: float  # lowest between a place and the first one; 1 for exact
    lines: int  # that could go: all places but the longest
    places: list[Duplicate]  # by path and line


@answer
class DuplicatePage:
    """Duplicates, those with the most lines to save first."""

    groups: list[DuplicateGroup]
    total: int
    lines: int  # that could go, over all groups
    state: IndexState


@answer
class ModuleChange:
    """What became of a module between two revisions."""

    name: str
    change: str  # added | removed | changed
    files_before: int
    files_after: int
    came: list[str]  # files that are in it now and were not, by path; at most 20
    left: list[str]


@answer
class DependencyChange:
    """What became of a dependency between two modules."""

    src: str  # names as in the head, or in the base when the module is gone
    dst: str
    change: str  # added | removed | heavier | lighter
    before: int  # edges
    after: int
    sites: list[PathStep]  # of an added one, the first few


@answer
class ApiChange:
    """What became of a public definition."""

    symbol: SymbolInfo  # as in the head, or in the base when it is gone
    change: str  # added | removed | signature | moved
    before: str  # signature, or for `moved` the old `path:qualname`; "" when added


@answer
class Drift:
    """How the architecture changed from one revision to another."""

    base: str  # full commit id
    head: str  # full commit id, or what the index is of
    modules: list[ModuleChange]
    dependencies: list[DependencyChange]
    new_cycles: list[Cycle]
    resolved_cycles: list[Cycle]
    api: list[ApiChange]  # by change, then path and line; at most 500
    api_counts: dict[str, int]  # change -> symbols, exact
    modularity_before: float
    modularity_after: float
    notes: list[str] = field(default_factory=list)


@answer
class Document:
    """A text to be kept as a file."""

    text: str
    media_type: str
    name: str  # of a file it may be kept as


@answer
class ParagraphState:
    """How far a language model has come with its paragraphs about modules and flows."""

    model: str  # its name and host; "" when none is configured
    total: int  # modules, and the flows that are listed first
    written: int
    refused: int  # of what it said nothing could be kept
    running: bool  # it is at it
    notes: list[str] = field(default_factory=list)


@answer
class Sentence:
    """A sentence of a reply."""

    text: str
    cites: list[int]  # numbers of the evidence it stands on, from 1, ascending; never empty


@answer
class Reply:
    """What is known about a question: the evidence, and what a language model makes of it."""

    question: str
    sentences: list[Sentence]  # [] without a model, or when nothing it said could be kept
    evidence: SearchAnswer  # its hits are what the numbers mean, the first being 1
    model: str  # who wrote the sentences; "" for nobody
    notes: list[str] = field(default_factory=list)  # why there are no sentences, or fewer


@answer
class CommitInfo:
    """A commit, as what it did to files."""

    sha: str
    at: str  # ISO 8601, UTC
    subject: str
    files: int  # exact
    paths: list[str]  # the first of them, at most 30
    modules: list[str]  # names of the modules all those files are in now, ascending; [] of a commit of more than 2,000 files


@answer
class CommitPage:
    """Commits, newest first; merges are left out."""

    commits: list[CommitInfo]
    notes: list[str]  # why there are none, or not all
