"""Answers about impact: code that a change could break."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import IndexState, KnownCalls, Missed, PathStep, SymbolInfo
from graphmem.answers.contracts import OutsideUse
from graphmem.answers.history import CoAccessHit
from graphmem.answers.marks import SYMBOL, Doc, GlobalId, Size
from graphmem.answers.memory import NearbyMemories
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import ChangeKind, Direction, EdgeKind, Epistemic, Moment, MomentOrNone, RiskLevel, Verdict


def odds(chance: float) -> str:
    """Return a probability from 0 to 1 in words, such as "about 1 in 6"."""
    if chance < 0.02:
        return "fewer than 1 in 50"
    return f"about 1 in {round(1 / chance)}" if chance < 0.4 else f"about {min(round(10 * chance), 9)} in 10"


@answer
class ImpactHit:
    """A symbol that could behave differently after the examined change.

    The targets are the symbols and files that the change would touch.
    """

    symbol: SymbolInfo
    depth: Annotated[int, Doc("number of edges on the shortest dependency path between this symbol and a requested symbol, 1 or more")]
    verdict: Verdict
    confidence: Annotated[
        float,
        Doc(
            "product of the confidences of the edges in `path`; for a test the chance that the test runs the "
            "target, which is 1 if the test ran it in a recorded run"
        ),
    ]
    path: Annotated[list[PathStep], Doc("edges of the most confident dependency path, from the requested symbol to this symbol"), Size(3)]
    target: Annotated[str, Doc("id of the requested symbol at which the dependency path to this symbol begins"), GlobalId(SYMBOL)]


@answer
class ImpactGroup:
    """A file or directory, with the number of affected symbols in it."""

    name: str
    hits: int
    max_confidence: float
    min_depth: int


@answer
class Cause:
    """One reason why an answer may be incomplete."""

    kind: Annotated[
        str,
        Doc(
            "code of the reason, for programs; `message` says it in words: not_run, unjudged_tests, other_processes, low_confidence, "
            "overloads, unresolved_calls, failed_files, stale, depth, budget, history, projects, common_names, named_in_text, generated"
            " or untracked"
        ),
    ]
    message: str
    count: int
    examples: Annotated[list[str], Doc("examples of places in the code that make the answer incomplete, as `path:line`")] = field(
        default_factory=list
    )


@answer
class Possible:
    """An unresolved call that may call one of the targets; it is not a hit."""

    caller: SymbolInfo
    name: str
    line: int
    reason: str


@answer
class RiskFactor:
    """A factor of a risk score, with its points."""

    name: Annotated[str, Doc("name of the factor of the risk score: dependents, entry points, directories, untested or public")]
    points: float
    most: Annotated[float, Doc("the maximum number of points that this factor can add to the risk score")]
    counted: Annotated[
        str, Doc("the measured value for which this factor gets its points in the risk score, as text, such as `12` or `weight 3.5`")
    ]


@answer
class Risk:
    """The risk of a change, as a score; docs/impact.md has the formula."""

    level: RiskLevel
    score: Annotated[float, Doc("risk score, 0 to 100")]
    reasons: Annotated[list[str], Doc("reasons for the risk score, most important first")]
    at_least: Annotated[
        bool, Doc("true when the risk level may be higher, because at least half of the calls of a requested symbol's name are unresolved")
    ] = False
    factors: Annotated[list[RiskFactor], Doc("the factors of the score; empty when the level is unknown"), Size(4)] = field(
        default_factory=list
    )
    rank: Annotated[
        float | None,
        Doc(
            "share of the project's symbols that have fewer direct dependents than the target, 0 to 1; null if the target is a file or a "
            "test, or if there are several targets"
        ),
    ] = None


@answer
class EarlierState:
    """An earlier state of the graph, from which an answer was computed."""

    as_of: Annotated[str, Doc("the requested time or revision of the earlier graph")]
    generation: int
    indexed_at: Annotated[Moment, Doc("time of the index run that stored this earlier state of the graph")]
    until: Annotated[MomentOrNone, Doc("time of the index run that replaced this state of the graph; null for the current state")]


@answer
class ImpactReport:
    """Code that could behave differently when the targets change."""

    targets: list[SymbolInfo]
    direction: Direction
    max_depth: int
    min_confidence: float
    kinds: list[EdgeKind]
    hits: Annotated[list[ImpactHit], Doc("affected symbols and files except tests, sorted by depth, then confidence, then path")]
    tests: Annotated[
        list[ImpactHit], Doc("affected tests at any depth: tests with a recorded run first, then by the chance that the test runs a target")
    ]
    total: Annotated[int, Doc("number of dependents within the limits of depth and confidence, plus the number of tests at any depth")]
    by_depth: Annotated[
        list[int], Doc("number of dependents at each distance from the requested symbols; the first entry counts direct dependents")
    ]
    by_file: Annotated[list[ImpactGroup], Doc("affected symbols grouped by file, most confident first"), Size(100)]
    by_module: Annotated[list[ImpactGroup], Doc("affected symbols grouped by directory, most confident first"), Size(30)]
    risk: Risk
    epistemic: Annotated[
        Epistemic,
        Doc(
            "whether the list of tests is complete: exact (recorded test runs show that it is), lower_bound (further tests may be "
            "affected) or unknown"
        ),
    ]
    causes: Annotated[list[Cause], Doc("why the answer may be incomplete"), Size(5)]
    possible: Annotated[list[Possible], Doc("unresolved calls that may call one of the requested symbols"), Size(20)]
    truncated: Annotated[bool, Doc("true when `hits` or `tests` is incomplete because of `limit`")]
    state: IndexState
    missed: Annotated[
        list[Missed], Doc("requested symbols and files that the index does not contain; empty if all were found"), Size(10)
    ] = field(default_factory=list)
    also_moves: Annotated[
        list[CoAccessHit],
        Doc("files that often change together with the requested symbols' files, although no dependency in the code connects them"),
        Size(5),
    ] = field(default_factory=list)
    outside: Annotated[
        list[OutsideUse],
        Doc(
            "code of other projects that uses a network interface (route, procedure or topic) of the "
            "requested symbols or their dependents, most likely first"
        ),
        Size(10),
    ] = field(default_factory=list)
    miss_chance: Annotated[
        float | None,
        Doc("chance, 0 to 1, that a test outside of `tests` runs a target; null if dependencies were requested, or if `tests` is empty"),
    ] = None
    known: Annotated[
        NearbyMemories,
        Doc("memories about the requested symbols, the code around them, the dependents, and the files that change with them"),
    ] = field(default_factory=NearbyMemories)
    earlier: Annotated[EarlierState | None, Doc("the earlier state of the graph that the answer is about; null for the current graph")] = (
        None
    )
    known_calls: Annotated[
        list[KnownCalls],
        Doc(
            "for each language of the requested symbols and their dependents, the share of its calls that "
            "graphmem finds, as measured on other projects"
        ),
        Size(2),
    ] = field(default_factory=list)


@answer
class ChangedSymbol:
    """A symbol that a diff touches."""

    symbol: SymbolInfo
    change: ChangeKind
    lines: Annotated[list[int], Doc("numbers of the changed lines of the symbol, in the new file (in the old file for a removed symbol)")]


@answer
class DiffImpact:
    """The symbols that a diff changes, and the code that it could break."""

    base: Annotated[str, Doc("revision that the code was compared with; `diff` when the change was given as a diff")]
    head: str
    files: list[str]
    changed: Annotated[list[ChangedSymbol], Doc("symbols whose lines the diff changes"), Size(50)]
    unmapped: Annotated[list[str], Doc("changed files in which no indexed symbol changed, such as configuration files")]
    impact: ImpactReport
