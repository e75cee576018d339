"""Context that agents get during a session: memories, rules and code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.answers.injection import ContextAccepted, ContextBudget, HookAnswer, Injection, Prefetch, StepLimit, TrustState
from graphmem.errors import BadInputError
from graphmem.injection.agent import MAX_CONTEXT
from graphmem.injection.ask import Ask, check
from graphmem.injection.budgets import budget_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphmem.answers.injection import ContextReady
    from graphmem.injection.hook_events import Hooks
    from graphmem.injection.injector import Injector
    from graphmem.project.graph.progress import Feed, Hub


@dataclass(eq=False, repr=False)
class AgentContext:
    """Selects the memories, rules and code that an agent gets."""

    inside: Callable[[Sequence[str]], tuple[str, ...]]  # paths from the root
    injector: Injector
    hooks: Hooks
    news: Hub[ContextReady]  # reports contexts that became ready
    tell_shown: Callable[[str, Sequence[str], str], None]  # records the memories shown to a session in a phase of work

    def context(
        self,
        point: str,
        session: str = "",
        text: str = "",
        files: Sequence[str] = (),
        phase: str = "",
        format: str = "xml",  # noqa: A002 - the word of the domain
        remaining: int | None = None,
        deadline_s: float | None = None,
        begun: float | None = None,
    ) -> Injection:
        """Return memories, rules and code to show at a moment of a session.

        The context is empty if it would be ready only after the deadline.

        Args:
            point: the moment: start (deadline 500 ms), prompt (2 s), tool (100 ms) or step (50 ms).
            session: name of the session; without one, graphmem does not record which memories were shown.
            text: the words of the person's prompt.
            files: paths from the root: open files, or the files a tool was used on.
            phase: the phase of work: define, implement, validate, refine, explore or reflect.
            format: xml, markdown, text or json.
            remaining: number of tokens left in the agent's context; None for 100,000.
            deadline_s: deadline in seconds, instead of the one for `point`.
            begun: arrival time of the request, on the clock of `time.monotonic`; None for now.

        Raises:
            BadInputError: an argument is invalid.
        """
        if point == "take":
            raise BadInputError(
                "the injection point `take` cannot be passed to this operation; call `context_take` to get prepared context",
                argument="point",
                value=point,
            )
        found = self.injector.inject(Ask(point, session, text, self.inside(files), phase, format, remaining), deadline_s, begun)
        return self._record_shown(found, phase)

    def context_update(self, session: str, messages: Sequence[str] = (), files: Sequence[str] = (), phase: str = "") -> ContextAccepted:
        """Accept the last messages of a conversation, and return at once.

        Memories relevant to the messages are selected in the background, for a later call of `context_take`.

        Args:
            session: name of the session.
            messages: the last messages, oldest first; only their last 4,000 characters in total are used.
            files: open files, as paths from the root.
            phase: the phase of work.

        Raises:
            BadInputError: an argument is invalid.
        """
        files = self.inside(files)
        check(Ask("take", session, files=files, phase=phase))
        said = "\n".join(messages)[-MAX_CONTEXT:]
        return ContextAccepted(session, self.injector.update(session, [said], files, phase))

    def context_take(
        self,
        session: str,
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        deadline_s: float | None = None,
        begun: float | None = None,
    ) -> Injection:
        found = self.injector.inject(Ask("take", session, form=format, remaining=remaining), deadline_s, begun)
        return self._record_shown(found, self.injector.agent.phase(session) if session else "")

    def _record_shown(self, found: Injection, phase: str) -> Injection:
        """Record which memories a context shows to a session; return the context.

        The recording runs in the background.
        """
        if found.session and (shown := [one.id for one in found.items if one.kind == "memory"]):
            self.injector.soon(lambda: self.tell_shown(found.session, shown, phase))
        return found

    def subscribe_context(self) -> Feed[ContextReady]:
        return self.news.feed()

    def plan_context(
        self,
        task: str,
        modules: Sequence[str] = (),
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        session: str = "",
    ) -> Injection:
        return self.injector.plan(task, self.inside(modules), Ask("prompt", session, form=format, remaining=remaining))

    def relay(
        self,
        before: str,
        to: str,
        session: str = "",
        text: str = "",
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
    ) -> Injection:
        """Return the memories that one phase of work passes to the next.

        Only memories of types that are useful in the next phase are returned. Memories of the session come first.

        Args:
            before: the phase that ends.
            to: the phase that begins.
            session: the session whose memories come first.
            text: subject of the work.
            format: xml, markdown, text or json.
            remaining: number of tokens left in the agent's context.

        Raises:
            BadInputError: the phase is unknown.
        """
        return self.injector.relay(before, to, Ask("prompt", session, text, form=format, remaining=remaining))

    def prefetch(self, module: str) -> Prefetch:
        return self.injector.prefetch(self.inside([module])[0])

    def step_limit(self, module: str, base: int) -> StepLimit:
        return self.injector.step_limit(self.inside([module])[0], base)

    def context_budget(self, remaining: int | None = None) -> ContextBudget:
        return ContextBudget(**budget_for(remaining)._asdict())

    def trust(self) -> TrustState:
        now = self.injector.trust.now()
        return TrustState(now.level(), now.chosen, self.injector.trust.threshold(), now.sessions, round(now.corrections(), 6), now.offer)

    def set_trust_level(self, level: str) -> TrustState:
        """Choose how certain a memory must be to be shown to agents unasked.

        The levels are cautious, standard, confident, autonomous and auto. With auto, graphmem derives the level from corrections in past
        sessions.

        Raises:
            BadInputError: the level is unknown.
        """
        self.injector.trust.choose(level)
        return self.trust()

    def hook(self, agent: str, payload: str, begun: float | None = None) -> HookAnswer:
        """Observe an event of a coding agent's hook; return what the hook prints.

        Args:
            agent: claude-code, cursor, codex, gemini or opencode.
            payload: the hook's JSON, as received on standard input.
            begun: arrival time of the event, on the clock of `time.monotonic`; deadlines count from this time.

        Raises:
            BadInputError: the agent is unknown, the payload is not a JSON object, or it has no session.
        """
        return self.hooks.hook(agent, payload, begun)
