"""Operations on sessions of agents: what happens in them, and what is learnt of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from graphmem.answers import Experiment, Forgotten, PhaseWeights, Receipt, SessionSummary
from graphmem.answers.marks import Size
from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionEnded, SessionPage, SessionStarted
from graphmem.answers.vocabulary import PhaseChoice, SessionKind, SessionOutcome, SessionState
from graphmem.operations.declare import Filled, Sight, Within, operation

Limit = Annotated[int, Within("results")]


class SessionOperations:
    """Sessions. Nothing is written to the graph while one runs."""

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("sessions",)})
    def sessions(self, state: SessionState = "", limit: Limit = 50, offset: int = 0) -> SessionPage:
        """Sessions, running ones first, then the newest."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def session_detail(self, id: str) -> SessionDetail:  # noqa: A002 - the word of the domain
        """What was seen of a session so far, or in all."""

    @operation("mutation", needs="remember", shows=Sight.PLAIN)
    def start_session(
        self,
        id: str | None = None,  # noqa: A002
        *,
        kind: SessionKind = "terminal",
        agent: str = "",
        parent: str = "",
        group: str = "",
        work_unit: str = "",
        phase: str = "",
        methodology: str = "",
        title: str = "",
        planned_steps: int | None = None,
        branch: str = "",
        commit_sha: str = "",
        cwd: str = "",
    ) -> SessionStarted:
        """Begin a session, or go on with the one of that id; a `parent` makes it start from all that one knows."""

    @operation("mutation", needs="remember", shows=Sight.PLAIN, client="own")
    def observe(self, events: Annotated[Iterable[Mapping[str, Any]], Within("events")], session: str = "") -> ObserveAnswer:
        """Tell what happened: events as objects with `session_id`, `step`, `at`, `kind`, `tool`, `args`, `ok`, `text`, `tokens`.

        They are plain JSON so that one that cannot be meant costs itself alone: it is counted in `ignored`.
        """

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True, slow=True)
    def end_session(self, id: str, outcome: SessionOutcome = "", learn: bool = True) -> SessionEnded:  # noqa: A002
        """End a session and learn from it. Idempotent."""

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True)
    def learn_from(self, record: Mapping[str, Any], unit: str | None = None) -> Receipt:
        """Learn from the record of a session that has ended; one that was learnt from before changes nothing."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def session_receipts(self, session: str) -> Annotated[list[Receipt], Size(2)]:
        """The outcome of each finding of a session, by its id or the beginning of it."""

    @operation("mutation", needs="curate", shows=Sight.WHOLE)
    def undo_session(self, session: str, actor: Annotated[str, Filled("actor")] = "") -> Forgotten:
        """Take back what a session taught; it is not learnt again by itself. What a person has vouched for stays."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def session_summary(self, session: str) -> SessionSummary:
        """What a session did."""

    @operation("query", needs="read", shows=Sight.WHOLE, sizes={"limit": ()})
    def session_summaries(self, limit: Limit = 20, offset: int = 0) -> list[SessionSummary]:
        """Sessions that were learnt from, newest first."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def recent_summaries(self, now: datetime | str | None = None) -> Annotated[list[SessionSummary], Size(2)]:
        """The last two sessions of the last seven days; they may be outdated."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def experiment(self) -> Experiment:
        """What putting memory in front of agents brings: the control group, the passive one and the rest side by side."""

    @operation("query", needs="read", shows=Sight.WHOLE)
    def phase_weights(self) -> PhaseWeights:
        """What types of memories count in phases of work, how often they were shown there and used, and what that speaks for."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE)
    def choose_phase_weights(self, choice: PhaseChoice) -> PhaseWeights:
        """Decide what types count in phases of work: PROPOSED puts what is proposed now in force, BUILT_IN goes back."""
