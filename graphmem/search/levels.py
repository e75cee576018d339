"""Reduce the work of each search while recent searches are slow."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final, NamedTuple

from graphmem.search.request import Tuning

WINDOW: Final = 100  # number of recent searches that are kept
ENOUGH: Final = 5  # minimum searches before the level can change
HEALTHY_MS: Final = 200.0  # p95 below which a degraded service is healthy again
DEGRADED_MS: Final = 300.0  # p95 above which it is degraded
_DEGRADED_DEPTH: Final = 20


class Level(NamedTuple):
    """Speed of recent searches: "healthy" if fast, "degraded" if slow.

    While searches are slow, each search considers fewer candidates.
    """

    name: str  # healthy | degraded
    p95_ms: float

    def tuned(self, tuning: Tuning) -> Tuning:
        """Return search settings that fit the level: fewer candidates if slow.

        If the level is "degraded", only a fifth of the memories and a third of the neighbours in the graph are considered. Otherwise
        `tuning` is returned unchanged.
        """
        return tuning if self.name == "healthy" else tuning._replace(depth=_DEGRADED_DEPTH, graph_depth=5)

    def note(self) -> str:
        """Return a note that recent searches were slow; "" if they were fast."""
        if self.name == "healthy":
            return ""
        return f"the last searches were slow (p95 {self.p95_ms:.0f} ms): fewer candidates were considered, and the reranker was skipped"


class ServiceLevel:
    """Durations of the newest searches, and whether search is too slow.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=WINDOW)
        self._lock = threading.Lock()
        self._degraded = False

    def observe(self, milliseconds: float) -> None:
        """Record the duration of one search, in milliseconds."""
        with self._lock:
            self._times.append(milliseconds)

    def level(self) -> Level:
        """Return the current level, from the 95th percentile of recent times.

        Above an upper bound, the level becomes "degraded". Below a lower bound, it becomes "healthy". Between the two bounds, it does not
        change. After only a few searches, it is "healthy".
        """
        with self._lock:
            if len(self._times) < ENOUGH:
                return Level("healthy", 0.0)
            p95 = sorted(self._times)[int(0.95 * (len(self._times) - 1))]
            if p95 > DEGRADED_MS:
                self._degraded = True
            elif p95 < HEALTHY_MS:
                self._degraded = False
            return Level("degraded" if self._degraded else "healthy", p95)
