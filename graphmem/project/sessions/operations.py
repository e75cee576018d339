"""Sessions of agents: start, observe, end and inspect them."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionEnded, SessionInfo, SessionPage, SessionStarted
from graphmem.errors import BadInputError, GraphMemError
from graphmem.knowledge import is_held
from graphmem.memory.files.user_book import USER
from graphmem.memory.repository import changes as changing
from graphmem.observe.learning.gates import UNITS
from graphmem.observe.learning.learner import WISH_TAGS
from graphmem.observe.learning.switch import OFF
from graphmem.observe.model import SESSION_KINDS
from graphmem.observe.running.events import MAX_BATCH
from graphmem.project.memories.user_memories import EVERYWHERE
from graphmem.project.sessions.session_answers import detail, row
from graphmem.security.access import caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from graphmem.answers import Receipt
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.learning.switch import LearningSwitch
    from graphmem.observe.model import SessionRecord
    from graphmem.observe.running.observer import Observer, Wish
    from graphmem.project.memories.user_memories import UserMemories
    from graphmem.project.sessions.session_learner import SessionLearner
    from graphmem.runtime.lazy import Lazy

MAX_PAGE: Final = 500
WISHER: Final = "person"  # actor in the audit for a request at the beginning of a prompt
log = logging.getLogger("graphmem.observe")


class Session:
    """A running session of an agent; see `Sessions.session`.

    Args:
        sessions: the sessions of the project.
        started: the answer of `start_session` for this session.
    """

    def __init__(self, sessions: Sessions, started: SessionStarted) -> None:
        self.id = started.id
        self.started = started
        self.outcome = ""
        self.receipt: Receipt | None = None  # set when it has ended
        self._sessions = sessions
        self._step = 0

    def observe(self, *events: Mapping[str, object]) -> ObserveAnswer:
        """Report events of this session, such as tool calls.

        An event without `step` begins a new step and gets the next step number.
        """
        told = []
        for event in events:
            if event.get("step") is None:
                self._step += 1
            told.append({"step": self._step, **event, "session_id": self.id})
        return self._sessions.observe(told)


@dataclass(eq=False, repr=False)
class Sessions:
    """Starts, observes, ends and lists sessions of agents.

    Nothing about a session is written to the graph before the session ends.
    """

    book: MemoryRepository
    observer: Lazy[Observer]
    learner: SessionLearner
    learn_from: Callable[[SessionRecord], Receipt]  # learns in the calling thread
    hear: Callable[[Sequence[Mapping[str, object]], str], object]  # reads events for uses of memories
    switch: LearningSwitch
    user: UserMemories

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
        """Start a session of an agent, or continue the session with the id `id`.

        Raises:
            BadInputError: the id, the kind or the parent is invalid.
        """
        if kind not in SESSION_KINDS:
            raise BadInputError(f"unknown kind of session {kind!r}; use one of {', '.join(SESSION_KINDS)}", argument="kind", value=kind)
        if planned_steps is not None and not 1 <= planned_steps <= 1_000_000:
            raise BadInputError(f"planned_steps is {planned_steps}; use 1 to 1,000,000", argument="planned_steps", value=planned_steps)
        told = {name: value for name, value in locals().items() if name not in ("self", "id") and value not in ("", None)}
        started = self.observer().start(id if id is not None else str(uuid.uuid4()), told)
        info = started.info
        return SessionStarted(info.id, started.resumed, info.kind, info.methodology, info.work_unit, info.phase, started.note)

    def observe(self, events: Iterable[Mapping[str, object]], session: str = "") -> ObserveAnswer:
        """Accept a batch of events, such as tool calls of an agent.

        An invalid event is counted, and the others are accepted. The first event of an unknown session starts the session. The event
        `session_end` ends the session. graphmem then learns from the session in the background. While learning is off, only `session_end`
        is accepted.

        Args:
            events: mappings with the fields of `observe.model.Event`, in any order; docs/observing.md has examples.
            session: the session of each event that does not name its session.
        """
        if isinstance(events, (str, bytes)) or not hasattr(events, "__iter__"):
            raise BadInputError(f"`events` has the type {type(events).__name__}; pass a list of session events", argument="events")
        observer = self.observer()
        self.learner.sweep_when_due()
        events = list(events)
        dropped = 0
        if not (learning := self.switch.now()).is_on:
            kept = [one for one in events if isinstance(one, Mapping) and one.get("kind") == "session_end"]
            dropped, events = len(events) - len(kept), kept
        self.hear(events[:MAX_BATCH], session)  # before a session ends
        seen = observer.observe(events, session)
        for wish in seen.wishes:
            self._keep_wish(wish)
        for record, unit in seen.units:
            if len(record.units) > UNITS:
                self.learner.learn_soon(record, unit)
        for record in seen.finished:
            if learning.state == OFF:
                observer.settled(record)
            else:
                self.learner.learn_soon(record, None)
        ignored = dict(seen.ignored) | ({"learning_off": dropped} if dropped else {})
        early = {one.key: None for named in seen.sessions for one in observer.early(named)} if len(seen.sessions) <= 8 else {}
        return ObserveAnswer(seen.taken, ignored, list(seen.sessions), [record.info.id for record in seen.finished], sorted(early))

    def end_session(self, id: str, outcome: str = "", learn: bool = True) -> SessionEnded:  # noqa: A002
        """End a session, and make memories from its findings. Idempotent.

        A finding is a pattern in the session's events. `outcome` says how the work ended, such as "validated". If `learn` is false, no
        memories are made.

        Raises:
            SessionNotFoundError: the session is unknown.
            BadInputError: the outcome is unknown.
            LedgerError, JournalError, DiskFullError: the session has ended and its record is kept; end the session again to learn from it.
        """
        self.hear([{"session_id": id, "kind": "session_end"}], "")
        record, ready = self.observer().end(id, outcome)
        receipt: Receipt | None = None
        note = ""
        if not learn:
            note = "nothing was learnt from it, as asked"
            self.observer().settled(record)
        elif ready:
            for one in ready:
                receipt = self.learn_from(one)
                self.observer().settled(one)
        elif not record.info.group:
            receipt = self.learn_from(record)  # already ended: return its receipt again, or finish the learning
            self.observer().settled(record)
        elif any(info.group == record.info.group for info, _, _ in self.observer().open_sessions()):
            note = f"agents of {record.info.group} still run; its findings are learnt when the last of them ends"
        else:
            note = f"its findings were learnt with those of the other agents of {record.info.group}"
        return SessionEnded(row(record, "ended"), receipt, note)

    def sessions(self, state: str = "", limit: int = 50, offset: int = 0) -> SessionPage:
        """List agents' sessions: running ones first, then the newest.

        The page has `limit` sessions, after `offset` others. The words of people are left out for a caller who may not see every memory,
        because a session has no owner.

        Raises:
            BadInputError: an argument is out of range.
        """
        if state not in ("", "running", "ended"):
            raise BadInputError(f"unknown state of a session {state!r}; use running or ended", argument="state", value=state)
        if not 1 <= limit <= MAX_PAGE:
            raise BadInputError(f"limit is {limit}; use 1 to {MAX_PAGE} sessions", argument="limit", value=limit)
        if offset < 0:
            raise BadInputError(f"offset, the number of sessions to skip, is {offset}; use 0 or more", argument="offset", value=offset)
        observer = self.observer()
        rows: list[SessionInfo] = []
        if state != "ended":
            rows += [row(observer.record(info.id), "running") for info, _, _ in observer.open_sessions()]
            rows.sort(key=lambda row: (row.started_at, row.id), reverse=True)
        if state != "running":
            rows += [row(record, "ended") for record in observer.records()]
        page = rows[offset : offset + limit]
        if not caller().sees_all:
            page = [replace(one, title="", work_unit="", branch="") for one in page]
        return SessionPage(page, len(rows))

    def session_detail(self, id: str) -> SessionDetail:  # noqa: A002
        """Return what was observed in one session.

        See `session_answers.detail`.

        Raises:
            SessionNotFoundError: the session is unknown.
        """
        return detail(self.observer().record(id))

    @contextmanager
    def session(self, id: str | None = None, **told: Any) -> Iterator[Session]:  # noqa: A002
        """Run a session for a `with` block; takes `start_session`'s arguments.

        At the end of the block, the session ends with the `outcome` that the block has set. If the block raises an exception, the outcome
        is "failed", and the exception propagates.

        Example:
            >>> with memory.session(kind="build", agent="mine") as work:
            ...     work.observe({"kind": "tool_call", "tool": "Read", "args": {"path": "src/app.py"}})
            ...     work.outcome = "validated"
        """
        work = Session(self, self.start_session(id, **told))
        try:
            yield work
        except BaseException:
            self.end_session(work.id, "failed")
            raise
        work.receipt = self.end_session(work.id, work.outcome).receipt

    def _keep_wish(self, wish: Wish) -> None:
        """Store a memory that a person asked for in a session, as confirmed.

        If storing fails, it is tried again when the session ends.
        """
        item = {
            "content": wish.statement,
            "type": wish.memory_type,
            **({"scope": USER, "visibility": "personal"} if EVERYWHERE.search(wish.statement) else {}),
            "source": "agent_explicit",
            "tags": list(WISH_TAGS),
            "session": wish.session,
            "commit_sha": wish.commit_sha or None,
        }
        try:
            kept = self.book.remember(item, actor=WISHER).memory
            if is_held(kept) or kept.status == "candidate":  # known before, but not from a trusted source
                changing.verify(self.book, kept.id, actor=WISHER)
            self.user.keep(kept)
        except (GraphMemError, OSError) as error:
            log.warning("a request of session %s to remember was not kept: %s", wish.session, error)
