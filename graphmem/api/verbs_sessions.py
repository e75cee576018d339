"""What this door needs of sessions: part of `graphmem.api.verbs.Service`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionEnded, SessionPage, SessionStarted


class SessionService(Protocol):
    """The verbs of `graphmem.service.sessions.SessionVerbs`."""

    def start_session(
        self,
        id: str | None = None,  # noqa: A002 - the word of the domain
        *,
        kind: str = "terminal",
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
    ) -> SessionStarted:
        """Begin a session, or go on with it."""

    def observe(self, events: Iterable[Mapping[str, Any]], session: str = "") -> ObserveAnswer:
        """Tell what happened."""

    def end_session(self, id: str, outcome: str = "", learn: bool = True) -> SessionEnded:  # noqa: A002
        """End a session and learn from it."""

    def sessions(self, state: str = "", limit: int = 50, offset: int = 0) -> SessionPage:
        """A page of sessions."""

    def session_detail(self, id: str) -> SessionDetail:  # noqa: A002
        """What was seen of a session."""
