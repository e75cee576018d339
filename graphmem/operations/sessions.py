"""Operations on sessions of agents: their events, and learning from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from graphmem.answers import Experiment, Forgotten, PhaseWeights, Receipt, SessionSummary
from graphmem.answers.marks import Doc, Size
from graphmem.answers.sessions import LearningState, ObserveAnswer, SessionDetail, SessionEnded, SessionPage, SessionStarted
from graphmem.answers.vocabulary import LearningChoice, PhaseChoice, SessionKind, SessionOutcome, SessionState
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Argument, Filled, Spelled, Within

Limit = Annotated[int, Within("results"), Doc("the maximum number of results")]
Offset = Annotated[int, Doc("number of results to skip")]
Session = Annotated[str, Doc("id of the session, or a prefix of the id")]


class SessionOperations:
    """Operations on sessions. A running session writes nothing to the graph."""

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("sessions",)}, command="session running")
    def sessions(
        self,
        state: Annotated[SessionState, Spelled(default="running")] = "",
        limit: Annotated[Limit, Spelled(default=50, was=("--k", "-k"))] = 50,
        offset: Offset = 0,
    ) -> SessionPage:
        """List sessions, running ones first, then the newest.

        A caller who may not see every memory gets them without title, task and branch.

        Args:
            state: state of the sessions: running or ended; default: both.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, command="session look")
    def session_detail(self, id: Annotated[str, Spelled(metavar="SESSION")]) -> SessionDetail:  # noqa: A002 - the word of the domain
        """Show the recorded activity of a session.

        Args:
            id: id of the session.
        """

    @operation("mutation", needs="remember", shows=Sight.PLAIN, command="session start")
    def start_session(
        self,
        id: Annotated[str | None, Argument(), Spelled(metavar="SESSION")] = None,  # noqa: A002
        *,
        kind: SessionKind = "terminal",
        agent: str = "",
        parent: str = "",
        group: str = "",
        work_unit: str = "",
        phase: str = "",
        methodology: str = "",
        title: str = "",
        planned_steps: Annotated[int | None, Spelled(("--steps",))] = None,
        branch: str = "",
        commit_sha: str = "",
        cwd: str = "",
    ) -> SessionStarted:
        """Start a session, or resume the session with this id.

        Args:
            id: id of the session; default: a new id.
            kind: the purpose of the session.
            agent: name of the agent.
            parent: the session from which the new session is forked; the new session starts with the parent's knowledge.
            group: name shared by agents that work in parallel.
            work_unit: the piece of work that the session belongs to, such as a ticket.
            phase: the phase of work of the session, in the words of its methodology.
            methodology: the methodology of the session: native, tdd, bmad, or an installed one.
            title: the topic of the session.
            planned_steps: the number of planned steps.
            branch: the git branch of the session.
            commit_sha: the commit at the start of the session.
            cwd: the working directory of the session.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def learning(self) -> LearningState:
        """Whether graphmem observes agents' sessions and learns from them."""

    @operation("mutation", needs="curate", shows=Sight.PLAIN)
    def set_learning(self, state: LearningChoice, minutes: int | None = None) -> LearningState:
        """Switch learning from sessions on or off, or pause it.

        The change applies at once. While learning is off or paused, events of sessions are dropped. Explicit memories are still stored.

        Args:
            state: the new state of learning: ON, OFF or PAUSED.
            minutes: length of a pause in minutes; default: until learning is switched on.
        """

    @operation("mutation", needs="remember", shows=Sight.PLAIN, client="own")
    def observe(self, events: Annotated[Iterable[Mapping[str, Any]], Within("events")], session: str = "") -> ObserveAnswer:
        """Record events of sessions.

        An event is an object with `session_id`, `step`, `at`, `kind`, `tool`, `args`, `ok`, `text` and `tokens`.
        An invalid event is counted in `ignored`; the others are recorded.
        """

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True, slow=True, command="session end")
    def end_session(
        self,
        id: Annotated[str, Spelled(metavar="SESSION")],  # noqa: A002
        outcome: SessionOutcome = "",
        learn: bool = True,
    ) -> SessionEnded:
        """End a session and store what was learnt from it. Idempotent.

        Args:
            id: id of the session.
            outcome: the outcome of the session's work.
            learn: store what was learnt from the session.
        """

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True)
    def learn_from(self, record: Mapping[str, Any], unit: str | None = None) -> Receipt:
        """Store what is learnt from the record of an ended session. Idempotent.

        `unit` is the label of a task of the session, if only this task has ended. The receipt lists each finding with its outcome.
        """

    @operation("query", needs="read", shows=Sight.WHOLE)
    def session_receipts(self, session: str) -> Annotated[list[Receipt], Size(2)]:
        """Which findings of a session became memories, and why.

        A finding is a pattern in the session's events. `session` is the id of the session or a prefix of the id.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, command="session undo")
    def undo_session(self, session: Session, actor: Annotated[str, Filled("actor")] = "") -> Forgotten:
        """Retract the memories learnt from a session.

        The memories are not learnt again automatically. Memories that a person has verified stay.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, command="session summary")
    def session_summary(self, session: Session) -> SessionSummary:
        """Print a summary of a session as Markdown."""

    @operation("query", needs="read", shows=Sight.WHOLE, sizes={"limit": ()}, command="session list")
    def session_summaries(self, limit: Annotated[Limit, Spelled(was=("--k", "-k"))] = 20, offset: Offset = 0) -> list[SessionSummary]:
        """Summarize ended sessions that were learnt from, newest first."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def recent_summaries(self, now: datetime | str | None = None) -> Annotated[list[SessionSummary], Size(2)]:
        """Summaries of the last two sessions of the last seven days.

        The code may have changed since a summary was made.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, command="session groups")
    def experiment(self) -> Experiment:
        """Compare sessions with and without injected memories.

        A session belongs to one of three groups: control (no memories are shown), passive (only at the start of a session) and full. The
        measures are tool calls, repeated reads, test commands that never failed, repeated dead ends and corrections.
        """

    @operation("query", needs="read", shows=Sight.WHOLE)
    def phase_weights(self) -> PhaseWeights:
        """The ranking weights of memory types in each phase of work.

        The answer also says how often each type was shown and used, and proposes weights computed from these counts.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE)
    def choose_phase_weights(self, choice: PhaseChoice) -> PhaseWeights:
        """Choose the ranking weights of memory types in phases of work.

        PROPOSED applies the weights that the sessions so far suggest; BUILT_IN restores the defaults.
        """
