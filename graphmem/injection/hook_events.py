"""Answer the hooks of coding agents, on the server.

An agent calls a hook at an event, such as the use of a tool. graphmem observes each event. graphmem answers the hook with the context to
show to the agent at that moment.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.injection import HookAnswer, Injection
from graphmem.errors import BadInputError
from graphmem.hooks import agents
from graphmem.hooks.agents import BEFORE, COMPACT, END, FAILURE, PROMPT, SPAWN, START, TOOL, WORDS, HookCall
from graphmem.hooks.guides import pause_of
from graphmem.injection.ask import MAX_SESSION_NAME, Ask
from graphmem.injection.consequences import Edit
from graphmem.injection.deadlines import DEADLINES_S
from graphmem.injection.delegations import Delegations
from graphmem.injection.phase import WorkPhases
from graphmem.injection.tokens import count_tokens
from graphmem.observe.commands.tools import call_of
from graphmem.runtime.texts.surrogates import decoded

if TYPE_CHECKING:
    from graphmem.hooks.agents import Agent
    from graphmem.injection.injector import Injector

MAX_PAYLOAD: Final = 4 << 20  # characters
_SESSIONS: Final = 1_000  # sessions whose steps are counted
_TOUCHED: Final = 8  # files of one call that are checked
_CHANGES: Final = 32  # replacements of one call that are checked

Observe = Callable[[Sequence[Mapping[str, object]]], object]


class Hooks:
    """Answers hook events of coding agents with context for the agent.

    Args:
        injector: chooses the context to inject.
        observe: receives the events; None if observation of sessions is off.
        root: returns the root directory of the project, if known.
        pause: pauses learning from sessions for the given number of minutes; given None, the pause has no end. Returns a message for the
            person.
        rehearse: prepares the first advice about an edit; it may take long.
        runs: returns whether a session was started before and has not ended.
    """

    def __init__(
        self,
        injector: Injector,
        observe: Observe | None,
        root: Callable[[], Path | None],
        pause: Callable[[int | None], str],
        rehearse: Callable[[], object],
        runs: Callable[[str], bool],
    ) -> None:
        self._injector = injector
        self._pause = pause
        self._observe = observe
        self._root = root
        self._rehearse = rehearse
        self._runs = runs
        self._lock = Lock()
        self._steps: OrderedDict[str, int] = OrderedDict()
        self._begun: OrderedDict[str, None] = OrderedDict()  # sessions that sent an event
        self._phases = WorkPhases()
        self._delegations = Delegations()

    def hook(self, agent: str, payload: str, begun: float | None = None) -> HookAnswer:
        """Observe an event of an agent's hook; return the text for the agent.

        Args:
            agent: name of the coding agent.
            payload: the event as JSON, as the agent sent it.
            begun: arrival of the event on the clock of `time.monotonic`; default now.

        Raises:
            BadInputError: the agent is unknown, or the event is not valid JSON or does not name its session.
        """
        started = time.monotonic() if begun is None else begun
        known = agents.agent_named(agent)
        call = agents.read(known, _parsed(payload))
        if not call.moment:
            return HookAnswer("", "", 0, late=False)
        if not call.session or len(call.session) > MAX_SESSION_NAME:
            fault = f"has more than {MAX_SESSION_NAME} characters" if call.session else "is missing"
            raise BadInputError(
                f"graphmem ignored an event of the {agent} hook, because its session id {fault}; reinstall the hook with "
                f"`graphmem install {agent}`",
                argument="payload",
            )
        self._note_start(call)
        if call.moment == PROMPT and (pause := pause_of(call.text)) is not None:
            return HookAnswer(agents.answer(known, call.event, self._pause(*pause)), "", 0, late=False)
        if call.moment == PROMPT and self._injector.edits.is_reminder(call.session, call.text):
            return HookAnswer("", "", 0, late=False)  # Gemini CLI passes a hook's reason to go on as the next prompt
        before = self._phases.of(call.session)
        if call.moment in (TOOL, FAILURE) and call.tool:
            self._phases.acted(call.session, call_of(call.tool, call.args).action)
        call = call._replace(phase=call.phase or self._phases.of(call.session))
        if call.moment == END:
            self._phases.end(call.session)
        files, search = self._files_of_call(call)
        events = _events(call, self._step(call))
        begins_phase = bool(call.phase) and not before and call.moment not in (START, END)
        first_phase = [self._report(call, {"during": call.phase})] if begins_phase else []
        self._injector.soon(lambda: self._take([*events, *first_phase]))
        injection = self._inject(call, known, files, search, started)
        if call.moment in (START, PROMPT):
            self._injector.soon(self._rehearse)
        text = injection.text if injection is not None else ""
        if call.event in known.stops and not call.again:
            text = self._injector.at_stop(call.session)
        if text:  # what a session was shown must not count as evidence for the same statement
            shown = [one.id for one in injection.items if one.kind == "memory"] if injection is not None else []
            during = {"during": call.phase} if call.phase else {}
            self._injector.soon(
                lambda: self._take([self._report(call, {"injected": shown, "injected_tokens": count_tokens(text), **during})])
            )
        point = injection.point if injection is not None else ""
        return HookAnswer(agents.answer(known, call.event, text), point, len(events), injection is not None and injection.late)

    def _note_start(self, call: HookCall) -> None:
        """Note the first event of a session that reaches this server.

        If it is another event than the start, the server was started after the session. The next message then brings the context of the
        start, unless an earlier server had the session.
        """
        with self._lock:
            is_known = call.session in self._begun
            self._begun[call.session] = None
            while len(self._begun) > _SESSIONS:
                self._begun.popitem(last=False)
        if call.moment not in (START, END) and not is_known and not self._runs(call.session):
            self._injector.beginnings.owe_start(call.session)

    def _step(self, call: HookCall) -> int:
        """Return the number of the session's current step.

        A step is a tool call. If `call` is a tool call, the number is increased first. If `call` is the end of the session, the number is
        returned and then forgotten.
        """
        with self._lock:
            step = self._steps.pop(call.session, 0) + (call.moment in (TOOL, FAILURE))
            if call.moment != END:
                self._steps[call.session] = step
            while len(self._steps) > _SESSIONS:
                self._steps.popitem(last=False)
            return step

    def _report(self, call: HookCall, args: Mapping[str, object]) -> dict[str, object]:
        """Return an event that reports facts about a session, such as its phase."""
        return {"session_id": call.session, "step": self._steps.get(call.session, 0), "kind": "step_complete", "args": args}

    def _take(self, events: Sequence[Mapping[str, object]]) -> None:
        if self._observe is not None and events:
            self._observe(events)

    def _files_of_call(self, call: HookCall) -> tuple[list[str], str]:
        """Return (project files that a tool read or edited, text it searched for).

        For a search the list of files is empty. For any other tool the text is "".
        """
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
        """Convert a path to one relative to the project's root; "" if outside.

        A relative path starts at `folder`, the agent's working directory.
        """
        root = self._root()
        if root is None:
            return ""
        plain = path.replace("\\", "/")
        whole = PurePosixPath(plain) if plain.startswith("/") else PurePosixPath(folder or str(root), plain)
        try:
            return str(whole.relative_to(root)) if ".." not in whole.parts else ""
        except ValueError:
            return ""

    def _inject(self, call: HookCall, agent: Agent, files: Sequence[str], search: str, started: float) -> Injection | None:
        """Return the context to show to the agent after an event; None for none.

        Args:
            call: the call of the hook.
            agent: the coding agent.
            files: project files that the tool of the call read or edited.
            search: the text that the tool searched for; "" for other tools.
            started: arrival of the event on the clock of `time.monotonic`.
        """
        injector, can = self._injector, call.event in agent.injects
        ask = Ask("step", call.session, call.text, tuple(files), call.phase, agent.form, window=call.window)
        if call.moment == BEFORE:
            if (task := agents.delegation(call)) is not None:
                self._delegations.give(call.session, task)
            edits = self._edits(call) if can else []
            return injector.before_edit(ask._replace(point="edit"), edits, started) if edits else None
        if call.moment == START:
            if call.fresh:
                injector.begin(call.session)
                self._delegations.forget(call.session)
            return injector.inject(ask._replace(point="start"), begun=started) if can else None
        if call.moment == SPAWN:
            return self._spawned(call, ask, can=can, started=started)
        if call.moment == PROMPT:
            first = injector.beginnings.is_first_message(call.session)
            if can and (first or injector.beginnings.owes_start(call.session)):
                return injector.inject(ask._replace(point="prompt"), begun=started)
            ready = injector.inject(ask._replace(point="take"), DEADLINES_S["prompt"], started) if can else None
            injector.update(call.session, [call.text], (), call.phase)
            return ready
        if call.moment == COMPACT:
            if call.window:
                injector.open_window(call.session, call.window, inherits=False)
            else:
                injector.begin(call.session)
            return None
        if call.moment == END:
            self._delegations.forget(call.session)
            injector.end(call.session)
            return None
        if call.moment == WORDS:
            if call.text and not call.window:  # the prepared memories are about the main conversation
                injector.update(call.session, [call.text], (), call.phase)
            return None
        if search:
            injector.searched(call.session, search)
        return self._advised(call, agent, ask, started, can=can) or self._after_tool(ask, files, can=can, started=started)

    def _spawned(self, call: HookCall, ask: Ask, *, can: bool, started: float) -> Injection | None:
        """Return the context for a subagent that starts; None if it gets none.

        `can` tells whether the agent accepts context at this event, and `started` is the arrival of the event. A subagent that inherits the
        conversation of the main agent has the context already.
        """
        task = self._delegations.take(call.session, call.kind)
        self._injector.open_window(call.session, call.window, inherits=task.inherits)
        if task.inherits or not can:
            return None
        return self._injector.inject(ask._replace(point="prompt", text=task.task), begun=started)

    def _advised(self, call: HookCall, agent: Agent, ask: Ask, started: float, *, can: bool) -> Injection | None:
        """Return advice about an edit after a tool ran; None without any.

        The first of these that applies is returned:

        - Advice about files that the tool removed. It comes only now, because agents report a shell command only after it ran.
        - Advice about an earlier edit, if it missed its deadline.
        - A note on unopened code that uses the edited code, for an agent that accepts context before a tool runs. Such an agent got the
          advice about the edit before the tool ran.
        - The advice about the edit itself, for other agents.

        Args:
            call: the call of the hook, with the tool.
            agent: the coding agent.
            ask: the request for context.
            started: arrival of the event on the clock of `time.monotonic`.
            can: whether the agent accepts context at this event.
        """
        injector, meant = self._injector, call_of(call.tool, call.args)
        if meant.action == "test":
            injector.edits.ran_tests(call.session)
        point = ask._replace(point="edit")
        gone = [Edit(path, None, "", is_removal=True) for one in meant.removed[:_TOUCHED] if (path := self._within(one, call.folder))]
        if gone:  # agents report a shell command only after it ran
            injector.edits.touch(call.session, [one.path for one in gone], edited=True)
            advice = injector.before_edit(point, gone, started) if can and call.moment == TOOL else None
            return advice if advice is not None and advice.text else None
        if meant.action not in ("read", "edit"):
            return None
        edits = self._edits(call)
        injector.edits.touch(call.session, ask.files, edited=bool(edits))
        injector.edits.write(call.session, edits)
        if not (can and call.moment == TOOL):
            return None
        if (late := injector.late_advice(point, started)) is not None or not edits:
            return late
        if agent.hears_before:
            return injector.after_edit(point, started)
        advice = injector.before_edit(point, edits, started)
        return advice if advice.text else None

    def _edits(self, call: HookCall) -> list[Edit]:
        """Return the replacements of text that a tool makes in project files."""
        meant = call_of(call.tool, call.args)
        if meant.action != "edit":
            return []
        found = ((self._within(one.path, call.folder), one) for one in meant.changes[:_CHANGES])
        return [Edit(path, one.old, one.new, cell=one.cell, is_insertion=one.inserts) for path, one in found if path]

    def _after_tool(self, ask: Ask, files: Sequence[str], *, can: bool, started: float) -> Injection | None:
        """Return the context to show after a tool ran; None if not `can`.

        Three sources are tried in this order: warnings (traps) about the tool's files, an item for this step, and memories prepared in the
        background. The first source with text is used. `can` tells whether the agent accepts context at this event, and `started` is the
        arrival of the event.
        """
        if not can:
            return None
        answer: Injection | None = None
        if files:  # traps that are late are shown at the next step
            answer = self._injector.inject(ask._replace(point="tool"), begun=started)
            if answer.text or answer.late:
                self._injector.steps.passed(ask.session)
                return answer
        for point in ("step",) if ask.window else ("step", "take"):  # the prepared memories are about the main conversation
            answer = self._injector.inject(ask._replace(point=point), begun=started)
            if answer.text or answer.late:
                return answer
        return answer


def _parsed(payload: str) -> Mapping[str, object]:
    if len(payload) > MAX_PAYLOAD:
        raise BadInputError(
            f"the JSON input of the hook has {len(payload):,} characters; send at most {MAX_PAYLOAD:,} characters",
            argument="payload",
            allowed=MAX_PAYLOAD,
        )
    try:
        found = decoded(payload)  # agents cut long outputs, also inside an emoji
    except (ValueError, RecursionError) as error:
        raise BadInputError(
            f"the standard input of the hook is not JSON ({error}); pass on the agent's event unchanged", argument="payload"
        ) from error
    if not isinstance(found, dict):
        raise BadInputError("the standard input of the hook is not a JSON object; pass on the agent's event unchanged", argument="payload")
    return found


def _events(call: HookCall, step: int) -> list[dict[str, object]]:
    """Convert the call of a hook to events for the observer.

    `step` is the number of the session's step (tool call). The events have no times; the observer sets them on arrival.
    """
    base: dict[str, Any] = {"session_id": call.session, "step": step}
    if call.moment == START:
        return [{**base, "kind": "session_start", "args": {"agent": call.agent, "cwd": call.folder}}]
    if call.moment in (PROMPT, WORDS):
        role = "user" if call.moment == PROMPT else "assistant"
        return [{**base, "kind": "message", "text": call.text, "args": {"role": role}}] if call.text else []
    if call.moment in (TOOL, FAILURE):
        # One event for call and result: the hook reports both together, and only the agent could know the time between them.
        told = {"exit_code": call.exit_code, "duration_ms": call.duration_ms}
        args = {**call.args, **{name: value for name, value in told.items() if value is not None}}
        return [{**base, "kind": "tool_result", "tool": call.tool, "args": args, "ok": call.ok, "text": call.result}]
    return [{**base, "kind": "session_end"}] if call.moment == END else []
