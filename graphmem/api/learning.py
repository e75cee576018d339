"""Root fields of learning: each parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, cast

import strawberry
from strawberry.scalars import JSON

from graphmem import answers
from graphmem.api import types_memory_writes
from graphmem.api.complexity import assumed, sized_by
from graphmem.api.context import Info
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.limits import at_most
from graphmem.api.types_index import Count, Row

ACTOR: Final = "graphql"


@gql_type
class FindingVerdict:
    """What became of one finding of a session."""

    key: str = field("the same in every session that finds the same")
    signal: str = field("that made it")
    memory_type: str
    outcome: str = field("learnt, known, too_rare, gate_closed, failed_approach, taken_back, echo, weak, over_cap or refused")
    why: str = field("one sentence")
    text: str = field("as it would be remembered; empty when nobody came to word it")
    memory_id: str = field("raw id of the memory it became, or that says it already; empty")
    short_id: str
    sessions: int = field("independent ones that found it")
    min_sessions: int = field("asked for")
    score: float
    points: list[str] = field("what spoke for it")
    contaminated: bool = field("strangers' words had a part in it")
    files: list[str]


@gql_type
class Receipt:
    """What became of all findings of a session, or of one unit of work in it."""

    session: str
    part: str = field("label of the unit of work; empty for the session")
    kind: str
    is_open: bool = field("its gate")
    gate: str = field("why")
    at: str = field("ISO 8601, UTC")
    verdicts: list[FindingVerdict] = field("learnt ones first", directives=[assumed(30)])
    notes: list[str] = field("what could not be done, and why")
    undone: bool

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def counts(parent: strawberry.Parent[answers.Receipt]) -> list[Row]:
        """Verdicts by outcome."""
        return [Row(name, count=count) for name, count in parent.counts.items()]


@gql_type
class SessionSummary:
    """What a session did, taken from its events."""

    session: str
    agent: str
    kind: str
    title: str
    status: str = field("validated, failed, accepted, abandoned or empty")
    started_at: str = field("ISO 8601, UTC; empty")
    ended_at: str
    duration_s: float
    contaminated: bool = field("words of strangers may be in it")
    short: str = field("one line")
    markdown: str


@gql_type
class GroupMeasures:
    """Sessions of one group of the experiment together; null where there is nothing to divide by."""

    group: str = field("control is shown nothing, passive what comes at the start, full everything")
    percent: int = field("of all sessions that fall into it")
    sessions: int
    calls_per_task: float | None = field("calls of tools for a unit of work, or for the session")
    rereads: float | None = field("share of reads that were of a file that was read before")
    first_pass: float | None = field("share of the command lines of tests that never failed")
    dead_end_reentry: float | None = field("share of dead ends that another session had been in before")
    shown: int = field("memories, each once a session")
    corrections: float | None = field("share of those that are disputed now")
    boosts: float | None = field("share of those that were used or agreed with since")


@gql_type
class Experiment:
    """What putting memory in front of agents brings: groups of sessions side by side."""

    groups: list[GroupMeasures] = field("control, passive, full", directives=[assumed(3)])
    notes: list[str] = field("why differences may be chance")


@strawberry.enum(description="Which weights of phases are to be in force.")
class PhaseChoice(StrEnum):
    """`service.phases.CHOICES`."""

    PROPOSED = "proposed"
    BUILT_IN = "built-in"


@gql_type
class PhaseWeight:
    """What one type of memory counts in one phase of work."""

    phase: str
    type: str
    shown: int = field("memories of the type, each once a session, in the phase it was first shown in")
    used: int = field("of those: used in the session that was shown them")
    built_in: float
    weight: float = field("in force")
    proposed: float | None = field("null while too little is known")


@gql_type
class PhaseWeights:
    """What types of memories count in phases of work, and what the sessions of the project speak for."""

    sessions: int = field("that ended, in which a memory was shown in a phase")
    missing: int = field("sessions, before anything is proposed")
    accepted_at: str = field("ISO 8601, UTC; empty while the built-in weights are in force")
    accepted_sessions: int = field("that the accepted weights were estimated from")
    weights: list[PhaseWeight] = field("by phase, then by built-in weight, most first", directives=[assumed(60)])
    notes: list[str] = field("why nothing is proposed")


@strawberry.type
class LearningQueries:
    """Questions about what sessions taught."""

    @resolved(list[Receipt] | None, [assumed(2)])
    @staticmethod
    async def session_receipts(info: Info, session: str) -> list[answers.Receipt]:
        """What became of each finding of a session, by its id or the beginning of it."""
        return await info.context.call(info.context.service.session_receipts, session)

    @resolved(SessionSummary | None)
    @staticmethod
    async def session_summary(info: Info, session: str) -> answers.SessionSummary:
        """What a session did."""
        return await info.context.call(info.context.service.session_summary, session)

    @resolved(list[SessionSummary] | None, [sized_by("limit")])
    @staticmethod
    async def session_summaries(info: Info, limit: int = 20, offset: int = 0) -> list[answers.SessionSummary]:
        """Sessions that were learnt from, newest first."""
        return await info.context.call(
            info.context.service.session_summaries, at_most(info.context.limits.results, "limit", limit), offset=offset
        )

    @resolved(list[SessionSummary] | None, [assumed(2)])
    @staticmethod
    async def recent_summaries(info: Info, now: str | None = None) -> list[answers.SessionSummary]:
        """The last two sessions of the last seven days; they may be outdated."""
        return await info.context.call(info.context.service.recent_summaries, now)

    @resolved(Experiment | None)
    @staticmethod
    async def experiment(info: Info) -> answers.Experiment:
        """What putting memory in front of agents brings: the control group, the passive one and the rest side by side."""
        return await info.context.call(info.context.service.experiment)

    @resolved(PhaseWeights | None)
    @staticmethod
    async def phase_weights(info: Info) -> answers.PhaseWeights:
        """What types of memories count in phases of work, how often they were shown there and used, and what that speaks for."""
        return await info.context.call(info.context.service.phase_weights)


@strawberry.type
class LearningMutations:
    """Learning, and taking it back."""

    @resolved(Receipt | None)
    @staticmethod
    async def learn_from(info: Info, record: JSON, unit: str | None = None) -> answers.Receipt:
        """Learn from the record of a session that has ended; one that was learnt from before changes nothing."""
        return await info.context.call(info.context.service.learn_from, cast("Mapping[str, Any]", record), unit)

    @resolved(types_memory_writes.Forgotten | None)
    @staticmethod
    async def undo_session(info: Info, session: str) -> answers.Forgotten:
        """Take back what a session taught; it is not learnt again by itself. What a person has vouched for stays."""
        return await info.context.call(info.context.service.undo_session, session, actor=ACTOR)

    @resolved(PhaseWeights | None)
    @staticmethod
    async def choose_phase_weights(info: Info, choice: PhaseChoice) -> answers.PhaseWeights:
        """Decide what types count in phases of work: PROPOSED puts what is proposed now in force, BUILT_IN goes back."""
        return await info.context.call(info.context.service.choose_phase_weights, choice.value)
