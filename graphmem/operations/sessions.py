"""Operations on sessions of agents: what happens in them, and what is learnt of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from graphmem.answers import Experiment, Forgotten, PhaseWeights, Receipt, SessionSummary
from graphmem.answers.marks import Doc, Size
from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionEnded, SessionPage, SessionStarted
from graphmem.answers.vocabulary import PhaseChoice, SessionKind, SessionOutcome, SessionState
from graphmem.operations.declare import Argument, Filled, Sight, Spelled, Within, operation

Limit = Annotated[int, Within("results"), Doc("at most this many")]
Offset = Annotated[int, Doc("leave out the first ones")]
Session = Annotated[str, Doc("its id, or the beginning of it")]


class SessionOperations:
    """Sessions. Nothing is written to the graph while one runs."""

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("sessions",)}, command="session running")
    def sessions(
        self,
        state: Annotated[SessionState, Spelled(default="running")] = "",
        limit: Annotated[Limit, Spelled(default=50, was=("--k", "-k"))] = 50,
        offset: Offset = 0,
    ) -> SessionPage:
        """List sessions, running ones first, then the newest.

        Args:
            state: only sessions of this state.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, command="session look")
    def session_detail(self, id: Annotated[str, Spelled(metavar="SESSION")]) -> SessionDetail:  # noqa: A002 - the word of the domain
        """Show what was seen of a session so far, or in all.

        Args:
            id: the session's id.
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
        """Begin a session, or go on with the one of that id.

        Args:
            id: the session's id; default a new one.
            kind: what it is for.
            agent: name of the agent.
            parent: session it is forked from; it starts from all that one knows.
            group: shared by agents side by side.
            work_unit: what is worked on.
            phase: in the words of the methodology.
            methodology: native, tdd, bmad, or an installed one.
            title: what it is about.
            planned_steps: steps that are planned.
            branch: the git branch it works on.
            commit_sha: the commit it begins at.
            cwd: the directory it works in.
        """

    @operation("mutation", needs="remember", shows=Sight.PLAIN, client="own")
    def observe(self, events: Annotated[Iterable[Mapping[str, Any]], Within("events")], session: str = "") -> ObserveAnswer:
        """Tell what happened: events as objects with `session_id`, `step`, `at`, `kind`, `tool`, `args`, `ok`, `text`, `tokens`.

        They are plain JSON so that one that cannot be meant costs itself alone: it is counted in `ignored`.
        """

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True, slow=True, command="session end")
    def end_session(
        self,
        id: Annotated[str, Spelled(metavar="SESSION")],  # noqa: A002
        outcome: SessionOutcome = "",
        learn: bool = True,
    ) -> SessionEnded:
        """End a session and learn from it; to end it twice changes nothing.

        Args:
            id: the session's id.
            outcome: how its work came out.
            learn: learn from it.
        """

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True)
    def learn_from(self, record: Mapping[str, Any], unit: str | None = None) -> Receipt:
        """Learn from the record of a session that has ended; one that was learnt from before changes nothing."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def session_receipts(self, session: str) -> Annotated[list[Receipt], Size(2)]:
        """The outcome of each finding of a session, by its id or the beginning of it."""

    @operation("mutation", needs="curate", shows=Sight.WHOLE, command="session undo")
    def undo_session(self, session: Session, actor: Annotated[str, Filled("actor")] = "") -> Forgotten:
        """Take back what a session taught.

        It is not learnt again by itself. What a person has vouched for stays.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, command="session summary")
    def session_summary(self, session: Session) -> SessionSummary:
        """Print what a session did, as Markdown."""

    @operation("query", needs="read", shows=Sight.WHOLE, sizes={"limit": ()}, command="session list")
    def session_summaries(self, limit: Annotated[Limit, Spelled(was=("--k", "-k"))] = 20, offset: Offset = 0) -> list[SessionSummary]:
        """List the sessions that were learnt from, newest first."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def recent_summaries(self, now: datetime | str | None = None) -> Annotated[list[SessionSummary], Size(2)]:
        """The last two sessions of the last seven days; they may be outdated."""

    @operation("query", needs="read", shows=Sight.WHOLE, command="session groups")
    def experiment(self) -> Experiment:
        """Compare sessions with and without memories.

        The control group, the passive one and the rest stand side by side: calls, re-reads, checks, dead ends, corrections.
        """

    @operation("query", needs="read", shows=Sight.WHOLE)
    def phase_weights(self) -> PhaseWeights:
        """What types of memories count in phases of work, how often they were shown there and used, and what that speaks for."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE)
    def choose_phase_weights(self, choice: PhaseChoice) -> PhaseWeights:
        """Decide what types count in phases of work: PROPOSED puts what is proposed now in force, BUILT_IN goes back."""
