"""The answers of observing sessions, beside those of `graphmem.answers`. Times are ISO 8601 in UTC, "" for never."""

from __future__ import annotations

from typing import Any

from graphmem.answers.plain import answer


@answer
class SessionInfo:
    """One session, in a list."""

    id: str
    kind: str  # build | insights | roadmap | terminal | changelog | spec | pr_review
    agent: str
    title: str
    state: str  # running | ended
    outcome: str  # validated | failed | accepted | abandoned | ""
    ending: str  # ended | recovered | merged | ""
    parent: str
    group: str
    methodology: str
    work_unit: str
    phase: str
    branch: str
    commit_sha: str
    started_at: str
    ended_at: str
    events: int
    steps: int
    tokens: int
    duration_s: float
    files_edited: int
    findings: int
    contaminated: bool


@answer
class SessionFinding:
    """What one signal saw in a session; a candidate for a memory, not yet one."""

    signal: str
    key: str  # the same in every session that finds the same
    memory_type: str
    value: float
    priority: float
    early: bool
    min_sessions: int
    contaminated: bool
    failed_approach: bool
    quorum: bool
    files: list[str]
    steps: list[int]
    facts: dict[str, Any]


@answer
class SessionFile:
    """What a session did with one file."""

    path: str
    reads: int
    edits: int
    lines_added: int
    lines_removed: int
    reverted: int
    tokens: int


@answer
class SessionCommand:
    """A command line and how its runs ended."""

    command: str
    action: str
    runs: int
    failures: int
    last_exit: int | None
    seconds: float


@answer
class SessionError:
    """An error of a session, and whether it was overcome."""

    message: str
    times: int
    fixed: bool
    fix_files: list[str]


@answer
class SessionDeadEnd:
    """An approach that was given up."""

    approach: str
    why: str
    reverted: list[str]


@answer
class SessionDetail:
    """One session, and what was seen of it."""

    session: SessionInfo
    findings: list[SessionFinding]  # most urgent first
    files: list[SessionFile]  # that were read or edited, the most edited first
    commands: list[SessionCommand]
    errors: list[SessionError]
    dead_ends: list[SessionDeadEnd]
    web_sources: list[str]
    ignored: dict[str, int]  # events not taken, or taken with a remark, by reason
    cut: dict[str, int]  # of each list: how many more there are than are shown


@answer
class SessionPage:
    """A page of sessions, running ones first, then the newest."""

    sessions: list[SessionInfo]
    total: int


@answer
class SessionStarted:
    """What became of a session's start."""

    id: str  # its events have to name; another than was asked for when that one was taken
    resumed: bool
    kind: str
    methodology: str
    work_unit: str
    phase: str
    note: str


@answer
class ObserveAnswer:
    """What became of a batch of events."""

    taken: int
    ignored: dict[str, int]  # by reason: a key of observe.events.REASONS; some were taken all the same
    sessions: list[str]  # touched
    ended: list[str]  # with this batch; what they teach is learnt behind this answer
    early: list[str]  # keys of what stands out already, of the sessions touched


@answer
class SessionEnded:
    """What became of a session at its end."""

    session: SessionInfo
    receipt: Receipt | None  # what was learnt; None while agents it works with still run, or when nothing was asked to be learnt
    note: str


@answer
class FindingVerdict:
    """What became of one finding of a session."""

    key: str  # the same in every session that finds the same
    signal: str  # that made it
    memory_type: str
    outcome: str  # a key of observe.gates.OUTCOMES
    why: str  # one sentence
    text: str  # as it would be remembered; "" when nobody came to word it
    memory_id: str  # that it became, or that says it already; ""
    short_id: str
    sessions: int  # independent ones that found it
    min_sessions: int  # asked for
    score: float  # 0 to 1; 0 when it was not reached
    points: list[str]  # what spoke for it: names of observe.gates.POINTS
    contaminated: bool
    files: list[str]


@answer
class Receipt:
    """What became of all findings of a session, or of one unit of work in it."""

    session: str
    part: str  # label of the unit of work; "" for the session
    kind: str
    is_open: bool  # its gate
    gate: str  # why
    at: str  # ISO 8601, UTC
    verdicts: list[FindingVerdict]  # learnt ones first, then by outcome
    counts: dict[str, int]  # verdicts of each outcome
    notes: list[str]  # what could not be done, and why
    undone: bool = False

    @property
    def learnt(self) -> list[str]:
        """Ids of the memories that were made."""
        return [one.memory_id for one in self.verdicts if one.outcome == "learnt"]


@answer
class GroupMeasures:
    """Sessions of one group of the experiment together; None where there is nothing to divide by."""

    group: str  # control: shown nothing; passive: shown what comes at the start; full: shown everything
    percent: int  # of all sessions that fall into it
    sessions: int
    calls_per_task: float | None  # calls of tools for a unit of work, or for the session
    rereads: float | None  # share of reads that were of a file that was read before
    first_pass: float | None  # share of the command lines of tests that never failed
    dead_end_reentry: float | None  # share of its dead ends that another session had been in before
    shown: int  # memories, each once a session
    corrections: float | None  # share of those that are disputed now
    boosts: float | None  # share of those that were used or agreed with since


@answer
class Experiment:
    """What putting memory in front of agents brings: groups that a hash divides sessions into, side by side."""

    groups: list[GroupMeasures]
    notes: list[str]  # why differences may be chance


@answer
class PhaseWeight:
    """What one type of memory counts in one phase of work."""

    phase: str
    type: str
    shown: int  # memories of the type, each once a session, in the phase it was first shown in
    used: int  # of those: used in the session that was shown them
    built_in: float
    weight: float  # in force
    proposed: float | None  # None: too little is known


@answer
class PhaseWeights:
    """What types of memories count in phases of work, and what the sessions of the project speak for."""

    sessions: int  # that ended, in which a memory was shown in a phase
    missing: int  # sessions, before anything is proposed
    accepted_at: str  # ISO 8601, UTC; "" while the built-in weights are in force
    accepted_sessions: int  # that the accepted weights were estimated from
    weights: list[PhaseWeight]  # by phase in the order of work, then by built-in weight, most first, then by type
    notes: list[str]  # why nothing is proposed


@answer
class SessionSummary:
    """What a session did, taken from its events."""

    session: str
    agent: str
    kind: str
    title: str
    status: str  # validated | failed | accepted | abandoned | ""
    started_at: str  # ISO 8601, UTC; ""
    ended_at: str
    duration_s: float
    contaminated: bool  # words of strangers may be in it
    short: str  # one line
    markdown: str
