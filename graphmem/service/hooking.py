"""A coding agent's hook, as the server sees it: the event is observed, and what belongs in front of the agent now is the answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers_injection import HookAnswer, Injection
from graphmem.errors import BadInputError
from graphmem.hooks import agents
from graphmem.hooks.agents import COMPACT, END, FAILURE, PROMPT, START, TOOL, WORDS, HookCall
from graphmem.injection.deadlines import DEADLINES_S
from graphmem.observe.tools import call_of
from graphmem.service.injecting import MAX_SESSION_NAME, Ask

if TYPE_CHECKING:
    from graphmem.service.injecting import Injector

MAX_PAYLOAD: Final = 4 << 20  # characters
_TOUCHED: Final = 8  # files of one call that are looked at

Observe = Callable[[Sequence[Mapping[str, Any]]], object]


class Hooks:
    """Takes the events of agents' hooks.

    Args:
        injector: says what to show.
        observe: takes events; None where nobody observes.
        root: of the project.
    """

    def __init__(self, injector: Injector, observe: Observe | None, root: Callable[[], Path | None]) -> None:
        self._injector = injector
        self._observe = observe
        self._root = root

    def hook(self, agent: str, payload: str, begun: float | None = None) -> HookAnswer:
        """See `ContextVerbs.hook`."""
        started = time.monotonic() if begun is None else begun
        known = agents.agent_named(agent)
        call = agents.read(known, _parsed(payload))
        if not call.moment:
            return HookAnswer("", "", 0, late=False)
        if not call.session or len(call.session) > MAX_SESSION_NAME:
            raise BadInputError(
                f"the {agent} hook names no session of 1 to {MAX_SESSION_NAME} characters; nothing is taken", argument="payload"
            )
        files, search = self._about(call)
        events = _events(call)
        self._injector.soon(lambda: self._take(events))
        injection = self._inject(call, known.form, known.injects, files, search, started)
        text = injection.text if injection is not None else ""
        point = injection.point if injection is not None else ""
        return HookAnswer(agents.answer(known, call.event, text), point, len(events), injection is not None and injection.late)

    def _take(self, events: Sequence[Mapping[str, Any]]) -> None:
        if self._observe is not None and events:
            self._observe(events)

    def _about(self, call: HookCall) -> tuple[list[str], str]:
        """Files of the project a tool was about, and what it searched for."""
        if call.moment not in (TOOL, FAILURE) or not call.tool:
            return [], ""
        meant = call_of(call.tool, call.args)
        if meant.action == "search":
            return [], meant.pattern
        if meant.action not in ("read", "edit"):
            return [], ""
        paths = (self._within(path, call.folder) for path in meant.paths[:_TOUCHED])
        return [path for path in paths if path], ""

    def _within(self, path: str, folder: str) -> str:
        """A path as the index has it: from the project's root; "" for one outside."""
        root = self._root()
        if root is None:
            return ""
        plain = path.replace("\\", "/")
        whole = PurePosixPath(plain) if plain.startswith("/") else PurePosixPath(folder or str(root), plain)
        try:
            return str(whole.relative_to(root)) if ".." not in whole.parts else ""
        except ValueError:
            return ""

    def _inject(
        self, call: HookCall, form: str, injects: Mapping[str, str], files: Sequence[str], search: str, started: float
    ) -> Injection | None:
        """What belongs in front of the agent now; None when its event brings nothing there."""
        injector, can = self._injector, call.event in injects
        ask = Ask("step", call.session, call.text, tuple(files), form=form)
        if call.moment == START:
            if call.fresh:
                injector.begin(call.session)
            return injector.inject(ask._replace(point="start"), begun=started) if can else None
        if call.moment == PROMPT:
            first = injector.is_first_message(call.session)
            if can and first:
                return injector.inject(ask._replace(point="prompt"), begun=started)
            ready = injector.inject(ask._replace(point="take"), DEADLINES_S["prompt"], started) if can else None
            injector.update(call.session, [call.text], (), "")
            return ready
        if call.moment == COMPACT:
            injector.begin(call.session)
            return None
        if call.moment == END:
            injector.end(call.session)
            return None
        if call.moment == WORDS:
            if call.text:
                injector.update(call.session, [call.text], (), "")
            return None
        for path in files:
            injector.steps.touched(call.session, path)
        if search:
            injector.searched(call.session, search)
        return self._after_tool(ask, files, can=can, started=started)

    def _after_tool(self, ask: Ask, files: Sequence[str], *, can: bool, started: float) -> Injection | None:
        """Traps of the files a tool was about, else what is said between steps, else what the background agent has ready."""
        if not can:
            return None
        answer: Injection | None = None
        if files:
            answer = self._injector.inject(ask._replace(point="tool"), begun=started)
            if answer.text or answer.late:
                self._injector.steps.passed(ask.session)
                return answer
        for point in ("step", "take"):
            answer = self._injector.inject(ask._replace(point=point), begun=started)
            if answer.text or answer.late:
                return answer
        return answer


def _parsed(payload: str) -> Mapping[str, Any]:
    if len(payload) > MAX_PAYLOAD:
        raise BadInputError(
            f"the payload has {len(payload):,} characters; at most {MAX_PAYLOAD:,} are read", argument="payload", allowed=MAX_PAYLOAD
        )
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"the payload is no JSON: {error}; send the hook's standard input as it came", argument="payload") from error
    if not isinstance(found, dict):
        raise BadInputError("the payload is no JSON object; send the hook's standard input as it came", argument="payload")
    return found


def _events(call: HookCall) -> list[dict[str, Any]]:
    """What the observer is told; times are its own, steps as they come."""
    base: dict[str, Any] = {"session_id": call.session}
    if call.moment == START:
        return [{**base, "kind": "session_start", "args": {"agent": call.agent}}]
    if call.moment == PROMPT:
        return [{**base, "kind": "message", "text": call.text, "args": {"role": "user"}}] if call.text else []
    if call.moment == WORDS:
        return [{**base, "kind": "message", "text": call.text, "args": {"role": "assistant"}}] if call.text else []
    if call.moment in (TOOL, FAILURE):
        said = {**base, "kind": "tool_call", "tool": call.tool, "args": dict(call.args)}
        came = {**base, "kind": "tool_result", "tool": call.tool, "ok": call.ok, "text": call.result}
        return [said, came]
    if call.moment == END:
        return [{**base, "kind": "session_end"}]
    return []
