"""What the server counts of its verbs, as samples in the text format of Prometheus.

The format is a few lines of text, so no library is needed for it: https://prometheus.io/docs/instrumenting/exposition_formats/
(version 0.0.4).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final

BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Meter:
    """How long verbs took, from their request's arrival in the queue to their answer, and how many were turned away. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets = [0] * len(BUCKETS_S)
        self._seconds = 0.0
        self._count = 0
        self._failed = 0
        self._refused = 0

    def done(self, seconds: float, *, failed: bool) -> None:
        """A verb has answered, or raised."""
        with self._lock:
            self._count += 1
            self._seconds += seconds
            self._failed += failed
            for at, bound in enumerate(BUCKETS_S):
                self._buckets[at] += seconds <= bound

    def refused(self) -> None:
        """A verb was not taken: too many wait."""
        with self._lock:
            self._refused += 1

    def lines(self) -> Iterator[str]:
        """The samples."""
        with self._lock:
            buckets, seconds, count, failed, refused = list(self._buckets), self._seconds, self._count, self._failed, self._refused
        yield from head("graphmem_verb_seconds", "histogram", "time from the queue to the answer")
        for bound, value in zip(BUCKETS_S, buckets, strict=True):
            yield f'graphmem_verb_seconds_bucket{{le="{bound:g}"}} {value}'
        yield f'graphmem_verb_seconds_bucket{{le="+Inf"}} {count}'
        yield f"graphmem_verb_seconds_sum {seconds:.6f}"
        yield f"graphmem_verb_seconds_count {count}"
        yield from sample("graphmem_verb_failures_total", "counter", "verbs that raised, refusals among them", failed)
        yield from sample("graphmem_verb_refused_total", "counter", "verbs that were not taken because too many waited", refused)


def sample(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    """A metric of one sample."""
    yield from head(name, kind, words)
    yield f"{name} {value:.17g}" if isinstance(value, float) else f"{name} {value}"


def head(name: str, kind: str, words: str) -> Iterator[str]:
    """What stands before the samples of a metric."""
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
