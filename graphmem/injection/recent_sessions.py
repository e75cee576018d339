"""Keep the state of sessions in memory, for recently used ones only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

MOST_SESSIONS: Final = 256
MOST_WINDOWS: Final = 64  # context windows of subagents in one session; the oldest is forgotten first

State = TypeVar("State")


class RecentSessions(OrderedDict[str, State], Generic[State]):
    """The state of each recently used session, by name. Not thread-safe.

    Args:
        new: makes the state of a session that begins.
        most: maximum number of sessions; the least recently used is dropped first.
    """

    def __init__(self, new: Callable[[], State], most: int = MOST_SESSIONS) -> None:
        super().__init__()
        self._new = new
        self._most = most

    def use(self, session: str) -> State:
        """Return a session's state, and mark the session as most recently used."""
        state = self.get(session)
        if state is None:
            state = self[session] = self._new()
            while len(self) > self._most:
                self.popitem(last=False)
        self.move_to_end(session)
        return state
