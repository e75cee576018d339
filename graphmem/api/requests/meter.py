"""Count the server's operations, and format the counts for Prometheus.

The format is simple text and needs no library: https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final

BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Meter:
    """Counts the server's operations, their durations, failures and refusals.

    A duration includes the time in the queue. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets = [0] * len(BUCKETS_S)
        self._seconds = 0.0
        self._count = 0
        self._failed = 0
        self._refused = 0

    def done(self, seconds: float, *, failed: bool) -> None:
        """Count an operation that ended after `seconds`, and whether it failed."""
        with self._lock:
            self._count += 1
            self._seconds += seconds
            self._failed += failed
            for at, bound in enumerate(BUCKETS_S):
                self._buckets[at] += seconds <= bound

    def refused(self) -> None:
        """Count an operation that was refused because too many were waiting."""
        with self._lock:
            self._refused += 1

    def lines(self) -> Iterator[str]:
        """Yield the counts as lines in Prometheus' text format."""
        with self._lock:
            buckets, seconds, count, failed, refused = list(self._buckets), self._seconds, self._count, self._failed, self._refused
        yield from head("graphmem_operation_seconds", "histogram", "seconds from the queue to the answer")
        for bound, value in zip(BUCKETS_S, buckets, strict=True):
            yield f'graphmem_operation_seconds_bucket{{le="{bound:g}"}} {value}'
        yield f'graphmem_operation_seconds_bucket{{le="+Inf"}} {count}'
        yield f"graphmem_operation_seconds_sum {seconds:.6f}"
        yield f"graphmem_operation_seconds_count {count}"
        yield from sample("graphmem_operation_failures_total", "counter", "operations that raised an error, including refusals", failed)
        yield from sample("graphmem_operation_refused_total", "counter", "operations that were refused because too many waited", refused)


def sample(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    """Yield the text lines of a Prometheus metric that has one value.

    Args:
        name: name of the metric.
        kind: counter or gauge.
        words: description of the metric.
        value: the value.
    """
    yield from head(name, kind, words)
    yield f"{name} {value:.17g}" if isinstance(value, float) else f"{name} {value}"


def head(name: str, kind: str, words: str) -> Iterator[str]:
    """Yield the comment lines that precede the values of a Prometheus metric.

    `kind` is the type of the metric, such as counter. `words` is the description.
    """
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
