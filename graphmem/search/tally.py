"""Count searches since the index was opened, with their durations.

The module also counts searches in which related hits, such as others in the same file, raised the score of a hit.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Final

from graphmem.answers.upkeep import Searches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmem.answers import SearchHit

WINDOW: Final = 1_000  # searches whose durations are kept


class Tally:
    """Counts of searches and their durations. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: deque[float] = deque(maxlen=WINDOW)
        self._count = 0
        self._boosted = 0

    def note(self, milliseconds: float, hits: Iterable[SearchHit]) -> None:
        """Count an answered search, with its duration and its number of hits."""
        boosted = any(hit.boost > 0 for hit in hits)
        with self._lock:
            self._times.append(milliseconds)
            self._count += 1
            self._boosted += boosted

    def summary(self) -> Searches:
        """Return the number of searches and percentiles of their durations.

        The percentiles are nearest-rank, of the last 1000 durations.
        """
        with self._lock:
            times = sorted(self._times)
            count, boosted = self._count, self._boosted
        if not times:
            return Searches(0, 0.0, 0.0, 0.0)
        at = [times[round(share * (len(times) - 1))] for share in (0.5, 0.95)]
        return Searches(count, round(at[0], 1), round(at[1], 1), round(boosted / count, 4))
