"""Split the writing of a whole file into replacements of changed lines."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.injection.edits import Edit

MAX_LINES: Final = 2_000  # changed lines of a file that are compared; of a larger rewrite, one replacement is made


def replacements(edit: Edit, text: str) -> Iterator[Edit]:
    """Yield the edits of which an edit consists, each with its place.

    An edit that replaces a part of a file is yielded unchanged. `text` is the content of the file. If it is the new content already,
    because the edit was made, the changed lines are not known, and nothing is yielded.
    """
    if edit.old is not None:
        yield edit
        return
    if edit.is_removal or not text or text == edit.new:
        return
    old, new = text.splitlines(keepends=True), edit.new.splitlines(keepends=True)
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
            base -= 1
            given, made = old[base], old[base] + made
        if given:
            yield edit._replace(old=given, new=made, at=starts[base])
