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
from graphmem.answers.vocabulary import CycleLevel, EntryKind, HotspotLevel, Moment, MomentOrNone, ReasonKind


@answer(name="Module")
class ModuleInfo:
    """A group of related files."""

    id: Annotated[str, Doc("Id of the module; stable while most of its files stay together"), GlobalId(MODULE)]
    name: Annotated[str, Doc("unique name of the module, which is also a reference to it")]
    path: Annotated[str, Doc("deepest directory that contains all files of the module; empty for the root")]
    layer: Annotated[
        int,
        Doc("layer of the module: layer 0 depends on no other module; all dependencies lead to lower layers, except those with `upward`"),
    ]
    files: int
    symbols: int
    lines: int
    test_files: int
    heat: Annotated[
        float, Doc("how often and how recently the most changed files of the module changed, 0 to 1; the module with the most change has 1")
    ]
    cohesion: Annotated[float, Doc("share of the dependencies of the module's files that stay inside the module, 0 to 1")]
    languages: Annotated[dict[str, int], Doc("Number of files by language, most first"), Size(5)]
    entry_points: Annotated[dict[str, int], Doc("Number of entry points by kind"), Size(6)]
    central: Annotated[list[SymbolInfo], Doc("symbols of the module with the most dependents, at most 5"), Size(5)]
    x: Annotated[float, Doc("horizontal centre of the module on the map, 0 (left) to 1 (right)")]
    y: Annotated[float, Doc("centre of the module on the map, 0 (top) to 1 (bottom); high layers are on top")]
    summary: Annotated[str, Doc("purpose of the module, taken from the documentation of its files")]
    paragraph: Annotated[str, Doc("description written by a language model; empty until a model has written one")] = ""


@answer
class ModuleDependency:
    """All edges from the files of one module to the files of another."""

    src: Annotated[str, Doc("Id of the module that uses the other module"), GlobalId(MODULE)]
    dst: Annotated[str, Doc("Id of the module that is used"), GlobalId(MODULE)]
    src_name: Annotated[str, Doc("name of the module that uses the other module")]
    dst_name: Annotated[str, Doc("name of the module that is used")]
    weight: Annotated[int, Doc("number of edges that make up the dependency")]
    kinds: Annotated[dict[str, int], Doc("Number of edges by kind, most first"), Size(4)]
    upward: Annotated[bool, Doc("true when the dependency leads from a lower to a higher layer and so closes a cycle")]
    sites: Annotated[list[PathStep], Doc("the first few edges of the dependency; up to 20 for an upward dependency"), Size(4)]
    worth_cutting: Annotated[
        bool,
        Doc(
            "true when removing this dependency alone takes a module out of a cycle, and it is one of the cheapest such "
            "dependencies (at most one dependency in twenty)"
        ),
    ] = False


@answer
class ModuleMap:
    """The modules of the project and their dependencies."""

    modules: Annotated[list[ModuleInfo], Doc("the modules, most lines first"), Size(100)]
    dependencies: Annotated[list[ModuleDependency], Doc("the dependencies between modules, most edges first"), Size(500)]
    modularity: Annotated[float, Doc("quality of the division into modules (modularity of the dependencies), -0.5 to 1")]
    notes: Annotated[list[str], Doc("data that was missing when the map was made")]
    state: IndexState


@answer
class ModuleFile:
    """A file of a module, with its place on the map."""

    path: str
    language: str
    lines: int
    symbols: int
    is_test: bool
    heat: Annotated[float, Doc("how often and how recently the file changed, 0 to 1; the file of the index with the most change has 1")]
    x: Annotated[float, Doc("horizontal centre of the file in the module's layout, 0 (left) to 1 (right)")]
    y: float


@answer
class FileLink:
    """All edges from one file to another."""

    src: Annotated[str, Doc("path of the file that uses the other file")]
    dst: str
    weight: int
    kinds: Annotated[dict[str, int], Doc("Number of edges by kind, most first"), Size(4)]


@answer
class ModuleDetail:
    """One module with its files and dependencies."""

    module: ModuleInfo
    files: Annotated[list[ModuleFile], Doc("files of the module, by path"), Size(200)]
    links: Annotated[list[FileLink], Doc("dependencies between files of the module, most edges first"), Size(1000)]
    dependencies: Annotated[list[ModuleDependency], Doc("dependencies of the module on other modules"), Size(30)]
    dependents: Annotated[list[ModuleDependency], Doc("dependencies of other modules on the module"), Size(30)]
    state: IndexState


@answer
class CycleCut:
    """An edge whose removal breaks a cycle."""

    src: Annotated[str, Doc("path of the file, or name of the module, that depends on the other")]
    dst: str
    weight: Annotated[int, Doc("number of edges to remove, each between two symbols")]
    frees: Annotated[int, Doc("number of members that leave the cycle when the edge is removed")]
    sites: Annotated[list[PathStep], Doc("the edges to remove, each between two symbols; at most 20"), Size(5)]


@answer
class Cycle:
    """Files, or modules, that depend on each other in a cycle."""

    level: CycleLevel
    members: Annotated[list[str], Doc("members of the cycle in ascending order: paths of files, or names of modules")]
    example: Annotated[list[str], Doc("members of a shortest cycle that contains the edge `cheapest`, in order")]
    deferred: Annotated[bool, Doc("true when every cycle passes through an import inside a function, so the files can be loaded")]
    cheapest: Annotated[
        CycleCut, Doc("the edge to remove first: the one that frees the most members for each code edge that must be removed")
    ]
    cuts: Annotated[list[CycleCut], Doc("edges to remove so that no cycle remains, at most 20"), Size(10)]
    cut_count: Annotated[int, Doc("number of edges to remove so that no cycle remains; `cuts` may list fewer")]


@answer
class SurfaceSymbol:
    """A symbol of a module that other modules use."""

    symbol: SymbolInfo
    edges: Annotated[int, Doc("number of edges from other modules to the symbol")]
    modules: Annotated[list[str], Doc("names of the modules that use the symbol, most edges first")]


@answer
class ModuleBoundary:
    """Places where a module can be separated from the others, or split in two."""

    module: Annotated[str, Doc("name of the module")]
    surface: Annotated[list[SurfaceSymbol], Doc("symbols that other modules use, most edges first: the interface to keep")]
    total: Annotated[int, Doc("number of symbols of the module that other modules use")]
    incoming: Annotated[list[ModuleDependency], Doc("dependencies of other modules on the module, most edges first"), Size(30)]
    outgoing: Annotated[list[ModuleDependency], Doc("dependencies of the module on other modules, most edges first"), Size(30)]
    cycles: Annotated[list[Cycle], Doc("cycles of modules that contain the module"), Size(3)]
    larger: Annotated[
        list[str], Doc("files of the larger part when the module is cut in two; empty for a module that is too small or too large")
    ]
    smaller: Annotated[list[str], Doc("files of the smaller part when the module is split where it has the fewest edges")]
    crossing: Annotated[int, Doc("number of edges between the two parts of the module")]
    state: IndexState


@answer
class CyclesAnswer:
    """Dependency cycles among files or among modules, largest first."""

    level: CycleLevel
    cycles: list[Cycle]
    total: Annotated[int, Doc("total number of cycles at this level; `cycles` may list fewer")]
    state: IndexState


@answer
class FrameworkName:
    """The name by which a framework knows a function, such as a route's path."""

    kind: Annotated[str, Doc("kind of the name: route, event, command or task")]
    name: Annotated[str, Doc("the name as written in the code; for an event the variable that holds the event")]
    framework: Annotated[str, Doc("name of the framework; empty when the framework is unknown")]
    confidence: float
    rule: str
    line: Annotated[int, Doc("line that registers the function; 0 when the line is in another file than the function")]


@answer
class EntryPoint:
    """An entry point, where callers outside the code start execution."""

    symbol: SymbolInfo
    kind: EntryKind
    module: Annotated[str, Doc("name of the module that contains the entry point")]
    reach: Annotated[int, Doc("number of symbols that the entry point reaches within eight confident calls")]
    names: Annotated[list[FrameworkName], Doc("routes, events, commands and tasks that lead to the function, sorted by kind and name")]
    beside: Annotated[bool, Doc("whether its file is an example, a script, documentation, or generated or vendored code")] = False


@answer
class EntryPointPage:
    """Entry points: commands first, examples and scripts last."""

    entry_points: list[EntryPoint]
    total: int
    by_kind: Annotated[dict[str, int], Doc("Total number of entry points of each kind, regardless of the filter"), Size(6)]
    state: IndexState


@answer
class Flow:
    """A call flow: a chain of calls that starts at an entry point."""

    id: str
    name: str
    kind: Annotated[EntryKind, Doc("kind of the entry point where the call flow starts")]
    entry: SymbolInfo
    steps: Annotated[list[PathStep], Doc("calls of the call flow, in order, at most 8"), Size(6)]
    modules: Annotated[list[str], Doc("names of the modules that the call flow passes through, in order")]
    confidence: Annotated[float, Doc("product of the confidences of all calls in the call flow")]
    variants: Annotated[list[str], Doc("other entry points whose flows are equal from the second step on, at most 10")]
    variant_count: int
    paragraph: Annotated[str, Doc("description written by a language model; empty until a model has written one")] = ""


@answer
class FlowPage:
    """A page of call flows; those through the most modules come first."""

    flows: list[Flow]
    total: int
    state: IndexState


@answer
class Hotspot:
    """Code that changes often, is complex and has many dependents."""

    symbol: Annotated[SymbolInfo, Doc("the risky symbol, or the risky file if the risk is computed for files")]
    churn: Annotated[float, Doc("number of commits to the file, in which older commits count less; 0 without history")]
    complexity: Annotated[int, Doc("1 + the number of branches in the symbol; the sum over all symbols for a file")]
    dependents: Annotated[
        int, Doc("number of other symbols, or of other files at the level of files, that depend directly on the risky place")
    ]
    score: Annotated[float, Doc("risk of a change at this place, 0 to 100")]


@answer
class HotspotPage:
    """Hot spots: complex, often changed code that much other code uses."""

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
    rank: Annotated[float, Doc("PageRank of the symbol, divided by the average PageRank of all symbols")]
    dependents: Annotated[int, Doc("number of direct dependents of the symbol")]


@answer
class CentralPage:
    """Symbols on which most other code depends, most central first."""

    symbols: list[CentralSymbol]
    state: IndexState


@answer
class DeadSymbol:
    """A definition that appears to be unused."""

    symbol: SymbolInfo
    reason: Annotated[
        str,
        Doc(
            "why the definition appears unused: unreferenced, or used only by itself (only_itself), by dead code (only_dead) "
            "or by tests (only_tests)"
        ),
    ]
    confidence: Annotated[float, Doc("confidence that the definition can be removed, in (0, 1]")]
    lines: int
    why: Annotated[list[str], Doc("sentences with the evidence that the definition is unused")]


@answer
class DeadCodePage:
    """Definitions that appear to be unused, most certain first, then largest."""

    symbols: list[DeadSymbol]
    total: Annotated[int, Doc("number of definitions whose confidence is at least the requested one")]
    lines: Annotated[int, Doc("total number of lines of all unused definitions")]
    notes: Annotated[list[str], Doc("sentences that say how many definitions were omitted, and why")]
    state: IndexState


@answer
class Duplicate:
    """One copy of a duplicated piece of code."""

    path: str
    start_line: int
    end_line: int
    qualname: Annotated[str, Doc("qualified name of the definition around the duplicate; empty if there is none")]


@answer
class DuplicateGroup:
    """A group of duplicate pieces of code."""

    kind: Annotated[
        str, Doc("how alike the copies are: exact (the same tokens), renamed (only names or values differ) or near (some lines differ)")
    ]
    similarity: Annotated[float, Doc("lowest similarity of a copy to the first copy of the code, 0 to 1; 1 if all are identical")]
    lines: Annotated[int, Doc("number of lines that could be removed")]
    places: Annotated[list[Duplicate], Doc("places of the copies, by path and line"), Size(4)]


@answer
class DuplicatePage:
    """Duplicates, most lines to save first."""

    groups: list[DuplicateGroup]
    total: int
    lines: Annotated[int, Doc("number of lines that could be removed in all groups")]
    state: IndexState


@answer
class ModuleChange:
    """The change of a module between two revisions."""

    name: str
    change: Annotated[str, Doc("change of the module: added, removed or changed")]
    files_before: int
    files_after: int
    came: Annotated[list[str], Doc("files that joined the module, at most 20")]
    left: Annotated[list[str], Doc("files that left the module, at most 20")]


@answer
class DependencyChange:
    """A dependency of one module on another that changed between revisions."""

    src: Annotated[str, Doc("name of the dependent module in the newer revision, or in the older one if the module was removed")]
    dst: str
    change: Annotated[str, Doc("change of the dependency: added, removed, heavier or lighter")]
    before: Annotated[int, Doc("number of edges in the older revision")]
    after: int
    sites: Annotated[list[PathStep], Doc("the first few edges of an added dependency"), Size(3)]


@answer
class ApiChange:
    """A change of one public definition between two revisions."""

    symbol: Annotated[SymbolInfo, Doc("the definition in the newer revision; in the older revision when it was removed")]
    change: Annotated[str, Doc("change of the definition: added, removed, signature or moved")]
    before: Annotated[str, Doc("previous signature or path of the definition; empty if there is none")]


@answer
class Drift:
    """Changes in the architecture between two revisions."""

    base: Annotated[str, Doc("full commit id of the older revision")]
    head: Annotated[str, Doc("full commit id of the newer revision, or the indexed state of the files")]
    modules: Annotated[list[ModuleChange], Doc("modules that were added, removed or changed"), Size(20)]
    dependencies: Annotated[list[DependencyChange], Doc("dependencies between modules that changed"), Size(50)]
    new_cycles: Annotated[list[Cycle], Doc("cycles that exist only in the newer revision"), Size(3)]
    resolved_cycles: Annotated[list[Cycle], Doc("cycles that exist only in the older revision"), Size(3)]
    api: Annotated[list[ApiChange], Doc("changes of public definitions, at most 500"), Size(100)]
    api_counts: Annotated[dict[str, int], Doc("Number of changed public definitions by kind; `api` may list fewer"), Size(4)]
    modularity_before: float
    modularity_after: float
    notes: list[str] = field(default_factory=list)


@answer
class Document:
    """A document that a client can store as a file."""

    text: str
    media_type: str
    name: Annotated[str, Doc("suggested name for the file")]


@answer
class ParagraphState:
    """Progress of the paragraphs that a language model writes about the code.

    There is one paragraph for each module and each main call flow.
    """

    model: Annotated[str, Doc("name and host of the language model; empty when none is configured")]
    total: Annotated[int, Doc("number of paragraphs to write: one for each module and each main flow")]
    written: int
    refused: Annotated[int, Doc("number of paragraphs that were discarded, because no sentence was usable")]
    running: Annotated[bool, Doc("true while the model is writing")]
    notes: list[str] = field(default_factory=list)


@answer
class Sentence:
    """A sentence of a generated answer, with its evidence."""

    text: str
    cites: Annotated[list[int], Doc("numbers of the hits that support the sentence; 1 is the first hit of the evidence")]


@answer
class Reason:
    """A passage that gives a reason, or that is near to the question."""

    kind: ReasonKind
    text: Annotated[str, Doc("the passage, at most 400 characters; for a commit the message without its subject")]
    states: Annotated[bool, Doc('true when the passage has words of the question and a word such as "because"')]
    title: Annotated[str, Doc("title of the memory or section, name of the code, or subject of the commit")]
    path: Annotated[str, Doc("path of the file; empty for memories and commits")]
    line: Annotated[int, Doc("line of the file where the passage begins; 0 without a file")]
    ref: Annotated[str, Doc("id of the memory, hash of the commit, or reference of the search result")]
    at: Annotated[MomentOrNone, Doc("when the memory or the commit was made; null for files")] = ""


@answer
class Reply:
    """The answer to a question: sentences of a language model, with evidence."""

    question: str
    sentences: Annotated[
        list[Sentence],
        Doc("the reply, sentence by sentence; empty without a language model, or when the evidence supports no sentence"),
        Size(12),
    ]
    evidence: Annotated[SearchAnswer, Doc("hits of the search, to which the sentences refer by number from 1")]
    model: Annotated[str, Doc("the language model that wrote the sentences; empty if there is none")]
    notes: Annotated[list[str], Doc("the command that answers the question from the graph, and why sentences are missing")] = field(
        default_factory=list
    )
    reasons: Annotated[
        list[Reason],
        Doc("for a question that begins with why: written reasons, or the nearest passages if none is written; empty with `sentences`"),
        Size(6),
    ] = field(default_factory=list)


@answer(name="Commit")
class CommitInfo:
    """A commit and the files it changed."""

    sha: str
    at: Moment
    author: Annotated[str, Doc("name of the author in Git, as the project's mailmap corrects it")]
    subject: str
    body: Annotated[str, Doc("the message without its subject")]
    files: Annotated[int, Doc("total number of changed files; `paths` may list fewer")]
    paths: Annotated[list[str], Doc("paths of the first changed files, at most 30")]
    modules: Annotated[
        list[str], Doc("names of the current modules of all changed files, ascending; [] for a commit of more than 2,000 files")
    ]
    routine: Annotated[bool, Doc("whether the author is a program that updates versions, such as renovate[bot]")] = False


@answer
class CommitPage:
    """Commits, newest first, without merges."""

    commits: list[CommitInfo]
    notes: Annotated[list[str], Doc("why the list is empty or incomplete")]
