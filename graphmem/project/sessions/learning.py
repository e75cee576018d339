"""Learn from ended sessions, summarize them, and undo what was learnt."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypedDict

from graphmem.answers import Experiment, GroupMeasures, Receipt, SessionSummary, to_json
from graphmem.answers.sessions import LearningState
from graphmem.answers.upkeep import MemoryCost, WeekOfCost
from graphmem.errors import BadInputError, GraphMemError, LedgerError, SessionNotFoundError
from graphmem.injection.experiment import CONTROL, GROUPS, group_of
from graphmem.memory.repository.fields import moment, text
from graphmem.memory.texts.redact import redact_all
from graphmem.observe.learning import summary as summaries
from graphmem.observe.learning.learner import Means
from graphmem.observe.learning.promotion import promote
from graphmem.observe.learning.switch import PAUSED
from graphmem.observe.learning.synthesis import synthesise
from graphmem.observe.learning.trial import settle, undo
from graphmem.observe.learning.verdicts import receipt_of
from graphmem.observe.ledger.ledger import Ledger
from graphmem.observe.ledger.measures import by_week, cost, share, summed
from graphmem.observe.model import SessionRecord, session_record
from graphmem.runtime.files.vault import read_mark
from graphmem.security.access import caller
from graphmem.security.guarded import rule_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.answers import Forgotten, Recorded
    from graphmem.language_model import LanguageModel
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.learning.switch import Learning, LearningSwitch
    from graphmem.runtime.lazy import Lazy
    from graphmem.settings import Settings

MAX_SUMMARIES: Final = 100
COST_S: Final = 60.0  # seconds for which the cost is kept
ENOUGH: Final = 30  # sessions of a group from which its averages are meaningful
_TOGETHER: Final = 3  # shared windows before reading two files together counts

_log = logging.getLogger(__name__)


class LearningStatus(TypedDict):
    """Numbers of sessions and learnt memories, for `graphmem doctor`."""

    switch: object  # whether learning is on, as JSON
    sessions: int
    memories: int
    language_model: str  # name and host of the model; "" without one
    notes: list[str]  # why learning does not work, or what was repaired


@dataclass(eq=False, repr=False)
class SessionLearning:
    """Learns from ended sessions of agents, and reports what it learnt."""

    book: MemoryRepository
    ledger: Lazy[Ledger]
    data_dir: Path
    settings: Settings
    language_model: LanguageModel | None
    record_co_access: Callable[..., Recorded]  # records files that belonged together
    switch: LearningSwitch
    session_over: Callable[[str, int], object]  # adds a session and the number of memories shown to the project's experience
    _cost: tuple[float, MemoryCost] | None = field(default=None, init=False)  # and its time

    def learn_from(self, record: SessionRecord | Mapping[str, Any], unit: str | None = None) -> Receipt:
        """Make memories from an ended session, or from a finished task in it.

        A finding is a pattern in the session's events. The receipt lists which findings became memories, and why the others did not. A
        second call for the same session or task changes nothing.

        Args:
            record: the session's record, or the result of `observe.model.as_json` for it.
            unit: label of the finished task, while the session continues; None at the end of the session.

        Raises:
            BadInputError: `record` is not a session's record.
            LedgerError, JournalError, DiskFullError: nothing was kept; the call can be repeated.
        """
        if not isinstance(record, SessionRecord):
            if not isinstance(record, Mapping):
                raise BadInputError(
                    f"`record` has the type {type(record).__name__}; pass a session record or its JSON form from `as_json`",
                    argument="record",
                )
            name = record["info"].get("id") if isinstance(record.get("info"), Mapping) else None
            record = session_record(redact_all(record, []))  # from outside: not yet checked for secrets
            if isinstance(name, str):
                record = record._replace(info=record.info._replace(id=name))  # the id is a name, so redaction must not change it
        ledger = self.ledger()
        means = Means(self.book, ledger, self.settings.promotion, self.language_model, self.settings.extraction)
        receipt = promote(means, record, unit)
        if unit is None and receipt.session == record.info.id and not ledger.is_done("after", record.info.id):
            self._afterwards(record, ledger)
        return receipt

    def session_receipts(self, session: str) -> list[Receipt]:
        """Return which findings of a session became memories, with the reasons.

        A finding is a pattern in the events of the session. Each receipt covers one part of the session, such as a finished task, and lists
        the outcome of each finding. For a finding that did not become a memory, the receipt has the reason. The oldest receipt comes first.

        Args:
            session: id of the session, or an unambiguous beginning of it.

        Raises:
            SessionNotFoundError: nothing was learnt from such a session, or the beginning is ambiguous (`candidates`).
        """
        ledger = self.ledger()
        known = self._session_id(session)
        return [replace(receipt_of(body), undone=undone) for _, _, body, undone in ledger.receipts(known)]

    def undo_session(self, session: str, actor: str = "") -> Forgotten:
        """Retract the memories that were learnt from a session.

        A memory is kept if a person has confirmed it after the session, or if it was also learnt from another session. The answer lists
        such memories as `kept`. The retracted memories are not learnt again automatically.

        Raises:
            SessionNotFoundError: as for `session_receipts`.
        """
        return undo(self.book, self.ledger(), self._session_id(session), actor)

    def session_summary(self, session: str) -> SessionSummary:
        """Return the summary of a session.

        Raises:
            SessionNotFoundError: as for `session_receipts`, or the summary was deleted after its retention period.
        """
        known = self._session_id(session)
        found = self.ledger().summary(known)
        if found is None:
            raise SessionNotFoundError(
                f"the summary of the session {known} was deleted after its retention period; use `graphmem memory list`, because the "
                "memories learnt from the session still exist",
                id=known,
                candidates=[],
            )
        return _summary(found)

    def session_summaries(self, limit: int = 20, offset: int = 0) -> list[SessionSummary]:
        if not 1 <= limit <= MAX_SUMMARIES:
            raise BadInputError(f"limit is {limit}; use 1 to {MAX_SUMMARIES} sessions", argument="limit", value=limit)
        if offset < 0:
            raise BadInputError(f"offset, the number of sessions to skip, is {offset}; use 0 or more", argument="offset", value=offset)
        return [_summary(one) for one in self.ledger().summaries(None, self.book.clock.now(), limit, offset)]

    def recent_summaries(self, now: datetime | str | None = None) -> list[SessionSummary]:
        """Return summaries of the last two sessions of the last seven days.

        The newest comes first. Sessions in which nothing was edited, run, decided, fixed or abandoned are left out. Callers must say
        that the code may have changed since.

        Args:
            now: an aware time, or ISO 8601; None for the current time.
        """
        until = self.book.clock.now() if now is None else moment("now", now)
        since = until - timedelta(days=summaries.RECENT_DAYS)
        found = self.ledger().summaries(since, until, summaries.LOOKED)
        return [_summary(one) for one in found if summaries.says_something(one)][: summaries.RECENT]

    def experiment(self) -> Experiment:
        project, index = self.book.project(), self.book.index()
        found: dict[str, list[Mapping[str, Any]]] = {group: [] for group in GROUPS}
        for session, body in self.ledger().measures().items():
            found[group_of(session, project)].append(body)
        groups = []
        for group, percent in GROUPS.items():
            total = summed(found[group])
            shown = [one for body in found[group] for one in body["shown"]]
            rows = index.rows(dict.fromkeys(shown))
            known = [rows[one] for one in shown if one in rows]
            groups.append(
                GroupMeasures(
                    group=group,
                    percent=percent,
                    sessions=len(found[group]),
                    calls_per_task=share(total["calls"], total["tasks"]),
                    rereads=share(total["rereads"], total["reads"]),
                    first_pass=share(total["clean"], total["checks"]),
                    dead_end_reentry=share(total["again"], total["dead_ends"]),
                    shown=len(shown),
                    corrections=share(sum(row.disputed for row in known), len(known)),
                    boosts=share(sum(bool(row.used_count or row.confirmed_count) for row in known), len(known)),
                    injected_tokens=_per_session(found[group], "injected_tokens"),
                    read_tokens=_per_session(found[group], "read_tokens"),
                )
            )
        few = [f"{one.group} has {one.sessions}" for one in groups if one.sessions < ENOUGH]
        notes = [f"with fewer than {ENOUGH} sessions in a group, differences may be chance: {', '.join(few)}"] if few else []
        return Experiment(groups, notes)

    def cost(self) -> MemoryCost:
        """Return how many tokens memories cost, and how many they saved.

        The figures may be up to a minute old.
        """
        now = time.monotonic()
        if self._cost is None or now - self._cost[0] > COST_S:
            project = self.book.project()
            try:
                measures = self.ledger().measures() if self.ledger().exists else {}
            except LedgerError as error:
                _log.warning("the cost of memory is unknown: %s", error)
                measures = {}
            control = [body for session, body in measures.items() if group_of(session, project) == CONTROL]
            others = [body for session, body in measures.items() if group_of(session, project) != CONTROL]
            weeks = [WeekOfCost(f"{one.monday}", *one[1:]) for one in by_week(control, others)]
            self._cost = (now, MemoryCost(*cost(control, others), weeks))
        return self._cost[1]

    def learning(self) -> LearningState:
        return _state(self.switch.now())

    def set_learning(self, state: str, minutes: int | None = None) -> LearningState:
        """Switch learning on or off, or pause it for some `minutes`.

        Raises:
            BadInputError: as for `LearningSwitch.choose`.
        """
        return _state(self.switch.choose(state, minutes))

    def pause(self, minutes: int | None) -> str:
        """Pause learning for a person who typed `/pause` to an agent.

        `minutes` is the length of the pause; None for no end. Returns a message for the person. If the pause is refused, the message has
        the reason.
        """
        if not caller().may(rule_of("set_learning").needs):
            return "graphmem: this token may not pause learning; ask somebody who curates the memories of this project."
        try:
            now = self.switch.choose(PAUSED, minutes)
        except BadInputError as error:
            return f"graphmem: learning was not paused: {error.message}"
        end = f" until {now.until:%Y-%m-%d %H:%M} UTC" if now.until else ""
        return f"graphmem: learning from sessions is paused{end}. `graphmem memory auto on` continues it. Tell the person this."

    def status(self) -> LearningStatus:
        """Return how much was learnt, for the command `doctor`.

        The result has counts, versions, and reasons why learning does not work.
        """
        model = f"{self.language_model.name} at {self.language_model.host}" if self.language_model is not None else ""
        switch = to_json(self.learning())
        report: LearningStatus = {"switch": switch, "sessions": 0, "memories": 0, "language_model": model, "notes": []}
        if self.ledger().exists:
            ledger = self.ledger()
            try:
                sizes = ledger.sizes()
            except LedgerError as error:
                return {**report, "notes": [error.message]}
            report |= {"sessions": sizes["session"], "memories": sizes["learnt"], "notes": list(ledger.notes)}
        return report

    def _afterwards(self, record: SessionRecord, ledger: Ledger) -> None:
        """Run the steps that follow the end of a session, such as its summary.

        The steps update the summary of the session, the history of changes and the trust level. They also update memories in their trial
        period (the first day) and memories made from many sessions. A failed step is logged and does not stop the others. If all steps
        succeed, the ledger (the file of facts about sessions) records this. Otherwise, the next call of `learn_from` for the session
        repeats all steps.
        """
        steps: tuple[Callable[[], object], ...] = (
            lambda: self._experienced(record, ledger),
            lambda: self._summarised(record, ledger),
            lambda: self._moved_together(record),
            lambda: settle(self.book, ledger),
            lambda: synthesise(self.book, ledger, self.language_model),
        )
        well = True
        for step in steps:
            try:
                step()
            except (GraphMemError, OSError) as error:
                well = False
                _log.warning("after session %s: %s", record.info.id, error)
        if well:
            ledger.claim("after", record.info.id, self.book.clock.now())

    def _summarised(self, record: SessionRecord, ledger: Ledger) -> None:
        """Write a session's summary as a file for people.

        Nothing is written if memories are encrypted.
        """
        if read_mark(self.data_dir) is None:
            summaries.write(self.data_dir / summaries.FOLDER, ledger.summary(record.info.id) or summaries.summarised(record))

    def _experienced(self, record: SessionRecord, ledger: Ledger) -> None:
        """Update the trust level after an ended session, once for each session.

        The trust level is the certainty that a memory needs to be shown without a request. It is derived from past sessions.
        """
        if ledger.claim("experience", record.info.id, self.book.clock.now()):
            self.session_over(record.info.id, len(record.injected))

    def _moved_together(self, record: SessionRecord) -> None:
        """Record in the change history that a session used files together.

        The files are those that the session edited, and those that it accessed close together several times. Nothing is recorded for a
        single file.
        """
        pairs = [one for one in record.co_accesses if one.edited or one.windows >= _TOGETHER]
        wanted = {one.path for one in record.files if one.edits} | {path for pair in pairs for path in (pair.a, pair.b)}
        used = [one for one in record.files if one.path in wanted and one.first_at is not None]
        if len(used) < 2:
            return
        used.sort(key=lambda one: (one.first_at, one.path))
        times = [one.first_at for one in used if one.first_at is not None]
        self.record_co_access(
            [one.path for one in used[:1_000]],
            record.info.ended_at or max(times),
            session=record.info.id[:200],
            offsets=[(time - times[0]).total_seconds() for time in times[:1_000]],
        )

    def _session_id(self, session: str) -> str:
        wanted = text("session", session, 1_000, lines=False)
        like = self.ledger().sessions_like(wanted)
        if wanted in like:
            return wanted
        if len(like) == 1 and len(wanted) >= 3:
            return like[0]
        several = f"{len(like)} sessions begin with {wanted!r}: {', '.join(like[:5])}; give more characters of its id"
        none = f"nothing was learnt from a session {wanted[:80]!r}; `graphmem session list` lists sessions"
        raise SessionNotFoundError(several if like else none, id=wanted, candidates=like)


def _per_session(bodies: Sequence[Mapping[str, Any]], name: str) -> float | None:
    counted = [one[name] for one in bodies if name in one]
    return round(sum(counted) / len(counted), 1) if counted else None


def _state(now: Learning) -> LearningState:
    return LearningState(now.state, now.until.isoformat() if now.until is not None else "", now.by_setting)


def _summary(found: Mapping[str, Any]) -> SessionSummary:
    return SessionSummary(
        session=found["session"],
        agent=found["agent"],
        kind=found["kind"],
        title=found["title"],
        status=found["status"],
        started_at=found["started_at"],
        ended_at=found["ended_at"],
        duration_s=found["duration_s"],
        contaminated=found["contaminated"],
        short=summaries.short(found),
        markdown=summaries.markdown(found),
    )
