"""Answers about code: symbols, files, paths, subgraphs and index runs."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, Final

from graphmem.answers.marks import FILE, SYMBOL, Doc, GlobalId, Hidden, Size
from graphmem.answers.memory import NearbyMemories
from graphmem.answers.plain import Unpacks, answer
from graphmem.answers.vocabulary import EdgeKind, EdgeSource, Epistemic, IndexStatus, MomentOrNone, SymbolKind
from graphmem.runtime.data.conventions import prepares_tests

if TYPE_CHECKING:
    from collections.abc import Sequence


@answer(name="Symbol", node=True)
class SymbolInfo:
    """A symbol, such as a function, without its edges in the code graph."""

    id: Annotated[
        str, Doc("id of the symbol, whose format may change; the id stays the same when the symbol moves within its file"), GlobalId(SYMBOL)
    ]
    kind: SymbolKind
    name: str
    qualname: Annotated[str, Doc("dotted name of the symbol inside its file; <module> for code outside any definition")]
    path: Annotated[str, Doc("path of the file from the project's root, with '/'; empty for a symbol outside the project")]
    start_line: Annotated[int, Doc("first line of the symbol, decorators included; 1-based")]
    end_line: Annotated[int, Doc("last line of the symbol; 1-based, inclusive")]
    signature: Annotated[str, Doc("the symbol's signature as in the source; empty for a symbol without one")] = ""
    is_test: bool = False
    entry_point: Annotated[
        str, Doc("kind of the entry point: main, route, command, event, task, test, fixture or export; empty for other symbols")
    ] = ""

    @property
    def is_runnable(self) -> bool:
        """Whether a test runner can run this symbol: a test, or a module of tests."""
        return self.entry_point == "test" or (self.is_test and self.kind == "module" and not prepares_tests(self.path))

    @property
    def ref(self) -> str:
        """The reference that identifies this symbol: `path:qualname`."""
        return f"{self.path}:{self.qualname}" if self.path else self.qualname


@answer
class KnownCalls:
    """The measured share of a language's calls that graphmem finds."""

    language: str
    recall: Annotated[
        float | None,
        Doc(
            "share of the calls made at run time, in code of this language, that graphmem finds in the source text, 0 to 1; null if it "
            "was not measured"
        ),
    ]
    trees: Annotated[str, Doc("names of the projects on which `recall` was measured, separated by commas; empty when there are none")]
    unseen: Annotated[bool, Doc("true when none of the measured projects was used to develop the rules that resolve calls")]


FEW: Final = 0.9  # recall of calls; below it a language's share is told as a warning
_SHARES: Final = (
    (0.40, "less than half"),
    (0.55, "about half"),
    (0.63, "about three fifths"),
    (0.71, "about two thirds"),
    (0.78, "about three quarters"),
    (0.84, "about four fifths"),
    (FEW, "about seven eighths"),
)
"""Words for shares below a bound."""


def share_in_words(recall: float) -> str:
    """Return a share of known calls in words, such as "about half".

    `recall` is the share, 0 to 1. The result is "" if the share is too high for a warning.
    """
    return next((words for bound, words in _SHARES if recall < bound), "")


def calls_told(rows: Sequence[KnownCalls]) -> str:
    """One line on how many calls graphmem knows, by language; "" for none.

    `rows` has the measured share of each language. The shares were measured on other projects. Every interface shows the line once in each
    answer that follows calls.
    """
    return f"calls known, measured on other projects: {', '.join(map(_recall_text, rows))}" if rows else ""


def _recall_text(row: KnownCalls) -> str:
    if row.recall is None:
        return f"{row.language} not measured"
    words = share_in_words(row.recall)
    return f"{row.language} only {words} ({row.recall:.0%})" if words else f"{row.language} {row.recall:.0%}"


@answer(page="symbols")
class SymbolPage(Unpacks):
    """A page of symbols, best match first, and their total number."""

    symbols: list[SymbolInfo]
    total: int


@answer
class Site:
    """An edge of a symbol: the symbol at the other end, and the evidence."""

    symbol: SymbolInfo
    kind: EdgeKind
    confidence: float
    source: EdgeSource
    rule: str
    lines: Annotated[list[int], Doc("numbers of the lines with the call or other use, in the file of the source symbol")]
    cell: Annotated[str, Doc("Jupyter notebook cell of the first line, such as `cell 12`; empty outside notebooks")] = ""


@answer
class SymbolDetail:
    """A symbol with its edges, sorted by confidence, then path and line."""

    symbol: SymbolInfo
    doc: str
    modifiers: list[str]
    complexity: int
    parent: SymbolInfo | None
    members: list[SymbolInfo]
    callers: list[Site]
    callees: list[Site]
    references: list[Site]
    bases: list[Site]
    subclasses: list[Site]
    overrides: list[Site]
    overridden_by: list[Site]
    tests: list[Site]
    source: Annotated[str, Doc("the source text of the symbol; empty if it was not requested")] = ""
    overloads: Annotated[list[SymbolInfo], Doc("the other definitions of this name in the file, such as overloads, by line")] = field(
        default_factory=list
    )
    known: Annotated[NearbyMemories, Doc("memories about the symbol and the code around it")] = field(default_factory=NearbyMemories)
    cut: Annotated[list[str], Doc("relations, such as callers, that have more than 1,000 edges, of which only 1,000 are listed")] = field(
        default_factory=list
    )

    def count(self, relation: str) -> str:
        """The number of edges of a relation; "1,000 or more" if the list is cut."""
        listed = f"{len(getattr(self, relation)):,}"
        return f"{listed} or more" if relation in self.cut else listed


@answer(name="File", node=True)
class FileInfo:
    """An indexed file."""

    id: Annotated[str, Doc("id of the file, derived from its path; the format of ids may change"), GlobalId(FILE)]
    path: str
    language: str
    module: Annotated[str, Doc("the name under which other files import this file; empty if it cannot be imported")]
    lines: int
    size_bytes: int
    is_test: bool
    error_count: Annotated[int, Doc("number of places in the file that could not be parsed")]
    diagnostic: Annotated[str, Doc("why parts of this file are not in the graph; empty when nothing is missing")]


@answer(page="files")
class FilePage(Unpacks):
    """A page of files, by path, and their total number."""

    files: list[FileInfo]
    total: int


@answer
class IndexState:
    """State of the index, such as whether it matches the current files."""

    state: IndexStatus
    generation: Annotated[int, Doc("number of changes made to the code graph so far; 0 before the first index run")]
    indexed_at: Annotated[MomentOrNone, Doc("time of the newest index run; null before the first index run")]
    files: int
    symbols: int
    edges: int
    chunks: int
    vectors: Annotated[int, Doc("number of pieces of text (chunks) that have a vector of the current embedding model")]
    stage: Annotated[str, Doc("stage of the current index run; empty when no run is in progress")] = ""
    done: int = 0
    total: Annotated[int, Doc("number of items that the current stage of the index run processes; 0 when unknown")] = 0
    stale_files: Annotated[int, Doc("number of files that are known to have changed since they were indexed")] = 0
    note: str = ""
    stale: Annotated[list[str], Doc("paths of the first 20 files that changed since the index was built, sorted by path"), Size(20)] = (
        field(default_factory=list)
    )


@answer
class Project:
    """The project that a database belongs to."""

    name: str
    root: str
    data_dir: str
    version: Annotated[str, Doc("version of graphmem")]
    engine: Annotated[str, Doc("name and version of the graph database")]
    state: IndexState
    text_only: Annotated[
        dict[str, int],
        Doc(
            "number of files by language, for languages that graphmem cannot parse; the text of these files "
            "can be searched, but their names are not in the graph"
        ),
        Size(5),
    ] = field(default_factory=dict)


@answer(name="Diagnostic")
class DiagnosticInfo:
    """A problem found in one file, described for people."""

    path: str
    severity: Annotated[str, Doc("severity of the problem: error, warning or note")]
    code: str
    message: str
    line: Annotated[int, Doc("line of the problem, 1-based; 0 for a problem of the whole file")]

    def __getitem__(self, name: str) -> Any:
        """Return a field by name.

        Code for earlier versions needs this method, because the class was a mapping then.
        """
        return getattr(self, name)


@answer
class IndexSummary:
    """The result of an index run."""

    mode: Annotated[str, Doc("mode of the index run: full (all files), incremental (changed files) or unchanged (nothing to do)")]
    generation: int
    files: Annotated[int, Doc("number of files in the index after the run")]
    changed: int
    removed: int
    skipped: Annotated[
        dict[str, int], Doc("number of files that the index run skipped, by reason, such as binary, vendored or too_large"), Size(10)
    ]
    languages: Annotated[dict[str, int], Doc("number of files of each language in the index"), Size(10)]
    symbols: int
    chunks: int
    edges_by_kind: Annotated[dict[str, int], Doc("number of edges of each kind, such as CALLS or IMPORTS, in the code graph"), Size(10)]
    edges_by_rule: Annotated[
        dict[str, int],
        Doc("number of edges by resolution rule: the way in which graphmem found the edge's target, such as import"),
        Size(20),
    ]
    call_sites: int
    unresolved: Annotated[int, Doc("number of call sites whose target is unknown")]
    unresolved_elsewhere: Annotated[
        int, Doc("number of unresolved calls of names that the project does not define, such as functions of a library")
    ]
    unresolved_by_reason: Annotated[
        dict[str, int], Doc("number of calls without a known target, by reason, such as unknown_name or no_receiver_type"), Size(10)
    ]
    diagnostics: Annotated[
        list[DiagnosticInfo], Doc("the first problems found in files during the run; `diagnosticCount` is the total number"), Size(200)
    ]
    diagnostic_count: int
    seconds: Annotated[dict[str, float], Doc("Wall time of each stage in seconds, in the order of the stages"), Size(10)]
    cpu_seconds: Annotated[float, Doc("processor time of graphmem and its worker processes, in seconds")]
    peak_memory_mb: float


@answer
class PathStep:
    """One edge of a path; `src` depends on `dst`."""

    src: SymbolInfo
    dst: SymbolInfo
    kind: EdgeKind
    confidence: float
    source: EdgeSource
    rule: str
    line: Annotated[int, Doc("number of the first line on which the call or other use occurs, in the file of `src`; 1-based")]
    cell: Annotated[str, Doc("Jupyter notebook cell of `line`, such as `cell 12`; empty outside notebooks")] = ""


@answer
class PathAnswer:
    """The most confident dependency path between two symbols, if any."""

    source: SymbolInfo
    target: SymbolInfo
    steps: Annotated[list[PathStep], Doc("edges of the dependency path, in order; empty if no path has at most `maxDepth` edges"), Size(5)]
    confidence: float
    max_depth: int
    epistemic: Epistemic
    state: IndexState
    nearest: Annotated[
        str, Doc("why no dependency path was found, such as a limit that the only path exceeds; empty if a path was found")
    ] = ""
    known: Annotated[NearbyMemories, Doc("memories about the source, the target and the path between them")] = field(
        default_factory=NearbyMemories
    )
    rules: Annotated[
        dict[str, str], Doc("explanation of each resolution rule that found an edge of the path, by the rule's name"), Size(3)
    ] = field(default_factory=dict)
    known_calls: Annotated[
        list[KnownCalls],
        Doc(
            "for each language on the path (or met in the search for it), the share of its calls that "
            "graphmem finds, as measured on other projects"
        ),
        Size(2),
    ] = field(default_factory=list)


@answer
class Implementations:
    """The subclasses of a class, or the methods that implement a method."""

    symbol: SymbolInfo
    implementations: Annotated[
        list[SymbolInfo],
        Doc("direct and indirect subclasses of a class, or methods that implement or override a method at any level; code before tests"),
        Size(100),
    ]
    total: Annotated[int, Doc("total number of implementations; `implementations` may list fewer")]


@answer
class Missed:
    """A target that was not found, or that names several symbols or files."""

    ref: str
    code: str  # NOT_FOUND | AMBIGUOUS | BAD_INPUT
    message: str


@answer
class Subgraph:
    """A part of the code graph: symbols, and edges as rows."""

    nodes: list[SymbolInfo]
    edges: Annotated[
        list[list[Any]],
        Doc("one row [src, dst, kind, confidence, rule] for each edge; src and dst are positions in the list `nodes`"),
        Hidden(),
    ]
    truncated: bool
    state: IndexState
    missed: Annotated[list[Missed], Doc("requested start symbols that the index does not contain; empty if all were found"), Size(10)] = (
        field(default_factory=list)
    )


@answer
class Picture:
    """Symbols and edges to draw, with their positions."""

    columns: Annotated[
        dict[str, Any],
        Doc(
            "columns of two tables, nodes and edges, by name. In edges, `src` and `dst` are row numbers in "
            "nodes, and `src` depends on `dst`. Positions and sizes are in the drawing's own units, with y "
            "growing downwards"
        ),
    ]
    left_out: Annotated[int, Doc("number of nodes and edges that were omitted because of a limit")]
    state: IndexState
