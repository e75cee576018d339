"""Wall time of the stages of an index run, and its CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from graphmem.runtime.process.system import cpu_seconds


class Meter:
    """Measures the stages of one run; CPU time is that of the whole process."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._cpu = cpu_seconds()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the wall time of a `with` block to the time of a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def cpu_seconds(self) -> float:
        """Return the CPU seconds since the meter was made."""
        return cpu_seconds() - self._cpu
