"""Write memories as Markdown that people edit, and read it back.

The format has one line per memory, under headings. A line is `- [id:a1b2] text`. Further data is in a comment after the text, which
Markdown does not show.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from graphmem.answers import MemoryInfo
from graphmem.runtime.texts.private_passages import private_spans
from graphmem.runtime.texts.safe_text import inert

# Sections of MEMORY.md, in order, with their types; the last section takes all other types.
SECTIONS: Final[dict[str, frozenset[str]]] = {
    "Architecture": frozenset({"decision", "module_insight", "requirement", "causal_dependency"}),
    "Stack": frozenset({"fact", "context_cost"}),
    "Conventions": frozenset({"preference", "correction"}),
    "Patterns": frozenset({"pattern", "gotcha", "error_pattern", "dead_end", "workflow_recipe", "prefetch_pattern", "e2e_observation"}),
    "General": frozenset(),
}
GENERAL: Final = "General"
# The type of a new line, by its section; in other sections its words decide.
SECTION_TYPES: Final[dict[str, str]] = {"Architecture": "decision", "Stack": "fact", "Conventions": "pattern", "Patterns": "pattern"}

_LINE: Final = re.compile(
    # torn: the bracket is missing
    r"^(?P<mark>[ \t]{0,3}[-*+][ \t]+)(?:\[id:(?P<id>[^\]\n]*)\][ \t]*|\[id:(?P<torn>[^\]\s]*)(?:[ \t]+|$))?"
    r"(?P<text>.*?)[ \t]*(?:<!--[ \t]*(?P<facts>[^\n]*?)[ \t]*-->)?[ \t]*$"
)
_HEADING: Final = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE: Final = re.compile(r"^[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_RULE: Final = re.compile(r"^[ \t]{0,3}([-*])(?:[ \t]*\1){2,}[ \t]*$")  # a horizontal rule, which looks like an empty list item
_ENDS: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FACT: Final = re.compile(r"(?P<name>type|files|tags|confidence): (?P<value>[^;]*)")
_PRIVATE_END: Final = re.compile(r"<\s*/\s*private[^<>]*>\Z", re.IGNORECASE)
_BREAK: Final = " ⏎ "  # stands for a line end inside a memory's text


class Item(NamedTuple):
    """One list item of a Markdown document, such as `- [id:a1b2] text`."""

    id: str  # as written in the line; "" when there is none
    text: str
    heading: str  # the nearest above the item
    facts: dict[str, str]  # from the comment after the item
    line: int  # 1-based
    last: int  # the last line of the item


def one_line(text: str) -> str:
    """Convert the text of a memory to one line; `unfolded` reverses it."""
    return _BREAK.join(" ".join(line.split()) for line in text.strip().splitlines())


def unfolded(text: str) -> str:
    """Return the text of a memory that `one_line` wrote on one line."""
    return "\n".join(part.strip() for part in text.split(_BREAK.strip())).strip()


def section_of(type_: str) -> str:
    """Return the heading in MEMORY.md for memories of a type."""
    return next((name for name, types in SECTIONS.items() if type_ in types), GENERAL)


def skeleton(project: str) -> str:
    """Return the text of a MEMORY.md with headings and no memories."""
    lines = [
        f"# What {inert(project)} knows",
        "",
        "<!-- Edit, add or delete lines; `graphmem sync-file` carries the changes both ways. -->",
    ]
    for name in SECTIONS:
        lines += ["", f"## {name}", ""]
    return "\n".join(lines) + "\n"


def markdown(memories: Iterable[MemoryInfo], project: str) -> str:
    """Return all memories as Markdown, grouped by type.

    Comments contain the data for an import.
    """
    lines = [f"# Memories of {inert(project)}"]
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
    """Return memories as Markdown in the form of a CLAUDE.md.

    Agents read a CLAUDE.md as instructions. The text has list items under section headings, without the ids and comments that `sync` needs.
    """
    lines = [f"# {inert(project)}"]
    for name in SECTIONS:
        rows = sorted((one for one in memories if section_of(one.type) == name), key=lambda one: (-one.importance, one.id))
        if rows:
            lines += ["", f"## {name}", "", *(f"- {one.content.strip().replace(chr(10), chr(10) + '  ')}" for one in rows)]
    return "\n".join(lines) + "\n"


def lines_of(text: str) -> list[str]:
    """Split a document into lines, as editors count them.

    Each line keeps its line end.
    """
    return _ENDS.findall(text)


def heading_of(line: str) -> str | None:
    """Return the text of a Markdown heading, or None for another line."""
    return at[2] if (at := _HEADING.match(line.rstrip("\r\n"))) else None


def hidden(lines: Sequence[str]) -> tuple[set[int], int]:
    """Find the lines of a Markdown document that cannot contain an item.

    These are code between fences, comments, private blocks of several lines, and the front matter. Returns (numbers of these lines, first
    line of a block that is never closed). The second item is 0 if all blocks are closed. Numbers count from 1.
    """
    found: set[int] = set()
    begun = 0
    if lines and lines[0].rstrip() == "---":
        found = set(range(1, next((at for at, line in enumerate(lines[1:], 2) if line.rstrip() == "---"), 0) + 1))
    fence, comment = "", False
    private, private_at = private_lines(lines)
    found |= private
    for number, line in enumerate(lines, 1):
        if number in found:
            continue
        if fence:
            found.add(number)
            fence = "" if (rest := line.strip()).startswith(fence) and not rest.strip(fence[0]) else fence
        elif comment:
            found.add(number)
            comment = "-->" not in line
        elif mark := _FENCE.match(line.rstrip("\r\n")):
            found.add(number)
            fence, begun = mark[1], number
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            found.add(number)
            comment, begun = True, number
    return found, min((at for at in (begun if fence or comment else 0, private_at) if at), default=0)


def private_lines(lines: Sequence[str]) -> tuple[set[int], int]:
    """Find the lines that belong to private blocks of several lines.

    Returns (numbers of these lines, first line of a block that is never closed). The second item is 0 if all blocks are closed. Numbers
    count from 1.
    """
    text, found, open_at = "".join(lines), set[int](), 0
    ends = [*accumulate(map(len, lines))]
    for start, end in private_spans(text):
        first, last = bisect_right(ends, start) + 1, bisect_left(ends, end) + 1
        is_open = _PRIVATE_END.search(text, start, end) is None
        if is_open or last > first:
            found.update(range(first, last + 1))
        if is_open:
            open_at = first
    return found, open_at


def items(text: str) -> list[Item]:
    """Return the list items of a Markdown document.

    Items in code and comments are left out. The text of a nested or continued item begins with the text of its parent.
    """
    found: list[Item] = []
    heading = ""
    lines = lines_of(text)
    unread, _ = hidden(lines)
    for number, ended in enumerate(lines, 1):
        line = ended.rstrip("\r\n")
        if number in unread or _RULE.match(line):
            continue
        if at := _HEADING.match(line):
            heading = at[2]
        elif (at := _LINE.match(line)) and (at["text"] or at["id"] or at["torn"]):
            facts = {one["name"]: one["value"].strip() for one in _FACT.finditer(at["facts"] or "")}
            found.append(Item((at["id"] or at["torn"] or "").strip().lower(), at["text"].strip(), heading, facts, number, number))
        elif found and line.startswith(("  ", "\t")) and line.strip() and found[-1].last == number - 1:
            more = line.strip().lstrip("-*+ ")
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {more}".strip(), last=number)
    return found


def with_id(line: str, short: str, text: str | None = None) -> str:
    """Return the first line of a list item with its id or text replaced.

    The rest of the line is unchanged.

    Args:
        line: the line with its line end.
        short: the new short id; "" removes the id.
        text: the item's new text; None leaves it unchanged.
    """
    said = line.rstrip("\r\n")
    at = _LINE.match(said)
    assert at is not None  # noqa: S101 - `items` has found it
    if text is None and (at["id"] or "").strip().lower() == short and (short or at.start("text") == at.end("mark")):
        return line
    words = said[at.start("text") :] if text is None else text
    return f"{at['mark']}{f'[id:{short}] ' if short else ''}{words}{line[len(said) :]}"
