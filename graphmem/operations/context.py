"""Operations on what is put in front of an agent: context at moments of a session, budgets, trust, hooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Annotated

from graphmem.answers.injection import (
    ContextAccepted,
    ContextBudget,
    ContextReady,
    HookAnswer,
    Injection,
    Prefetch,
    StepLimit,
    TrustState,
)
from graphmem.answers.vocabulary import InjectionFormat, InjectionPoint, TrustLevel
from graphmem.operations.declare import Argument, Filled, Sight, Spelled, Within, operation

Files = Annotated[Sequence[str], Within("targets")]
Deadline = Annotated[float | None, Within("deadline_s")]
Begun = Annotated[float | None, Filled("clock")]


class ContextOperations:
    """Moments of a session. They are changes, because what was shown once is not shown again."""

    @operation("mutation", needs="read", shows=Sight.WHOLE)
    def context(
        self,
        point: InjectionPoint,
        session: str = "",
        text: str = "",
        files: Files = (),
        phase: str = "",
        format: InjectionFormat = "xml",  # noqa: A002 - the word of the domain
        remaining: int | None = None,
        deadline_s: Deadline = None,
        begun: Begun = None,
    ) -> Injection:
        """What to put in front of an agent at a point of its session; empty when it would come too late.

        START has 500 ms, PROMPT 2 s, TOOL 100 ms, STEP 50 ms, counted from when the request came; `deadlineS` gives other seconds.
        """

    @operation("mutation", needs="remember", shows=Sight.PLAIN)
    def context_update(
        self, session: str, messages: Annotated[Sequence[str], Within("targets")] = (), files: Files = (), phase: str = ""
    ) -> ContextAccepted:
        """Say what a conversation is about; answers at once, `contextReady` tells when what is known of it can be taken."""

    @operation("mutation", needs="read", shows=Sight.WHOLE)
    def context_take(
        self,
        session: str,
        format: InjectionFormat = "xml",  # noqa: A002
        remaining: int | None = None,
        deadline_s: Deadline = None,
        begun: Begun = None,
    ) -> Injection:
        """What was made ready for a session since the last time; nothing is given twice within a topic."""

    @operation(needs="read", shows=Sight.WHOLE, client="none")
    def subscribe_context(self) -> AbstractContextManager[Iterator[ContextReady]]:
        """Listen to contexts that become ready; leaving the context ends the iteration in any thread."""

    @operation("query", needs="read", shows=Sight.WHOLE, command="plan", searches=True)
    def plan_context(
        self,
        task: str,
        modules: Annotated[Files, Argument()] = (),
        format: Annotated[InjectionFormat, Spelled(default="markdown")] = "xml",  # noqa: A002
        remaining: int | None = None,
        session: str = "",
    ) -> Injection:
        """Show what past work says about a task.

        How long such work took, dead ends, what moves together, outcomes, recipes.

        Args:
            task: what is to be done.
            modules: directories or files it is about.
            format: of the text.
            remaining: tokens of context that are left; default 100,000.
            session: remember under this name what was shown, and do not show it again.
        """

    @operation("query", needs="read", shows=Sight.WHOLE)
    def relay(
        self,
        before: str,
        to: str,
        session: str = "",
        text: str = "",
        format: InjectionFormat = "xml",  # noqa: A002
        remaining: int | None = None,
    ) -> Injection:
        """What one phase of work hands the next."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def prefetch(self, module: str) -> Prefetch:
        """Files to read before work on a module begins, at most 12 and 32,000 tokens."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def step_limit(self, module: str, base: int) -> StepLimit:
        """How many steps work on a module may take: the base times what such work took before, at most twice."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def context_budget(self, remaining: int | None = None) -> ContextBudget:
        """Tokens that may be put in front of an agent when so many are left; without a number 100,000 are assumed."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def trust(self) -> TrustState:
        """How sure a memory must be to be shown unasked, and why."""

    @operation("mutation", needs="admin", shows=Sight.PLAIN)
    def set_trust_level(self, level: TrustLevel) -> TrustState:
        """Choose how sure a memory must be to be shown unasked; AUTO gives the choice back to experience."""

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True)
    def hook(self, agent: str, payload: str, begun: Begun = None) -> HookAnswer:
        """A coding agent's hook: its JSON as it came, and what the hook prints. Deadlines are those of `context`."""
