"""The risk level of a change. The rule, with its reasons, is in docs/impact.md."""

from __future__ import annotations

import math
from typing import Final

from graphmem.answers import Risk
from graphmem.answers.vocabulary import RiskLevel

# Points each part can give; together 100.
DEPENDENTS_POINTS: Final = 40.0
ENTRY_POINTS: Final = 20.0
MODULE_POINTS: Final = 20.0
UNTESTED_POINTS: Final = 20.0

# Where each saturating curve reaches 63 % of its points.
DEPENDENTS_SCALE: Final = 10.0
ENTRY_SCALE: Final = 3.0
MODULE_SCALE: Final = 3.0

# Lower bounds of the levels.
LEVELS: Final[tuple[tuple[RiskLevel, float], ...]] = (("critical", 70.0), ("high", 45.0), ("medium", 20.0), ("low", 0.0))


def assess(weighted_dependents: float, entry_points: int, modules: int, tests: int, *, incomplete: bool) -> Risk:
    """Level and score of a change.

    Args:
        weighted_dependents: sum over dependents (tests excluded) of path confidence / depth.
        entry_points: dependents (tests excluded) that are entry points.
        modules: directories the dependents lie in, the targets' own not counted.
        tests: affected tests.
        incomplete: something that names a target could not be followed.

    Returns:
        `unknown` where nothing was found and something could not be followed, else the level of
        score = 40 (1 - e^(-d/10)) + 20 (1 - e^(-e/3)) + 20 (1 - e^(-m/3)) + 20 if dependents have no test.
    """
    if weighted_dependents == 0 and tests == 0 and incomplete:
        return Risk("unknown", 0.0, ["no dependents found, and some call sites with this name could not be followed"])
    untested = weighted_dependents > 0 and tests == 0
    score = (
        DEPENDENTS_POINTS * (1 - math.exp(-weighted_dependents / DEPENDENTS_SCALE))
        + ENTRY_POINTS * (1 - math.exp(-entry_points / ENTRY_SCALE))
        + MODULE_POINTS * (1 - math.exp(-modules / MODULE_SCALE))
        + (UNTESTED_POINTS if untested else 0.0)
    )
    level = next(name for name, least in LEVELS if score >= least)
    reasons = [f"{weighted_dependents:.1f} weighted dependents (nearer and surer ones count more)"]
    if entry_points:
        reasons.append(f"{entry_points} entry point{'s' * (entry_points > 1)} reached")
    if modules:
        reasons.append(f"{modules} other director{'ies' if modules > 1 else 'y'} reached")
    reasons.append("no test is among the dependents" if untested else f"{tests} test{'s' * (tests != 1)} affected")
    return Risk(level, round(score, 1), reasons)
