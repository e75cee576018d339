"""What is put in front of an agent, and when."""

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
    from graphmem.project.progress import Feed, Hub


@dataclass(eq=False, repr=False)
class AgentContext:
    """Puts what is known in front of an agent."""

    inside: Callable[[Sequence[str]], tuple[str, ...]]  # paths from the root
    injector: Injector
    hooks: Hooks
    news: Hub[ContextReady]  # of contexts that become ready
    tell_shown: Callable[[str, Sequence[str], str], None]  # tells a session which memories it was shown, in a phase of work

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
        """What to put in front of an agent at a point of its session; empty when it would come too late.

        Args:
            point: start (500 ms), prompt (2 s), tool (100 ms) or step (50 ms).
            session: its name; without one nothing is remembered of what was shown.
            text: the person's words.
            files: from the root: those that are open, or that a tool was about.
            phase: of work: define, implement, validate, refine, explore or reflect.
            format: xml, markdown, text or json.
            remaining: tokens of context that are left; default: 100,000.
            deadline_s: instead of the point's own.
            begun: when the question came, on the clock of `time.monotonic`; default now.

        Raises:
            BadInputError: one of them cannot be.
        """
        if point == "take":
            raise BadInputError("what is ready is taken with `context_take`", argument="point", value=point)
        found = self.injector.inject(Ask(point, session, text, self.inside(files), phase, format, remaining), deadline_s, begun)
        return self._told(found, phase)

    def context_update(self, session: str, messages: Sequence[str] = (), files: Sequence[str] = (), phase: str = "") -> ContextAccepted:
        """Say what a conversation is about; answers at once, and what is known of it is made ready behind that.

        Args:
            session: its name.
            messages: the last ones, oldest first; of all of them the last 4,000 characters count.
            files: that are open, from the root.
            phase: of work.

        Raises:
            BadInputError: one of them cannot be.
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
        """What was made ready for a session since the last time; nothing is given twice within a topic.

        Raises:
            BadInputError: one of the arguments cannot be.
        """
        found = self.injector.inject(Ask("take", session, form=format, remaining=remaining), deadline_s, begun)
        return self._told(found, self.injector.agent.phase(session) if session else "")

    def _told(self, found: Injection, phase: str) -> Injection:
        """Tell of the session, if it is observed, what it is shown; behind the answer."""
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
        """What past work says about a task: calibrations, dead ends, causal dependencies, outcomes, recipes.

        Raises:
            BadInputError: one of them cannot be.
        """
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
        """What one phase of work hands the next: memories of the types that are of use there, the session's own first.

        Args:
            before: the phase that is over.
            to: the phase that begins.
            session: whose memories come first.
            text: what the work is about.
            format: xml, markdown, text or json.
            remaining: tokens of context that are left.

        Raises:
            BadInputError: there is no such phase.
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
        """Choose how sure a memory must be: cautious, standard, confident, autonomous, or auto for what experience says.

        Raises:
            BadInputError: there is no such level.
        """
        self.injector.trust.choose(level)
        return self.trust()

    def hook(self, agent: str, payload: str, begun: float | None = None) -> HookAnswer:
        """An event of a coding agent's hook: it is observed, and the answer is what the hook prints.

        Args:
            agent: claude-code, cursor, codex, gemini or opencode.
            payload: the hook's JSON, as it came on standard input.
            begun: when it came, on the clock of `time.monotonic`; deadlines count from there.

        Raises:
            BadInputError: another agent, no JSON object, or no session in it.
        """
        return self.hooks.hook(agent, payload, begun)
