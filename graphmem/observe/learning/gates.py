"""Rules that decide which findings of a session become memories.

A gate is the condition for learning from a session of one kind, such as "its checks passed". Points and scores rank the findings. A preset
sets the points and the importance that a finding needs. `promotion` applies these tables and reports the outcome of each finding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from graphmem.observe.model import Finding, SessionInfo
from graphmem.observe.signals import SIGNALS

NOVEL: Final = 0.88  # cosine to a known memory from which a finding is not new
CONTAMINATED: Final = 0.7  # factor of confidence for findings with external text in their evidence
UNITS: Final = 5  # units of work; with more, each validated unit is learnt from separately
DEAD_ENDS: Final = 3  # of a session whose gate stays closed; the failure itself is their evidence
SETTLING_H: Final = 24.0  # hours of probation of a learnt memory
UNUSED: Final = 0.8  # factor of importance of a memory that is not used in that time
DEAD_END: Final = "dead_end"
ASKED: Final = frozenset({"remember", "pin"})  # signals that are a person's request: they pass every filter


class Gate(NamedTuple):
    """The condition for learning from sessions of one kind, and a limit.

    For example, a build session must have passed its checks. `most` is the number of memories that one session may add.
    """

    most: int
    words: str  # describes the condition
    outcomes: frozenset[str] | None = None  # outcomes that open it; None: any except "abandoned"


GATES: Final[Mapping[str, Gate]] = MappingProxyType(
    {
        "build": Gate(20, "its checks passed", frozenset({"validated"})),
        "insights": Gate(5, "it ended"),
        "pr_review": Gate(8, "the review was completed", frozenset({"validated", "accepted", "failed", ""})),
        "roadmap": Gate(3, "it ended"),
        "terminal": Gate(3, "it ended"),
        "spec": Gate(3, "it was accepted", frozenset({"accepted", "validated"})),
        "changelog": Gate(0, "a changelog only repeats known changes"),
    }
)
_ENDS: Final = frozenset({"validated", "accepted", "failed", ""})


class Opened(NamedTuple):
    """The decision whether, and how many, memories may come from a session.

    If `is_open` is False, only dead ends (abandoned approaches), outcomes of tasks and a person's requests may be learnt. `most` is the
    limit.
    """

    is_open: bool
    most: int  # limit of memories
    why: str


def opened(info: SessionInfo, outcome: str | None = None) -> Opened:
    """Decide whether memories may be learnt from a session.

    Args:
        info: the session's information.
        outcome: the outcome of a unit of work (task); None to use the outcome of the whole session.
    """
    gate = GATES[info.kind]
    what = info.outcome if outcome is None else outcome
    if not gate.most:
        return Opened(False, 0, f"graphmem does not learn from {info.kind} sessions: {gate.words}")
    if what in (gate.outcomes if gate.outcomes is not None else _ENDS):
        return Opened(True, gate.most, f"a {info.kind} session: {gate.words}")
    came = f"its outcome was {what}" if what else "its outcome was not reported"
    return Opened(
        False,
        min(DEAD_ENDS, gate.most),
        f"graphmem learns from a {info.kind} session if {gate.words}; {came}, so only its dead ends become memories",
    )


# ---- points

POINTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "remember": 5,  # a person asked for it
        "pin": 5,
        "frequency": 3,  # seen in enough sessions, and the session's gate is open
        "early": 2,  # not in enough sessions, but conspicuous within its session
        "sessions": 2,  # in two or more sessions
        "resolved_error": 2,
        "agents": 1,  # two agents found it independently
        "important": 1,
        "contaminated": -2,  # its evidence includes external text: it must recur
    }
)
IMPORTANT: Final = 0.7


class Preset(NamedTuple):
    """The minimum points, importance and length of a memory to be learnt.

    A finding becomes a memory only if it reaches all three.
    """

    points: int
    importance: float
    length: int  # characters


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {"conservative": Preset(4, 0.40, 50), "balanced": Preset(3, 0.25, 30), "aggressive": Preset(2, 0.15, 20)}
)


def points(one: Finding, sessions: int, importance: float) -> dict[str, int]:
    """Return the points of a finding by criterion, such as {"remember": 5}.

    The table POINTS has all criteria with their points. Criteria that the finding does not meet are left out. `sessions` is the number of
    sessions with the finding, and `importance` the result of `score`.
    """
    row = SIGNALS.get(one.signal)
    often = one.quorum or sessions >= (row.min_sessions if row is not None else one.min_sessions)
    there = {
        "remember": one.signal == "remember",
        "pin": one.signal == "pin",
        "frequency": often,
        "early": one.early and not often,
        "sessions": sessions >= 2,
        "resolved_error": one.signal == "error_retry",
        "agents": one.quorum or len(one.agents) >= 2,
        "important": importance >= IMPORTANT,
        "contaminated": one.contaminated,
    }
    return {name: POINTS[name] for name, is_there in there.items() if is_there}


# ---- score


def score(value: float, sessions: int, min_sessions: int, trust: float) -> float:
    """Compute the importance of a finding, in [0, 1].

    The formula is 0.6 × `value` + 0.25 × min(1, `sessions` / (2 × `min_sessions`)) + 0.15 × `trust`. `value` is the value of the finding's
    signal (kind of finding), or the finding's priority if that is greater. `trust` is the trust in the memory's source.
    """
    seen = min(1.0, sessions / max(1, 2 * min_sessions))
    return round(0.6 * min(1.0, value) + 0.25 * seen + 0.15 * min(1.0, trust), 4)


def confidence(value: float, sessions: int, *, contaminated: bool) -> float:
    """Compute the confidence of a memory made from a finding.

    `value` is the value of the finding's signal (kind of finding), and `sessions` the number of sessions with the finding. The formula is
    0.4 + 0.3 × value + 0.05 × (sessions - 1), where at most four further sessions count. The result is at most 0.9. It is multiplied by 0.7
    if the finding is `contaminated` (may come from external text).
    """
    sure = min(0.9, 0.4 + 0.3 * min(1.0, value) + 0.05 * min(4, max(0, sessions - 1)))
    return round(sure * (CONTAMINATED if contaminated else 1.0), 4)


# ---- outcomes

OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "learnt": "became a memory",
        "withdrawn": "was learnt too early: later sessions do not support it",
        "echo": "repeats a memory that the session was shown",
        "gate_closed": "the session does not meet the condition for learning, such as passed checks",
        "failed_approach": "belongs to an abandoned approach",
        "too_rare": "was not seen in enough sessions yet",
        "known": "is already known from a memory",
        "taken_back": "was rejected by a person before",
        "weak": "has too little evidence",
        "over_cap": "is over the session's limit; other findings are more important",
        "refused": "cannot be stored as a memory",
    }
)


def counted(outcomes: Collection[str]) -> dict[str, int]:
    """Count the findings with each outcome, such as {"learnt": 3}.

    `outcomes` has the outcome of each finding. The keys of the result are in the order of OUTCOMES. Outcomes that do not occur are left
    out.
    """
    listed = list(outcomes)
    return {name: listed.count(name) for name in OUTCOMES if name in listed}
