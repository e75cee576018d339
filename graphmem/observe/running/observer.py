"""Accept the events of a project's agent sessions; end and store sessions.

The observer accepts batches of events from any thread. Invalid events raise no error, and accepting does not wait for the disk. Each batch
is written to the sessions' checkpoint logs. A separate thread forces the logs to the disk at each checkpoint. Idle sessions are removed
from memory, and restored from their logs when needed. A session without events for a long time is ended.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import BadInputError, SessionNotFoundError
from graphmem.memory.reading.clock import Clock, SystemClock
from graphmem.observe.counts.acts import Act
from graphmem.observe.detectors.detect_words import wish_type
from graphmem.observe.model import OUTCOMES, Event, Finding, SessionInfo, SessionRecord
from graphmem.observe.running.events import ID_CHARACTERS, MAX_BATCH, Checked, checked, in_order
from graphmem.observe.running.merge import merged
from graphmem.observe.running.open_sessions import MAX_RUNNING, OpenSessions
from graphmem.observe.running.running import CHECKPOINT_MESSAGES, Running, started_info
from graphmem.observe.running.session_files import SessionFiles

MAX_OPEN: Final = 1_000  # sessions that have not ended, in memory or on disk
QUIET: Final = timedelta(hours=6)  # idle time after which a session without an end is ended
QUIET_AT_START: Final = timedelta(hours=1)  # the same at a process's start: the writer of the log is gone
ENDED_MARKS: Final = 2_000  # latest events of an ended session that are recognised as duplicates
_SUCCESSOR: Final = "~"
log = logging.getLogger("graphmem.observe")


class Observed(NamedTuple):
    """The result of accepting a batch of events: counts, and ended sessions."""

    taken: int
    ignored: Mapping[str, int]  # by reason: a key of events.REASONS; includes events that were cut but accepted
    sessions: tuple[str, ...]  # touched sessions, by the observer's ids
    finished: tuple[SessionRecord, ...]  # sessions that ended, ready to be learnt from
    units: tuple[tuple[SessionRecord, str], ...]  # units of work that were validated: the record so far, and the unit's label
    wishes: tuple[Wish, ...] = ()  # requests of persons, to be stored at once


class Wish(NamedTuple):
    """A person's request to remember something, in their own words."""

    session: str
    commit_sha: str
    statement: str
    memory_type: str


class Started(NamedTuple):
    """The outcome of starting a session: its information and a note.

    The note is set if the session got another id than the one requested.
    """

    info: SessionInfo
    resumed: bool  # it was already running
    note: str  # "" or the reason for a different id


class Observer:
    """Accepts events of one project's sessions, and ends and stores sessions.

    Args:
        folder: directory of the checkpoint logs and records; created on first use.
        roots: returns the folders of the project; called for each session.
        clock: returns the current time.
        quiet_at_start: idle time after which `finish_left` ends a session of an earlier process.
    """

    def __init__(
        self,
        folder: Path,
        roots: Callable[[], Iterable[str]] = tuple,
        clock: Clock | None = None,
        quiet_at_start: timedelta = QUIET_AT_START,
    ) -> None:
        self.folder = folder
        self.clock: Clock = clock or SystemClock()
        self._files = SessionFiles(folder)
        self._roots = roots
        self._lock = threading.RLock()
        self._open = OpenSessions(self._files)
        self._renamed: dict[str, str] = {}  # an agent's id -> id of the session that continues
        self._ended: OrderedDict[str, frozenset[int]] = OrderedDict()  # the last events of recently ended sessions
        self._quiet_at_start = quiet_at_start
        for named in self._open.find_logs():
            base, tilde, count = named.rpartition(_SUCCESSOR)
            if tilde and count.isdigit():
                self._renamed[base] = named

    # ---- operations

    def start(self, session_id: str, reported: Mapping[str, object]) -> Started:
        """Begin an agent's session, or continue the running one with this id.

        If the id belongs to an ended session or to another agent's session, the session gets a new id, and the result has a note that says
        so.

        Args:
            session_id: the agent's own id of the session.
            reported: fields that the agent reports: kind, agent, parent, group, work_unit, phase, methodology, planned_steps, title,
                commit_sha, branch, cwd.

        Raises:
            BadInputError: the id is empty or too long, or the parent session is unknown.
        """
        if not session_id.strip() or len(session_id) > ID_CHARACTERS:
            raise BadInputError(
                f"the id of a session must have 1 to {ID_CHARACTERS} characters; give another id", argument="id", value=session_id[:80]
            )
        with self._lock:
            now = self.clock.now()
            one = session_id.strip()
            info = started_info(one, now, reported)
            known = self._open.get(self._renamed.get(one, one))
            note = ""
            if known is not None:
                same = (not info.agent or not known.info.agent or info.agent == known.info.agent) and (
                    reported.get("kind") in (None, known.info.kind) or not known.events
                )
                if same:
                    return Started(known.info, True, "")
                note = f"{one} is the id of a running session of another agent ({known.info.agent}); this session uses the id given here"
            elif self._files.has_ended(one):
                note = f"{one} has already ended; the session continues under the id given here"
            if note:
                free = self._free(one)
                self._renamed[one] = free
                info = info._replace(id=free)
            if info.parent:
                parent = self._open.get(self._renamed.get(info.parent, info.parent))
                if parent is None and not self._files.has_ended(info.parent):
                    raise BadInputError(
                        f"unknown parent session {info.parent!r}; start the parent session first, or omit the parent",
                        argument="parent",
                        value=info.parent,
                    )
                if parent is not None:
                    return Started(self._fork(parent, info), False, note)
            self._inherit(self._begin(info, reported.get("cwd")), one)
            return Started(info, False, note)

    def observe(self, events: Iterable[object], session_id: str = "") -> Observed:
        """Accept a batch of events, such as tool calls, of agents' sessions.

        An invalid event raises no error. The result counts refused and changed events by reason.

        Args:
            events: mappings with the fields of `model.Event`, in any order.
            session_id: the session of events that do not name one.
        """
        now = self.clock.now()
        counts: Counter[str] = Counter()
        looked: list[Checked] = []
        for place, raw in enumerate(events):
            if place >= MAX_BATCH:
                counts["over_batch"] += 1
                continue
            one = checked(raw, now, session_id)
            if one.event is None:
                counts.update(one.reasons)
            else:
                looked.append(one)
        taken = 0
        touched: dict[str, None] = {}
        finished: list[SessionRecord] = []
        units: list[tuple[SessionRecord, str]] = []
        wishes: list[Wish] = []
        with self._lock:
            for one in in_order(looked):
                event = one.event
                if event is None:
                    continue
                running = self._receiver(event, one.mark, now, counts)
                if running is None:
                    continue
                named = running.info.id
                touched[named] = None
                self._open.heard[named] = now
                result = running.take(one._replace(event=event._replace(session_id=named)))
                counts.update(result.reasons)
                taken += result.taken
                self._open.log(running, result.acts)
                wishes += [
                    Wish(named, running.info.commit_sha, act.wish, wish_type(act.wish, corrects=act.corrects))
                    for act in result.acts
                    if act.wish and not act.doubtful
                ]
                if result.boundary or running.messages_since >= CHECKPOINT_MESSAGES:
                    self._open.checkpoint(named)
                if result.boundary and running.pad.units[-1].outcome in ("validated", "accepted"):
                    units.append((running.record(""), running.pad.units[-1].label))
                if result.taken and event.kind == "session_end":
                    finished += self._finish(named, running, str(event.args.get("outcome") or ""), "ended")
            for named in touched:
                self._open.write(named)
        if counts:
            log.info("of %d events %d were accepted; %s", taken + sum(counts.values()), taken, dict(counts))
        return Observed(taken, dict(sorted(counts.items())), tuple(touched), tuple(finished), tuple(units), tuple(wishes))

    def _receiver(self, event: Event, mark: int, now: datetime, counts: Counter[str]) -> Running | None:
        """Return the session to which an event belongs; begin a new one if needed.

        The result is None if the event must be ignored; the reason is then counted in `counts`. `mark` is a hash of the event, by which
        duplicates are recognised.
        """
        named = self._renamed.get(event.session_id, event.session_id)
        running = self._open.get(named)
        if running is not None:
            return running
        has_ended = self._files.has_ended(named)
        if event.kind == "session_end":
            counts["duplicate" if has_ended else "no_session"] += 1
            return None
        if len(self._open) >= MAX_OPEN:
            counts["too_many_sessions"] += 1
            return None
        if has_ended:
            if mark in self._ended.get(named, ()):
                counts["duplicate"] += 1
                return None
            counts["after_end"] += 1
            named = self._renamed[event.session_id] = self._free(named)
        begins = event.kind == "session_start"
        running = self._begin(started_info(named, now, event.args if begins else {}), event.args.get("cwd") if begins else None)
        self._inherit(running, event.session_id)
        return running

    def end(self, session_id: str, outcome: str = "") -> tuple[SessionRecord, list[SessionRecord]]:
        """End a session and return its record.

        For a session that had already ended, the stored record and an empty list are returned.

        Args:
            session_id: the session's id as given by the agent or by the observer.
            outcome: one of `model.OUTCOMES`.

        Returns:
            The session's record, and the records that are now ready to be learnt from. The list is empty while other agents of the
                session's group run.

        Raises:
            SessionNotFoundError: unknown session.
            BadInputError: unknown outcome.
        """
        if outcome not in OUTCOMES:
            raise BadInputError(
                f"unknown outcome {outcome!r}; use one of {', '.join(one for one in OUTCOMES if one)}", argument="outcome", value=outcome
            )
        with self._lock:
            named = self._renamed.get(session_id, session_id)
            running = self._open.get(named)
            if running is None:
                return self.record(named), []
            ready = self._finish(named, running, outcome, "ended")
            return self.record(named), ready

    def finish_quiet(self, quiet: timedelta = QUIET) -> list[SessionRecord]:
        """End each session that had no event for the duration `quiet`.

        The result has the records of sessions from which graphmem can learn now. A session that is only on disk is first restored from its
        checkpoint log.
        """
        with self._lock:
            before = self.clock.now() - quiet
            ready: list[SessionRecord] = []
            for named in self._open:
                if self._open.heard.get(named, before) > before:
                    continue
                running = self._open.get(named)
                if running is not None:
                    ready += self._finish(named, running, "", "recovered")
            return ready

    # ---- questions

    def strangers(self, session_id: str = "", *, others: bool = True) -> tuple[str, ...]:
        """Return the sources of external text that a session has read.

        A source is a page, tool, command or file.

        Args:
            session_id: id of a running or ended session.
            others: for an unknown session, return the sources of all open sessions. If False, an unknown session has no sources.
        """
        with self._lock:
            named = self._renamed.get(session_id, session_id)
            if named in self._open:
                return self._open.outside_sources(named)
            if named and self._files.has_ended(named) and (record := self._files.record(named)) is not None:
                return (record.web_sources or (f"session {named}",)) if record.contaminated else ()
            return tuple(dict.fromkeys(why for one in self._open for why in self._open.outside_sources(one))) if others else ()

    def _inherit(self, running: Running, one: str) -> None:
        """Mark a session that continues a contaminated session as contaminated.

        A contaminated session has read external text. `running` is the new session, and `one` the id that the agent gave to it. The mark is
        stored as an action of `running`. It names the earlier session as the source of the external text.
        """
        earlier = self._continued_session(running.info.id, one) if running.info.id != one else ""
        before = self._files.record(earlier) if earlier else None
        if before is not None and before.contaminated:
            act = Act(
                running.interpreter.passed(),
                0,
                self.clock.now().timestamp(),
                "inherit",
                web=True,
                stranger=f"session {before.info.id}"[:200],
            )
            running.apply(act)
            self._open.log(running, [act])
            self._open.write(running.info.id)

    def _continued_session(self, named: str, one: str) -> str:
        """Return the id of the ended session that `named` continues; "" if none.

        `one` is the agent's id for the session, and `named` is this id with a number, such as `s~3` for `s`. The candidates are `s~2` and
        then `s`. The first one that has ended is returned.
        """
        base, _, count = named.rpartition(_SUCCESSOR)
        earlier = [f"{base}{_SUCCESSOR}{number}" for number in range(int(count) - 1, 1, -1)] if base and count.isdigit() else []
        return next((name for name in [*earlier, one] if self._files.has_ended(name)), "")

    def open_sessions(self) -> list[tuple[SessionInfo, int, datetime | None]]:
        """Return the sessions that have not ended, sorted by id.

        Returns:
            (information, number of events, time of the last event) of each session. The number is 0 for a session that is not in memory.
                The time is None if unknown.
        """
        with self._lock:
            return self._open.infos()

    def runs(self, session_id: str) -> bool:
        """Whether a session was started and has not ended."""
        with self._lock:
            named = self._renamed.get(session_id, session_id)
            return named in self._open

    def unit_of(self, session_id: str) -> str:
        """Return the task of an open session; "" if it has no task or is not open."""
        with self._lock:
            running = self._open.get(self._renamed.get(session_id, session_id))
            return running.info.work_unit if running is not None else ""

    def records(self) -> list[SessionRecord]:
        """Return records of sessions that have ended, newest first."""
        return self._files.records()

    def record(self, session_id: str) -> SessionRecord:
        """Return a session's record: the final one, or the current state.

        Raises:
            SessionNotFoundError: unknown session.
        """
        with self._lock:
            named = self._renamed.get(session_id, session_id)
            running = self._open.get(named)
            if running is not None:
                return running.record("")
            found = self._files.record(named) if self._files.has_ended(named) else None
            if found is None:
                near = [one for one in self._open if one.startswith(session_id[:4])][:5]
                raise SessionNotFoundError(
                    f"unknown session {session_id!r}; choose one from `graphmem session running` or `graphmem session list`",
                    id=session_id,
                    candidates=near,
                )
            return found

    def unlearnt(self) -> list[SessionRecord]:
        """Return the records of sessions from which graphmem has not learnt yet.

        A group is a set of sessions whose agents work side by side on one task. The records of a group are merged into one. The group is
        left out while one of its sessions runs.
        """
        with self._lock:
            running = {info.group for info, _, _ in self.open_sessions() if info.group}
            groups: dict[str, list[SessionRecord]] = {}
            for record in self._files.unlearnt():
                groups.setdefault(record.info.group or f"\0{record.info.id}", []).append(record)
            return [merged(members) for group, members in groups.items() if group not in running]

    def settled(self, record: SessionRecord) -> None:
        """Record that graphmem has learnt from a session's record.

        If several sessions were merged into `record`, this is recorded for all of them.
        """
        for one in record.members or (record.info.id,):
            self._files.settled(one)

    def early(self, session_id: str) -> list[Finding]:
        """Return a running session's findings that may be learnt before its end.

        One session is enough evidence for these findings. The list is empty if the session has ended or is unknown.
        """
        with self._lock:
            running = self._open.get(self._renamed.get(session_id, session_id))
            return running.early() if running is not None else []

    def close(self) -> None:
        """Force the checkpoint logs to the disk.

        Sessions stay open, and the next process continues them.
        """
        with self._lock:
            for named, running in list(self._open.running.items()):
                for act in running.interpreter.flush():
                    running.apply(act)
                    self._open.log(running, [act])
                self._open.write(named)
                self._open.checkpoint(named)
            disk = self._files.idle()
        if disk is not None:
            disk.shutdown(wait=True)

    # ---- beginning and ending

    def _begin(self, info: SessionInfo, cwd: object = None) -> Running:
        roots = [*self._roots(), *([cwd] if isinstance(cwd, str) else [])]
        running = Running(info, roots)
        self._open.begin(running, roots, self.clock.now())
        return running

    def _fork(self, parent: Running, info: SessionInfo) -> SessionInfo:
        child = parent.fork(info)
        self._open.begin(child, [*self._roots()], self.clock.now(), parent.info.id)
        return child.info

    def _finish(self, named: str, running: Running, outcome: str, ending: str) -> list[SessionRecord]:
        """End a session; return records of sessions that can now be learnt from.

        `named` is the id of the session `running`, and `ending` the reason for its end, such as "ended". A group is a set of sessions that
        work on one task. A session without a group gives its own record. In a group, the last session that ends gives one merged record of
        the group, and the earlier ones give none. The list is also empty if the record cannot be written.
        """
        record, _ = running.finish(outcome if outcome in OUTCOMES else "", ending)
        group = record.info.group
        companions = self._open.companions(record.info)
        if not self._files.end(named, record):
            return []
        self._ended[named] = frozenset(list(running.marks)[-ENDED_MARKS:])
        while len(self._ended) > MAX_RUNNING:
            self._ended.popitem(last=False)
        self._open.forget(named)
        if companions:
            return []
        if not group:
            return [record]
        members = [one for one in self.records() if one.info.group == group and one.info.ending != "merged" and not one.members]
        return [merged(members)] if members else [record]

    def finish_left(self) -> list[SessionRecord]:
        """End idle sessions of an earlier process; return those to learn from.

        The result has the records of the sessions from which graphmem can learn now. A session counts as idle after the time
        `quiet_at_start` of the constructor.
        """
        return self.finish_quiet(self._quiet_at_start)

    def _free(self, one: str) -> str:
        base = one.rpartition(_SUCCESSOR)[0] if one.rpartition(_SUCCESSOR)[2].isdigit() and _SUCCESSOR in one else one
        count = 2
        while True:
            name = f"{base}{_SUCCESSOR}{count}"
            if name not in self._open and not self._files.has_ended(name):
                return name
            count += 1
