"""What breaks when something changes."""

from __future__ import annotations

from dataclasses import field

from graphmem.answers.code import IndexState, PathStep, SymbolInfo
from graphmem.answers.history import CoAccessHit
from graphmem.answers.plain import answer


@answer
class ImpactHit:
    """Somebody who could behave differently."""

    symbol: SymbolInfo
    depth: int  # fewest steps from a target, 1-based
    verdict: str  # "will break" (1) | "likely" (2) | "possible" (3+) | "affected" (tests)
    confidence: float  # product along the best path
    path: list[PathStep]  # the most confident path, from the target's side outwards
    target: str  # id of the target the path ends at


@answer
class ImpactGroup:
    """Hits of one file or one module (directory), strongest first."""

    name: str
    hits: int
    max_confidence: float
    min_depth: int


@answer
class Cause:
    """Why an answer may be incomplete."""

    kind: str  # unresolved_calls | low_confidence | failed_files | stale | depth | budget
    message: str
    count: int
    examples: list[str] = field(default_factory=list)  # "path:line"


@answer
class Possible:
    """A call site that names a target but could not be resolved: kept apart from the hits."""

    caller: SymbolInfo
    name: str
    line: int
    reason: str


@answer
class Risk:
    """How careful to be, with the numbers that went in (docs/impact.md has the rule)."""

    level: str  # unknown | low | medium | high | critical
    score: float  # 0..100
    reasons: list[str]


@answer
class ImpactReport:
    """Everything that could behave differently if the targets change."""

    targets: list[SymbolInfo]
    direction: str  # dependents | dependencies
    max_depth: int
    min_confidence: float
    kinds: list[str]
    hits: list[ImpactHit]  # without tests; by depth, then confidence, then path
    tests: list[ImpactHit]  # tests among them, same order
    total: int  # exact number of dependents within depth and confidence, tests included
    by_depth: list[int]  # totals per depth, index 0 = depth 1
    by_file: list[ImpactGroup]
    by_module: list[ImpactGroup]
    risk: Risk
    epistemic: str  # exact | lower_bound | unknown
    causes: list[Cause]
    possible: list[Possible]
    truncated: bool
    state: IndexState
    also_moves: list[CoAccessHit] = field(default_factory=list)  # no edge joins them with the targets' files, yet they moved together


@answer
class ChangedSymbol:
    """A symbol a diff touches."""

    symbol: SymbolInfo
    change: str  # added | removed | signature | body | moved
    lines: list[int]  # changed lines inside it, in the new file (old file when removed)


@answer
class DiffImpact:
    """Impact of a diff: its symbols and the united impact of those that existed before."""

    base: str  # revision, or "diff" for a given text
    head: str
    files: list[str]
    changed: list[ChangedSymbol]
    unmapped: list[str]  # changed files without any known symbol
    impact: ImpactReport
