"""Operations that inject context into an agent's session, with budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Annotated

from graphmem.answers.injection import ContextAccepted, ContextBudget, ContextReady, HookAnswer, Injection, Prefetch, StepLimit, TrustState
from graphmem.answers.vocabulary import InjectionFormat, InjectionPoint, TrustLevel
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Argument, Filled, Spelled, Within

Files = Annotated[Sequence[str], Within("targets")]
Deadline = Annotated[float | None, Within("deadline_s")]
Begun = Annotated[float | None, Filled("clock")]


class ContextOperations:
    """Context for agents. Most calls record what the session was shown."""

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
        """Context to inject at a point of a session; empty after the deadline.

        The deadlines are 500 ms for START, 2 s for PROMPT, 100 ms for TOOL and 50 ms for STEP.
        A deadline counts from the arrival of the request. `deadlineS` sets another deadline in seconds.
        """

    @operation("mutation", needs="remember", shows=Sight.PLAIN)
    def context_update(
        self, session: str, messages: Annotated[Sequence[str], Within("targets")] = (), files: Files = (), phase: str = ""
    ) -> ContextAccepted:
        """Report what a conversation is about, so that its context is prepared.

        `messages` are the newest messages, oldest first, and `files` are the open files. The call returns at once. `contextReady` reports
        when the context can be taken.
        """

    @operation("mutation", needs="read", shows=Sight.WHOLE)
    def context_take(
        self,
        session: str,
        format: InjectionFormat = "xml",  # noqa: A002
        remaining: int | None = None,
        deadline_s: Deadline = None,
        begun: Begun = None,
    ) -> Injection:
        """Context prepared for a session since the last call.

        An item is not returned again until the topic of the conversation changes.
        """

    @operation(needs="read", shows=Sight.WHOLE, client="none")
    def subscribe_context(self) -> AbstractContextManager[Iterator[ContextReady]]:
        """Subscribe to notices that prepared memories can be fetched.

        The result is used in a `with` statement, which gives an iterator. The iterator yields a notice whenever a session has new prepared
        memories. It stops at the end of the `with` block, even if another thread iterates. If too many notices wait to be read, it ends
        with a LimitError.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, command="plan", searches=True)
    def plan_context(
        self,
        task: str,
        modules: Annotated[Files, Argument()] = (),
        format: Annotated[InjectionFormat, Spelled(default="markdown")] = "xml",  # noqa: A002
        remaining: int | None = None,
        session: str = "",
    ) -> Injection:
        """Show what past sessions and commits tell about a task.

        The answer covers the duration of similar work, dead ends, files that change together, outcomes and recipes (steps that worked
        before).

        Args:
            task: description of the task, in words.
            modules: directories or files that the task is about.
            format: the format of the printed text.
            remaining: tokens left in the agent's context; default: 100,000.
            session: name of the session; items shown once under this name are not shown again.
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
        """Get the memories that one phase of work should pass to the next phase.

        `before` and `to` are the two phases, such as `explore` and `implement`. `text` describes the work.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def prefetch(self, module: str) -> Prefetch:
        """Files to read before work on a module, up to 12 files and 32,000 tokens."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def step_limit(self, module: str, base: int) -> StepLimit:
        """The recommended maximum number of steps for work on a module.

        The limit is `base` times the ratio of actual to planned steps in past work, at most twice `base`.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def context_budget(self, remaining: int | None = None) -> ContextBudget:
        """Maximum number of tokens to inject, given the tokens left to the agent.

        The default of `remaining` is 100,000.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def trust(self) -> TrustState:
        """The confidence that a memory needs to be shown to agents, and why."""

    @operation("mutation", needs="admin", shows=Sight.PLAIN)
    def set_trust_level(self, level: TrustLevel) -> TrustState:
        """Set the minimum confidence of memories that are injected.

        AUTO derives the level from the corrections of past sessions.
        """

    @operation("mutation", needs="remember", shows=Sight.WHOLE, also_reads=True)
    def hook(self, agent: str, payload: str, begun: Begun = None) -> HookAnswer:
        """Run an agent's hook on its JSON payload; returns the text to print.

        The deadlines are those of `context`.
        """
