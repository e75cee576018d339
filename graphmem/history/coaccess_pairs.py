"""Find pairs of files that change together often enough for an edge."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from graphmem.history.co_edits import History

LEAST_TOGETHER: Final = 3  # fewer may be chance
LEAST_SHARE: Final = 0.2
MOST: Final = 10  # of one file, the most frequent


class Together(NamedTuple):
    """A pair of files that often change together, with counts."""

    path: str
    other: str
    support: int
    confidence: float  # share of the first file's changes that also touched the other
    last_at: float  # seconds since 1970


def pairs(history: History, among: Collection[str]) -> list[Together]:
    """Return pairs of files that often change together.

    Both files of a pair are in `among`. The confidence of a pair (first, second) is the share of the first file's changes that also touched
    the second. Each file is first in at most `MOST` pairs. Pairs are sorted by the first path. Pairs with the same first path are sorted by
    the number of common changes, highest first.
    """
    known = [(path, number) for path in sorted(among) if (number := history.known(path)) is not None]
    wanted = {number for _, number in known}
    found = []
    for path, number in known:
        support: dict[int, int] = defaultdict(int)
        last: dict[int, float] = {}
        changes = history.nodes[number].changes
        for change in changes:
            for other in history.groups[change]:
                if other != number and other in wanted:
                    support[other] += 1
                    last[other] = max(last.get(other, 0.0), history.at[change])
        sure = [
            Together(path, history.nodes[other].path, count, count / len(changes), last[other])
            for other, count in support.items()
            if count >= LEAST_TOGETHER and count >= LEAST_SHARE * len(changes)
        ]
        found += sorted(sure, key=lambda one: (-one.support, one.other))[:MOST]
    return found
