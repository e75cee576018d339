"""Root fields of what is put in front of an agent. The time a request has waited counts against its deadline."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from enum import StrEnum
from typing import Final

import strawberry

from graphmem.answers import injection as answers
from graphmem.api import types_injection
from graphmem.api.context import Info
from graphmem.api.describe import resolved
from graphmem.api.limits import at_most, no_more_than

MAX_DEADLINE_MS: Final = 30_000  # a deadline of the caller's own


@strawberry.enum(description="How what is injected is written.")
class InjectionFormat(StrEnum):
    """`injection.formats.FORMATS`."""

    XML = "xml"
    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"


@strawberry.enum(description="A moment of a session at which something may be put in front of an agent.")
class InjectionPoint(StrEnum):
    """`injection.deadlines.POINTS`."""

    START = "start"
    PROMPT = "prompt"
    TOOL = "tool"
    STEP = "step"


@strawberry.enum(description="How sure a memory must be to be shown unasked.")
class TrustLevel(StrEnum):
    """`injection.trust.LEVELS`, and AUTO."""

    AUTO = "auto"
    CAUTIOUS = "cautious"
    STANDARD = "standard"
    CONFIDENT = "confident"
    AUTONOMOUS = "autonomous"


def _bounded(info: Info, argument: str, given: list[str] | None) -> list[str]:
    """A list that may be missing or empty, and not too long."""
    return no_more_than(info.context.limits.targets, argument, given) if given else []


def _seconds(milliseconds: int | None) -> float | None:
    """A deadline of the caller's own."""
    if milliseconds is None:
        return None
    return at_most(MAX_DEADLINE_MS, "deadlineMs", milliseconds) / 1000


@strawberry.type
class ContextQueries:
    """Questions about what an agent may be shown."""

    @resolved(types_injection.Injection | None)
    @staticmethod
    async def plan_context(
        info: Info,
        task: str,
        modules: list[str] | None = None,
        format: InjectionFormat = InjectionFormat.XML,  # noqa: A002 - the word of the domain
        remaining: int | None = None,
        session: str = "",
    ) -> answers.Injection:
        """What past work says about a task: calibrations, dead ends, causal dependencies, outcomes, recipes."""
        within = _bounded(info, "modules", modules)
        return await info.context.call(info.context.service.plan_context, task, within, format.value, remaining, session)

    @resolved(types_injection.Prefetch | None)
    @staticmethod
    async def prefetch(info: Info, module: str) -> answers.Prefetch:
        """Files to read before work on a module begins, at most 12 and 32,000 tokens."""
        return await info.context.call(info.context.service.prefetch, module)

    @resolved(types_injection.StepLimit | None)
    @staticmethod
    async def step_limit(info: Info, module: str, base: int) -> answers.StepLimit:
        """How many steps work on a module may take: the base times what such work took before, at most twice."""
        return await info.context.call(info.context.service.step_limit, module, base)

    @resolved(types_injection.Injection | None)
    @staticmethod
    async def relay(
        info: Info,
        before: str,
        to: str,
        session: str = "",
        text: str = "",
        format: InjectionFormat = InjectionFormat.XML,  # noqa: A002
        remaining: int | None = None,
    ) -> answers.Injection:
        """What one phase of work hands the next."""
        return await info.context.call(info.context.service.relay, before, to, session, text, format.value, remaining)

    @resolved(types_injection.ContextBudget | None)
    @staticmethod
    async def context_budget(info: Info, remaining: int | None = None) -> types_injection.ContextBudget:
        """Tokens that may be put in front of an agent when so many are left; without a number 100,000 are assumed."""
        return types_injection.ContextBudget(**await info.context.call(info.context.service.context_budget, remaining))

    @resolved(types_injection.TrustState)
    @staticmethod
    async def trust(info: Info) -> answers.TrustState:
        """How sure a memory must be to be shown unasked, and why."""
        return await info.context.call(info.context.service.trust)


@strawberry.type
class ContextMutations:
    """Moments of a session. They are changes, because what was shown once is not shown again."""

    @resolved(types_injection.Injection | None)
    @staticmethod
    async def context(
        info: Info,
        point: InjectionPoint,
        session: str = "",
        text: str = "",
        files: list[str] | None = None,
        phase: str = "",
        format: InjectionFormat = InjectionFormat.XML,  # noqa: A002
        remaining: int | None = None,
        deadline_ms: int | None = None,
    ) -> answers.Injection:
        """What to put in front of an agent at a point of its session; empty when it would come too late.

        START has 500 ms, PROMPT 2 s, TOOL 100 ms, STEP 50 ms, counted from when the request came; `deadlineMs` gives another time.
        """
        begun = time.monotonic()
        paths = _bounded(info, "files", files)
        return await info.context.call(
            info.context.service.context, point.value, session, text, paths, phase, format.value, remaining, _seconds(deadline_ms), begun
        )

    @resolved(types_injection.ContextAccepted | None)
    @staticmethod
    async def context_update(
        info: Info, session: str, messages: list[str] | None = None, files: list[str] | None = None, phase: str = ""
    ) -> answers.ContextAccepted:
        """Say what a conversation is about; answers at once, `contextReady` tells when what is known of it can be taken."""
        said = _bounded(info, "messages", messages)
        paths = _bounded(info, "files", files)
        return await info.context.call(info.context.service.context_update, session, said, paths, phase)

    @resolved(types_injection.Injection | None)
    @staticmethod
    async def context_take(
        info: Info,
        session: str,
        format: InjectionFormat = InjectionFormat.XML,  # noqa: A002
        remaining: int | None = None,
        deadline_ms: int | None = None,
    ) -> answers.Injection:
        """What was made ready for a session since the last time; nothing is given twice within a topic."""
        begun = time.monotonic()
        return await info.context.call(info.context.service.context_take, session, format.value, remaining, _seconds(deadline_ms), begun)

    @resolved(types_injection.TrustState | None)
    @staticmethod
    async def set_trust_level(info: Info, level: TrustLevel) -> answers.TrustState:
        """Choose how sure a memory must be to be shown unasked; AUTO gives the choice back to experience."""
        return await info.context.call(info.context.service.set_trust_level, level.value)

    @resolved(types_injection.HookAnswer | None)
    @staticmethod
    async def hook(info: Info, agent: str, payload: str) -> answers.HookAnswer:
        """A coding agent's hook: its JSON as it came, and what the hook prints. Deadlines are those of `context`."""
        begun = time.monotonic()
        return await info.context.call(info.context.service.hook, agent, payload, begun)


@strawberry.type
class ContextSubscriptions:
    """News of contexts."""

    @resolved(types_injection.ContextReady, subscription=True)
    @staticmethod
    async def context_ready(info: Info, session: str | None = None) -> AsyncIterator[answers.ContextReady]:
        """Contexts that became ready to be taken, of one session or of all."""
        async with aclosing(info.context.context_news.steps(follow=True)) as news:
            async for one in news:
                if session is None or one.session == session:
                    yield one
