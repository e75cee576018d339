"""Split an edit into replacements of changed lines."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from graphmem.parsing.notebook import is_notebook
from graphmem.project.reviews.notebook_edits import code_versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.injection.consequences import Edit

MAX_LINES: Final = 2_000  # changed lines of a file that are compared; of a larger rewrite, one replacement is made


def replacements(edit: Edit, text: str) -> tuple[str, list[Edit]]:
    """Return the content before an edit, and the edit as single replacements.

    Of a notebook, the content is its code.

    Each replacement is an edit of changed lines, with its place in that content. Lines that an edit repeats without change, such as
    context, are left out. `text` is the content of the file, before or after the edit. The list is empty if `text` has neither the old
    nor the new text of the edit, or if the edit changes nothing.
    """
    before, after = _contents(edit, text)
    return before, [] if before == after else list(_changes(edit, before, after))


def _contents(edit: Edit, text: str) -> tuple[str, str]:
    """Return (content before, content after) an edit of a file.

    `text` may be either of them. Both results are `text` if it has neither the old nor the new text of the edit.
    """
    if edit.is_removal or not text:
        return text, text
    if is_notebook(edit.path):
        return code_versions(edit, text)
    if edit.old is None:
        return text, edit.new
    if edit.old and (at := _find(text, edit.old, edit.at)) >= 0:
        return text, text[:at] + edit.new + text[at + len(edit.old) :]
    if edit.new and (at := _find(text, edit.new, edit.at)) >= 0:  # the edit was made
        return text[:at] + edit.old + text[at + len(edit.new) :], text
    return text, text


def _find(text: str, part: str, at: int) -> int:
    return at if at >= 0 and text.startswith(part, at) else text.find(part)


def _changes(edit: Edit, text: str, written: str) -> Iterator[Edit]:
    old, new = text.splitlines(keepends=True), written.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, old))]
    first = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    same = zip(reversed(old[first:]), reversed(new[first:]), strict=False)
    last = next((at for at, (one, other) in enumerate(same) if one != other), min(len(old), len(new)) - first)
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    if len(before) + len(after) > MAX_LINES:
        blocks: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(before), 0, len(after))]
    else:
        blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, low, high, its_low, its_high in blocks:
        if kind == "equal":
            continue
        base = first + low
        given, made = "".join(before[low:high]), "".join(after[its_low:its_high])
        if kind == "insert" and base:  # it belongs to the code of the line above
            base, made = _gap(old, base, after[its_low:its_high])
            base -= 1
            given, made = old[base], old[base] + made
        if given:
            yield edit._replace(old=given, new=made, at=starts[base])


def _gap(old: Sequence[str], base: int, lines: Sequence[str]) -> tuple[int, str]:
    """Return (position, text) of inserted lines, at a blank line if possible.

    `lines` are inserted at the position `base` of `old`. Lines that are inserted between equal lines have several positions. For example, a
    new function and the blank line around it may come before or after that blank line.
    """
    at, moved = base, list(lines)
    while old[at - 1].strip() and at < len(old) and moved[0] == old[at]:
        moved = [*moved[1:], moved[0]]
        at += 1
    return (at, "".join(moved)) if not old[at - 1].strip() else (base, "".join(lines))
