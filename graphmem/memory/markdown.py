"""Memories as Markdown that people read and edit: one line a memory, under headings; and the way back.

A line is `- [id:a1b2] text`, with what cannot be read from the text in a comment behind it that Markdown does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from graphmem.answers import MemoryInfo

# Sections of MEMORY.md, in order, and the types that stand in each; the last one takes the others.
SECTIONS: Final[dict[str, frozenset[str]]] = {
    "Architecture": frozenset({"decision", "module_insight", "requirement", "causal_dependency"}),
    "Stack": frozenset({"fact", "context_cost"}),
    "Conventions": frozenset({"preference", "correction"}),
    "Patterns": frozenset({"pattern", "gotcha", "error_pattern", "dead_end", "workflow_recipe", "prefetch_pattern", "e2e_observation"}),
    "General": frozenset(),
}
GENERAL: Final = "General"
# What a new line is, by the section it was written in; elsewhere its words decide.
SECTION_TYPES: Final[dict[str, str]] = {"Architecture": "decision", "Stack": "fact", "Conventions": "pattern", "Patterns": "pattern"}

_LINE: Final = re.compile(
    r"^[ \t]{0,3}[-*+][ \t]+(?:\[id:(?P<id>[^\]\n]*)\][ \t]*|\[id:(?P<torn>[^\]\s]*)(?:[ \t]+|$))?"  # torn: its bracket is gone
    r"(?P<text>.*?)[ \t]*(?:<!--[ \t]*(?P<facts>[^\n]*?)[ \t]*-->)?[ \t]*$"
)
_HEADING: Final = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_FACT: Final = re.compile(r"(?P<name>type|files|tags|confidence): (?P<value>[^;]*)")
_BREAK: Final = " ⏎ "  # a line end inside a memory's text


class Item(NamedTuple):
    """One list item of a document."""

    id: str  # as it stands in the line; "" when there is none
    text: str
    heading: str  # the nearest above it
    facts: dict[str, str]  # of the comment behind it
    line: int  # 1-based


def one_line(text: str) -> str:
    """A content on one line; `unfolded` gives it back."""
    return _BREAK.join(" ".join(line.split()) for line in text.strip().splitlines())


def unfolded(text: str) -> str:
    """The content of a line."""
    return "\n".join(part.strip() for part in text.split(_BREAK.strip())).strip()


def section_of(type_: str) -> str:
    """Where a type stands in MEMORY.md."""
    return next((name for name, types in SECTIONS.items() if type_ in types), GENERAL)


def memory_md(memories: Iterable[MemoryInfo], project: str) -> str:
    """MEMORY.md: sections with the most used memories first, so that its first lines are what matters most."""
    lines = [f"# What {project} knows", "", "<!-- Edit, add or delete lines; `graphmem sync-file` carries the changes both ways. -->"]
    placed: dict[str, list[MemoryInfo]] = {name: [] for name in SECTIONS}
    for one in memories:
        placed[section_of(one.type)].append(one)
    for name, rows in placed.items():
        lines += ["", f"## {name}", ""]
        rows.sort(key=lambda one: (-one.used_count - one.confirmed_count, -one.importance, one.id))
        lines += [f"- [id:{one.short_id}] {one_line(one.content)}" for one in rows]
    return "\n".join(lines) + "\n"


def markdown(memories: Iterable[MemoryInfo], project: str) -> str:
    """All memories by type, with what an import needs in comments."""
    lines = [f"# Memories of {project}"]
    by_type: dict[str, list[MemoryInfo]] = {}
    for one in memories:
        by_type.setdefault(one.type, []).append(one)
    for type_ in sorted(by_type):
        lines += ["", f"## {type_.replace('_', ' ').capitalize()}", ""]
        for one in sorted(by_type[type_], key=lambda info: info.id):
            facts = {
                "type": one.type,
                "files": ", ".join(one.files),
                "tags": ", ".join(one.tags),
                "confidence": f"{one.confidence:g}",
            }
            said = "; ".join(f"{name}: {value}" for name, value in facts.items() if value)
            lines.append(f"- [id:{one.short_id}] {one_line(one.content)} <!-- {said.replace('--', '- -')} -->")
    return "\n".join(lines) + "\n"


def claude_md(memories: Sequence[MemoryInfo], project: str) -> str:
    """The form agents read as their instructions: bare lines under the sections, nothing to sync."""
    lines = [f"# {project}"]
    for name in SECTIONS:
        rows = sorted((one for one in memories if section_of(one.type) == name), key=lambda one: (-one.importance, one.id))
        if rows:
            lines += ["", f"## {name}", "", *(f"- {one.content.strip().replace(chr(10), chr(10) + '  ')}" for one in rows)]
    return "\n".join(lines) + "\n"


def items(text: str) -> list[Item]:
    """Every list item outside of code, a nested or continued one with its parent's text before it."""
    found: list[Item] = []
    heading, fence = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if (mark := _FENCE.match(line)) and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if fence:
            continue
        if at := _HEADING.match(line):
            heading = at[2]
        elif (at := _LINE.match(line)) and (at["text"] or at["id"] or at["torn"]):
            facts = {one["name"]: one["value"].strip() for one in _FACT.finditer(at["facts"] or "")}
            found.append(Item((at["id"] or at["torn"] or "").strip().lower(), at["text"].strip(), heading, facts, number))
        elif found and line.startswith(("  ", "\t")) and line.strip() and found[-1].line == number - 1:
            more = line.strip().lstrip("-*+ ")
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {more}".strip(), line=number)
    return found


def paragraphs(text: str) -> list[Item]:
    """Prose outside of lists, code and headings, one item a paragraph."""
    found: list[Item] = []
    heading, fence = "", ""
    open_: list[str] = []
    start = 0
    in_item = False

    def close() -> None:
        if open_:
            found.append(Item("", " ".join(open_), heading, {}, start))
            open_.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if (mark := _FENCE.match(line)) and (not fence or mark[1].startswith(fence)):
            close()
            fence = "" if fence else mark[1]
        elif fence:
            continue
        elif at := _HEADING.match(line):
            close()
            heading, in_item = at[2], False
        elif not line.strip():
            close()
            in_item = False
        elif _LINE.match(line) or in_item:
            close()
            in_item = True
        elif not line.lstrip().startswith(("<!--", "|", ">")):
            start = start if open_ else number
            open_.append(" ".join(line.split()))
    close()
    return found
