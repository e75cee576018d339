"""Memories that words of strangers had a part in: where those words came from, and how long they wait for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from graphmem.knowledge import LearntRow, SessionRow

if TYPE_CHECKING:
    from graphmem.memory.write import Plan

PAGE: Final = "page"  # kind of the session row that stands for what brought words of strangers
PAGES: Final = 20  # of one memory that are named
AGENTS: Final = frozenset({"agent_explicit", "mcp_auto", "qa_auto", "observer_inferred"})  # sources that say what an agent says
NAMED: Final = 3  # in a note


def page_row(page: str, at: datetime) -> SessionRow:
    """What stands for a page, a tool or a file of strangers; `retract` takes back all that came from it."""
    return SessionRow(page, "", PAGE, page, at, None, "", "", None)


def with_sources(plan: Plan, brought: Mapping[int, Sequence[str]], at: datetime) -> Plan:
    """A plan whose new memories name where words of strangers came from.

    Args:
        plan: of a write.
        brought: by place among the plan's results, what brought them.
        at: the present.
    """
    sessions = {one.id: one for one in plan.delta.sessions}
    learnt = {(one.memory_id, one.session_id): one for one in plan.delta.learnt}
    held = {row.id for row in plan.delta.memories if row.contaminated}
    for place, pages in brought.items():
        one = plan.results[place].id
        for page in pages[:PAGES] if one in held else ():
            sessions.setdefault(page, page_row(page, at))
            learnt.setdefault((one, page), LearntRow(one, page, 0, 0))
    delta = plan.delta._replace(sessions=[sessions[one] for one in sorted(sessions)], learnt=[learnt[key] for key in sorted(learnt)])
    return plan._replace(delta=delta)


def said(brought: Sequence[str]) -> str:
    """What is answered to whoever wanted such a memory kept."""
    more = f" and {len(brought) - NAMED} more" if len(brought) > NAMED else ""
    return f"words of strangers are in the session ({', '.join(brought[:NAMED])}{more}): it is shown to no agent until a person reviews it"
