"""Table of coding agents' settings files, and graphmem's entries in them.

A target is one such file. The table follows the agents' public documentation (docs/hooks.md).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.hooks import guides
from graphmem.hooks.agents import NAMES

SCOPES: Final = ("project", "user")
SERVER: Final = "graphmem"  # name of the MCP server entry
HOOK_SECONDS: Final = 5  # after which an agent may abort a hook; graphmem's own deadlines are shorter
# Tools of Claude Code and Codex that edit files or start a subagent.
TOOLS_BEFORE: Final = "Edit|Write|MultiEdit|NotebookEdit|apply_patch|Agent|Task|.*spawn_agent"
PLUGIN: Final = "opencode_plugin.js"

# Confirmation that an agent needs from a person before it calls an installed hook: (agent, scope) -> a sentence. Until then, the agent
# skips the hook silently.
TO_CONFIRM: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("claude-code", "project"): "Claude Code asks once whether it may use the project's hooks and MCP server: say yes",
        ("codex", "project"): "Codex calls nothing of this before you trust the project (it asks, or `codex exec --trust`) "
        "and review its hooks (/hooks)",
        ("codex", "user"): "Codex calls no new hook before you have reviewed it (/hooks)",
        ("gemini", "project"): "Gemini CLI calls nothing of this before you trust the folder (it asks, or /permissions)",
        ("cursor", "project"): "Cursor asks before it calls a project's hooks and MCP server: say yes",
    }
)

_OURS: Final = re.compile(rf"graphmem(?:\.exe)?['\"]?\s+hook\s+(?:{'|'.join(NAMES)})\b")


class Element(NamedTuple):
    """An element that graphmem adds to an array in an agent's settings.

    `path` has the keys that lead to the array.
    """

    path: tuple[str, ...]
    value: Any


class Entry(NamedTuple):
    """A member that graphmem adds to an object in an agent's settings.

    `path` has the keys that lead to the object.
    """

    path: tuple[str, ...]
    key: str
    value: Any


class Target(NamedTuple):
    """A settings file of a coding agent, and what graphmem adds to it."""

    agent: str
    kind: str  # json | toml | markdown | file
    path: Path
    comments: bool = False  # the format allows comments
    elements: tuple[Element, ...] = ()
    entries: tuple[Entry, ...] = ()  # graphmem's, removed by uninstall
    defaults: tuple[Entry, ...] = ()  # needed by the file, kept by uninstall
    block: str = ""  # of TOML or Markdown
    content: str = ""  # of a file that only graphmem writes
    optional: bool = False  # a file of somebody else with this name stays


def is_our_command(command: object) -> bool:
    """Whether a command line calls `graphmem hook`."""
    return isinstance(command, str) and _OURS.search(command) is not None


def is_our_element(value: object) -> bool:
    """Return whether an element of an agent's list of hooks is graphmem's.

    An element is graphmem's if all of its commands run graphmem.
    """
    if not isinstance(value, dict):
        return False
    inner = value.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(isinstance(one, dict) and is_our_command(one.get("command")) for one in inner)
    return is_our_command(value.get("command"))


def is_our_server(value: object) -> bool:
    """Whether an entry for an MCP server in an agent's settings is graphmem's."""
    if not isinstance(value, dict):
        return False
    command = value.get("command")
    words = [*(command if isinstance(command, list) else [command]), *(value.get("args") or ())]
    words = [one for one in words if isinstance(one, str)]
    return len(words) > 1 and words[-1] == "mcp" and any(Path(one).name.removesuffix(".exe") == "graphmem" for one in words)


def targets(agent: str, scope: str, root: Path, home: Path, command: Sequence[str]) -> list[Target]:
    """Return an agent's settings files that graphmem changes.

    Args:
        agent: one of agents.NAMES.
        scope: project (the project's folder) or user (the home folder).
        root: root folder of the project.
        home: home folder of the user.
        command: command line that starts graphmem.

    Raises:
        BadInputError: the agent or scope is unknown.
    """
    if scope not in SCOPES:
        raise BadInputError(f"unknown scope {scope!r}; use one of {', '.join(SCOPES)}", argument="scope", value=scope)
    if agent not in NAMES:
        raise BadInputError(f"unknown agent {agent!r}; use one of {', '.join(NAMES)}", argument="agent", value=agent)
    guide = guides.files(agent, scope, home if scope == "user" else root)
    block = [Target(agent, "markdown", guide.instructions, block=guides.BLOCK)] if guide.instructions is not None else []
    whole = [Target(agent, "file", path, content=content, optional=True) for path, content in guide.whole.items()]
    return [*_settings(agent, scope, root, home, command), *block, *whole]


class _Place(NamedTuple):
    """The location of an agent's settings, and the command in them."""

    agent: str
    scope: str
    root: Path
    home: Path
    command: Sequence[str]

    @property
    def base(self) -> Path:
        """The directory of the settings: the user's or the project's."""
        return self.home if self.scope == "user" else self.root

    @property
    def hook(self) -> str:
        """The command of the hook, for a shell."""
        return shlex.join([*self.command, "hook", self.agent])

    @property
    def server(self) -> dict[str, Any]:
        """The settings of the MCP server: a mapping with `command` and `args`."""
        program, *first = self.command
        return {"command": program, "args": [*first, "mcp"]}


def _settings(agent: str, scope: str, root: Path, home: Path, command: Sequence[str]) -> list[Target]:
    return _SETTINGS[agent](_Place(agent, scope, root, home, command))


def _claude_code(place: _Place) -> list[Target]:
    group = {"hooks": [{"type": "command", "command": place.hook, "timeout": HOOK_SECONDS}]}
    events = (
        *("SessionStart", "SubagentStart", "UserPromptSubmit", "PostToolUse"),
        *("PostToolUseFailure", "Stop", "SubagentStop", "PreCompact", "SessionEnd"),
    )
    before = _elements(("PreToolUse",), {"matcher": TOOLS_BEFORE, **group})
    servers = place.base / (".claude.json" if place.scope == "user" else ".mcp.json")
    return [
        Target(place.agent, "json", place.base / ".claude" / "settings.json", elements=(*_elements(events, group), *before)),
        Target(place.agent, "json", servers, entries=(Entry(("mcpServers",), SERVER, place.server),)),
    ]


def _cursor(place: _Place) -> list[Target]:
    events = (
        *("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure"),
        *("afterAgentResponse", "preCompact", "sessionEnd"),
    )
    elements = _elements(events, {"command": place.hook, "timeout": HOOK_SECONDS})
    folder = place.base / ".cursor"
    return [
        Target(place.agent, "json", folder / "hooks.json", elements=elements, defaults=(Entry((), "version", 1),)),
        Target(place.agent, "json", folder / "mcp.json", entries=(Entry(("mcpServers",), SERVER, place.server),)),
    ]


def _gemini(place: _Place) -> list[Target]:
    group = {
        "matcher": "*",
        "hooks": [{"name": "graphmem", "type": "command", "command": place.hook, "timeout": HOOK_SECONDS * 1000}],
    }
    events = ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd")
    # "auto" fires before every turn, whether or not anything is compressed, and would start a process each time.
    compression = _elements(("PreCompress",), {**group, "matcher": "manual"})
    entries = (Entry(("mcpServers",), SERVER, place.server),)
    file = place.base / ".gemini" / "settings.json"
    return [Target(place.agent, "json", file, comments=True, elements=(*_elements(events, group), *compression), entries=entries)]


def _opencode(place: _Place) -> list[Target]:
    is_of_user = place.scope == "user"
    folder = place.home / ".config" / "opencode" if is_of_user else place.root
    plugins = folder / "plugins" if is_of_user else place.root / ".opencode" / "plugins"
    local = {"type": "local", "command": [*place.command, "mcp"], "enabled": True}
    file = next((folder / name for name in ("opencode.json", "opencode.jsonc") if (folder / name).exists()), folder / "opencode.json")
    return [
        Target(
            place.agent,
            "json",
            file,
            comments=True,
            entries=(Entry(("mcp",), SERVER, local),),
            defaults=(Entry((), "$schema", "https://opencode.ai/config.json"),),
        ),
        Target(place.agent, "file", plugins / "graphmem.js", content=_plugin(place.command)),
    ]


def _codex(place: _Place) -> list[Target]:
    events = ("SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SubagentStop")
    block = _codex_block(place.hook, events, place.server)
    return [Target(place.agent, "toml", place.base / ".codex" / "config.toml", block=block)]


_SETTINGS: Final[Mapping[str, Callable[[_Place], list[Target]]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "gemini": _gemini,
    "opencode": _opencode,
}
"""Settings of each agent, by its name."""


def _elements(events: Sequence[str], value: Mapping[str, object]) -> tuple[Element, ...]:
    return tuple(Element(("hooks", event), dict(value)) for event in events)


def _codex_block(hook: str, events: Sequence[str], server: Mapping[str, object]) -> str:
    lines: list[str] = []
    for event in events:
        matcher = [f"matcher = {json.dumps(TOOLS_BEFORE)}"] if event == "PreToolUse" else []
        lines += [f"[[hooks.{event}]]", *matcher, f"[[hooks.{event}.hooks]]", 'type = "command"', f"command = {json.dumps(hook)}"]
        lines += [f"timeout = {HOOK_SECONDS}", ""]
    lines += [f"[mcp_servers.{SERVER}]", f"command = {json.dumps(server['command'])}", f"args = {json.dumps(server['args'])}"]
    return "\n".join(lines)


def _plugin(command: Sequence[str]) -> str:
    text = (Path(__file__).parent / PLUGIN).read_text(encoding="utf-8")
    return text.replace('const COMMAND = ["graphmem"]', f"const COMMAND = {json.dumps(list(command))}")
