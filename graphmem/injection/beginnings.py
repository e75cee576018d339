"""Record the first message of each session, and context that was late."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from graphmem.injection.recent_sessions import MOST_SESSIONS

MOST_FIRST: Final = 1_000  # sessions that are remembered to have sent a message


class Beginnings:
    """Sessions that sent no message yet, or lack the context of their start.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._first: OrderedDict[str, None] = OrderedDict()  # sessions that have sent their first message
        self._late: OrderedDict[str, None] = OrderedDict()  # sessions that were not shown the context of their start
        self._lock = Lock()

    def begin(self, session: str) -> None:
        """Record that a session begins or restarts.

        The next message of the session is then its first one.
        """
        with self._lock:
            self._first.pop(session, None)

    def end(self, session: str) -> None:
        """Forget a session that ended."""
        with self._lock:
            self._first.pop(session, None)
            self._late.pop(session, None)

    def is_first_message(self, session: str) -> bool:
        """Record a message of a session; return whether it is the first one."""
        with self._lock:
            first = session not in self._first
            self._first[session] = None
            self._first.move_to_end(session)
            while len(self._first) > MOST_FIRST:
                self._first.popitem(last=False)
            return first

    def note_start(self, session: str, point: str, *, is_late: bool) -> None:
        """Record whether a session was shown the context of its start in time.

        `point` is the moment of the answer, and `is_late` says whether the answer missed its deadline. If the start was late, its context
        is shown with the next message.
        """
        with self._lock:
            if point in ("start", "prompt") and not is_late:
                self._late.pop(session, None)
        if point == "start" and is_late and session:
            self.owe_start(session)

    def owe_start(self, session: str) -> None:
        """Record that a session still has to be shown the context of its start."""
        with self._lock:
            self._late[session] = None
            while len(self._late) > MOST_SESSIONS:
                self._late.popitem(last=False)

    def owes_start(self, session: str) -> bool:
        """Whether the context of a session's start was not shown in time."""
        with self._lock:
            return session in self._late
