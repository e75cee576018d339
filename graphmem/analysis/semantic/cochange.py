"""Measure how strongly pairs of files change together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_FILES: Final = 30  # a larger change says little about any two files
LEAST_TOGETHER: Final = 3  # fewer may be chance
LEAST_SHARE: Final = 0.2


def together(changes: Iterable[Sequence[str]]) -> dict[tuple[str, str], float]:
    """Return the strength with which pairs of files change together.

    The strength of a pair is the number of changes to both files, divided by the number of changes to at least one of them. Only changes
    of two to `MOST_FILES` files are considered. The key is (path, path), in ascending order. Pairs with too few changes are left out.

    Args:
        changes: the distinct paths of each change.
    """
    alone: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for paths in changes:
        if 2 <= len(paths) <= MOST_FILES:
            alone.update(paths)
            both.update(combinations(sorted(paths), 2))
    shares = {pair: count / (alone[pair[0]] + alone[pair[1]] - count) for pair, count in both.items() if count >= LEAST_TOGETHER}
    return {pair: share for pair, share in sorted(shares.items()) if share >= LEAST_SHARE}
