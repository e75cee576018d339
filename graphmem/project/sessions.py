"""The verbs of sessions: start one, tell what happens in it, end it, look at it. Nothing is in the graph before the end."""

from __future__ import annotations

import logging
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.sessions import (
    ObserveAnswer,
    SessionCommand,
    SessionDeadEnd,
    SessionDetail,
    SessionEnded,
    SessionError,
    SessionFile,
    SessionFinding,
    SessionInfo,
    SessionPage,
    SessionStarted,
)
from graphmem.errors import BadInputError, GraphMemError
from graphmem.knowledge import is_held
from graphmem.memory import changes as changing
from graphmem.observe.checkpoint import TRAIL, UNLEARNT
from graphmem.observe.gates import UNITS
from graphmem.observe.model import SESSION_KINDS
from graphmem.observe.observer import QUIET_AT_START, Observer
from graphmem.observe.promotion import WISH_TAGS
from graphmem.runtime.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from graphmem.answers import Receipt
    from graphmem.injection.injector import Injector
    from graphmem.memory.repository import MemoryRepository
    from graphmem.observe.model import SessionInfo as Info
    from graphmem.observe.model import SessionRecord
    from graphmem.observe.observer import Wish

FOLDER: Final = "trails"
SWEEP_EVERY: Final = timedelta(minutes=10)
MAX_PAGE: Final = 500
SHOWN: Final = 200  # rows of each list of one session
TOLD: Final = 50  # memories that one event names
WISHER: Final = "person"  # for the audit: whose wish a prompt began with
log = logging.getLogger("graphmem.observe")


class Session:
    """A session of this program, as `GraphMem.session` gives it: tell it what happens.

    Args:
        verbs: of the project.
        started: its start.
    """

    def __init__(self, verbs: SessionVerbs, started: SessionStarted) -> None:
        self.id = started.id
        self.started = started
        self.outcome = ""
        self.receipt: Receipt | None = None  # once it has ended
        self._verbs = verbs
        self._step = 0

    def observe(self, *events: Mapping[str, Any]) -> ObserveAnswer:
        """Tell what happened; events without a step are each a step of their own."""
        told = []
        for event in events:
            if event.get("step") is None:
                self._step += 1
            told.append({"step": self._step, **event, "session_id": self.id})
        return self._verbs.observe(told)


class SessionVerbs:
    """Part of `GraphMem`."""

    _book: MemoryRepository
    _data_dir: Path
    _injector: Injector
    _known_observer: Observer | None = None
    _learner: ThreadPoolExecutor | None = None
    _swept_at = datetime.min.replace(tzinfo=UTC)
    _observer_turn = threading.Lock()

    if TYPE_CHECKING:

        def learn_from(self, record: SessionRecord | Mapping[str, Any], unit: str | None = None) -> Receipt:
            """See `LearningVerbs.learn_from`."""

        def _root_or_none(self) -> Path | None: ...

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
        """Begin a session, or go on with the one of that id.

        Args:
            id: the agent's own; default a new one.
            kind: one of `observe.model.SESSION_KINDS`; decides at its end how much may be learnt.
            agent: its name.
            parent: a session it is forked from: it starts from all that one knows.
            group: sessions of agents side by side share it; they are learnt from as one.
            work_unit: what is worked on.
            phase: in the words of the methodology.
            methodology: native, tdd, bmad, or one an installed package adds.
            title: what it is about, one line.
            planned_steps: of the unit of work.
            branch: of git.
            commit_sha: where it starts.
            cwd: a working copy of the project, where paths are.

        Raises:
            BadInputError: the id, the kind or the parent cannot be.
        """
        if kind not in SESSION_KINDS:
            raise BadInputError(f"{kind!r} is no kind of session; there are {', '.join(SESSION_KINDS)}", argument="kind", value=kind)
        if planned_steps is not None and not 1 <= planned_steps <= 1_000_000:
            raise BadInputError(f"planned_steps is {planned_steps}; it is 1 to 1,000,000", argument="planned_steps", value=planned_steps)
        told = {name: value for name, value in locals().items() if name not in ("self", "id") and value not in ("", None)}
        started = self._observer().start(id if id is not None else str(uuid.uuid4()), told)
        info = started.info
        return SessionStarted(info.id, started.resumed, info.kind, info.methodology, info.work_unit, info.phase, started.note)

    def observe(self, events: Iterable[Mapping[str, Any]], session: str = "") -> ObserveAnswer:
        """Tell what happened, in batches. Never refuses for what is in an event: that is counted in the answer.

        A session begins with its first event when nobody started it, and `session_end` ends it: what it teaches is learnt behind the
        answer, on a thread of its own.

        Args:
            events: mappings with the fields of `observe.model.Event`, in any order; docs/observing.md has examples.
            session: of events that name none.
        """
        if isinstance(events, (str, bytes)) or not hasattr(events, "__iter__"):
            raise BadInputError(f"events is of type {type(events).__name__}; give a list of events", argument="events")
        observer = self._observer()
        self._sweep_when_due()
        seen = observer.observe(events, session)
        for wish in seen.wishes:
            self._keep_wish(wish)
        for record, unit in seen.units:
            if len(record.units) > UNITS:
                self._learn(record, unit)
        for record in seen.finished:
            self._learn(record, None)
        early = {one.key: None for named in seen.sessions for one in observer.early(named)} if len(seen.sessions) <= 8 else {}
        return ObserveAnswer(
            seen.taken, dict(seen.ignored), list(seen.sessions), [record.info.id for record in seen.finished], sorted(early)
        )

    def end_session(self, id: str, outcome: str = "", learn: bool = True) -> SessionEnded:  # noqa: A002
        """End a session and learn from it. Twice is once.

        Args:
            id: of the session.
            outcome: validated, failed, accepted, abandoned, or nothing.
            learn: False leaves it at its record: nothing is learnt.

        Raises:
            SessionNotFoundError: there is none.
            BadInputError: the outcome is not one.
            LedgerError, JournalError, DiskFullError: it has ended, its record is kept, and ending it again learns from it.
        """
        record, ready = self._observer().end(id, outcome)
        receipt: Receipt | None = None
        note = ""
        if not learn:
            note = "nothing was learnt from it, as asked"
            self._observer().settled(record)
        elif ready:
            for one in ready:
                receipt = self.learn_from(one)
                self._observer().settled(one)
        elif not record.info.group:
            receipt = self.learn_from(record)  # it had ended before: its receipt again, or what was not done then
            self._observer().settled(record)
        elif any(info.group == record.info.group for info, _, _ in self._observer().open_sessions()):
            note = f"agents of {record.info.group} still run; what it found is learnt when the last of them ends"
        else:
            note = f"it was learnt from with the other agents of {record.info.group}"
        return SessionEnded(_row(record, "ended"), receipt, note)

    def sessions(self, state: str = "", limit: int = 50, offset: int = 0) -> SessionPage:
        """Sessions, running ones first, then the newest.

        Args:
            state: running or ended; default both.
            limit: 1 to 500.
            offset: of the page.

        Raises:
            BadInputError: an argument is out of range.
        """
        if state not in ("", "running", "ended"):
            raise BadInputError(f"{state!r} is no state of a session; there are running and ended", argument="state", value=state)
        if not 1 <= limit <= MAX_PAGE or offset < 0:
            raise BadInputError(f"limit must be 1 to {MAX_PAGE} and offset not below 0", argument="limit", value=limit)
        observer = self._observer()
        rows: list[SessionInfo] = []
        if state != "ended":
            rows += [_row(observer.record(info.id), "running") for info, _, _ in observer.open_sessions()]
            rows.sort(key=lambda row: (row.started_at, row.id), reverse=True)
        if state != "running":
            rows += [_row(record, "ended") for record in observer.records()]
        return SessionPage(rows[offset : offset + limit], len(rows))

    def session_detail(self, id: str) -> SessionDetail:  # noqa: A002
        """What was seen of a session so far, or in all.

        Raises:
            SessionNotFoundError: there is none.
        """
        record = self._observer().record(id)
        used = sorted((one for one in record.files if one.reads or one.edits), key=lambda one: (-one.edits, -one.reads, one.path))
        lists: dict[str, Sequence[Any]] = {
            "findings": record.findings,
            "files": used,
            "commands": record.commands,
            "errors": record.errors,
            "dead_ends": record.dead_ends,
        }
        return SessionDetail(
            session=_row(record, "ended" if record.info.ending else "running"),
            findings=[
                SessionFinding(
                    one.signal,
                    one.key,
                    one.memory_type,
                    one.value,
                    one.priority,
                    one.early,
                    one.min_sessions,
                    one.contaminated,
                    one.failed_approach,
                    one.quorum,
                    list(one.files),
                    list(one.steps),
                    _plain(one.facts),
                )
                for one in record.findings[:SHOWN]
            ],
            files=[
                SessionFile(one.path, one.reads, one.edits, one.lines_added, one.lines_removed, one.reverted, one.tokens)
                for one in used[:SHOWN]
            ],
            commands=[
                SessionCommand(one.command, one.action, one.runs, one.failures, one.last_exit, one.seconds)
                for one in record.commands[:SHOWN]
            ],
            errors=[SessionError(one.message, one.times, one.fixed, list(one.fix_files)) for one in record.errors[:SHOWN]],
            dead_ends=[SessionDeadEnd(one.approach, one.why, list(one.reverted)) for one in record.dead_ends[:SHOWN]],
            web_sources=list(record.web_sources),
            ignored=dict(record.ignored),
            cut={name: len(rows) - SHOWN for name, rows in lists.items() if len(rows) > SHOWN},
        )

    @contextmanager
    def session(self, id: str | None = None, **told: Any) -> Iterator[Session]:  # noqa: A002
        """A session for the length of a block; see `start_session` for what may be told.

        It ends with the block: `outcome` as the block set it; an exception makes it "failed", and goes on.

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

    def finish_quiet_sessions(self, hours: float = 6.0) -> list[str]:
        """End sessions nobody has heard of for so long, and learn from them; ids of those that ended.

        Raises:
            BadInputError: a negative time.
        """
        if hours < 0:
            raise BadInputError(f"hours is {hours}; it is 0 or more", argument="hours", value=hours)
        ready = self._observer().finish_quiet(timedelta(hours=hours))
        for record in ready:
            self._learn(record, None)
        return [record.info.id for record in ready]

    # ---- inside

    def _keep_wish(self, wish: Wish) -> None:
        """Keep what a person asked for, at once and as confirmed; what fails here is tried again at the session's end."""
        item = {
            "content": wish.statement,
            "type": wish.memory_type,
            "source": "agent_explicit",
            "tags": list(WISH_TAGS),
            "session": wish.session,
            "commit_sha": wish.commit_sha or None,
        }
        try:
            kept = self._book.remember(item, actor=WISHER).memory
            if is_held(kept) or kept.status == "candidate":  # said before by somebody nobody had vouched for
                changing.verify(self._book, kept.id, actor=WISHER)
        except (GraphMemError, OSError) as error:
            log.warning("a wish of session %s was not kept: %s", wish.session, error)

    def _strangers_in(self, session: str, others: bool = True) -> tuple[str, ...]:
        """What brought words of strangers into a session; of one that is not known, and when asked, into any that runs here."""
        if self._known_observer is None and not (self._data_dir / FOLDER).is_dir():
            return ()
        self._injector.heard()
        return self._observer().strangers(session, others=others)

    def _tell_shown(self, session: str, ids: Sequence[str], phase: str) -> None:
        """A session was shown memories, in a phase of work or in the one it is in; nothing begins with it."""
        self._tell_memories(session, "injected", ids, {"during": phase} if phase else {})

    def _tell_of_memories(self, session: str, ids: Sequence[str], used: bool) -> None:
        """What an agent says of memories: it was shown them, or used them, in a session or in those that were shown them."""
        if not used:
            self._tell_shown(session, ids, "")
            return
        by_session: dict[str, list[str]] = {session: list(ids)} if session else {}
        for one in ids if not session else ():
            for named in self._injector.agent.was_shown(one):
                by_session.setdefault(named, []).append(one)
        for named, own in sorted(by_session.items()):
            self._tell_memories(named, "used", own, {})

    def _tell_memories(self, session: str, name: str, ids: Sequence[str], more: Mapping[str, str]) -> None:
        if ids and self._observer().runs(session):
            parts = [list(ids[at : at + TOLD]) for at in range(0, len(ids), TOLD)]
            self.observe([{"session_id": session, "kind": "step_complete", "args": {name: part, **more}} for part in parts])

    def _sweep_when_due(self) -> None:
        """Sessions that fell silent (an agent that tells no end, a closed terminal) are ended while others go on."""
        now = self._book.clock.now()
        if now - self._swept_at >= SWEEP_EVERY:
            self._swept_at = now
            self._behind_answers("ending quiet sessions", self.finish_quiet_sessions)

    def _observer(self) -> Observer:
        with self._observer_turn:
            if self._known_observer is None:
                self._known_observer = Observer(self._data_dir / FOLDER, self._session_roots, _BookClock(self._book))
            return self._known_observer

    def _session_roots(self) -> list[str]:
        root = self._root_or_none()
        return [str(root)] if root is not None else []

    def _sessions_left(self) -> None:
        """Sessions an earlier process left without an end are ended behind this process's start, if they have been quiet for long."""
        folder = self._data_dir / FOLDER
        now = self._book.clock.now().timestamp()
        if not folder.is_dir():
            return
        quiet = any(now - path.stat().st_mtime > QUIET_AT_START.total_seconds() for path in folder.glob("*" + TRAIL))
        if quiet or any(folder.glob("*" + UNLEARNT)):
            self._behind_answers("ending sessions of an earlier process", self._finish_left)

    def _finish_left(self) -> None:
        unlearnt = self._observer().unlearnt()
        for record in [*unlearnt, *self._observer().finish_left()]:
            self._learn_now(record, None)

    def _learn(self, record: SessionRecord, unit: str | None) -> None:
        self._behind_answers("learning", lambda: self._learn_now(record, unit))

    def _behind_answers(self, doing: str, work: Callable[[], object]) -> None:
        """Do something on the learner's thread; an error is logged, and the next occasion does it again."""

        def guarded() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - nobody looks at what this thread was given
                unraised(error, doing)

        self._learning_thread().submit(guarded)

    def _learn_now(self, record: SessionRecord, unit: str | None) -> None:
        """Learn on the learner's thread: a failure is logged; the record is kept, and `end_session` does it again."""
        try:
            self.learn_from(record, unit)
            if unit is None:
                self._observer().settled(record)
        except Exception as error:  # noqa: BLE001 - see above
            unraised(error, f"learning from session {record.info.id}")

    def _learning_thread(self) -> ThreadPoolExecutor:
        with self._observer_turn:
            if self._learner is None:
                self._learner = ThreadPoolExecutor(1, "graphmem-learn")
            return self._learner

    def wait_for_learning(self) -> None:
        """Return when what ended sessions teach has been learnt."""
        self._learning_thread().submit(lambda: None).result()

    def _close_sessions(self) -> None:
        """Finish learning, bring running sessions' trails to the disk."""
        if self._learner is not None:
            self._learner.shutdown(wait=True)
        if self._known_observer is not None:
            self._known_observer.close()


class _BookClock:
    """The book's clock, whichever it has by now."""

    def __init__(self, book: MemoryRepository) -> None:
        self._book = book

    def now(self) -> datetime:
        """The present."""
        return self._book.clock.now()


def _row(record: SessionRecord, state: str) -> SessionInfo:
    info: Info = record.info
    return SessionInfo(
        id=info.id,
        kind=info.kind,
        agent=info.agent,
        title=info.title,
        state=state,
        outcome=info.outcome,
        ending=info.ending,
        parent=info.parent,
        group=info.group,
        methodology=info.methodology,
        work_unit=info.work_unit,
        phase=info.phase,
        branch=info.branch,
        commit_sha=info.commit_sha,
        started_at=_iso(info.started_at),
        ended_at=_iso(info.ended_at),
        events=record.events,
        steps=record.steps,
        tokens=record.tokens,
        duration_s=record.duration_s,
        files_edited=sum(1 for one in record.files if one.edits),
        findings=len(record.findings),
        contaminated=record.contaminated,
    )


def _iso(at: datetime | None) -> str:
    return at.isoformat(timespec="seconds") if at is not None else ""


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}
