"""Map line numbers between a saved file and the text in the editor."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_PAIRS: Final = 1_000_000  # of an old and a new line, which are compared between two lines that are once in each text


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
        middle = _equal_blocks(saved[head : len(saved) - tail], now[head : len(now) - tail])
        blocks = [(0, 0, head), *((head + at, head + to, size) for at, to, size in middle), (len(saved) - tail, len(now) - tail, tail)]
        self._blocks = [one for one in blocks if one[2]]

    def is_saved(self, now: int) -> bool:
        """Whether a line of the editor's text, from 0, is also in the saved text."""
        return any(at <= now < at + size for _, at, size in self._blocks)

    def is_left(self, saved: int) -> bool:
        """Whether a line of the saved text, from 0, is also in the editor's text."""
        return any(at <= saved < at + size for at, _, size in self._blocks)

    def replaced(self, now: int) -> range:
        """Return the saved lines in place of which a line of the editor stands.

        `now` is a line of the editor's text that the saved text lacks. The saved lines are those between the nearest lines above and below
        that both texts have.
        """
        first, end = 0, self._last[0] + 1
        for at, to, size in self._blocks:
            if to > now:
                end = at
                break
            first = at + size
        return range(first, end)

    def saved(self, now: int) -> int:
        """Return the line of the saved text for a line of the editor's text."""
        return min(self._last[0], _moved(now, [(to, at, size) for at, to, size in self._blocks]))

    def now(self, saved: int) -> int:
        """Return the line of the editor's text for a line of the saved text."""
        return min(self._last[1], _moved(saved, self._blocks))


def _equal_blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield (line in `old`, line in `new`, number of lines) of equal lines.

    Lines that are once in each text divide the texts, because comparing long texts as a whole takes time that grows with their square.
    Parts between them that are still too long count as different.
    """
    begun = (0, 0)
    at, to, size = 0, 0, 0
    for anchor in [*_anchors(old, new), (len(old), len(new))]:
        part = old[begun[0] : anchor[0]], new[begun[1] : anchor[1]]
        is_short = len(part[0]) * len(part[1]) <= MOST_PAIRS
        found = difflib.SequenceMatcher(None, *part, autojunk=False).get_matching_blocks() if is_short else []
        blocks = [(begun[0] + one.a, begun[1] + one.b, one.size) for one in found if one.size]
        for one in [*blocks, (*anchor, int(anchor[0] < len(old)))]:
            if (at + size, to + size) == one[:2]:
                size += one[2]
                continue
            yield at, to, size
            at, to, size = one
        begun = anchor[0] + 1, anchor[1] + 1
    yield at, to, size


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of lines that are once in each text, as (old, new).

    Both numbers ascend. As many lines as possible are returned.
    """
    places: list[dict[str, int]] = []
    for text in (old, new):
        counts = Counter(text)
        places.append({line: number for number, line in enumerate(text) if counts[line] == 1})
    pairs = [(number, places[1][line]) for line, number in places[0].items() if line in places[1]]
    ends: list[int] = []  # least last place in `new` of a rising chain, by its length
    last: list[int] = []  # the pair with this place
    before: list[int] = []  # the pair before each pair in its chain; -1 for none
    for index, (_, to) in enumerate(pairs):
        length = bisect_left(ends, to)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [to]
        last[length : length + 1] = [index]
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _moved(line: int, blocks: Sequence[tuple[int, int, int]]) -> int:
    found = 0
    for at, to, size in blocks:
        if at > line:
            break
        found = to + min(line - at, size - 1)
    return found
