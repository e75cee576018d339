"""Tasks that agents gave to subagents which have not started yet.

An agent names the task when it calls the tool that starts a subagent. The event of the subagent's start does not name it.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from graphmem.hooks.agents import Delegation
from graphmem.injection.recent_sessions import RecentSessions

MOST_OPEN: Final = 32  # tasks of one session; the oldest is forgotten first, such as one whose subagent a person refused
NO_TASK: Final = Delegation("", "", inherits=False)


class Delegations:
    """The open tasks of each session, in the order in which they were given.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._sessions: RecentSessions[list[Delegation]] = RecentSessions(list)

    def give(self, session: str, task: Delegation) -> None:
        """Record a task for a subagent that will start."""
        with self._lock:
            tasks = self._sessions.use(session)
            tasks.append(task)
            del tasks[:-MOST_OPEN]

    def take(self, session: str, kind: str) -> Delegation:
        """Remove and return the task of a subagent that starts.

        It is the oldest task for this kind of subagent, or else the oldest for a subagent of unnamed kind. Without such a task, the result
        has an empty task.
        """
        with self._lock:
            tasks = self._sessions.use(session)
            for wanted in (kind, ""):
                for place, one in enumerate(tasks):
                    if one.kind == wanted:
                        return tasks.pop(place)
            return NO_TASK._replace(inherits=kind == "fork")

    def forget(self, session: str) -> None:
        """Forget the tasks of a session that ended or restarted."""
        with self._lock:
            self._sessions.pop(session, None)
