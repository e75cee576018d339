"""Find out how many processors other programs leave unused.

Vectors are computed in the background, and should use only processors that would be idle otherwise. The number is computed from the
processor time that this process got since the last call, and from the idle time of all processors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.runtime.process.system import ticks

GOT: Final = 0.8  # with a smaller part of its threads' time, the process competes with others
NEARLY: Final = 0.25  # part of a processor: so much less than a whole one still counts as idle
_STAT: Final = Path("/proc/stat")


class Moment(NamedTuple):
    """Readings of three clocks, in seconds.

    The clocks are the wall clock, the processor time of this process, and the idle time of all processors.
    """

    wall: float
    own: float  # processor time of this process
    idle: float  # of all processors


class IdleProcessors:
    """Adapts the number of encoding threads to the idle processors.

    Args:
        most: maximum number of threads.
        now: returns the current readings of the clocks; None to read the clocks of this machine.
    """

    def __init__(self, most: int, now: Callable[[], Moment] | None = None) -> None:
        self._most = most
        self._now = now or _moment
        self._threads = 1
        self._last = self._now()

    def threads(self) -> int:
        """Return how many threads to use until the next call.

        The number decreases by one if the threads got too little processor time since the last call. Otherwise it increases by the number
        of idle processors.
        """
        last, self._last = self._last, self._now()
        wall = self._last.wall - last.wall
        if wall > 0:
            own, idle = (self._last.own - last.own) / wall, (self._last.idle - last.idle) / wall
            if own < GOT * self._threads:
                self._threads = max(1, self._threads - 1)
            else:
                self._threads = min(self._most, self._threads + int(idle + NEARLY))
        return self._threads


def _moment() -> Moment:
    try:
        fields = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()
        idle = int(fields[4]) / ticks()
    except (OSError, ValueError, IndexError):
        idle = 0.0
    return Moment(time.monotonic(), time.process_time(), idle)
