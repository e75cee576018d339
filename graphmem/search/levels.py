"""How much a search may cost, by how long the last ones took: a slow service looks at less, and says so."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final, NamedTuple

from graphmem.search.request import Tuning

WINDOW: Final = 100  # searches that are remembered
ENOUGH: Final = 5  # searches before anything is concluded
HEALTHY_MS: Final = 200.0  # p95 below which a degraded service is healthy again
DEGRADED_MS: Final = 300.0  # p95 above which it is degraded
_DEGRADED_DEPTH: Final = 20


class Level(NamedTuple):
    """What a search may do."""

    name: str  # healthy | degraded
    p95_ms: float

    def tuned(self, tuning: Tuning) -> Tuning:
        """The tuning at this level: a degraded one keeps a fifth of the candidates."""
        return tuning if self.name == "healthy" else tuning._replace(depth=_DEGRADED_DEPTH, graph_depth=5)

    def note(self) -> str:
        """One sentence for the answer; empty when healthy."""
        if self.name == "healthy":
            return ""
        return f"the last searches were slow (p95 {self.p95_ms:.0f} ms): fewer candidates were looked at, and nothing was read again"


class ServiceLevel:
    """A rolling window of times. Thread-safe."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=WINDOW)
        self._lock = threading.Lock()
        self._degraded = False

    def observe(self, milliseconds: float) -> None:
        """One search took so long."""
        with self._lock:
            self._times.append(milliseconds)

    def level(self) -> Level:
        """Where the service stands; between the two bounds it stays what it was."""
        with self._lock:
            if len(self._times) < ENOUGH:
                return Level("healthy", 0.0)
            p95 = sorted(self._times)[int(0.95 * (len(self._times) - 1))]
            if p95 > DEGRADED_MS:
                self._degraded = True
            elif p95 < HEALTHY_MS:
                self._degraded = False
            return Level("degraded" if self._degraded else "healthy", p95)
