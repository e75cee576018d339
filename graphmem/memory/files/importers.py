"""Import files with rules or memories of other tools, such as CLAUDE.md.

Each list item or paragraph becomes a memory with a type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from graphmem.memory.files.markdown import Item, items, lines_of, private_lines, unfolded
from graphmem.memory.repository.fields import refuse
from graphmem.memory.texts.types import TYPES, MemoryItem
from graphmem.runtime.files.own_block import without_own_block

MAX_BYTES: Final = 4 << 20  # of a text file written by people
_SHORTEST: Final = 12  # characters; shorter lines are left out
_FRONT_MATTER: Final = re.compile(r"\A\ufeff?\s*---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
# Lines that only name a file, which the agent reads anyway when it finds the name in its rules.
_REFERENCES: Final = re.compile(r"(?:(?:@[\w~./\\-]+|\[[^\]\n]*\]\([^)\n]*\))[,;.]?\s*)+")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_GLOBS: Final = re.compile(r"^globs:[ \t]*(.+)$", re.MULTILINE)

# The type that a heading gives to the lines below it; the first matching word decides.
_HEADINGS: Final[tuple[tuple[str, str], ...]] = (
    ("architect", "decision"),
    ("decision", "decision"),
    ("stack", "fact"),
    ("technolog", "fact"),
    ("command", "workflow_recipe"),
    ("workflow", "workflow_recipe"),
    ("gotcha", "gotcha"),
    ("pitfall", "gotcha"),
    ("warning", "gotcha"),
    ("caveat", "gotcha"),
    ("error", "error_pattern"),
    ("convention", "pattern"),
    ("pattern", "pattern"),
    ("style", "preference"),
    ("preference", "preference"),
    ("rule", "preference"),
    ("requirement", "requirement"),
    ("test", "pattern"),
    ("overview", "module_insight"),
    ("structure", "module_insight"),
)


class Reading(NamedTuple):
    """Memories read from a file, and the lines that were left out."""

    items: list[MemoryItem]  # arguments of `remember`, in the order of the file
    short: list[int]  # lines that are too short to be items
    references: list[int]  # lines that only name another file


class Format(NamedTuple):
    """A file format of another tool: how to recognise and read its files."""

    name: str
    fits: Callable[[str], bool]  # takes a path in lower case
    read: Callable[[str], Reading]


def _rules(text: str) -> Reading:
    """Read a file of instructions for an agent, such as CLAUDE.md.

    The list items of the file, and the paragraphs between them, become memories.
    """
    front = _FRONT_MATTER.match(text)
    globs = _GLOBS.search(front[1]) if front else None
    body = text[front.end() :] if front else text
    tags = [f"glob:{one.strip()}" for one in globs[1].split(",") if one.strip()] if globs else []
    found = passages(body)
    before = (front[0] if front else "").count("\n")
    references = [one for one in found if _REFERENCES.fullmatch(one.text)]
    said = [one for one in found if one not in references]
    return Reading(
        [{**_item(one), "tags": tags} for one in said if len(one.text) >= _SHORTEST],
        [one.line + before for one in said if len(one.text) < _SHORTEST],
        [one.line + before for one in references],
    )


_BOLD_LINE: Final = re.compile(r"(\*\*|__)(?!\s)(?:(?!\1).)+\1:?")  # a paragraph that is a heading in all but name


def passages(text: str) -> list[Item]:
    """Return list items and paragraphs of a Markdown document, in order.

    Each item of a nested list is separate. These parts are left out: headings, bold lines that serve as headings, code, comments,
    quotations, tables and private blocks.
    """
    from markdown_it import MarkdownIt  # 0.1 s, and only imports need it

    lines = lines_of(text)
    private, _ = private_lines(lines)
    shown = "".join("\n" if number in private else line for number, line in enumerate(lines, 1))
    found: list[Item] = []
    heading, quoted, is_heading = "", 0, False
    open_items: list[int] = []  # the position of each open list item in `found`; -1 before its text
    for token in MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"]).parse(shown):
        if token.type in ("blockquote_open", "table_open", "blockquote_close", "table_close"):
            quoted += token.nesting
        elif token.type == "list_item_open":
            open_items.append(-1)
        elif token.type == "list_item_close":
            open_items.pop()
        elif token.type in ("heading_open", "heading_close"):
            is_heading = token.nesting > 0
        elif token.type == "inline" and not quoted and token.map is not None:
            said = " ".join(_COMMENT.sub("", token.content).split())
            first, last = token.map[0] + 1, token.map[1]
            if is_heading or (not open_items and _BOLD_LINE.fullmatch(said)):
                heading = said.strip("*_: ")
            elif open_items and open_items[-1] >= 0:
                item = found[open_items[-1]]
                found[open_items[-1]] = item._replace(text=f"{item.text} {said}".strip(), last=last)
            elif said:
                open_items[-1:] = [len(found)] * len(open_items[-1:])
                found.append(Item("", said, heading, {}, first, last))
    return found


def _facts(text: str) -> Reading:
    """Read a `facts.md`: a file with one fact on each line."""
    found = items(text)
    return Reading(
        [{**_item(one), "type": one.facts.get("type") or "fact"} for one in found if len(one.text) >= _SHORTEST],
        [one.line for one in found if len(one.text) < _SHORTEST],
        [],
    )


def _own_markdown(text: str) -> Reading:
    """Read memories from Markdown that graphmem wrote.

    Comments in the Markdown contain further data, such as the type.
    """
    found = items(text)
    return Reading([_item(one) for one in found if one.text], [one.line for one in found if not one.text], [])


FORMATS: Final[tuple[Format, ...]] = (
    Format("claude", lambda path: PurePosixPath(path).name in ("claude.md", "claude.local.md"), _rules),
    Format("agents", lambda path: PurePosixPath(path).name == "agents.md", _rules),
    Format("gemini", lambda path: PurePosixPath(path).name == "gemini.md", _rules),
    Format("cursor", lambda path: PurePosixPath(path).name == ".cursorrules" or path.endswith(".mdc"), _rules),
    Format("facts", lambda path: PurePosixPath(path).name == "facts.md", _facts),
    Format("markdown", lambda path: path.endswith((".md", ".markdown")), _own_markdown),
)
JSON: Final = "json"
NAMES: Final = (JSON, *(one.name for one in FORMATS))


def format_of(path: str, text: str) -> str:
    """Detect the format of a file of memories.

    The file's name and the start of its text determine the format.

    Raises:
        BadInputError: the format is unknown.
    """
    if text.lstrip().startswith("{"):
        return JSON
    found = next((one.name for one in FORMATS if one.fits(path.lower())), "")
    if not found:
        raise refuse("path", f"the format of {path!r} is unknown; name one of {', '.join(NAMES)} with --format", value=path)
    return found


def read(text: str, name: str) -> Reading:
    """Read memories from a file of a named format.

    The result has the memories, and the lines that were left out.

    Raises:
        BadInputError: the file is too large, or the format is unknown.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise refuse(
            "file", f"the file has {len(text):,} characters, and at most {MAX_BYTES:,} are allowed; split the file", value=len(text)
        )
    form = next((one for one in FORMATS if one.name == name), None)
    if form is None:
        raise refuse("format", f"unknown format {name!r} of a file of memories; use one of {', '.join(NAMES)}", value=name)
    return form.read(without_own_block(text))


def _item(one: Item) -> MemoryItem:
    """Convert a list item or a paragraph to the arguments of `remember`."""
    item: MemoryItem = {"content": unfolded(one.text)}
    type_ = one.facts.get("type") or _heading_type(one.heading)
    if type_ in TYPES:
        item["type"] = type_
    for name in ("files", "tags"):
        if one.facts.get(name):
            item[name] = [part.strip() for part in one.facts[name].split(",") if part.strip()]
    if one.facts.get("confidence"):
        try:
            item["confidence"] = float(one.facts["confidence"])
        except ValueError:
            raise refuse(
                "confidence",
                f"the confidence {repr(one.facts['confidence'])[:40]} in line {one.line} is not a number; write a number from 0 to 1",
                value=one.facts["confidence"],
            ) from None
    return item


def _heading_type(heading: str) -> str:
    words = heading.lower()
    name = words.replace(" ", "_")
    return name if name in TYPES else next((type_ for word, type_ in _HEADINGS if word in words), "")
