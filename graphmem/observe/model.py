"""The words of observing: events come in, findings and the record of a session come out. Pure data, no I/O.

Everything is a NamedTuple of plain values, so that it is cheap to make 10,000 of them, can be compared in tests, and travels as JSON:
`as_json` gives what `json.dumps` takes, `session_record` makes the record again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError

Plain = str | int | float | bool | None

EVENT_KINDS: Final = (
    "tool_call",
    "tool_result",
    "reasoning",
    "message",
    "step_complete",
    "approval",
    "failure",
    "diff_applied",
    "session_start",
    "session_end",
)
SESSION_KINDS: Final = ("build", "insights", "roadmap", "terminal", "changelog", "spec", "pr_review")
PHASES: Final = ("define", "implement", "validate", "refine", "explore", "reflect")
OUTCOMES: Final = ("validated", "failed", "accepted", "abandoned", "")  # of a session or a unit of work; "": nobody said
ENDINGS: Final = ("ended", "recovered", "merged")  # by its own word; from its checkpoint at a later start; folded into another's record

_NO_ARGS: Final[Mapping[str, Any]] = MappingProxyType({})


class Event(NamedTuple):
    """One thing that happened, checked and cut; see `observe.events` for how one comes in.

    Nothing of it is kept as it came: `observe.acts` takes the secrets out of what stays.
    """

    session_id: str
    step: int  # from 0, as the agent counts; many events may share one
    at: datetime  # aware, UTC
    kind: str  # one of EVENT_KINDS
    tool: str = ""  # the agent's own name of it: "Edit", "run_terminal_cmd"
    args: Mapping[str, Any] = _NO_ARGS  # names to plain values, or lists of them
    ok: bool | None = None  # None: it does not say
    text: str = ""  # at most 4 KiB of UTF-8
    tokens: int | None = None


class SessionInfo(NamedTuple):
    """Which session this is, as far as it has told."""

    id: str
    kind: str = "terminal"  # one of SESSION_KINDS
    agent: str = ""
    parent: str = ""  # session this one was forked from; "" for none
    group: str = ""  # sessions of agents that work side by side on one thing share it; "" for none
    work_unit: str = ""  # label of the unit that is worked on, resolved by the methodology
    phase: str = ""  # one of PHASES, mapped by the methodology; "" when nobody said
    methodology: str = "native"
    title: str = ""  # what it is about, one line
    started_at: datetime | None = None
    ended_at: datetime | None = None
    commit_sha: str = ""  # where it started
    branch: str = ""
    planned_steps: int | None = None
    outcome: str = ""  # one of OUTCOMES
    ending: str = ""  # one of ENDINGS once it has ended


class Finding(NamedTuple):
    """What one signal saw in one session: a candidate for a memory, not yet one."""

    signal: str  # name in observe.signals.SIGNALS
    key: str  # the same in every session that finds the same: "error_retry:TypeError: …", "co_access:a.py|b.py"
    value: float  # of the signal, by the formula
    memory_type: str  # the first type that fits; one of memory.types.TYPES
    facts: Mapping[str, Any]  # what a sentence is made of; the keys of each signal are listed in docs/observing.md
    files: tuple[str, ...] = ()  # from the project's root, with '/', sorted
    steps: tuple[int, ...] = ()  # evidence, ascending
    priority: float = 0.0  # how urgent: of early promotion, else the value
    early: bool = False  # seen well enough inside the session that min_sessions is not asked for
    min_sessions: int = 1  # in how many sessions it must be found before it is learnt; 1 when early or by quorum
    contaminated: bool = False  # made of what came after the agent read from the web
    sources: tuple[str, ...] = ()  # pages it could come from, when contaminated; documents it is about
    failed_approach: bool = False  # of an approach that was abandoned: may only become a dead_end
    quorum: bool = False  # two agents found it independently
    agents: tuple[str, ...] = ()  # sessions that found it, sorted, when merged
    work_unit: str = ""
    phase: str = ""


class FileStat(NamedTuple):
    """What was done with one file."""

    path: str
    reads: int = 0
    edits: int = 0
    listed: int = 0  # times it stood in a listing or in search results
    lines_added: int = 0
    lines_removed: int = 0
    reverted: int = 0  # edits that were undone
    tokens: int = 0  # that reading it cost
    first_at: datetime | None = None
    last_at: datetime | None = None
    first_step: int = 0
    last_step: int = 0


class CommandRun(NamedTuple):
    """A command line, all its runs together, in the order of the first."""

    command: str  # one line, redacted, at most 200 characters
    action: str  # run | test | search | read | list | web: see observe.tools
    runs: int = 1
    failures: int = 0
    last_exit: int | None = None  # None: it was not told
    seconds: float = 0.0  # of all runs
    last_step: int = 0


class Decision(NamedTuple):
    """Something a person or a gate approved or rejected."""

    text: str
    approved: bool
    step: int
    at: datetime


class ErrorSeen(NamedTuple):
    """An error by its fingerprint: paths, numbers and addresses are normalised away."""

    fingerprint: str  # normalised text, at most 200 characters
    message: str  # the last one as it was, one line, at most 300 characters
    tool: str
    command: str  # of the run that showed it; ""
    times: int
    fixed: bool  # the same tool or command succeeded after a change
    fix_files: tuple[str, ...]  # edited between the error and the success
    steps: tuple[int, ...]


class DeadEnd(NamedTuple):
    """An approach that the agent gave up, by its own words."""

    approach: str  # the sentence it was given up in and the one before, at most 400 characters
    why: str  # the reason when one was given; ""
    step: int
    at: datetime
    reverted: tuple[str, ...]  # files whose edits were undone within the same approach
    edits: tuple[str, ...]  # files edited in it, whether undone or not


class CoAccess(NamedTuple):
    """Two files that were used in one window; `a` < `b`."""

    a: str
    b: str
    windows: int  # that both were used in
    edited: int  # of those: windows in which both were edited
    a_first: int  # windows in which `a` came before `b`; the rest had `b` first
    delta_s: float  # average seconds between them
    at: datetime  # the last


class UnitDone(NamedTuple):
    """A unit of work that was begun and ended inside the session."""

    label: str
    phase: str
    outcome: str  # one of OUTCOMES
    first_step: int
    last_step: int
    steps: int  # actual
    planned: int | None


class SessionRecord(NamedTuple):
    """All that is left of a session when it has ended: what summary, ledger and gates are made of. Nothing in it is in the graph yet."""

    info: SessionInfo
    events: int  # taken
    messages: int
    tokens: int
    duration_s: float  # from the first event to the last, gaps over an hour left out
    steps: int  # distinct
    files: tuple[FileStat, ...] = ()  # by path
    commands: tuple[CommandRun, ...] = ()
    decisions: tuple[Decision, ...] = ()
    errors: tuple[ErrorSeen, ...] = ()
    dead_ends: tuple[DeadEnd, ...] = ()
    co_accesses: tuple[CoAccess, ...] = ()  # by (a, b)
    findings: tuple[Finding, ...] = ()  # most urgent first, then by key
    units: tuple[UnitDone, ...] = ()  # of work, in order
    tools: Mapping[str, int] = _NO_ARGS  # calls by action
    modules: Mapping[str, int] = _NO_ARGS  # uses of files by module, as methodology or folder names it
    searches: Mapping[str, int] = _NO_ARGS  # patterns searched for
    web_sources: tuple[str, ...] = ()  # pages that were read, in order
    contaminated: bool = False  # something was read from the web
    last_message: str = ""  # the agent's last words, redacted
    injected: tuple[str, ...] = ()  # ids of memories the session was shown, as its events told
    shown_in: Mapping[str, str] = _NO_ARGS  # of those, the ones shown in a phase of work -> the phase, one of PHASES
    used: tuple[str, ...] = ()  # of those, the ones it used: opened, cited, acted on or agreed with
    members: tuple[str, ...] = ()  # sessions merged into this one
    ignored: Mapping[str, int] = _NO_ARGS  # events not taken, and details cut, by reason


# ---- as JSON

_TUPLES: Final[dict[str, type[Any]]] = {
    "files": FileStat,
    "commands": CommandRun,
    "decisions": Decision,
    "errors": ErrorSeen,
    "dead_ends": DeadEnd,
    "co_accesses": CoAccess,
    "findings": Finding,
    "units": UnitDone,
}
_TIMES: Final = frozenset({"at", "started_at", "ended_at", "first_at", "last_at"})


def as_json(value: Any) -> Any:
    """A value of this module as `json.dumps` takes it: tuples with names as objects, times as ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        if names := getattr(value, "_fields", None):
            return {name: as_json(inner) for name, inner in zip(names, value, strict=True)}
        return [as_json(inner) for inner in value]
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(inner) for inner in value]
    return value


def session_info(given: Mapping[str, Any]) -> SessionInfo:
    """What a session told of itself, from what `as_json` made of it.

    Raises:
        BadInputError: it is none.
    """
    try:
        return SessionInfo(**dict(_read(SessionInfo, given)))
    except (TypeError, ValueError) as error:
        raise BadInputError(f"this says nothing of a session: {error}; make it with `as_json`", argument="info") from error


def session_record(given: Mapping[str, Any]) -> SessionRecord:
    """A record from what `as_json` made of it.

    Raises:
        BadInputError: it is no record, or one of a later version with parts that are not known (`field`).
    """
    try:
        parts = dict(_read(SessionRecord, given))
        parts["info"] = session_info(given["info"])
        for name, kind in _TUPLES.items():
            parts[name] = tuple(kind(**dict(_read(kind, one))) for one in given.get(name, ()))
        return SessionRecord(**parts)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise BadInputError(f"this is no record of a session: {error}; make one with `as_json`", argument="record") from error


def _read(kind: type[Any], given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if unknown := sorted(set(given) - set(kind._fields)):
        raise ValueError(f"{kind.__name__} has no {unknown[0]!r}")
    for name, value in given.items():
        if name in _TIMES and isinstance(value, str):
            yield name, datetime.fromisoformat(value)
        else:
            yield name, tuple(value) if isinstance(value, list) else value
