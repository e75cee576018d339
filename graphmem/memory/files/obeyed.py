"""Detect files that agents take as instructions.

Memories are never written into such files, because an agent would follow the text as instructions. `NAMES` and `FOLDERS` list the names of
such files and of their directories. A name matches at any depth, in upper and lower case. Hidden files and directories count as well,
because agents keep their rules in directories whose name begins with a dot (`.claude`, `.cursor/rules`, `.github/instructions`,
`.graphmem/rules`, …).
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

# In lower case. From Claude Code, the AGENTS.md standard, Gemini CLI, Qwen Code, Copilot, Cline, Crush, Warp, Goose, Replit, aider, Junie
# and others, and from skills, prompts and modes that several of them load.
NAMES: Final = (
    "claude*.md", "agent.md", "agents*.md", "agent.*.md", "gemini*.md", "qwen*.md", "codex*.md", "copilot*.md", "cline*.md", "crush*.md",
    "clinerules*", "cursorrules*", "windsurfrules*", "goosehints*", "kilo*.md", "roo*.md", "opencode.md", "warp.md", "replit.md",
    "jules.md", "amp.md", "antigravity.md", "llms*.md", "conventions.md", "rules.md", "guidelines.md", "skill.md", "system.md",
    "system_prompt.md",
    "*.instructions.md", "*.prompt.md", "*.chatmode.md", "*.agent.md", "*.mdc",
)  # fmt: skip
FOLDERS: Final = frozenset(
    {"rules", "skills", "commands", "agents", "subagents", "prompts", "instructions", "chatmodes", "steering", "clinerules", "memory-bank"}
)


def obeyed(parts: Sequence[str]) -> str:
    """Return why agents may take a file as instructions; "" if they do not.

    Args:
        parts: parts of the file's path from the project's root.
    """
    for part in parts:
        if part.startswith(".") or not part.isprintable() or part != part.strip(" ."):
            return f"{part!r} is hidden, and agents keep their rules in hidden places"
    plain = [part.casefold() for part in parts]
    if folder := next((part for part in plain[:-1] if part in FOLDERS), ""):
        return f"agents load files from directories called {folder!r}"
    if name := next((name for name in NAMES if fnmatchcase(plain[-1], name)), ""):
        return f"agents obey files called {name}"
    return ""
