"""GraphQL types of observing sessions."""

from __future__ import annotations

from enum import StrEnum

import strawberry
from strawberry.scalars import JSON

from graphmem.answers import sessions as answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.learning import Receipt
from graphmem.api.types_index import Count, Row


@strawberry.enum(description="What a session is for; it decides how much may be learnt from it.")
class SessionKind(StrEnum):
    """`observe.model.SESSION_KINDS`."""

    BUILD = "build"
    INSIGHTS = "insights"
    ROADMAP = "roadmap"
    TERMINAL = "terminal"
    CHANGELOG = "changelog"
    SPEC = "spec"
    PR_REVIEW = "pr_review"


@strawberry.enum(description="How a session, or a unit of work in it, came out.")
class SessionOutcome(StrEnum):
    """`observe.model.OUTCOMES`, without the one that says nothing."""

    VALIDATED = "validated"
    FAILED = "failed"
    ACCEPTED = "accepted"
    ABANDONED = "abandoned"


@strawberry.enum(description="Whether a session still runs.")
class SessionState(StrEnum):
    """See `SessionVerbs.sessions`."""

    RUNNING = "running"
    ENDED = "ended"


@gql_type
class Session:
    """One session of an agent. Times are ISO 8601 in UTC, empty for never."""

    id: str = field("the agent's own id of it; not a global id")
    kind: str = field("build, insights, roadmap, terminal, changelog, spec or pr_review")
    agent: str
    title: str
    state: str = field("running or ended")
    outcome: str = field("validated, failed, accepted, abandoned or empty")
    ending: str = field("ended by its own word, recovered from its trail, merged with its companions; empty while it runs")
    parent: str = field("session it was forked from")
    group: str = field("shared by sessions of agents side by side")
    methodology: str
    work_unit: str
    phase: str = field("define, implement, validate, refine, explore, reflect or empty")
    branch: str
    commit_sha: str
    started_at: str
    ended_at: str
    events: int = field("taken")
    steps: int
    tokens: int
    duration_s: float = field("without breaks of over an hour")
    files_edited: int
    findings: int
    contaminated: bool = field("something was read from the web")


@gql_type
class SessionFinding:
    """What one signal saw in a session; a candidate for a memory, not yet one."""

    signal: str = field("docs/observing.md lists the seventeen")
    key: str = field("the same in every session that finds the same")
    memory_type: str
    value: float
    priority: float
    early: bool = field("stands out so far that other sessions are not waited for")
    min_sessions: int = field("in which it has to be found before it is learnt")
    contaminated: bool
    failed_approach: bool = field("of an approach that was given up")
    quorum: bool = field("two agents found it independently")
    files: list[str]
    steps: list[int] = field("evidence")
    facts: JSON = field("what a sentence about it is made of")


@gql_type
class SessionFile:
    """What a session did with one file."""

    path: str
    reads: int
    edits: int
    lines_added: int
    lines_removed: int
    reverted: int = field("edits that were undone")
    tokens: int = field("that reading it cost")


@gql_type
class SessionCommand:
    """A command line and how its runs ended."""

    command: str
    action: str = field("run, test, search, read, list, edit or web")
    runs: int
    failures: int
    last_exit: int | None
    seconds: float


@gql_type
class SessionError:
    """An error of a session, and whether it was overcome."""

    message: str
    times: int
    fixed: bool
    fix_files: list[str] = field("edited between the error and the success")


@gql_type
class SessionDeadEnd:
    """An approach that was given up."""

    approach: str
    why: str
    reverted: list[str] = field("files whose edits were undone")


@gql_type
class SessionDetail:
    """One session, and what was seen of it."""

    session: Session
    findings: list[SessionFinding] = field("most urgent first", directives=[assumed(30)])
    files: list[SessionFile] = field("read or edited, the most edited first", directives=[assumed(30)])
    commands: list[SessionCommand] = field("in the order of their first run", directives=[assumed(20)])
    errors: list[SessionError] = field("in the order of their first sight", directives=[assumed(10)])
    dead_ends: list[SessionDeadEnd] = field("in order", directives=[assumed(3)])
    web_sources: list[str]

    @resolved(list[Count], [assumed(5)])
    @staticmethod
    def ignored(parent: strawberry.Parent[answers.SessionDetail]) -> list[Row]:
        """Events that were not taken, or were taken with a remark, by reason."""
        return [Row(name, count=count) for name, count in parent.ignored.items()]

    @resolved(list[Count], [assumed(5)])
    @staticmethod
    def cut(parent: strawberry.Parent[answers.SessionDetail]) -> list[Row]:
        """How many more there are of each list than are shown."""
        return [Row(name, count=count) for name, count in parent.cut.items()]


@gql_type
class SessionPage:
    """A page of sessions."""

    sessions: list[Session]
    total: int


@gql_type
class SessionStarted:
    """What became of a session's start."""

    id: str = field("that its events have to name; another than was asked for when that one was taken")
    resumed: bool = field("it was running already")
    kind: str
    methodology: str
    work_unit: str
    phase: str
    note: str = field("why the id is another; empty")


@gql_type
class ObserveAnswer:
    """What became of a batch of events."""

    taken: int
    sessions: list[str] = field("touched")
    ended: list[str] = field("with this batch; what they teach is learnt behind this answer")
    early: list[str] = field("keys of what stands out already, of the sessions touched")

    @resolved(list[Count], [assumed(5)])
    @staticmethod
    def ignored(parent: strawberry.Parent[answers.ObserveAnswer]) -> list[Row]:
        """Events that were not taken, or were taken with a remark, by reason."""
        return [Row(name, count=count) for name, count in parent.ignored.items()]


@gql_type
class SessionEnded:
    """What became of a session at its end."""

    session: Session
    receipt: Receipt | None = field("what was learnt; null while agents it works with still run")
    note: str
