"""Root fields of sessions: each parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

from typing import Any, Final, cast

import strawberry
from strawberry.scalars import JSON

from graphmem.answers import sessions as answers
from graphmem.api import types_sessions as types
from graphmem.api.complexity import assumed, sized_by
from graphmem.api.context import Info
from graphmem.api.describe import resolved
from graphmem.api.limits import at_most, no_more_than
from graphmem.api.types_sessions import SessionKind, SessionOutcome, SessionState

MOST_EVENTS: Final = 10_000  # in one request; the size of the body bounds them as well


@strawberry.type
class SessionQueries:
    """Questions about sessions."""

    @resolved(types.SessionPage | None, [sized_by("limit", "sessions")])
    @staticmethod
    async def sessions(info: Info, state: SessionState | None = None, limit: int = 50, offset: int = 0) -> answers.SessionPage:
        """Sessions, running ones first, then the newest."""
        wanted = state.value if state is not None else ""
        return await info.context.call(
            info.context.service.sessions, wanted, at_most(info.context.limits.results, "limit", limit), offset=offset
        )

    @resolved(types.SessionDetail | None)
    @staticmethod
    async def session(info: Info, id: str) -> answers.SessionDetail:  # noqa: A002 - the word of the domain
        """What was seen of a session so far, or in all."""
        return await info.context.call(info.context.service.session_detail, id)


@strawberry.type
class SessionMutations:
    """Telling what agents do. Nothing is written to the graph while a session runs."""

    @resolved(types.SessionStarted | None)
    @staticmethod
    async def start_session(
        info: Info,
        id: str | None = None,  # noqa: A002 - the word of the domain
        kind: SessionKind = SessionKind.TERMINAL,
        agent: str = "",
        parent: str = "",
        group: str = "",
        work_unit: str = "",
        phase: str = "",
        methodology: str = "",
        title: str = "",
        planned_steps: int | None = None,
        branch: str = "",
        commit_sha: str = "",
        cwd: str = "",
    ) -> answers.SessionStarted:
        """Begin a session, or go on with the one of that id; a `parent` makes it start from all that one knows."""
        told: dict[str, Any] = {
            "kind": kind.value,
            "agent": agent,
            "parent": parent,
            "group": group,
            "work_unit": work_unit,
            "phase": phase,
            "methodology": methodology,
            "title": title,
            "planned_steps": planned_steps,
            "branch": branch,
            "commit_sha": commit_sha,
            "cwd": cwd,
        }
        return await info.context.call(info.context.service.start_session, id, **told)

    @resolved(types.ObserveAnswer | None, [assumed(1)])
    @staticmethod
    async def observe(info: Info, events: list[JSON], session: str = "") -> answers.ObserveAnswer:
        """Tell what happened: events as objects with `session_id`, `step`, `at`, `kind`, `tool`, `args`, `ok`, `text`, `tokens`.

        They are plain JSON so that one that cannot be meant costs itself alone: it is counted in `ignored`.
        """
        taken = no_more_than(MOST_EVENTS, "events", cast("list[str]", events))
        return await info.context.call(info.context.service.observe, cast("list[dict[str, Any]]", taken), session)

    @resolved(types.SessionEnded | None)
    @staticmethod
    async def end_session(
        info: Info,
        id: str,  # noqa: A002 - the word of the domain
        outcome: SessionOutcome | None = None,
        learn: bool = True,
    ) -> answers.SessionEnded:
        """End a session and learn from it. Twice is once."""
        came = outcome.value if outcome is not None else ""
        return await info.context.wait_for(info.context.service.end_session, id, came, learn)
