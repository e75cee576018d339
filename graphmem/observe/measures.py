"""Counts of a session, for comparing sessions with and without memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from graphmem.observe.wording import approach_key

if TYPE_CHECKING:
    from graphmem.observe.model import SessionRecord

SHOWN: Final = 500  # memories of one session


def measured(record: SessionRecord) -> dict[str, Any]:
    """Count the events of one session, in a form for JSON.

    Returns:
        Numbers of tool calls, tasks (units of work, at least one), files read, repeated reads, checks (command lines of tests) and checks
        that never failed. Also the keys of dead ends, the ids of memories that the session was shown, the phase of work in which each was
        shown, and the ids of memories that the session used.
    """
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
        "shown": list(record.injected[:SHOWN]),
        "in_phases": in_phases,
        "used": [one for one in record.used if one in in_phases],
    }


def share(part: float, whole: float) -> float | None:
    """Return `part / whole`, rounded to four places; None if `whole` is 0."""
    return round(part / whole, 4) if whole else None


def summed(bodies: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Sum the counts of several sessions."""
    total: dict[str, float] = dict.fromkeys(("calls", "tasks", "reads", "rereads", "checks", "clean", "dead_ends", "again"), 0)
    for body in bodies:
        for name in total:
            total[name] += len(body[name]) if name == "dead_ends" else body[name]
    return total
