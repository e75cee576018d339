"""Answers about impact: code that a change could break."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import IndexState, Missed, PathStep, SymbolInfo
from graphmem.answers.history import CoAccessHit
from graphmem.answers.marks import SYMBOL, Doc, GlobalId, Size
from graphmem.answers.memory import NearbyMemories
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import ChangeKind, Direction, EdgeKind, Epistemic, RiskLevel, Verdict


def odds(chance: float) -> str:
    """A probability in words: "about 1 in 6"."""
    if chance < 0.02:
        return "fewer than 1 in 50"
    return f"about 1 in {round(1 / chance)}" if chance < 0.4 else f"about {min(round(10 * chance), 9)} in 10"


@answer
class ImpactHit:
    """A symbol that could behave differently after the change."""

    symbol: SymbolInfo
    depth: Annotated[int, Doc("length of the shortest path to a target in steps, 1 or more")]
    verdict: Verdict
    confidence: Annotated[
        float,
        Doc("product of the confidences along `path`; for a test the chance that it runs the target, 1 when it did so in a recorded run"),
    ]
    path: Annotated[list[PathStep], Doc("the most confident path, from the target outwards"), Size(3)]
    target: Annotated[str, Doc("the target of the question from which this hit was reached"), GlobalId(SYMBOL)]


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

    kind: Annotated[
        str, Doc("not_run, unjudged_tests, low_confidence, unresolved_calls, failed_files, stale, depth, budget, language or history")
    ]
    message: str
    count: int
    examples: Annotated[list[str], Doc("`path:line`")] = field(default_factory=list)


@answer
class Possible:
    """An unresolved call site that names a target; it is not a hit."""

    caller: SymbolInfo
    name: str
    line: int
    reason: str


@answer
class RiskFactor:
    """A part of the score of a risk."""

    name: Annotated[str, Doc("dependents, entry points, directories, untested or public")]
    points: float
    most: Annotated[float, Doc("the maximum of `points` for this factor")]
    counted: Annotated[str, Doc("the counted things, as a text")]


@answer
class Risk:
    """The risk of a change and its factors; docs/impact.md has the rule."""

    level: RiskLevel
    score: Annotated[float, Doc("0 to 100")]
    reasons: Annotated[list[str], Doc("most important first")]
    at_least: Annotated[
        bool, Doc("the level may be higher, because at least as many call sites of a target's name are unresolved as resolved")
    ] = False
    factors: Annotated[list[RiskFactor], Doc("the parts of the score; none when the level is unknown"), Size(4)] = field(
        default_factory=list
    )


@answer
class ImpactReport:
    """Code that could behave differently when the targets change."""

    targets: list[SymbolInfo]
    direction: Direction
    max_depth: int
    min_confidence: float
    kinds: list[EdgeKind]
    hits: Annotated[list[ImpactHit], Doc("affected symbols and files except tests, sorted by depth, then confidence, then path")]
    tests: Annotated[list[ImpactHit], Doc("tests at any depth: those with a recorded run first, then by their chance to run a target")]
    total: Annotated[int, Doc("number of dependents within depth and confidence, and of tests at any depth")]
    by_depth: Annotated[list[int], Doc("number of dependents at each depth, from depth 1")]
    by_file: Annotated[list[ImpactGroup], Doc("strongest first"), Size(100)]
    by_module: Annotated[list[ImpactGroup], Doc("strongest first"), Size(30)]
    risk: Risk
    epistemic: Annotated[Epistemic, Doc("certainty of the tests: exact only when a recorded run that is still valid covers every test")]
    causes: Annotated[list[Cause], Doc("why the answer may be incomplete"), Size(5)]
    possible: Annotated[list[Possible], Doc("unresolved call sites that may call a target"), Size(20)]
    truncated: Annotated[bool, Doc("`hits` and `tests` hold fewer than `total`, because of `limit`")]
    state: IndexState
    missed: Annotated[list[Missed], Doc("targets that could not be resolved, when others could"), Size(10)] = field(default_factory=list)
    also_moves: Annotated[list[CoAccessHit], Doc("files without an edge to the targets' files that often change with them"), Size(5)] = (
        field(default_factory=list)
    )
    miss_chance: Annotated[
        float | None,
        Doc("the chance that a test outside `tests` runs a target, if any test does; null for dependencies and without tests"),
    ] = None
    known: Annotated[
        NearbyMemories, Doc("memories about the targets, the code around them, the hits and the files that change with them")
    ] = field(default_factory=NearbyMemories)


@answer
class ChangedSymbol:
    """A symbol that a diff touches."""

    symbol: SymbolInfo
    change: ChangeKind
    lines: Annotated[list[int], Doc("changed lines of the symbol, counted in the new file (in the old file for a removed symbol)")]


@answer
class DiffImpact:
    """The impact of a diff: its symbols, and the impact of the existing ones."""

    base: Annotated[str, Doc("the base revision, or `diff` for a given text")]
    head: str
    files: list[str]
    changed: Annotated[list[ChangedSymbol], Doc("symbols that the diff touches"), Size(50)]
    unmapped: Annotated[list[str], Doc("changed files without a known symbol")]
    impact: ImpactReport
