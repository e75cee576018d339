"""What is counted of a session so that groups of sessions can be compared: with memory put in front of the agent, and without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from graphmem.observe.wording import approach_key

if TYPE_CHECKING:
    from graphmem.observe.model import SessionRecord

SHOWN: Final = 500  # memories of one session


def measured(record: SessionRecord) -> dict[str, Any]:
    """Counts of one session, as JSON has them.

    Returns:
        calls of tools; tasks (units of work, at least one); files read and reads of a file that was read before; checks (command lines
        of tests) and those that never failed; keys of its dead ends; ids of memories it was shown; of those shown in a phase of work, the
        phase by id; and of those the ones it used.
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
    """One over the other, rounded to four places; None over nothing."""
    return round(part / whole, 4) if whole else None


def summed(bodies: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The counts of several sessions together."""
    total: dict[str, float] = dict.fromkeys(("calls", "tasks", "reads", "rereads", "checks", "clean", "dead_ends", "again"), 0)
    for body in bodies:
        for name in total:
            total[name] += len(body[name]) if name == "dead_ends" else body[name]
    return total
