"""Find installed hooks that lack events of this version of graphmem.

`graphmem install` writes hooks for the events that its version knows. A later version answers more events, but an agent calls only the
hooks in its settings.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.errors import BadInputError
from graphmem.hooks.agents import NAMES
from graphmem.hooks.jsontext import JsonText
from graphmem.hooks.targets import SCOPES, Target, is_our_element, targets


class OutdatedHooks(NamedTuple):
    """Hooks in one settings file of an agent, installed by another version."""

    agent: str
    scope: str  # project or user
    path: Path
    missing: tuple[str, ...]  # events without graphmem's hook, sorted


def outdated_hooks(root: Path | None, home: Path) -> list[OutdatedHooks]:
    """Return the settings files that have only some of graphmem's hooks.

    A file without any hook of graphmem is left out, and so is a file that cannot be read: `graphmem install` reports it.

    Args:
        root: root of the project; None to look at the user's settings only.
        home: home folder of the user.
    """
    found = []
    for scope in SCOPES if root is not None else ("user",):
        for agent in NAMES:
            for target in targets(agent, scope, root or home, home, ["graphmem"]):
                wanted, there = _wanted(target), _installed(target)
                if there and (missing := tuple(sorted(wanted - there))):
                    found.append(OutdatedHooks(agent, scope, target.path, missing))
    return found


def _wanted(target: Target) -> set[str]:
    """Return the events of the hooks that graphmem adds to a settings file."""
    if target.kind == "toml":
        return set(tomllib.loads(target.block).get("hooks", {}))
    return {one.path[-1] for one in target.elements}


def _installed(target: Target) -> set[str]:
    """Return the events for which a settings file has graphmem's hook."""
    if not target.elements and target.kind != "toml":
        return set()
    hooks: Any
    try:
        text = target.path.read_text(encoding="utf-8")
        hooks = tomllib.loads(text).get("hooks") if target.kind == "toml" else JsonText(text, comments=target.comments).get(("hooks",))
    except (OSError, ValueError, RecursionError, BadInputError):
        return set()
    if not isinstance(hooks, dict):
        return set()
    return {event for event, elements in hooks.items() if isinstance(elements, list) and any(map(is_our_element, elements))}
