"""The background memory agent: told what a conversation is about, it has what is known of it ready for the next turn.

`update` returns at once; a thread embeds the context, compares it with the last one, and looks for memories. Similarity under 0.3 is a new
topic: what was shown before may be shown again. The same after 50 turns and in a new session. Nothing is shown twice within a topic.
A check by a language model, when there is one, runs in threads of its own, so that a slow model holds up no other session's context.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from graphmem.errors import GraphMemError

NEW_TOPIC: Final = 0.3  # similarity of two contexts below which the topic has changed
MIN_SIMILARITY: Final = 0.4  # of a candidate
MAX_CANDIDATES: Final = 10
TURNS: Final = 50  # after which what was shown is forgotten
MAX_SESSIONS: Final = 256  # that are remembered; the one untouched longest goes first
MAX_CONTEXT: Final = 4_000  # characters of the last messages that say what it is about
CHECK_S: Final = 2.0  # for a check of what was found, from the moment it was found; past it nothing is dropped
_CHECKS: Final = 4  # at once

_log = logging.getLogger(__name__)


class Context(NamedTuple):
    """What a conversation is about now."""

    text: str  # of the last messages, the newest last
    files: tuple[str, ...] = ()  # from the root, that are open
    phase: str = ""


class Candidate(NamedTuple):
    """A memory that fits, and how well."""

    id: str
    similarity: float


Check = Callable[[Context, Sequence[Candidate], float], list[Candidate]]
"""Which of some candidates are worth showing, in their order, told by when on the clock of `time.monotonic`; raises GraphMemError when it
cannot tell."""


class Ready(NamedTuple):
    """What was made ready for a session."""

    found: list[Candidate]  # not shown yet, best first
    note: str  # "" or why it was not checked


class Looking(Protocol):
    """What the agent needs of a project."""

    def vector(self, text: str) -> Sequence[float] | None:
        """Of unit length; None without a model."""

    def words(self, text: str) -> Sequence[str]:
        """Normalised words, for topics where there is no model."""

    def candidates(self, context: Context, vector: Sequence[float] | None) -> list[Candidate]:
        """Memories that fit, best first."""


@dataclass(slots=True)
class SessionState:
    """What is remembered of one session."""

    shown: set[str] = field(default_factory=set)
    shown_ever: set[str] = field(default_factory=set)
    turns: int = 0
    topics: int = 1
    vector: Sequence[float] | None = None
    words: Counter[str] = field(default_factory=Counter)
    ready: list[Candidate] = field(default_factory=list)
    ready_turn: int = 0
    note: str = ""  # of what is ready
    phase: str = ""
    files: tuple[str, ...] = ()


class ContextAgent:
    """One for a project; all of its sessions share one thread, in which the newest context of each session counts.

    Args:
        looking: finds memories.
        on_ready: told the session and how many candidates there are when a context was worked through.
        check: of what was found, by a language model. When it fails or is late, all of it is ready, and `take` says so.
        check_s: seconds it may take.
    """

    def __init__(
        self,
        looking: Looking,
        on_ready: Callable[[str, int], None] | None = None,
        check: Check | None = None,
        check_s: float = CHECK_S,
    ) -> None:
        self._looking = looking
        self._on_ready = on_ready
        self._check = check
        self._check_s = check_s
        self._checks = ThreadPoolExecutor(_CHECKS, thread_name_prefix="graphmem-relevance") if check is not None else None
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._sessions: OrderedDict[str, SessionState] = OrderedDict()
        self._waiting: OrderedDict[str, tuple[int, Context]] = OrderedDict()
        self._busy = 0  # contexts that are being worked through
        self._closed = False
        self._thread: threading.Thread | None = None

    def begin(self, session: str) -> None:
        """A new session: nothing was shown yet, whatever a session of this name was shown before."""
        with self._lock:
            self._sessions.pop(session, None)
            self._waiting.pop(session, None)
            self._state(session)

    def end(self, session: str) -> int:
        """A session is over; returns how many memories it was shown."""
        with self._lock:
            self._waiting.pop(session, None)
            state = self._sessions.pop(session, None)
            return len(state.shown_ever) if state is not None else 0

    def update(self, session: str, context: Context) -> int:
        """Say what the conversation is about; returns the number of the turn at once."""
        with self._work:
            state = self._state(session)
            state.turns += 1
            if state.turns % TURNS == 0:
                state.shown.clear()
            state.phase, state.files = context.phase, context.files
            self._waiting[session] = (state.turns, context._replace(text=context.text[-MAX_CONTEXT:]))
            if self._thread is None and not self._closed:
                thread = threading.Thread(target=self._run, name="graphmem-context", daemon=True)
                thread.start()
                self._thread = thread
            self._work.notify_all()
            return state.turns

    def take(self, session: str) -> Ready:
        """What is ready and was not shown yet; it is not ready any more."""
        with self._lock:
            state = self._state(session)
            ready, state.ready = [one for one in state.ready if one.id not in state.shown], []
            return Ready(ready, state.note)

    def shown(self, session: str) -> frozenset[str]:
        """Ids of what was shown within the topic."""
        with self._lock:
            return frozenset(self._state(session).shown)

    def show(self, session: str, ids: Sequence[str]) -> None:
        """These were shown now."""
        with self._lock:
            state = self._state(session)
            state.shown.update(ids)
            state.shown_ever.update(ids)

    def was_shown(self, memory_id: str) -> list[str]:
        """Sessions that were shown a memory and are not over, ascending."""
        with self._lock:
            return sorted(name for name, state in self._sessions.items() if memory_id in state.shown_ever)

    def phase(self, session: str) -> str:
        """Of work, as it was last said."""
        with self._lock:
            return self._state(session).phase

    def topics(self, session: str) -> int:
        """Topics so far, from 1."""
        with self._lock:
            return self._state(session).topics

    def settle(self, timeout_s: float) -> bool:
        """Wait until every context that was told is worked through; False when that takes longer."""
        deadline = time.monotonic() + timeout_s
        with self._work:
            while self._waiting or self._busy:
                if not self._work.wait(max(0.0, deadline - time.monotonic())):
                    return False
            return True

    def close(self) -> None:
        """End the thread; what it works on is thrown away."""
        with self._work:
            self._closed = True
            self._waiting.clear()
            self._work.notify_all()
            thread = self._thread
        if self._checks is not None:
            self._checks.shutdown(wait=False, cancel_futures=True)
        if thread is not None:
            thread.join(5.0)

    def _state(self, session: str) -> SessionState:
        """The state of a session, made when it is new; the caller holds the lock."""
        state = self._sessions.get(session)
        if state is None:
            state = self._sessions[session] = SessionState()
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(session)
        return state

    def _run(self) -> None:
        while True:
            with self._work:
                while not self._waiting and not self._closed:
                    self._work.wait()
                if self._closed:
                    return
                session, (turn, context) = self._waiting.popitem(last=False)
                self._busy += 1
            try:
                goes_on = self._look(session, turn, context)
            except GraphMemError as error:  # nothing is shown; the next context is another try
                goes_on = False
                _log.warning("no context for session %s: %s", session, error)
            except Exception:  # noqa: BLE001 -- a thread nobody waits for: the fault is said, the agent goes on
                goes_on = False
                _log.exception("no context for session %s", session)
            if not goes_on:
                self._done()

    def _done(self) -> None:
        with self._work:
            self._busy -= 1
            self._work.notify_all()

    def _look(self, session: str, turn: int, context: Context) -> bool:
        """Find what fits; True when a check goes on with it."""
        vector = self._looking.vector(context.text) if context.text.strip() else None
        words = Counter(self._looking.words(context.text))
        found = [one for one in self._looking.candidates(context, vector) if one.similarity >= MIN_SIMILARITY][:MAX_CANDIDATES]
        with self._lock:
            state = self._sessions.get(session)
            if state is None:
                return False
            before = (state.vector, state.words)
            if context.text.strip():
                if (state.vector is not None or state.words) and similarity(before, (vector, words)) < NEW_TOPIC:
                    state.shown.clear()
                    state.topics += 1
                state.vector, state.words = vector, words
            unseen = [one for one in found if one.id not in state.shown]
        if self._checks is not None and unseen:
            until = time.monotonic() + self._check_s
            try:
                self._checks.submit(self._checked, session, turn, context, unseen, until)
            except RuntimeError:  # closing
                return False
            return True
        self._make_ready(session, turn, unseen, "")
        return False

    def _checked(self, session: str, turn: int, context: Context, found: list[Candidate], until: float) -> None:
        note = ""
        try:
            assert self._check is not None  # noqa: S101 - there are threads for it only when there is one
            found = self._check(context, found, until)
        except GraphMemError as error:
            note = f"not checked for relevance: {error.message}"
        except Exception:  # noqa: BLE001 -- as above
            _log.exception("no check of the context of session %s", session)
            note = "not checked for relevance: the check failed, see the log"
        try:
            self._make_ready(session, turn, found, note)
        finally:
            self._done()

    def _make_ready(self, session: str, turn: int, found: list[Candidate], note: str) -> None:
        with self._lock:
            state = self._sessions.get(session)
            if state is None or turn < state.ready_turn:
                return
            state.ready, state.ready_turn, state.note = found, turn, note
            ready = sum(one.id not in state.shown for one in found)
        if self._on_ready is not None:
            self._on_ready(session, ready)


def similarity(one: tuple[Sequence[float] | None, Mapping[str, int]], other: tuple[Sequence[float] | None, Mapping[str, int]]) -> float:
    """Cosine of two contexts: of their vectors, or of their words where one has no vector."""
    if one[0] is not None and other[0] is not None and len(one[0]) == len(other[0]):
        return math.fsum(float(a) * float(b) for a, b in zip(one[0], other[0], strict=True))
    product = sum(count * other[1].get(word, 0) for word, count in one[1].items())
    norms = math.sqrt(sum(count * count for count in one[1].values()) * sum(count * count for count in other[1].values()))
    return product / norms if norms else 0.0
