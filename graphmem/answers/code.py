"""Symbols, files, paths and parts of the graph; how far the index is, and what a run of it did."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from graphmem.answers.plain import answer


@answer
class SymbolInfo:
    """A symbol, as short as it can be shown."""

    id: str
    kind: str  # SymbolKind, or "file", or "external"
    name: str
    qualname: str
    path: str  # "" for externals
    start_line: int
    end_line: int
    signature: str = ""
    is_test: bool = False
    entry_point: str = ""

    @property
    def ref(self) -> str:
        """What a person can type to mean exactly this: `path:qualname`."""
        return f"{self.path}:{self.qualname}" if self.path else self.qualname


@answer
class Site:
    """An edge seen from one end: the symbol at the other end and the evidence."""

    symbol: SymbolInfo
    kind: str  # EdgeKind
    confidence: float
    source: str
    rule: str
    lines: list[int]  # sites in the file of the edge's source


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
    source: str = ""  # the text, when asked for


@answer
class FileInfo:
    """A file of the index."""

    id: str
    path: str
    language: str
    module: str
    lines: int
    size_bytes: int
    is_test: bool
    error_count: int
    diagnostic: str


@answer
class IndexState:
    """How far the answer can be trusted to be of today."""

    state: str  # empty | fresh | indexing | stale
    generation: int  # 0 before the first index
    indexed_at: str  # ISO 8601, UTC; "" before the first index
    files: int
    symbols: int
    edges: int
    chunks: int
    vectors: int  # chunks that have a vector of the current model
    stage: str = ""  # of a run that is under way
    done: int = 0
    total: int = 0
    stale_files: int = 0  # known to have changed since they were indexed
    note: str = ""
    stale: list[str] = field(default_factory=list)  # the first 20 of them, by path


@answer
class Project:
    """The project a database belongs to."""

    name: str
    root: str
    data_dir: str
    version: str  # of graphmem
    engine: str  # "kuzu 0.11.3"
    state: IndexState


@answer
class IndexSummary:
    """What one run did."""

    mode: str  # full | incremental | unchanged
    generation: int
    files: int  # in the index afterwards
    changed: int
    removed: int
    skipped: dict[str, int]  # reason -> files
    languages: dict[str, int]
    symbols: int
    chunks: int
    edges_by_kind: dict[str, int]
    edges_by_rule: dict[str, int]
    call_sites: int
    unresolved: int
    unresolved_by_reason: dict[str, int]
    diagnostics: list[dict[str, Any]]  # Diagnostic rows, at most 200; the count is in `diagnostic_count`
    diagnostic_count: int
    seconds: dict[str, float]  # wall by stage, in order
    cpu_seconds: float  # of this process and its workers
    peak_memory_mb: float


@answer
class PathStep:
    """One edge of a path, as it stands in the graph: `src` depends on `dst`."""

    src: SymbolInfo
    dst: SymbolInfo
    kind: str
    confidence: float
    source: str
    rule: str
    line: int  # of the first site, in the file of src


@answer
class PathAnswer:
    """The most confident dependency path between two symbols, if there is one."""

    source: SymbolInfo
    target: SymbolInfo
    steps: list[PathStep]  # empty when there is none within the bound
    confidence: float
    max_depth: int
    epistemic: str
    state: IndexState


@answer
class Subgraph:
    """A piece of the graph: nodes by id, edges by id pairs; columnar for large answers."""

    nodes: list[SymbolInfo]
    edges: list[list[Any]]  # [src index, dst index, kind, confidence, rule]
    truncated: bool
    state: IndexState


@answer
class Picture:
    """A piece of the graph with a place for everything in it, in columns: equally long lists by name."""

    columns: dict[str, Any]
    left_out: int  # of what was asked for, because of a limit
    state: IndexState
