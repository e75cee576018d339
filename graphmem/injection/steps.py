"""Decide whether to show one item between two steps of an agent.

Nothing is shown in the first four steps. Then the first matching trigger (reason to show an item) applies, in this order:

* A recently read or edited file has a warning (a trap, an error or a dead end) that was not shown yet.
* The session has recorded a memory since the last step.
* A memory answers one of the last 3 searches.

The lookup for a search runs when the search is reported, so that a step does not need a search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

from graphmem.injection.recent_sessions import RecentSessions

FIRST_STEP: Final = 5
MAX_GOTCHAS: Final = 4
MIN_CONFIDENCE: Final = 0.65
SEARCHES: Final = 3
_FILES: Final = 8  # recently touched files that are kept

FILE, LEARNT, SEARCH = "file", "learnt", "search"


class Trigger(NamedTuple):
    """Memories to show between two steps of an agent, and the reason why."""

    name: str  # file | learnt | search
    ids: list[str]  # of memories to show, best first
    why: str  # one sentence


@dataclass(slots=True)
class _Steps:
    """Recent actions of one session, from which its triggers are found.

    A trigger is a reason to show a memory between two tool calls (steps).
    """

    step: int = 0
    files: deque[str] = field(default_factory=lambda: deque(maxlen=_FILES))
    learnt: list[str] = field(default_factory=list)
    answers: deque[tuple[str, list[str]]] = field(default_factory=lambda: deque(maxlen=SEARCHES))


class StepTriggers:
    """Decides which memories a session is shown between two steps.

    A step is a tool call of the agent. Thread-safe.

    Args:
        traps: returns a file's active warnings (memories of the types in TRAPS), best first, as (id, confidence); see `Finder.traps`.
    """

    def __init__(self, traps: Callable[[str], Sequence[tuple[str, float]]]) -> None:
        self._traps = traps
        self._lock = Lock()
        self._sessions = RecentSessions(_Steps)

    def touched(self, session: str, path: str) -> None:
        """Record that a session read or edited a file."""
        with self._lock:
            files = self._sessions.use(session).files
            if path in files:
                files.remove(path)
            files.append(path)

    def searched(self, session: str, query: str, answers: Sequence[str]) -> None:
        """Record a search and the ids of memories that answer it."""
        with self._lock:
            self._sessions.use(session).answers.append((query, list(answers)))

    def learnt(self, session: str, ids: Sequence[str]) -> None:
        """Record memories that a session has just made.

        Nothing is recorded for a session without any recorded step or action.
        """
        with self._lock:
            if session in self._sessions:
                own = self._sessions.use(session).learnt
                own += [one for one in ids if one not in own]

    def passed(self, session: str) -> None:
        """Count a step of an agent, without looking for a reason to show an item.

        A step is a tool call. Call this instead of `step` if other context was already shown.
        """
        with self._lock:
            self._sessions.use(session).step += 1

    def forget(self, session: str) -> None:
        """Forget the actions of a session that ended or restarted."""
        with self._lock:
            self._sessions.pop(session, None)

    def step(self, session: str, shown: Collection[str], threshold: float) -> Trigger | None:
        """Count a step of an agent; return a reason to show memories, or None.

        A reason (trigger) names the memories to show. The first FIRST_STEP - 1 steps give None. Each trigger is returned once.

        Args:
            session: name of the session.
            shown: ids of the memories that were shown to the session within the current topic of the conversation.
            threshold: the lowest confidence of memories to show, from the trust level of the project. Traps (warnings about files) need
                at least MIN_CONFIDENCE, even if `threshold` is lower.
        """
        with self._lock:
            state = self._sessions.use(session)
            state.step += 1
            if state.step < FIRST_STEP:
                return None
            needed = max(threshold, MIN_CONFIDENCE)
            for path in reversed(state.files):  # the most recent first
                known = [one for one, confidence in self._traps(path) if confidence >= needed and one not in shown]
                if known:
                    state.files.remove(path)
                    return Trigger(FILE, known[:MAX_GOTCHAS], f"known about {path}")
            learnt = [one for one in state.learnt if one not in shown]
            state.learnt = learnt[MAX_GOTCHAS:]
            if learnt:
                return Trigger(LEARNT, learnt[:MAX_GOTCHAS], "recorded in this session")
            for place, (query, answers) in enumerate(reversed(state.answers)):
                unseen = [one for one in answers if one not in shown]
                if unseen:
                    del state.answers[len(state.answers) - 1 - place]
                    return Trigger(SEARCH, unseen[:1], f"answers the search {query!r}")
            return None
