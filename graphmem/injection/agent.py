"""A background thread that prepares memories for a session's next turn.

`update` returns at once. The thread embeds the context of the conversation, which is its last messages. The thread compares the context
with the previous one and looks for memories. If the similarity of the two contexts is below 0.3, a new topic starts. Within a topic, each
memory is shown once. Memories may be shown again after a change of topic, and after every 50 turns. An optional check by a language model
runs in separate threads. So a slow model does not delay the contexts of other sessions.
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
from graphmem.injection.items import RULE
from graphmem.injection.recent_sessions import MOST_WINDOWS, RecentSessions

NEW_TOPIC: Final = 0.3  # similarity of two contexts below which the topic has changed
MIN_SIMILARITY: Final = 0.4  # minimum similarity of a candidate
MAX_CANDIDATES: Final = 10
TURNS: Final = 50  # turns after which the list of shown memories is cleared
MAX_CONTEXT: Final = 4_000  # characters of the last messages that are compared
CHECK_S: Final = 2.0  # seconds for the relevance check, counted from the search; after that no candidate is dropped
_CHECKS: Final = 4  # parallel checks

_log = logging.getLogger(__name__)


class Context(NamedTuple):
    """Context of a conversation: last messages, open files, phase and session."""

    text: str  # the last messages, the newest last
    files: tuple[str, ...] = ()  # open files, relative to the root
    phase: str = ""
    session: str = ""


class Candidate(NamedTuple):
    """A memory that may be shown, with its similarity to the conversation."""

    id: str
    similarity: float


Check = Callable[[Context, Sequence[Candidate], float], list[Candidate]]
"""Return the candidates worth showing, in their order, before a `time.monotonic` deadline. Raise GraphMemError if the check
cannot be done.
"""


class Ready(NamedTuple):
    """Memories that were prepared for the next turn of a session.

    A language model may check whether the memories are relevant. If no check was made, `note` says why.
    """

    found: list[Candidate]  # not yet shown, best first
    note: str  # why the candidates were not checked; "" if they were


class Looking(Protocol):
    """Interface through which the background thread searches a project."""

    def vector(self, text: str) -> Sequence[float] | None:
        """Return a message's vector of unit length; None without a model."""

    def words(self, text: str) -> Sequence[str]:
        """Return a message's normalised words, to compare topics without a model."""

    def candidates(self, context: Context, vector: Sequence[float] | None) -> list[Candidate]:
        """Return memories that fit a conversation, best first."""


@dataclass(slots=True)
class SessionState:
    """State of one session: its topic, and its shown and prepared memories."""

    shown: dict[str, set[str]] = field(default_factory=dict)  # window -> ids
    shown_ever: set[str] = field(default_factory=set)
    turns: int = 0
    topics: int = 1
    vector: Sequence[float] | None = None
    words: Counter[str] = field(default_factory=Counter)
    ready: list[Candidate] = field(default_factory=list)
    ready_turn: int = 0
    note: str = ""  # of the prepared candidates
    phase: str = ""
    files: tuple[str, ...] = ()

    def seen(self, window: str = "") -> set[str]:
        """Return the ids of the memories that a context window was shown.

        `window` is the window of a subagent, or "" for the main agent's. Ids that the caller adds to the set are kept.
        """
        return self.shown.setdefault(window, set())


class ContextAgent:
    """Prepares memories in the background for the sessions of one project.

    All sessions share one thread. If several contexts of a session wait, only the newest is processed.

    Args:
        looking: finds memories.
        on_ready: called after each processed context, with the session and the number of prepared memories.
        check: drops irrelevant memories with a language model. If the check fails or exceeds its time limit, all memories are kept, and the
            result of `take` has a note about it.
        check_s: time limit of the check in seconds.
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
        self._sessions = RecentSessions(SessionState)
        self._waiting: OrderedDict[str, tuple[int, Context]] = OrderedDict()
        self._busy = 0  # contexts being processed
        self._closed = False
        self._thread: threading.Thread | None = None

    def begin(self, session: str) -> None:
        """Start a session; if it exists already, its state is dropped first.

        The state includes the memories that were shown to the session.
        """
        with self._lock:
            self._sessions.pop(session, None)
            self._waiting.pop(session, None)
            self._sessions.use(session)

    def end(self, session: str) -> int:
        """End a session; return the number of memories that it was shown."""
        with self._lock:
            self._waiting.pop(session, None)
            state = self._sessions.pop(session, None)
            return len(state.shown_ever) if state is not None else 0

    def update(self, session: str, context: Context) -> int:
        """Queue a session's new context to be processed in the background.

        The call does not wait. The result is the number of the session's turn, from 1.
        """
        with self._work:
            state = self._sessions.use(session)
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
        """Remove and return the prepared memories of a session.

        A memory that was shown after it was prepared is left out.
        """
        with self._lock:
            state = self._sessions.use(session)
            ready, state.ready = [one for one in state.ready if one.id not in state.seen()], []
            return Ready(ready, state.note)

    def open_window(self, session: str, window: str, *, inherits: bool) -> None:
        """Begin the context window of a subagent.

        If `inherits` is true, the subagent has the conversation of the main agent, and with it the memories that the main agent was shown.
        """
        with self._lock:
            state = self._sessions.use(session)
            state.shown.pop(window, None)
            while len(state.shown) > MOST_WINDOWS:
                state.shown.pop(next(one for one in state.shown if one))
            state.shown[window] = set(state.seen()) if inherits else set()

    def shown(self, session: str, window: str = "") -> frozenset[str]:
        """Return ids of the memories that a context window of a session was shown.

        A memory in the result should not be shown to the window again. At a change of topic, only rules stay in the main agent's window.
        All windows are emptied after every 50 turns.
        """
        with self._lock:
            return frozenset(self._sessions.use(session).seen(window))

    def show(self, session: str, ids: Sequence[str], window: str = "") -> None:
        """Record that a context window of a session was shown some memories."""
        with self._lock:
            state = self._sessions.use(session)
            state.seen(window).update(ids)
            state.shown_ever.update(ids)

    def was_shown(self, memory_id: str) -> list[str]:
        """Return names of open sessions that were shown a memory, sorted."""
        with self._lock:
            return sorted(name for name, state in self._sessions.items() if memory_id in state.shown_ever)

    def phase(self, session: str) -> str:
        """Return the last phase of work that a session reported."""
        with self._lock:
            return self._sessions.use(session).phase

    def topics(self, session: str) -> int:
        """Return the number of topics that a session has had, at least 1."""
        with self._lock:
            return self._sessions.use(session).topics

    def settle(self, timeout_s: float) -> bool:
        """Wait until the queued contexts of all sessions are processed.

        The result is False if this takes longer than `timeout_s`.
        """
        deadline = time.monotonic() + timeout_s
        with self._work:
            while self._waiting or self._busy:
                if not self._work.wait(max(0.0, deadline - time.monotonic())):
                    return False
            return True

    def close(self) -> None:
        """Stop the background thread and discard its current work."""
        with self._work:
            self._closed = True
            self._waiting.clear()
            self._work.notify_all()
            thread = self._thread
        if self._checks is not None:
            self._checks.shutdown(wait=False, cancel_futures=True)
        if thread is not None:
            thread.join(5.0)

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
            except GraphMemError as error:  # nothing is shown; the next context tries again
                goes_on = False
                _log.warning("no context for session %s: %s", session, error)
            except Exception:  # noqa: BLE001 -- no caller waits for this thread: log the fault and continue
                goes_on = False
                _log.exception("no context for session %s", session)
            if not goes_on:
                self._done()

    def _done(self) -> None:
        with self._work:
            self._busy -= 1
            self._work.notify_all()

    def _look(self, session: str, turn: int, context: Context) -> bool:
        """Search memories for a new context, and detect a change of topic.

        `turn` is the number of the context in its session. The result is True if the memories are not ready yet, because a language model
        checks them now.
        """
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
                    state.shown[""] = {one for one in state.seen() if one.startswith(RULE)}  # a rule is shown once a session
                    state.topics += 1
                state.vector, state.words = vector, words
            unseen = [one for one in found if one.id not in state.seen()]
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
            assert self._check is not None  # noqa: S101 - the pool exists only if there is a check
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
            ready = sum(one.id not in state.seen() for one in found)
        if self._on_ready is not None:
            self._on_ready(session, ready)


def similarity(one: tuple[Sequence[float] | None, Mapping[str, int]], other: tuple[Sequence[float] | None, Mapping[str, int]]) -> float:
    """Return the cosine of two contexts of a conversation.

    Each context is (vector or None, counts of words). If both contexts have vectors, and these have the same length, the vectors are
    compared. Otherwise the words are compared.
    """
    if one[0] is not None and other[0] is not None and len(one[0]) == len(other[0]):
        return math.fsum(float(a) * float(b) for a, b in zip(one[0], other[0], strict=True))
    product = sum(count * other[1].get(word, 0) for word, count in one[1].items())
    norms = math.sqrt(sum(count * count for count in one[1].values()) * sum(count * count for count in other[1].values()))
    return product / norms if norms else 0.0
