"""Symbols, files, paths and parts of the graph; how far the index is, and what a run of it did."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

from graphmem.answers.marks import FILE, SYMBOL, Doc, GlobalId, Hidden, Size
from graphmem.answers.plain import Unpacks, answer
from graphmem.answers.vocabulary import EdgeKind, EdgeSource, Epistemic, IndexStatus, MomentOrNone, SymbolKind


@answer(name="Symbol", node=True)
class SymbolInfo:
    """A symbol, as short as it can be shown."""

    id: Annotated[str, Doc("Opaque; moving the symbol within its file keeps it"), GlobalId(SYMBOL)]
    kind: SymbolKind
    name: str
    qualname: Annotated[str, Doc("dotted inside the file; <module> for the code outside any definition")]
    path: Annotated[str, Doc("from the root, with '/'; empty for externals")]
    start_line: Annotated[int, Doc("1-based, decorators included")]
    end_line: Annotated[int, Doc("1-based, inclusive")]
    signature: Annotated[str, Doc("as a reader would quote it; empty where there is none")] = ""
    is_test: bool = False
    entry_point: Annotated[str, Doc("main, route, command, event, task, test, fixture, export or empty")] = ""

    @property
    def ref(self) -> str:
        """What a person can type to mean exactly this: `path:qualname`."""
        return f"{self.path}:{self.qualname}" if self.path else self.qualname


@answer(page="symbols")
class SymbolPage(Unpacks):
    """A page of symbols, best match first, and how many there are."""

    symbols: list[SymbolInfo]
    total: int


@answer
class Site:
    """An edge seen from one end: the symbol at the other end and the evidence."""

    symbol: SymbolInfo
    kind: EdgeKind
    confidence: float
    source: EdgeSource
    rule: str
    lines: Annotated[list[int], Doc("sites in the file of the edge's source")]


@answer
class SymbolDetail:
    """A symbol with what stands around it. Lists are sorted by confidence, then path and line."""

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
    source: Annotated[str, Doc("the text, when asked for")] = ""


@answer(name="File", node=True)
class FileInfo:
    """A file of the index."""

    id: Annotated[str, Doc("Opaque; the path decides it"), GlobalId(FILE)]
    path: str
    language: str
    module: Annotated[str, Doc("the name other files import it by; empty when it has none")]
    lines: int
    size_bytes: int
    is_test: bool
    error_count: Annotated[int, Doc("places the parser could not read")]
    diagnostic: Annotated[str, Doc("why parts of this file are not in the graph; empty when all is")]


@answer(page="files")
class FilePage(Unpacks):
    """A page of files, by path, and how many there are."""

    files: list[FileInfo]
    total: int


@answer
class IndexState:
    """How far the answer can be trusted to be of today."""

    state: IndexStatus
    generation: Annotated[int, Doc("counts completed changes of the graph; 0 before the first index")]
    indexed_at: Annotated[MomentOrNone, Doc("none before the first index")]
    files: int
    symbols: int
    edges: int
    chunks: int
    vectors: Annotated[int, Doc("chunks that have a vector of the model that answers")]
    stage: Annotated[str, Doc("of a run that is under way, else empty")] = ""
    done: int = 0
    total: Annotated[int, Doc("0 when not known")] = 0
    stale_files: Annotated[int, Doc("files known to have changed since they were indexed")] = 0
    note: str = ""
    stale: Annotated[list[str], Doc("the first 20 of those files, by path"), Size(20)] = field(default_factory=list)


@answer
class Project:
    """The project a database belongs to."""

    name: str
    root: str
    data_dir: str
    version: Annotated[str, Doc("of graphmem")]
    engine: Annotated[str, Doc("the graph database and its version")]
    state: IndexState


@answer(name="Diagnostic")
class DiagnosticInfo:
    """Something a person should know about one file."""

    path: str
    severity: Annotated[str, Doc("error, warning or note")]
    code: str
    message: str
    line: Annotated[int, Doc("1-based; 0 when it is about the whole file")]

    def __getitem__(self, name: str) -> Any:
        """A field by its name, as the mapping had it that was answered before."""
        return getattr(self, name)


@answer
class IndexSummary:
    """What one run did."""

    mode: Annotated[str, Doc("full, incremental or unchanged")]
    generation: int
    files: Annotated[int, Doc("in the index afterwards")]
    changed: int
    removed: int
    skipped: Annotated[dict[str, int], Doc("Files that were skipped, by reason"), Size(10)]
    languages: Annotated[dict[str, int], Doc("Files by language"), Size(10)]
    symbols: int
    chunks: int
    edges_by_kind: Annotated[dict[str, int], Doc("Edges by kind"), Size(10)]
    edges_by_rule: Annotated[dict[str, int], Doc("Edges by the rule that resolved them"), Size(20)]
    call_sites: int
    unresolved: Annotated[int, Doc("call sites whose target could not be told")]
    unresolved_by_reason: Annotated[dict[str, int], Doc("Unresolved call sites by reason"), Size(10)]
    diagnostics: Annotated[list[DiagnosticInfo], Doc("The first diagnostics; `diagnosticCount` says how many there are"), Size(200)]
    diagnostic_count: int
    seconds: Annotated[dict[str, float], Doc("Wall time by stage, in order"), Size(10)]
    cpu_seconds: Annotated[float, Doc("of the process and its workers")]
    peak_memory_mb: float


@answer
class PathStep:
    """One edge of a path, as it stands in the graph: `src` depends on `dst`."""

    src: SymbolInfo
    dst: SymbolInfo
    kind: EdgeKind
    confidence: float
    source: EdgeSource
    rule: str
    line: Annotated[int, Doc("of the first site, in the file of `src`; 1-based")]


@answer
class PathAnswer:
    """The most confident dependency path between two symbols, if there is one."""

    source: SymbolInfo
    target: SymbolInfo
    steps: Annotated[list[PathStep], Doc("empty when there is none within the bound"), Size(5)]
    confidence: float
    max_depth: int
    epistemic: Epistemic
    state: IndexState
    nearest: Annotated[str, Doc("what comes nearest when there is no path: one beyond the bounds, or how far each end gets")] = ""


@answer
class Missed:
    """A target that is not one symbol or file, among others that are."""

    ref: str
    code: str  # NOT_FOUND | AMBIGUOUS | BAD_INPUT
    message: str


@answer
class Subgraph:
    """A piece of the graph: nodes by id, edges by id pairs; columnar for large answers."""

    nodes: list[SymbolInfo]
    edges: Annotated[list[list[Any]], Doc("rows [src, dst, kind, confidence, rule]; src and dst are places in `nodes`"), Hidden()]
    truncated: bool
    state: IndexState
    missed: Annotated[list[Missed], Doc("seeds the answer leaves out, when there are others"), Size(10)] = field(default_factory=list)


@answer
class Picture:
    """A piece of the graph with a place for everything in it, in columns: equally long lists by name."""

    columns: Annotated[
        dict[str, Any],
        Doc(
            "equally long lists by name; edges hold positions in the lists of nodes: `src` depends on `dst`; "
            "lengths are in units of the picture, y grows downwards"
        ),
    ]
    left_out: Annotated[int, Doc("of what was asked for, because of a limit")]
    state: IndexState
