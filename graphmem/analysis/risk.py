"""Risk level of a change; docs/impact.md has the rule and its reasons."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from graphmem.answers import Risk, RiskFactor
from graphmem.answers.vocabulary import RiskLevel

# Most points of each part; together 100.
DEPENDENTS_POINTS: Final = 40.0
ENTRY_POINTS: Final = 20.0
MODULE_POINTS: Final = 20.0
UNTESTED_POINTS: Final = 20.0
PUBLIC_POINTS: Final = 20.0  # least points of a symbol that code outside the project may call

# Least share of a project's symbols with fewer direct dependents that is a reason.
NOTABLE: Final = 0.5

# Value at which each saturating curve reaches 63 % of its points.
DEPENDENTS_SCALE: Final = 10.0
ENTRY_SCALE: Final = 3.0
MODULE_SCALE: Final = 3.0

# Lower bounds of the levels.
LEVELS: Final[tuple[tuple[RiskLevel, float], ...]] = (("critical", 70.0), ("high", 45.0), ("medium", 20.0), ("low", 0.0))


class Facts(NamedTuple):
    """Facts from which a risk level is computed, such as counts of dependents.

    Tests are not dependents here.
    """

    dependents: int
    direct: int  # dependents one step away
    standing: float | None  # share of the project's symbols with fewer direct dependents than the target; None if it does not apply
    files: int  # files of the dependents
    weight: float  # sum over dependents of path confidence / depth
    entry_points: int  # entry points among the dependents
    modules: int  # directories of the dependents, other than the targets' own
    tests: int  # affected tests
    outside: str  # why code outside the project may call a target; "" if it may not
    unresolved: int  # unresolved call sites that may mean a target
    resolved: int  # resolved sites that use a target
    unknown: bool  # no dependents were found, which does not prove that there are none
    text_only: str = ""  # language of a target that is searched as text only; "" if none is


def assess(facts: Facts) -> Risk:
    """Return the level and the score of a change's risk.

    The level is `unknown` if no dependents were found, although some may exist, and if calls from outside the project are unlikely.
    Otherwise the level follows from the score, which is the sum of four parts:

    * 40 (1 - e^(-w/10)) for the weight w of the dependents;
    * 20 (1 - e^(-e/3)) for the number e of entry points;
    * 20 (1 - e^(-m/3)) for the number m of modules;
    * 20 if there are dependents but no test is affected.

    `Facts` defines these numbers. The score is at least 20 for a symbol that code outside the project may call.

    Returns:
        The risk. Its `rank` compares the direct dependents with those of the project's other symbols, and does not change the level. Its
        `at_least` is true if at least half of the call sites that may mean a target are unresolved.
    """
    if facts.unknown and not facts.outside:
        reason = "no dependents found, but text alone cannot prove that there are none"
        if facts.text_only:
            reason = f"{facts.text_only} files are searched as text only, so their dependents are not known"
        if facts.unresolved:
            reason += f"; {_many(facts.unresolved, 'call site')} with this name could not be followed"
        return Risk("unknown", 0.0, [reason])
    untested = facts.dependents > 0 and facts.tests == 0
    factors = [
        RiskFactor("dependents", *_saturating(DEPENDENTS_POINTS, facts.weight, DEPENDENTS_SCALE), f"weight {facts.weight:.1f}"),
        RiskFactor("entry points", *_saturating(ENTRY_POINTS, facts.entry_points, ENTRY_SCALE), f"{facts.entry_points:,}"),
        RiskFactor("directories", *_saturating(MODULE_POINTS, facts.modules, MODULE_SCALE), f"{facts.modules:,}"),
        RiskFactor("untested", UNTESTED_POINTS if untested else 0.0, UNTESTED_POINTS, f"{_many(facts.tests, 'test')}"),
    ]
    score = sum(one.points for one in factors)
    if facts.outside and score < PUBLIC_POINTS:
        factors.append(RiskFactor("public", PUBLIC_POINTS - score, PUBLIC_POINTS, facts.outside))
        score = PUBLIC_POINTS
    level = next(name for name, least in LEVELS if score >= least)
    at_least = facts.unresolved > 0 and facts.unresolved >= facts.resolved
    shown = [RiskFactor(one.name, round(one.points, 1), one.most, one.counted) for one in factors]
    reasons = _reasons(facts, untested=untested, at_least=at_least)
    return Risk(level, round(score, 1), reasons, at_least, shown, None if facts.standing is None else round(facts.standing, 4))


def _saturating(most: float, value: float, scale: float) -> tuple[float, float]:
    """Return the points for a value, and the maximum number of points.

    The points approach the maximum `most` as the value grows. With a larger `scale` the points grow more slowly.
    """
    return most * (1 - math.exp(-value / scale)), most


def _reasons(facts: Facts, *, untested: bool, at_least: bool) -> list[str]:
    """Return reasons for a risk level as sentences, the clearest first.

    `untested` tells that no test is affected. `at_least` tells that many calls that may mean the symbol are unresolved, so the counts in
    `facts` are lower bounds.
    """
    reasons = [facts.outside] if facts.outside else []
    if facts.dependents:
        near = f", {facts.direct:,} of them direct" if facts.direct < facts.dependents else ""
        reasons.append(f"{_many(facts.dependents, 'dependent')} besides tests, in {_many(facts.files, 'file')}{near}")
    else:
        reasons.append("no dependents besides tests found")
    if facts.direct and facts.standing is not None and facts.standing >= NOTABLE:
        percent = math.floor(100 * facts.standing)
        reasons.append(f"more direct dependents than {percent}% of this project's symbols")
    if untested:
        reasons.append("no test is among the dependents")
    elif facts.tests:
        reasons.append(f"{_many(facts.tests, 'test')} affected")
    if facts.entry_points:
        reasons.append(f"{_many(facts.entry_points, 'entry point')} reached")
    if facts.modules:
        reasons.append(f"{_many(facts.modules, 'other directory', 'other directories')} reached")
    if at_least:
        resolved = "1 resolved one does" if facts.resolved == 1 else f"{facts.resolved:,} resolved ones do"
        reasons.append(f"{_many(facts.unresolved, 'unresolved call site')} may call it, {resolved}")
    if facts.dependents:
        reasons.append(f"weight {facts.weight:.1f} (nearer and surer dependents count more)")
    return reasons


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"
