"""Count events of a session, to measure the effect of memories.

Sessions that are shown memories are compared with sessions that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

from graphmem.observe.texts.wording import approach_key

if TYPE_CHECKING:
    from graphmem.observe.model import SessionRecord

SHOWN: Final = 500  # memories of one session
WEEKS: Final = 8  # of the trend


class Measures(TypedDict):
    """Counts of tokens, reads, checks and other events of a session, for JSON.

    A check is a command line that runs tests.
    """

    calls: int  # of tools
    tasks: int  # at least 1
    reads: int  # of files
    rereads: int  # of files that were already read
    checks: int
    clean: int  # checks of which no run failed
    dead_ends: list[str]  # hashes of abandoned approaches
    injected_tokens: int  # of memories that the agent was shown
    read_tokens: int  # of files that it read
    shown: list[str]  # ids of the memories that it was shown
    in_phases: dict[str, str]  # id of a shown memory -> phase of work in which it was first shown
    used: list[str]  # ids of shown memories that it used


def measured(record: SessionRecord) -> Measures:
    """Count tokens, reads, checks and other events of a session."""
    in_phases = {one: record.shown_in[one] for one in record.injected[:SHOWN] if one in record.shown_in}
    checks = [one for one in record.commands if one.action == "test"]
    return {
        "calls": sum(record.tools.values()),
        "tasks": max(1, len(record.units)),
        "reads": sum(one.reads for one in record.files),
        "rereads": sum(one.reads - 1 for one in record.files if one.reads > 1),
        "checks": len(checks),
        "clean": sum(not one.failures for one in checks),
        "dead_ends": [approach_key(one.approach) for one in record.dead_ends],
        "injected_tokens": record.injected_tokens,
        "read_tokens": sum(one.tokens for one in record.files),
        "shown": list(record.injected[:SHOWN]),
        "in_phases": in_phases,
        "used": [one for one in record.used if one in in_phases],
    }


class Cost(NamedTuple):
    """Tokens that shown memories cost, and tokens of file reads they saved."""

    sessions: int  # whose tokens were counted
    injected_tokens: int
    injected_per_session: float | None
    control_sessions: int
    saved_per_session: float | None  # read tokens of a control session, less read and injected tokens of another; None without both


def cost(controlled: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]) -> Cost:
    """Compute the tokens that memories cost, and those that they save.

    The cost is the tokens of the shown memories. For the saved tokens of an average session, the tokens of files read with and without
    memories are compared, and the cost is subtracted. Sessions recorded by an earlier version, without counts of tokens, are left out.

    Args:
        controlled: counts of the sessions that were shown no memories.
        others: counts of all other sessions.
    """
    control, rest = ([one for one in bodies if "injected_tokens" in one] for bodies in (controlled, others))
    injected, count = sum(one["injected_tokens"] for one in rest), len(rest)
    saved = None
    if control and rest:
        without = sum(one["read_tokens"] for one in control) / len(control)
        saved = round(without - (sum(one["read_tokens"] for one in rest) + injected) / count, 1)
    return Cost(count + len(control), injected, round(injected / count, 1) if rest else None, len(control), saved)


class Week(NamedTuple):
    """Tokens that shown memories cost and saved in the sessions of one week."""

    monday: date
    sessions: int  # that were shown memories
    injected_per_session: float
    saved_per_session: float | None  # against the control sessions of all weeks; None without them


def by_week(controlled: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]) -> list[Week]:
    """Compute, for each of the last WEEKS weeks, what memories cost and saved.

    Only weeks with sessions count; the oldest comes first. The arguments are those of `cost`. The sessions in `others` that ended in a week
    are compared with all sessions in `controlled`, of any week.
    """
    control = [one for one in controlled if "injected_tokens" in one]
    weeks: dict[date, list[Mapping[str, Any]]] = {}
    for one in others:
        if "injected_tokens" in one:
            day = datetime.fromtimestamp(one["at"], UTC).date()
            weeks.setdefault(day - timedelta(days=day.weekday()), []).append(one)
    found = []
    for monday in sorted(weeks)[-WEEKS:]:
        told = cost(control, weeks[monday])
        found.append(Week(monday, len(weeks[monday]), told.injected_per_session or 0.0, told.saved_per_session))
    return found


def share(part: float, whole: float) -> float | None:
    """Return `part / whole`, rounded to four places; None if `whole` is 0."""
    return round(part / whole, 4) if whole else None


def summed(bodies: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Add up counts of several sessions; return the sums by name.

    `bodies` has the counts of each session, by names such as "reads".
    """
    total: dict[str, float] = dict.fromkeys(("calls", "tasks", "reads", "rereads", "checks", "clean", "dead_ends", "again"), 0)
    for body in bodies:
        for name in total:
            total[name] += len(body[name]) if name == "dead_ends" else body[name]
    return total
