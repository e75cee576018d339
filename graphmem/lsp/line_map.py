"""Map line numbers between a saved file and the text in the editor."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class LineMap:
    """Maps line numbers between a saved file and the text in the editor.

    Lines count from 0. If only one of the two texts has a line, that line is mapped to the nearest line above it that both texts have.

    Args:
        saved: lines of the saved text.
        now: lines of the text in the editor.
    """

    def __init__(self, saved: Sequence[str], now: Sequence[str]) -> None:
        self._last = (max(0, len(saved) - 1), max(0, len(now) - 1))
        head, tail, most = 0, 0, min(len(saved), len(now))
        while head < most and saved[head] == now[head]:
            head += 1
        while tail < most - head and saved[-1 - tail] == now[-1 - tail]:
            tail += 1
        middle = difflib.SequenceMatcher(None, saved[head : len(saved) - tail], now[head : len(now) - tail], autojunk=False)
        blocks = [(0, 0, head)]
        blocks += [(head + one.a, head + one.b, one.size) for one in middle.get_matching_blocks()]
        blocks += [(len(saved) - tail, len(now) - tail, tail)]
        self._blocks = [one for one in blocks if one[2]]

    def is_saved(self, now: int) -> bool:
        """Whether a line of the editor's text, from 0, is also in the saved text."""
        return any(at <= now < at + size for _, at, size in self._blocks)

    def is_left(self, saved: int) -> bool:
        """Whether a line of the saved text, from 0, is also in the editor's text."""
        return any(at <= saved < at + size for at, _, size in self._blocks)

    def saved(self, now: int) -> int:
        """Return the line of the saved text for a line of the editor's text."""
        return min(self._last[0], _moved(now, [(to, at, size) for at, to, size in self._blocks]))

    def now(self, saved: int) -> int:
        """Return the line of the editor's text for a line of the saved text."""
        return min(self._last[1], _moved(saved, self._blocks))


def _moved(line: int, blocks: Sequence[tuple[int, int, int]]) -> int:
    found = 0
    for at, to, size in blocks:
        if at > line:
            break
        found = to + min(line - at, size - 1)
    return found
