"""Data classes of sessions: events, findings, records. No I/O.

All are NamedTuples of plain values, which use little memory, compare by value, and convert to JSON. `as_json` gives input for `json.dumps`,
and `session_record` restores the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError

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
OUTCOMES: Final = ("validated", "failed", "accepted", "abandoned", "")  # of a session or a unit of work; "": not reported
ENDINGS: Final = ("ended", "recovered", "merged")  # by the agent; from its checkpoint at a later start; merged into another record

_NO_ARGS: Final[Mapping[str, Any]] = MappingProxyType({})


class Event(NamedTuple):
    """A report of an agent, such as a tool call, after validation.

    Long values were cut to the allowed size; see `observe.running.events`. An event is never stored: `observe.counts.acts` converts it to
    an act and removes secrets.
    """

    session_id: str
    step: int  # from 0, as the agent counts; several events may share a step
    at: datetime  # aware, UTC
    kind: str  # one of EVENT_KINDS
    tool: str = ""  # the agent's own name of the tool: "Edit", "run_terminal_cmd"
    args: Mapping[str, Any] = _NO_ARGS  # names to plain values, or lists of them
    ok: bool | None = None  # None: not reported
    text: str = ""  # at most 4 KiB of UTF-8
    tokens: int | None = None


class SessionInfo(NamedTuple):
    """Facts about a session that its agent reported, such as the branch."""

    id: str
    kind: str = "terminal"  # one of SESSION_KINDS
    agent: str = ""
    parent: str = ""  # session this one was forked from; "" for none
    group: str = ""  # shared by sessions of agents that work side by side on one task; "" for none
    work_unit: str = ""  # label of the current unit of work, resolved by the methodology
    phase: str = ""  # one of PHASES, mapped by the methodology; "" if not reported
    methodology: str = "native"
    title: str = ""  # subject of the session, one line
    started_at: datetime | None = None
    ended_at: datetime | None = None
    commit_sha: str = ""  # commit at its start
    branch: str = ""
    planned_steps: int | None = None
    outcome: str = ""  # one of OUTCOMES
    ending: str = ""  # one of ENDINGS after its end


class Finding(NamedTuple):
    """A pattern found in one session, such as a fixed error.

    A finding may become a memory. `signal` is the kind of pattern.
    """

    signal: str  # name in observe.signals.SIGNALS
    key: str  # equal in all sessions with the same finding: "error_retry:TypeError: …", "co_access:a.py|b.py"
    value: float  # value of the signal, from the formula
    memory_type: str  # the first matching type; one of memory.types.TYPES
    facts: Mapping[str, Any]  # values for the sentence; docs/observing.md lists the keys of each signal
    files: tuple[str, ...] = ()  # relative to the project's root, with '/', sorted
    steps: tuple[int, ...] = ()  # steps of the evidence, ascending
    priority: float = 0.0  # urgency: priority of early promotion, else the value
    early: bool = False  # evidence within the session is enough: min_sessions does not apply
    min_sessions: int = 1  # sessions that must have it before it is learnt; 1 if early or by quorum
    contaminated: bool = False  # its evidence came after the agent read external text
    sources: tuple[str, ...] = ()  # pages it may come from, if contaminated; documents it is about
    failed_approach: bool = False  # part of an abandoned approach: may only become a dead_end
    quorum: bool = False  # two agents found it independently
    agents: tuple[str, ...] = ()  # sessions with this finding, sorted, if merged
    work_unit: str = ""
    phase: str = ""


class FileStat(NamedTuple):
    """Counts of a session's reads, edits and listings of one file."""

    path: str
    reads: int = 0
    edits: int = 0
    listed: int = 0  # occurrences in listings or search results
    lines_added: int = 0
    lines_removed: int = 0
    reverted: int = 0  # undone edits
    tokens: int = 0  # cost of reading it
    first_at: datetime | None = None
    last_at: datetime | None = None
    first_step: int = 0
    last_step: int = 0


class CommandRun(NamedTuple):
    """Runs of one command line in a session, with their results."""

    command: str  # one line, redacted, at most 200 characters
    action: str  # run | test | search | read | list | web: see observe.tools
    runs: int = 1
    failures: int = 0
    last_exit: int | None = None  # None: not reported
    seconds: float = 0.0  # of all runs
    last_step: int = 0


class Decision(NamedTuple):
    """Something that a person or an automatic check approved or rejected."""

    text: str
    approved: bool
    step: int
    at: datetime


class ErrorSeen(NamedTuple):
    """An error in a session, with a normalised text by which it is recognised.

    The normalised text is without paths, numbers and addresses.
    """

    fingerprint: str  # normalised text, at most 200 characters
    message: str  # the last original message, one line, at most 300 characters
    tool: str
    command: str  # of the run that printed it; ""
    times: int
    fixed: bool  # the same tool or command succeeded after a change
    fix_files: tuple[str, ...]  # edited between the error and the success
    steps: tuple[int, ...]


class DeadEnd(NamedTuple):
    """An approach that the agent abandoned, in its own words."""

    approach: str  # the sentence that abandoned it and the one before, at most 400 characters
    why: str  # the reason if given; ""
    step: int
    at: datetime
    reverted: tuple[str, ...]  # files whose edits were undone in the same approach
    edits: tuple[str, ...]  # files edited in it, including undone edits


class CoAccess(NamedTuple):
    """Two files that a session used close together; `a` < `b`.

    A window is a few minutes of work, with a few files, in which both files were used. Each count is a number of windows.
    """

    a: str
    b: str
    windows: int  # windows with uses of both
    edited: int  # windows with edits of both
    a_first: int  # windows in which `a` came before `b`; in the others `b` was first
    delta_s: float  # average seconds between them
    at: datetime  # time of the last


class UnitDone(NamedTuple):
    """A unit of work (a task) that began and ended within the session."""

    label: str
    phase: str
    outcome: str  # one of OUTCOMES
    first_step: int
    last_step: int
    steps: int  # actual
    planned: int | None


class SessionRecord(NamedTuple):
    """All data of an agent's session that is kept after its end.

    Summaries and statistics are made from the record. Memories are made from its findings.
    """

    info: SessionInfo
    events: int  # accepted events
    messages: int
    tokens: int
    duration_s: float  # from the first event to the last, without gaps over an hour
    steps: int  # distinct steps
    files: tuple[FileStat, ...] = ()  # by path
    commands: tuple[CommandRun, ...] = ()
    decisions: tuple[Decision, ...] = ()
    errors: tuple[ErrorSeen, ...] = ()
    dead_ends: tuple[DeadEnd, ...] = ()
    co_accesses: tuple[CoAccess, ...] = ()  # by (a, b)
    findings: tuple[Finding, ...] = ()  # most urgent first, then by key
    units: tuple[UnitDone, ...] = ()  # of work, in order
    tools: Mapping[str, int] = _NO_ARGS  # calls by action
    modules: Mapping[str, int] = _NO_ARGS  # uses of files by module, as the methodology or the folder names it
    searches: Mapping[str, int] = _NO_ARGS  # searched patterns
    web_sources: tuple[str, ...] = ()  # pages in the order they were read
    contaminated: bool = False  # the agent read external text
    first_message: str = ""  # the person's first words, redacted; "" if text from outside may be in them
    last_message: str = ""  # the agent's last words, redacted
    injected: tuple[str, ...] = ()  # ids of memories the session was shown, as its events reported
    injected_tokens: int = 0  # of everything that hooks put in front of the agent
    shown_in: Mapping[str, str] = _NO_ARGS  # id -> phase, one of PHASES, for those shown in a phase of work
    used: tuple[str, ...] = ()  # ids of those it used: opened, cited, followed or agreed with
    members: tuple[str, ...] = ()  # sessions merged into this one
    ignored: Mapping[str, int] = _NO_ARGS  # rejected events and cut details, by reason


# ---- as JSON

_TUPLES: Final[dict[str, type[object]]] = {
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


def as_json(value: object) -> object:
    """Convert an event, finding or record to values for `json.dumps`.

    Named tuples become objects, times become ISO 8601.
    """
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


def session_info(given: Mapping[str, object]) -> SessionInfo:
    """Restore a `SessionInfo` from the output of `as_json`.

    Raises:
        BadInputError: `given` is not session information.
    """
    try:
        return SessionInfo(**dict(_read(SessionInfo, given)))
    except (TypeError, ValueError) as error:
        raise BadInputError(
            f"invalid session information: {error}; pass the JSON object that graphmem returned for the session", argument="info"
        ) from error


def session_record(given: Mapping[str, Any]) -> SessionRecord:
    """Restore a `SessionRecord` from the output of `as_json`.

    Raises:
        BadInputError: `given` is not a record, or a later version wrote it with a field that is unknown here.
    """
    try:
        parts = dict(_read(SessionRecord, given))
        parts["info"] = session_info(given["info"])
        for name, kind in _TUPLES.items():
            parts[name] = tuple(kind(**dict(_read(kind, one))) for one in given.get(name, ()))
        return SessionRecord(**parts)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise BadInputError(f"invalid session record: {error}; pass a session record as `as_json` writes it", argument="record") from error


def _read(kind: type[Any], given: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    if unknown := sorted(set(given) - set(kind._fields)):
        raise ValueError(f"unknown field {unknown[0]!r} in {kind.__name__}; remove the field")
    for name, value in given.items():
        if name in _TIMES and isinstance(value, str):
            yield name, datetime.fromisoformat(value)
        else:
            yield name, tuple(value) if isinstance(value, list) else value
