"""The answers of observing sessions, beside those of `graphmem.answers`. Times are ISO 8601 in UTC, "" for never."""

from __future__ import annotations

from typing import Annotated, Any

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import MomentOrNone


@answer(name="Session")
class SessionInfo:
    """One session, in a list."""

    id: Annotated[str, Doc("the agent's own id of it; not a global id")]
    kind: Annotated[str, Doc("build, insights, roadmap, terminal, changelog, spec or pr_review")]
    agent: str
    title: str
    state: Annotated[str, Doc("running or ended")]
    outcome: Annotated[str, Doc("validated, failed, accepted, abandoned or empty")]
    ending: Annotated[str, Doc("ended by its own word, recovered from its trail, merged with its companions; empty while it runs")]
    parent: Annotated[str, Doc("session it was forked from")]
    group: Annotated[str, Doc("shared by sessions of agents side by side")]
    methodology: str
    work_unit: str
    phase: Annotated[str, Doc("define, implement, validate, refine, explore, reflect or empty")]
    branch: str
    commit_sha: str
    started_at: MomentOrNone
    ended_at: MomentOrNone
    events: Annotated[int, Doc("taken")]
    steps: int
    tokens: int
    duration_s: Annotated[float, Doc("without breaks of over an hour")]
    files_edited: int
    findings: int
    contaminated: Annotated[bool, Doc("something was read from the web")]


@answer
class SessionFinding:
    """What one signal saw in a session; a candidate for a memory, not yet one."""

    signal: Annotated[str, Doc("docs/observing.md lists the seventeen")]
    key: Annotated[str, Doc("the same in every session that finds the same")]
    memory_type: str
    value: float
    priority: float
    early: Annotated[bool, Doc("stands out so far that other sessions are not waited for")]
    min_sessions: Annotated[int, Doc("in which it has to be found before it is learnt")]
    contaminated: bool
    failed_approach: Annotated[bool, Doc("of an approach that was given up")]
    quorum: Annotated[bool, Doc("two agents found it independently")]
    files: list[str]
    steps: Annotated[list[int], Doc("evidence")]
    facts: Annotated[dict[str, Any], Doc("what a sentence about it is made of")]


@answer
class SessionFile:
    """What a session did with one file."""

    path: str
    reads: int
    edits: int
    lines_added: int
    lines_removed: int
    reverted: Annotated[int, Doc("edits that were undone")]
    tokens: Annotated[int, Doc("that reading it cost")]


@answer
class SessionCommand:
    """A command line and how its runs ended."""

    command: str
    action: Annotated[str, Doc("run, test, search, read, list, edit or web")]
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
    fix_files: Annotated[list[str], Doc("edited between the error and the success")]


@answer
class SessionDeadEnd:
    """An approach that was given up."""

    approach: str
    why: str
    reverted: Annotated[list[str], Doc("files whose edits were undone")]


@answer
class SessionDetail:
    """One session, and what was seen of it."""

    session: SessionInfo
    findings: Annotated[list[SessionFinding], Doc("most urgent first"), Size(30)]
    files: Annotated[list[SessionFile], Doc("read or edited, the most edited first"), Size(30)]
    commands: Annotated[list[SessionCommand], Doc("in the order of their first run"), Size(20)]
    errors: Annotated[list[SessionError], Doc("in the order of their first sight"), Size(10)]
    dead_ends: Annotated[list[SessionDeadEnd], Doc("in order"), Size(3)]
    web_sources: list[str]
    ignored: Annotated[dict[str, int], Doc("Events that were not taken, or were taken with a remark, by reason"), Size(5)]
    cut: Annotated[dict[str, int], Doc("How many more there are of each list than are shown"), Size(5)]


@answer
class SessionPage:
    """A page of sessions, running ones first, then the newest."""

    sessions: list[SessionInfo]
    total: int


@answer
class SessionStarted:
    """What became of a session's start."""

    id: Annotated[str, Doc("that its events have to name; another than was asked for when that one was taken")]
    resumed: Annotated[bool, Doc("it was running already")]
    kind: str
    methodology: str
    work_unit: str
    phase: str
    note: Annotated[str, Doc("why the id is another; empty")]


@answer
class ObserveAnswer:
    """What became of a batch of events."""

    taken: int
    ignored: Annotated[dict[str, int], Doc("Events that were not taken, or were taken with a remark, by reason"), Size(5)]
    sessions: Annotated[list[str], Doc("touched")]
    ended: Annotated[list[str], Doc("with this batch; what they teach is learnt behind this answer")]
    early: Annotated[list[str], Doc("keys of what stands out already, of the sessions touched")]


@answer
class SessionEnded:
    """What became of a session at its end."""

    session: SessionInfo
    receipt: Annotated[Receipt | None, Doc("what was learnt; null while agents it works with still run")]
    note: str


@answer
class FindingVerdict:
    """What became of one finding of a session."""

    key: Annotated[str, Doc("the same in every session that finds the same")]
    signal: Annotated[str, Doc("that made it")]
    memory_type: str
    outcome: Annotated[str, Doc("learnt, known, too_rare, gate_closed, failed_approach, taken_back, echo, weak, over_cap or refused")]
    why: Annotated[str, Doc("one sentence")]
    text: Annotated[str, Doc("as it would be remembered; empty when nobody came to word it")]
    memory_id: Annotated[str, Doc("raw id of the memory it became, or that says it already; empty")]
    short_id: str
    sessions: Annotated[int, Doc("independent ones that found it")]
    min_sessions: Annotated[int, Doc("asked for")]
    score: Annotated[float, Doc("0 to 1; 0 when it was not reached")]
    points: Annotated[list[str], Doc("what spoke for it")]
    contaminated: Annotated[bool, Doc("strangers' words had a part in it")]
    files: list[str]


@answer
class Receipt:
    """What became of all findings of a session, or of one unit of work in it."""

    session: str
    part: Annotated[str, Doc("label of the unit of work; empty for the session")]
    kind: str
    is_open: Annotated[bool, Doc("its gate")]
    gate: Annotated[str, Doc("why")]
    at: MomentOrNone
    verdicts: Annotated[list[FindingVerdict], Doc("learnt ones first"), Size(30)]
    counts: Annotated[dict[str, int], Doc("Verdicts by outcome"), Size(6)]
    notes: Annotated[list[str], Doc("what could not be done, and why")]
    undone: bool = False

    @property
    def learnt(self) -> list[str]:
        """Ids of the memories that were made."""
        return [one.memory_id for one in self.verdicts if one.outcome == "learnt"]


@answer
class GroupMeasures:
    """Sessions of one group of the experiment together; None where there is nothing to divide by."""

    group: Annotated[str, Doc("control is shown nothing, passive what comes at the start, full everything")]
    percent: Annotated[int, Doc("of all sessions that fall into it")]
    sessions: int
    calls_per_task: Annotated[float | None, Doc("calls of tools for a unit of work, or for the session")]
    rereads: Annotated[float | None, Doc("share of reads that were of a file that was read before")]
    first_pass: Annotated[float | None, Doc("share of the command lines of tests that never failed")]
    dead_end_reentry: Annotated[float | None, Doc("share of dead ends that another session had been in before")]
    shown: Annotated[int, Doc("memories, each once a session")]
    corrections: Annotated[float | None, Doc("share of those that are disputed now")]
    boosts: Annotated[float | None, Doc("share of those that were used or agreed with since")]


@answer
class Experiment:
    """What putting memory in front of agents brings: groups that a hash divides sessions into, side by side."""

    groups: Annotated[list[GroupMeasures], Doc("control, passive, full"), Size(3)]
    notes: Annotated[list[str], Doc("why differences may be chance")]


@answer
class PhaseWeight:
    """What one type of memory counts in one phase of work."""

    phase: str
    type: str
    shown: Annotated[int, Doc("memories of the type, each once a session, in the phase it was first shown in")]
    used: Annotated[int, Doc("of those: used in the session that was shown them")]
    built_in: float
    weight: Annotated[float, Doc("in force")]
    proposed: Annotated[float | None, Doc("null while too little is known")]


@answer
class PhaseWeights:
    """What types of memories count in phases of work, and what the sessions of the project speak for."""

    sessions: Annotated[int, Doc("that ended, in which a memory was shown in a phase")]
    missing: Annotated[int, Doc("sessions, before anything is proposed")]
    accepted_at: Annotated[MomentOrNone, Doc("none while the built-in weights are in force")]
    accepted_sessions: Annotated[int, Doc("that the accepted weights were estimated from")]
    weights: Annotated[list[PhaseWeight], Doc("by phase, then by built-in weight, most first"), Size(60)]
    notes: Annotated[list[str], Doc("why nothing is proposed")]


@answer
class SessionSummary:
    """What a session did, taken from its events."""

    session: str
    agent: str
    kind: str
    title: str
    status: Annotated[str, Doc("validated, failed, accepted, abandoned or empty")]
    started_at: MomentOrNone
    ended_at: MomentOrNone
    duration_s: float
    contaminated: Annotated[bool, Doc("words of strangers may be in it")]
    short: Annotated[str, Doc("one line")]
    markdown: str
