"""A running session: accept events, find patterns, make the record.

While a session runs, the graph contains nothing of it. The processing time of each event is measured. A time over the budget is logged and
is not an error.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from graphmem.observe.counts.acts import Act, Paths, clean
from graphmem.observe.counts.scratchpad import Scratchpad, moment
from graphmem.observe.detectors.detect import Detectors
from graphmem.observe.detectors.detect_events import BrowserSeen, Stated
from graphmem.observe.detectors.detect_files import (
    CoAccessed,
    ConfigTouch,
    ContextTokenSpike,
    FileAccess,
    GlobIgnore,
    ImportChase,
    ReadAbandon,
)
from graphmem.observe.detectors.detect_tools import (
    Backtrack,
    ErrorRetry,
    RepeatedGrep,
    StepOverrun,
    TestOrder,
    TimeAnomaly,
    ToolSequence,
    with_others,
)
from graphmem.observe.detectors.detect_words import Asked, Corrected, DeadEnds, ExternalReference, ParallelConflict, SelfCorrection
from graphmem.observe.model import OUTCOMES, SESSION_KINDS, Finding, SessionInfo, SessionRecord
from graphmem.observe.running.events import Checked
from graphmem.observe.running.interpreter import Interpreter
from graphmem.observe.running.merge import folded, ranked, without
from graphmem.observe.running.methodology import UNIT_KEYS, Methodology, methodologies
from graphmem.observe.running.recording import command_runs, errors_seen, file_stats
from graphmem.observe.texts.words import MESSAGE_CHARACTERS

EVENT_BUDGET_S: Final = 0.002  # of processor time; source: specification, 5.1
FINISH_BUDGET_S: Final = 0.1
MAX_EVENTS: Final = 100_000  # of one session; later ones are only counted
MARKS: Final = 65_536  # latest events that are recognised as duplicates
CHECKPOINT_MESSAGES: Final = 10
CLOCK_SLACK_S: Final = 60.0  # an event may be dated this much before earlier ones without being noted
_WARN_EVERY: Final = 1_000  # events between two log lines about the budget
DETECTORS: Final = (
    FileAccess,
    CoAccessed,
    ErrorRetry,
    Backtrack,
    ReadAbandon,
    RepeatedGrep,
    ToolSequence,
    TimeAnomaly,
    SelfCorrection,
    ExternalReference,
    GlobIgnore,
    ImportChase,
    TestOrder,
    ConfigTouch,
    StepOverrun,
    ParallelConflict,
    ContextTokenSpike,
    DeadEnds,
    Asked,
    Corrected,
    BrowserSeen,
    Stated,
)
_IDS: Final = frozenset({"parent", "group", "commit_sha", "cwd", "kind"})  # fields that contain no words
_TEXTS: Final = ("agent", "parent", "group", "title", "commit_sha", "branch")
log = logging.getLogger("graphmem.observe")


class Taken(NamedTuple):
    """The result of processing an agent's report: actions, or a refusal."""

    taken: bool
    reasons: tuple[str, ...]
    acts: Sequence[Act]
    boundary: bool  # it ended a unit of work


class Running:
    """An agent's session that has not ended. Not thread-safe.

    The observer gives it one event at a time.

    Args:
        info: the information known about the session.
        roots: folders of the project.
    """

    def __init__(self, info: SessionInfo, roots: Iterable[str] = ()) -> None:
        self.interpreter = Interpreter(Paths(roots))
        self.pad = Scratchpad(info)
        self.detectors = Detectors(DETECTORS, self.pad)
        self.marks: dict[int, None] = {}
        self.fresh_marks: list[int] = []  # of events whose acts are not in the checkpoint log yet
        self.events = 0
        self.messages_since = 0  # messages since the last checkpoint
        self.forks: list[SessionInfo] = []
        self.base: SessionRecord | None = None  # of the parent, when this was forked
        self.slow = 0
        self._warned_at = -_WARN_EVERY

    @property
    def info(self) -> SessionInfo:
        """The current information about the session, such as its phase."""
        return self.pad.info

    def take(self, one: Checked) -> Taken:
        """Process one reported event. Invalid content raises no error."""
        event = one.event
        if event is None:
            return self._refused(one.reasons)
        started = time.thread_time()
        if one.mark in self.marks:
            return self._refused(("duplicate",))
        if self.events >= MAX_EVENTS:
            return self._refused(("flood",))
        if len(self.marks) >= MARKS:
            del self.marks[next(iter(self.marks))]
        self.marks[one.mark] = None
        self.fresh_marks.append(one.mark)
        self.events += 1
        reasons = list(one.reasons)
        pad = self.pad
        if event.step < 0:
            event = event._replace(step=max(pad.last_step, 0))
        elif event.step < pad.last_step:
            reasons.append("late")
        if one.timed and pad.last_at and event.at.timestamp() < pad.last_at - CLOCK_SLACK_S and event.step >= pad.last_step:
            reasons.append("clock_back")
        for reason in reasons:
            pad.ignored[reason] += 1
        units = len(pad.units)
        acts = self.interpreter.take(event)
        for act in acts:
            self.apply(act)
        spent = time.thread_time() - started
        if spent > EVENT_BUDGET_S:
            self._over_budget(spent, event.kind)
        return Taken(True, tuple(reasons), acts, len(pad.units) > units)

    def _refused(self, reasons: tuple[str, ...]) -> Taken:
        for reason in reasons:
            self.pad.ignored[reason] += 1
        return Taken(False, reasons, (), False)

    def _over_budget(self, spent: float, kind: str) -> None:
        self.slow += 1
        if self.events - self._warned_at >= _WARN_EVERY:
            self._warned_at = self.events
            log.warning(
                "an event (%s) of session %s took %.1f ms of processor time, over its budget of %.0f ms; %d so far",
                kind,
                self.info.id,
                spent * 1e3,
                EVENT_BUDGET_S * 1e3,
                self.slow,
            )

    def apply(self, act: Act) -> None:
        """Count one act, such as an edit, and look for patterns in it.

        To restore a session, its acts are replayed with this method.
        """
        pad = self.pad
        if act.kind in ("start", "step", "end") and act.info:
            self._apply_report(act)
        pad.take(act)
        self.detectors.see(act, pad)
        if act.kind in ("say", "user"):
            self.messages_since += 1

    def strangers(self) -> tuple[str, ...]:
        """Return the sources of external text that the session has read.

        A source is a page, tool, command or file. Sources of tool calls without a result yet are included.
        """
        awaited = self.interpreter.awaited()
        return tuple(dict.fromkeys([*self.pad.web_sources, *([awaited] if awaited else [])]))

    def _apply_report(self, act: Act) -> None:
        """Apply what an agent reports about its session, such as its phase.

        The session's methodology (a team's way of working) maps the reported words to tasks and phases.
        """
        info = act.info
        if isinstance(info.get("methodology"), str) and act.kind == "start":
            self.pad.info = self.info._replace(methodology=methodologies().of(info["methodology"]).name)
        if info.get("kind") in SESSION_KINDS and act.kind == "start":
            self.pad.info = self.info._replace(kind=info["kind"])
        unit = _unit(self.methodology, info)
        phase = self.methodology.phase_of(str(info.get("phase", "")))
        planned = info.get("planned_steps")
        planned = int(planned) if isinstance(planned, (int, float)) and 0 < planned < 1e6 else None
        if act.kind != "end" and (unit or phase or planned is not None):
            self.pad.begin_unit(unit, phase, planned, act)
        if act.kind == "end" and info.get("outcome") in OUTCOMES:
            self.pad.info = self.info._replace(outcome=info["outcome"])

    @property
    def methodology(self) -> Methodology:
        """The methodology (a team's way of working) that the session uses."""
        return methodologies().of(self.info.methodology)

    def fork(self, info: SessionInfo) -> Running:
        """Begin a fork: a new session with a copy of this session's state.

        The fork's record will contain only the work done after the copy.
        """
        child: Running = copy.deepcopy(self)
        child.base = self.record("")
        child.pad.info = info._replace(parent=self.info.id)
        child.pad.forked_n = self.interpreter.count
        child.pad.rivals = {}
        child.interpreter.drop_pending()
        child.marks, child.fresh_marks, child.messages_since = {}, [], 0
        return child

    def findings(self) -> list[Finding]:
        """Return the patterns found so far, the most urgent first."""
        return ranked(with_others(folded(list(self.detectors.findings(self.pad)))))

    def early(self) -> list[Finding]:
        """Return the findings that may be learnt before the session ends.

        One session is enough evidence for these findings. Findings of an abandoned approach are left out.
        """
        return [one for one in self.findings() if one.early and not one.failed_approach]

    def finish(self, outcome: str = "", ending: str = "ended", at: datetime | None = None) -> tuple[SessionRecord, list[Act]]:
        """End the session; return its record and the acts of pending tool calls.

        A tool call is pending if its result has not arrived. The act of a pending call has no result.

        Args:
            outcome: outcome of the session; "" keeps the outcome reported before.
            ending: reason for the end, such as `ended` or `recovered`.
            at: time of the end; None for the time of the agent's last action.
        """
        started = time.thread_time()
        last = self.interpreter.flush()
        for act in last:
            self.apply(act)
        pad = self.pad
        if pad.info.work_unit and pad.unit_steps():
            pad.end_unit(outcome, _end_of(pad))
        pad.info = pad.info._replace(outcome=outcome or pad.info.outcome)
        if pad.info.kind == "terminal" and not pad.info.outcome and pad.edited_files and pad.checks_passed():
            pad.info = pad.info._replace(kind="build", outcome="validated")  # no agent's hook tells the kind of a session
        record = self.record(ending, at)
        spent = time.thread_time() - started
        if spent > FINISH_BUDGET_S:
            told = (pad.info.id, spent * 1e3, FINISH_BUDGET_S * 1e3)
            log.warning("finishing session %s took %.0f ms of processor time, over its budget of %.0f ms", *told)
        return record, last

    def record(self, ending: str, at: datetime | None = None) -> SessionRecord:
        """Return the record of the session so far, without changing the session.

        `ending` is the reason for the end; "" while the session runs. `at` is the time of the end; None for the time of the agent's last
        action.
        """
        pad = self.pad
        ended = at or (moment(pad.last_at) if pad.last_at else None)
        info = pad.info._replace(ending=ending, ended_at=ended if ending else None)
        if pad.first_at and (info.started_at is None or info.started_at.timestamp() > pad.first_at):
            info = info._replace(started_at=moment(pad.first_at))
        ignored: dict[str, int] = dict(pad.ignored)
        if dropped := pad.dropped():
            ignored["let_go"] = dropped  # a name in stored records
        pairs = next(one for one in self.detectors.all if isinstance(one, CoAccessed))
        co_accesses = tuple(pairs.co_accesses())
        if left_out := len(pairs.pairs) - len(co_accesses):
            ignored["pairs_left_out"] = left_out
        record = SessionRecord(
            info=info,
            events=self.events,
            messages=pad.messages,
            tokens=pad.tokens,
            duration_s=round(pad.duration_s, 3),
            steps=pad.steps,
            files=tuple(file_stats(pad)),
            commands=tuple(command_runs(pad)),
            decisions=tuple(pad.decisions),
            errors=tuple(errors_seen(pad)),
            dead_ends=tuple(pad.dead_ends),
            co_accesses=co_accesses,
            findings=tuple(self.findings()),
            units=tuple(pad.units),
            tools=dict(sorted(pad.tools.items())),
            modules=dict(sorted(pad.modules.items())),
            searches=dict(pad.searches),
            web_sources=tuple(pad.web_sources),
            contaminated=bool(pad.web_n),
            first_message=pad.first_message[:MESSAGE_CHARACTERS],
            last_message=pad.last_message[: MESSAGE_CHARACTERS * 4],
            injected=tuple(pad.injected),
            injected_tokens=pad.injected_tokens,
            shown_in={one: phase or pad.first_phase for one, phase in pad.injected.items() if phase or pad.first_phase},
            used=tuple(one for one in pad.used if one in pad.injected),
            ignored=dict(sorted(ignored.items())),
        )
        return without(record, self.base) if self.base is not None else record


def _end_of(pad: Scratchpad) -> Act:
    return Act(pad.acts, max(pad.last_step, 0), pad.last_at, "end")


def started_info(session_id: str, now: datetime, reported: Mapping[str, object]) -> SessionInfo:
    """Return a session's information at its start, from reported fields.

    `reported` has the fields that the agent reports. An unknown value, such as an unknown kind, is replaced by the default.
    """
    reported = {name: clean(value, 200) if isinstance(value, str) and name not in _IDS else value for name, value in reported.items()}
    texts: dict[str, Any] = {name: " ".join(str(reported[name]).split())[:200] for name in _TEXTS if reported.get(name)}
    way = methodologies().of(str(reported.get("methodology") or ""))
    planned = reported.get("planned_steps")
    kind = reported.get("kind")
    info = SessionInfo(
        id=session_id,
        kind=kind if kind in SESSION_KINDS else "terminal",
        methodology=way.name,
        work_unit=_unit(way, reported),
        phase=way.phase_of(str(reported.get("phase") or "")),
        started_at=now,
        planned_steps=int(planned) if isinstance(planned, (int, float)) and 0 < planned < 1e6 else None,
    )
    return info._replace(**texts)


def _unit(way: Methodology, reported: Mapping[str, object]) -> str:
    """Return the label of the task that a session reports; "" if it has none.

    The methodology `way` makes the label from the fields in `reported`.
    """
    return way.unit(reported).label if any(reported.get(name) for name in UNIT_KEYS) else ""
