"""The verbs of what is put in front of an agent, over a running server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from graphmem._wire import Wire, rebuild
from graphmem.answers.injection import ContextAccepted, HookAnswer, Injection, Prefetch, StepLimit, TrustState

_LONGEST_S: Final = 30.0


class RemoteContextVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `graphmem.service.context.ContextVerbs`."""

    _wire: Wire

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
    ) -> Injection:
        """See `ContextVerbs.context`. The server counts the deadline from when the request came."""
        return self._injection(
            "Context",
            "context",
            format,
            remaining,
            point=point.upper(),
            session=session,
            text=text,
            files=list(files),
            phase=phase,
            deadlineMs=_milliseconds(deadline_s),
        )

    def context_update(self, session: str, messages: Sequence[str] = (), files: Sequence[str] = (), phase: str = "") -> ContextAccepted:
        """See `ContextVerbs.context_update`."""
        found = self._wire.ask("ContextUpdate", session=session, messages=list(messages), files=list(files), phase=phase)
        return rebuild(ContextAccepted, found["contextUpdate"])

    def context_take(
        self,
        session: str,
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        deadline_s: float | None = None,
    ) -> Injection:
        """See `ContextVerbs.context_take`."""
        deadline = _milliseconds(deadline_s)
        return self._injection("ContextTake", "contextTake", format, remaining, session=session, deadlineMs=deadline)

    def plan_context(
        self,
        task: str,
        modules: Sequence[str] = (),
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        session: str = "",
    ) -> Injection:
        """See `ContextVerbs.plan_context`."""
        return self._injection("PlanContext", "planContext", format, remaining, task=task, modules=list(modules), session=session)

    def relay(
        self,
        before: str,
        to: str,
        session: str = "",
        text: str = "",
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
    ) -> Injection:
        """See `ContextVerbs.relay`."""
        return self._injection("Relay", "relay", format, remaining, before=before, to=to, session=session, text=text)

    def prefetch(self, module: str) -> Prefetch:
        """See `ContextVerbs.prefetch`."""
        return rebuild(Prefetch, self._wire.ask("Prefetch", module=module)["prefetch"])

    def step_limit(self, module: str, base: int) -> StepLimit:
        """See `ContextVerbs.step_limit`."""
        return rebuild(StepLimit, self._wire.ask("StepLimit", module=module, base=base)["stepLimit"])

    def context_budget(self, remaining: int | None = None) -> dict[str, int]:
        """See `ContextVerbs.context_budget`."""
        found: dict[str, int] = self._wire.ask("ContextBudget", remaining=remaining)["contextBudget"]
        return found

    def trust(self) -> TrustState:
        """See `ContextVerbs.trust`."""
        return rebuild(TrustState, self._wire.ask("Trust")["trust"])

    def set_trust_level(self, level: str) -> TrustState:
        """See `ContextVerbs.set_trust_level`."""
        return rebuild(TrustState, self._wire.ask("SetTrustLevel", level=level.upper())["setTrustLevel"])

    def hook(self, agent: str, payload: str) -> HookAnswer:
        """See `ContextVerbs.hook`."""
        return rebuild(HookAnswer, self._wire.ask("Hook", agent=agent, payload=payload)["hook"])

    def _injection(self, operation: str, field: str, form: str, remaining: int | None, **variables: Any) -> Injection:
        found = self._wire.ask(operation, timeout_s=_LONGEST_S, format=form.upper(), remaining=remaining, **variables)
        return rebuild(Injection, found[field])


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
