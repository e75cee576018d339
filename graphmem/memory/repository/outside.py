"""Record the outside text that influenced memories, for their review.

Such text comes from web pages, tools or files. A memory that it influenced is called contaminated and waits until a person reviews it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from graphmem.knowledge import LearntRow, SessionRow

if TYPE_CHECKING:
    from graphmem.memory.repository.plan import Plan

PAGE: Final = "page"  # kind of the session row that represents a source of outside text
PAGES: Final = 20  # sources named by one memory
AGENTS: Final = frozenset({"agent_explicit", "mcp_auto", "qa_auto", "observer_inferred"})  # sources that report an agent's words
NAMED: Final = 3  # in a note


def page_row(page: str, at: datetime) -> SessionRow:
    """Make a row that records a page, tool or file as a source of memories.

    `page` is its address or name, and `at` the current time. The source is stored like a session. So `retract` can remove every memory that
    came from it.
    """
    return SessionRow(page, "", PAGE, page, at, None, "", "", None)


def with_sources(plan: Plan, brought: Mapping[int, Sequence[str]], at: datetime) -> Plan:
    """Add the sources of outside text to the contaminated memories of a plan.

    Outside text comes from web pages, tools or files.

    Args:
        plan: the plan of a write.
        brought: maps an index in `plan.results` to the sources of the outside text that influenced the memory with this index.
        at: the current time.
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


def contamination_note(brought: Sequence[str]) -> str:
    """Return a note that a new memory is contaminated by outside text.

    The note is for the caller of the write, and names the first of the sources `brought`.
    """
    more = f" and {len(brought) - NAMED} more" if len(brought) > NAMED else ""
    return (
        f"the session contains text from outside ({', '.join(brought[:NAMED])}{more}): no agent sees the memory until a person reviews it"
    )
