"""Answers about coding agents' sessions.

Times are ISO 8601 in UTC, "" for never.
"""

from __future__ import annotations

from typing import Annotated, Any

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import LearningChoice, MomentOrNone


@answer(name="Session")
class SessionInfo:
    """A session of an agent, without its recorded activity."""

    id: Annotated[str, Doc("the id that the agent gave the session; the GraphQL query `node` does not accept it")]
    kind: Annotated[str, Doc("purpose of the session: build, insights, roadmap, terminal, changelog, spec or pr_review")]
    agent: str
    title: str
    state: Annotated[str, Doc("state of the session: running or ended")]
    outcome: Annotated[
        str,
        Doc(
            "outcome of the session: validated (its checks passed), failed (its checks failed), accepted (its result was accepted) "
            "or abandoned (the work was given up); empty if unknown"
        ),
    ]
    ending: Annotated[
        str,
        Doc(
            "how the session ended: ended (by the agent), recovered (from its checkpoint log) or merged (its results "
            "were combined with those of its group); empty while the session runs"
        ),
    ]
    parent: Annotated[str, Doc("id of the session that this session was forked from; empty if there is none")]
    group: Annotated[str, Doc("name shared by sessions of agents that work in parallel; empty if there is none")]
    methodology: str
    work_unit: str
    phase: Annotated[str, Doc("phase of work: define, implement, validate, refine, explore or reflect; empty if unknown")]
    branch: str
    commit_sha: str
    started_at: MomentOrNone
    ended_at: MomentOrNone
    events: Annotated[int, Doc("number of recorded events of the session")]
    steps: int
    tokens: int
    duration_s: Annotated[float, Doc("duration of the session in seconds, without pauses of over an hour")]
    files_edited: int
    findings: int
    contaminated: Annotated[bool, Doc("true when the agent read something from the web")]


@answer
class SessionFinding:
    """A pattern that a detector found in a session; it may become a memory."""

    signal: Annotated[str, Doc("name of the detector that found the pattern; docs/observing.md lists all seventeen detectors")]
    key: Annotated[str, Doc("key of the pattern; sessions that show the same pattern have the same key")]
    memory_type: str
    value: float
    priority: float
    early: Annotated[bool, Doc("true when the pattern becomes a memory even if no other session shows it")]
    min_sessions: Annotated[int, Doc("number of sessions that must show the pattern before it becomes a memory")]
    contaminated: bool
    failed_approach: Annotated[bool, Doc("true when the pattern was found in work that the agent later abandoned")]
    quorum: Annotated[bool, Doc("true when the sessions of two independent agents show the pattern")]
    files: list[str]
    steps: Annotated[list[int], Doc("numbers of the steps in the session that are evidence for the pattern")]
    facts: Annotated[dict[str, Any], Doc("details of the pattern, such as files and counts")]


@answer
class SessionFile:
    """The activity of a session on one file."""

    path: str
    reads: int
    edits: int
    lines_added: int
    lines_removed: int
    reverted: Annotated[int, Doc("number of edits of the file that the agent undid")]
    tokens: Annotated[int, Doc("tokens that the agent spent on reading the file")]


@answer
class SessionCommand:
    """A command line and the results of its runs."""

    command: str
    action: Annotated[str, Doc("purpose of the command: run, test, search, read, list, edit or web")]
    runs: int
    failures: int
    last_exit: int | None
    seconds: float


@answer
class SessionError:
    """An error in a session, and whether it was fixed."""

    message: str
    times: int
    fixed: bool
    fix_files: Annotated[list[str], Doc("files that the agent edited between the error and the later success")]


@answer
class SessionDeadEnd:
    """An approach that the agent tried and abandoned."""

    approach: str
    why: str
    reverted: Annotated[list[str], Doc("files whose edits the agent undid")]


@answer
class SessionDetail:
    """One session with its recorded activity."""

    session: SessionInfo
    findings: Annotated[list[SessionFinding], Doc("patterns found in the session, most urgent first"), Size(30)]
    files: Annotated[list[SessionFile], Doc("files that the agent read or edited, most edited first"), Size(30)]
    commands: Annotated[list[SessionCommand], Doc("command lines of the session, in the order of their first run"), Size(20)]
    errors: Annotated[list[SessionError], Doc("errors of the session, in the order of their first occurrence"), Size(10)]
    dead_ends: Annotated[list[SessionDeadEnd], Doc("approaches that the agent abandoned, in order of time"), Size(3)]
    injected_tokens: Annotated[int, Doc("tokens that graphmem's hooks added to the agent's context")]
    read_tokens: Annotated[int, Doc("tokens of the files that the agent read in the session")]
    web_sources: list[str]
    ignored: Annotated[dict[str, int], Doc("number of events that were rejected, or recorded with a remark, by reason"), Size(5)]
    cut: Annotated[dict[str, int], Doc("for each list, by its name: the number of entries that were omitted from it"), Size(5)]


@answer
class SessionPage:
    """A page of sessions, running ones first, then the newest."""

    sessions: list[SessionInfo]
    total: int


@answer
class SessionStarted:
    """The outcome of starting a session."""

    id: Annotated[str, Doc("the id to send with events; differs from the requested id when another session already used the requested id")]
    resumed: Annotated[bool, Doc("true when the session was already running")]
    kind: str
    methodology: str
    work_unit: str
    phase: str
    note: Annotated[str, Doc("why the session got another id than the requested one; empty if it did not")]


@answer
class LearningState:
    """State of learning from agents' sessions: on, off or paused."""

    state: Annotated[LearningChoice, Doc("state of learning from agents' sessions: on, off or paused")]
    until: Annotated[MomentOrNone, Doc("time at which the pause of learning ends; null if a person has to end it")]
    by_setting: Annotated[bool, Doc("true when the setting `learning` switches learning from sessions off")]


@answer
class ObserveAnswer:
    """The outcome of recording several events from agents' sessions."""

    taken: int
    ignored: Annotated[dict[str, int], Doc("number of events that were rejected, or recorded with a remark, by reason"), Size(5)]
    sessions: Annotated[list[str], Doc("ids of the sessions to which the recorded events belong")]
    ended: Annotated[list[str], Doc("ids of the sessions that the recorded events ended; graphmem learns from them in the background")]
    early: Annotated[list[str], Doc("keys of patterns that become memories at once, without waiting until another session shows them, too")]


@answer
class SessionEnded:
    """The outcome of ending a session."""

    session: SessionInfo
    receipt: Annotated[
        Receipt | None,
        Doc("what graphmem learnt from the session; null while another session still runs in its group, which works on the same task"),
    ]
    note: str


@answer
class FindingVerdict:
    """Outcome for one pattern found in a session, and the reason for it."""

    key: Annotated[str, Doc("key of the pattern; sessions that show the same pattern have the same key")]
    signal: Annotated[str, Doc("name of the detector that found the pattern in the session")]
    memory_type: str
    outcome: Annotated[
        str,
        Doc(
            "learnt if the pattern became a memory, or else the reason: known (a memory exists), too_rare (in too few sessions), "
            "gate_closed (the session did not succeed), failed_approach (from an abandoned approach), taken_back (a person rejected "
            "it), echo (repeats a shown memory), weak (too little evidence), over_cap (the session has more important patterns) or "
            "refused (cannot be stored)"
        ),
    ]
    why: Annotated[str, Doc("reason for this outcome of the pattern, in one sentence")]
    text: Annotated[str, Doc("text of the memory that the pattern became; empty when no memory was written")]
    memory_id: Annotated[str, Doc("database id of the memory that the pattern became part of; empty if there is none")]
    short_id: str
    sessions: Annotated[int, Doc("number of independent sessions that show the pattern")]
    min_sessions: Annotated[int, Doc("number of sessions that must show the pattern before it becomes a memory")]
    score: Annotated[
        float,
        Doc(
            "importance of the pattern, 0 to 1, from the usefulness of its kind, the number of sessions with it and the "
            "trust in its source; 0 when not computed"
        ),
    ]
    points: Annotated[list[str], Doc("reasons for the score of the pattern")]
    contaminated: Annotated[bool, Doc("true when the pattern contains text from untrusted sources")]
    files: list[str]


@answer
class Receipt:
    """Outcome of each pattern found in a session, or in one task of a session."""

    session: str
    part: Annotated[str, Doc("name of the piece of work that was learnt from, such as a ticket; empty for the whole session")]
    kind: str
    is_open: Annotated[bool, Doc("true when the session meets the conditions for learning from it, such as passed checks")]
    gate: Annotated[str, Doc("reasons why graphmem learns from the session, or why it does not")]
    at: MomentOrNone
    verdicts: Annotated[list[FindingVerdict], Doc("patterns found in the session; those that became memories come first"), Size(30)]
    counts: Annotated[dict[str, int], Doc("number of patterns found in the session by outcome, such as learnt, known or too_rare"), Size(6)]
    notes: Annotated[list[str], Doc("steps of learning from the session that failed, each with the reason")]
    undone: bool = False

    @property
    def learnt(self) -> list[str]:
        """Ids of the memories made from the findings."""
        return [one.memory_id for one in self.verdicts if one.outcome == "learnt"]


@answer
class GroupMeasures:
    """Results of one group of sessions in the experiment with memories."""

    group: Annotated[
        str,
        Doc(
            "name of the group in the experiment: control (no memories are shown to agents), passive (only "
            "at the start of a session) or full (at any time)"
        ),
    ]
    percent: Annotated[int, Doc("percentage of all sessions that are assigned to this group of the experiment")]
    sessions: int
    calls_per_task: Annotated[
        float | None, Doc("average number of tool calls for one piece of work, such as a ticket, or for one session without such pieces")
    ]
    rereads: Annotated[float | None, Doc("share of file reads that read the same file again in a session, 0 to 1")]
    first_pass: Annotated[
        float | None, Doc("share of the distinct test command lines that never failed in the sessions of the group, 0 to 1")
    ]
    dead_end_reentry: Annotated[
        float | None,
        Doc("of all approaches that were abandoned in sessions of this group, the share that an earlier session had abandoned too, 0 to 1"),
    ]
    shown: Annotated[int, Doc("number of memories shown to agents; a memory counts once per session")]
    corrections: Annotated[float | None, Doc("share of shown memories that are disputed now, 0 to 1")]
    boosts: Annotated[float | None, Doc("share of shown memories that were used or confirmed later, 0 to 1")]
    injected_tokens: Annotated[float | None, Doc("average number of tokens of context that hooks added to a session")]
    read_tokens: Annotated[float | None, Doc("average number of tokens of the files that the agent read in a session")]


@answer
class Experiment:
    """The measured effect of showing memories to agents, by group of sessions."""

    groups: Annotated[
        list[GroupMeasures],
        Doc("results of the groups of the experiment: control (no memories are shown), passive (only at the start of a session) and full"),
        Size(3),
    ]
    notes: Annotated[list[str], Doc("why differences between the groups of the experiment may be due to chance")]


@answer
class PhaseWeight:
    """The weight that a type of memory has in a phase of work."""

    phase: str
    type: str
    shown: Annotated[
        int, Doc("number of shown memories of the type, each counted once per session, in the phase in which it was first shown")
    ]
    used: Annotated[int, Doc("how many of the memories in `shown` were also used in the session in which they were counted")]
    built_in: float
    weight: Annotated[float, Doc("weight of the memory type that the ranking uses now")]
    proposed: Annotated[
        float | None,
        Doc("weight that graphmem proposes for the memory type in this phase, computed from sessions; null while there is too little data"),
    ]


@answer
class PhaseWeights:
    """Ranking weights of memory types in phases of work, with proposals."""

    sessions: Annotated[
        int,
        Doc("number of ended sessions in which a memory was shown while the agent's phase of work, such as define or implement, was known"),
    ]
    missing: Annotated[
        int,
        Doc("number of further sessions, of the kind counted in `sessions`, that must end before graphmem can propose weights"),
    ]
    accepted_at: Annotated[
        MomentOrNone, Doc("time at which a person accepted proposed weights of memory types; null while the built-in weights are in use")
    ]
    accepted_sessions: Annotated[int, Doc("number of sessions from which the accepted weights were computed")]
    weights: Annotated[
        list[PhaseWeight],
        Doc("learnt weights of memory types, by phase of work; in a phase, the highest default first"),
        Size(60),
    ]
    notes: Annotated[list[str], Doc("why no weights of memory types are proposed; empty if some are proposed")]


@answer
class SessionSummary:
    """The summary of a session, made from its events."""

    session: str
    agent: str
    kind: str
    title: str
    status: Annotated[
        str,
        Doc(
            "outcome of the session: validated (its checks passed), failed (its checks failed), accepted (its result was accepted) "
            "or abandoned (the work was given up); empty if unknown"
        ),
    ]
    started_at: MomentOrNone
    ended_at: MomentOrNone
    duration_s: float
    contaminated: Annotated[bool, Doc("true when the summary may contain text from untrusted sources")]
    short: Annotated[str, Doc("the summary of the session in one line")]
    markdown: str
