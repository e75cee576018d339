"""Payloads and answers of each coding agent's hooks, as a table.

The table follows the agents' public documentation, which docs/hooks.md lists. An agent sends one JSON object for each event. `read`
converts it to a `HookCall`, which is the same for all agents. `answer` writes the agent's own format. A field with an unexpected type is
ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.runtime.texts.private_passages import all_without_private, without_private
from graphmem.runtime.texts.safe_text import inert_json

START, SPAWN, PROMPT, BEFORE, TOOL = "start", "spawn", "prompt", "before", "tool"
FAILURE, WORDS, COMPACT, END = "failure", "words", "compact", "end"
MAX_RESULT: Final = 16_384  # characters kept of each end of a tool's result


class Agent(NamedTuple):
    """The hook format of one coding agent: names of its fields and events."""

    name: str
    form: str  # format of injected text, one of injection.formats
    event: str  # field that names the event
    session: tuple[str, ...]  # fields that name the session; the first present one counts
    moments: Mapping[str, str]  # event -> moment
    injects: Mapping[str, str]  # event -> field of its answer that is put in front of the model
    nested: bool  # the answer's field is inside hookSpecificOutput, beside the event's name
    stops: Mapping[str, str] = MappingProxyType({})  # event at which the agent stops -> decision that makes it go on with a reason
    quotes: bool = False  # a prompt from the command line may arrive in quotes

    @property
    def hears_before(self) -> bool:
        """Whether this agent's hooks can add context before a tool runs."""
        return any(self.moments.get(event) == BEFORE for event in self.injects)


class HookCall(NamedTuple):
    """One event that a coding agent sent, in a form common to all agents."""

    agent: str
    event: str  # as the agent calls it
    moment: str  # start | spawn | prompt | before | tool | failure | words | compact | end; "" for an ignored event
    session: str
    folder: str  # the agent works in
    fresh: bool = False  # the agent's context is empty: it starts, or was cleared or compacted
    text: str = ""  # the person's words, or the agent's
    tool: str = ""
    args: Mapping[str, Any] = MappingProxyType({})
    result: str = ""
    ok: bool | None = None
    exit_code: int | None = None  # of a command, if reported
    duration_ms: float | None = None  # of the tool, if reported
    again: bool = False  # the agent stops again, after a hook made it go on
    phase: str = ""  # of work, if reported
    window: str = ""  # id of the subagent, whose context window is its own; "" for the main agent
    kind: str = ""  # of the subagent that starts


class Delegation(NamedTuple):
    """Task that an agent gives to a subagent, which starts next."""

    kind: str  # of subagent; "" if the agent does not name it
    task: str
    inherits: bool  # whether the subagent reads the conversation of the agent that starts it


class Result(NamedTuple):
    """Result of an agent's tool call: its text, success and exit code."""

    text: str
    ok: bool | None = None  # None: not reported
    exit_code: int | None = None


# Gemini CLI puts a hook's first answer before the person's first words, and passes both to the next hook.
_OWN_WORDS: Final = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
_WRAPPING: Final = re.compile(r"\A<untrusted_context>\n(.*)\n</untrusted_context>\Z", re.DOTALL)
# `opencode run` puts an argument with spaces into quotes before it passes it on as the person's words.
_ARGUMENT: Final = re.compile(r'\A"((?:[^"\\]|\\.)*)"\Z', re.DOTALL)
# Parts of Gemini CLI's shell tool's report, in this order. Empty parts are left out.
_GEMINI_COMMAND: Final = re.compile(
    r"\AOutput: (?P<output>.*?)(?:\nError: (?P<error>.*?))?(?:\nExit Code: (?P<code>-?\d{1,10}))?(?:\nSignal: (?P<signal>[^\n]+))?"
    r"(?:\nBackground PIDs: [\d, ]+)?\nProcess Group PGID: \d+\Z",
    re.DOTALL,
)
_CLAUDE_FAILURE: Final = re.compile(r"\AExit code (?P<code>\d{1,3})(?:\n|\Z)")

_CLAUDE: Final = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": BEFORE,
    "PostToolUse": TOOL,
    "PostToolUseFailure": FAILURE,
    "SubagentStart": SPAWN,
    "Stop": WORDS,
    "SubagentStop": WORDS,
    "PreCompact": COMPACT,
    "SessionEnd": END,
}
_CONTEXT: Final = "additionalContext"
_MODES: Final = {"plan": "define"}  # a mode of Claude Code -> phase of work

AGENTS: Final[Mapping[str, Agent]] = MappingProxyType(
    {
        one.name: one
        for one in (
            Agent(
                "claude-code",
                "xml",
                "hook_event_name",
                ("session_id",),
                _CLAUDE,
                dict.fromkeys(
                    ("SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"), _CONTEXT
                ),
                nested=True,
                stops={"Stop": "block"},
            ),
            Agent(
                "codex",
                "text",
                "hook_event_name",
                ("session_id",),
                _CLAUDE,
                dict.fromkeys(("SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"), _CONTEXT),
                nested=True,
                stops={"Stop": "block"},
            ),
            Agent(
                "gemini",
                "markdown",
                "hook_event_name",
                ("session_id",),
                {
                    "SessionStart": START,
                    "BeforeAgent": PROMPT,
                    "AfterTool": TOOL,
                    "AfterAgent": WORDS,
                    "PreCompress": COMPACT,
                    "SessionEnd": END,
                },
                dict.fromkeys(("SessionStart", "BeforeAgent", "AfterTool"), _CONTEXT),
                nested=True,
                stops={"AfterAgent": "deny"},
            ),
            Agent(
                "cursor",
                "markdown",
                "hook_event_name",
                ("conversation_id", "session_id"),
                {
                    "sessionStart": START,
                    "beforeSubmitPrompt": PROMPT,
                    "postToolUse": TOOL,
                    "postToolUseFailure": FAILURE,
                    "afterAgentResponse": WORDS,
                    "preCompact": COMPACT,
                    "sessionEnd": END,
                },
                dict.fromkeys(("sessionStart", "postToolUse"), "additional_context"),
                nested=False,
            ),
            Agent(
                "opencode",
                "text",
                "event",
                ("sessionID", "session_id"),
                {
                    "session.created": START,
                    "chat.message": PROMPT,
                    "tool.execute.after": TOOL,
                    "text.complete": WORDS,
                    "session.compacted": COMPACT,
                    "session.deleted": END,
                },
                dict.fromkeys(("session.created", "chat.message", "tool.execute.after"), "context"),
                nested=False,
                quotes=True,
            ),
        )
    }
)
NAMES: Final = tuple(AGENTS)


def agent_named(name: str) -> Agent:
    """Return the hook format of a coding agent, by the agent's name.

    Raises:
        BadInputError: the name is unknown.
    """
    if name not in AGENTS:
        raise BadInputError(f"unknown agent {name!r}; use one of {', '.join(NAMES)}", argument="agent", value=name)
    return AGENTS[name]


def read(agent: Agent, payload: Mapping[str, object]) -> HookCall:
    """Convert `payload`, the JSON that an agent sent, to a `HookCall`.

    Passages between `<private>` and `</private>` are left out.
    """
    event = _text(payload.get(agent.event))
    moment = agent.moments.get(event, "")
    if event == "PreCompress" and payload.get("trigger") == "auto":
        moment = ""  # Gemini CLI sends it before every turn, whether or not it compresses anything
    session = next((found for key in agent.session if (found := _text(payload.get(key)))), "")
    folder = _text(payload.get("cwd")) or _text(payload.get("directory")) or _first(payload.get("workspace_roots"))
    phase, window = _MODES.get(_text(payload.get("permission_mode")), ""), _text(payload.get("agent_id"))
    call = HookCall(agent.name, event, moment, session, folder, phase=phase, window=window)
    if moment == START:
        source = _text(payload.get("source"))
        return call._replace(fresh=source != "resume")
    if moment == SPAWN:
        return call._replace(fresh=True, kind=_text(payload.get("agent_type")))
    if moment == COMPACT:
        return call._replace(fresh=True)
    if moment == PROMPT:
        words = _OWN_WORDS.sub("", _first_text(payload, ("prompt", "text")))
        if agent.quotes and (quoted := _ARGUMENT.match(words)):
            words = quoted[1].replace('\\"', '"')
        return call._replace(text=without_private(words))
    if moment == WORDS:
        said = without_private(_first_text(payload, ("prompt_response", "last_assistant_message", "text")))
        return call._replace(text=said, again=payload.get("stop_hook_active") is True)
    return _of_tool(call, payload) if moment in (BEFORE, TOOL, FAILURE) else call


def _of_tool(call: HookCall, payload: Mapping[str, object]) -> HookCall:
    given = next((payload[key] for key in ("tool_response", "tool_output", "output", "error", "error_message") if key in payload), None)
    text, ok, code = result_of(given)
    if call.moment == FAILURE:
        ok = None if payload.get("is_interrupt") is True else False  # an interrupted tool might have succeeded
        if code is None and (failure := _CLAUDE_FAILURE.match(text)):
            code = int(failure["code"])
    before = given.get("old_source") if isinstance(given, Mapping) else None  # Claude Code, after an edit of a notebook's cell
    args = _mapping(payload.get("tool_input", payload.get("args")))
    return call._replace(
        tool=_text(payload.get("tool_name")) or _text(payload.get("tool")),
        args=all_without_private({**args, "old_source": before} if isinstance(before, str) else args),
        result=text,
        ok=ok,
        exit_code=code,
        duration_ms=next((found for key in ("duration_ms", "duration") if (found := _milliseconds(payload.get(key))) is not None), None),
    )


def delegation(call: HookCall) -> Delegation | None:
    """Return the task that a call gives to a new subagent, else None."""
    args = call.args
    if call.tool in ("Agent", "Task"):  # Claude Code; a `fork` continues the conversation
        kind = _text(args.get("subagent_type"))
        return Delegation(kind, _text(args.get("prompt")), inherits=kind == "fork")
    if call.tool.endswith("spawn_agent"):  # Codex names the tool `spawn_agent` or `collaborationspawn_agent`
        forks = args.get("fork_turns", "all") != "none" if "task_name" in args else args.get("fork_context") is True
        return Delegation(_text(args.get("agent_type")), _text(args.get("message")), inherits=forks)
    return None


def answer(agent: Agent, event: str, text: str) -> str:
    """Return the output of a hook that passes context to the agent.

    `text` is the context. If `event` is the end of the agent's turn, the output makes the agent continue, with `text` as the reason. The
    result is "" without context, or if the event does not allow context.
    """
    if text and event in agent.stops:
        return inert_json(json.dumps({"decision": agent.stops[event], "reason": text}, ensure_ascii=False))
    name = agent.injects.get(event)
    if name is None or not text:
        return ""
    if agent.nested:
        return inert_json(json.dumps({"hookSpecificOutput": {"hookEventName": event, name: text}}, ensure_ascii=False))
    return inert_json(json.dumps({name: text}, ensure_ascii=False))


def result_of(value: object) -> Result:
    """Convert a tool's result, in the format of any agent, to a `Result`."""
    if isinstance(value, str):
        if value.startswith("{"):
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                return Result(_both_ends(value))
            return result_of(inner) if isinstance(inner, dict) else Result(_both_ends(value))
        return Result(_both_ends(value))
    if isinstance(value, Mapping):
        ok, code = _succeeded(value)
        if isinstance(value.get("llmContent"), str):
            return _of_gemini(value["llmContent"], ok, code)
        parts = [_as_text(value[key]) for key in ("stdout", "stderr", "error") if value.get(key)]
        if not parts:
            wanted = ("llmContent", "output", "content", "text", "message", "returnDisplay", "file", "result")
            parts = [next((_as_text(value[key]) for key in wanted if value.get(key)), "")]
        return Result(_both_ends("\n".join(filter(None, parts))), ok, code)
    if isinstance(value, list):
        return Result(_both_ends("\n".join(_as_text(one) for one in value)))
    return Result("")


def _of_gemini(text: str, ok: bool | None, code: int | None) -> Result:
    wrapped = _WRAPPING.match(text)
    text = wrapped[1] if wrapped else text
    command = _GEMINI_COMMAND.match(text)
    if command is None:
        return Result(_both_ends(text), ok, code)
    went_wrong = bool(command["error"] or command["code"] or command["signal"])
    said = "\n".join(filter(None, (command["output"], command["error"])))
    return Result(_both_ends(said), not went_wrong, int(command["code"]) if command["code"] else None if went_wrong else 0)


def _succeeded(value: Mapping[str, object]) -> tuple[bool | None, int | None]:
    metadata = value.get("metadata")
    places = (value, metadata) if isinstance(metadata, Mapping) else (value,)
    for place in places:
        for key in ("exitCode", "exit_code", "exit"):
            code = place.get(key)
            if isinstance(code, int) and not isinstance(code, bool):
                return code == 0, code
        if place.get("error") or place.get("is_error") is True or place.get("isError") is True or place.get("interrupted") is True:
            return False, None
        if isinstance(place.get("success"), bool):
            return bool(place["success"]), None
    return None, None


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = next((value[key] for key in ("text", "content", "message") if isinstance(value.get(key), str)), None)
        return inner if inner is not None else json.dumps(value, ensure_ascii=False, default=str)[:MAX_RESULT]
    if isinstance(value, list):
        return "\n".join(_as_text(one) for one in value[:256])
    return "" if value is None else str(value)


def _both_ends(text: str) -> str:
    text = without_private(text)  # before the cut, which could remove an end tag
    half = MAX_RESULT // 2
    return text if len(text) <= MAX_RESULT else f"{text[:half]}\n…\n{text[-half:]}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _first_text(payload: Mapping[str, object], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if (found := _text(payload.get(key)))), "")


def _milliseconds(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9 else None


def _first(value: object) -> str:
    return _text(value[0]) if isinstance(value, list) and value else ""


def _mapping(value: object) -> Mapping[str, Any]:
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return {str(key): one for key, one in value.items()} if isinstance(value, Mapping) else {}
