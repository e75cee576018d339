"""Infer the phase of work of a session from the tools it uses.

Reading and searching is `explore`. An edit begins `implement`, and a test after an edit begins `validate`. After LOOKS reads or searches in
a row, the phase is `explore` again. Before the first tool call, the phase is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Final

from graphmem.injection.recent_sessions import RecentSessions

LOOKS: Final = 6  # reads and searches in a row after which a session explores again
_SESSIONS: Final = 1_000
_LOOKING: Final = frozenset({"read", "search", "list", "web"})


@dataclass(slots=True)
class _Session:
    phase: str = ""
    looks: int = 0  # reads and searches in a row
    edited: bool = False


class WorkPhases:
    """Phases of work of the running sessions. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sessions = RecentSessions(_Session, _SESSIONS)

    def acted(self, session: str, action: str) -> None:
        """Record that an agent read, edited or ran something in a session.

        `action` is one of the values of `tools.TOOLS`, such as "read".
        """
        with self._lock:
            state = self._sessions.use(session)
            if action in _LOOKING:
                state.looks += 1
                if not state.phase or state.looks >= LOOKS:
                    state.phase = "explore"
            elif action == "edit":
                state.phase, state.looks, state.edited = "implement", 0, True
            elif action == "test":
                state.phase, state.looks = "validate" if state.edited else state.phase or "explore", 0

    def of(self, session: str) -> str:
        """Return the phase of work of a session; "" before its first tool."""
        with self._lock:
            state = self._sessions.get(session)
            return state.phase if state is not None else ""

    def end(self, session: str) -> None:
        """Forget the phase of a session that ended."""
        with self._lock:
            self._sessions.pop(session, None)
