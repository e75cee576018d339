"""What the server counts, and `/metrics`: the text format of Prometheus.

The format is a few lines of text, so no library is needed for it: https://prometheus.io/docs/instrumenting/exposition_formats/
(version 0.0.4).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphmem.answers import IndexState
    from graphmem.answers.upkeep import Health
    from graphmem.api.context import Door

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
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
        yield from _head("graphmem_verb_seconds", "histogram", "time from the queue to the answer")
        for bound, value in zip(BUCKETS_S, buckets, strict=True):
            yield f'graphmem_verb_seconds_bucket{{le="{bound:g}"}} {value}'
        yield f'graphmem_verb_seconds_bucket{{le="+Inf"}} {count}'
        yield f"graphmem_verb_seconds_sum {seconds:.6f}"
        yield f"graphmem_verb_seconds_count {count}"
        yield from _one("graphmem_verb_failures_total", "counter", "verbs that raised, refusals among them", failed)
        yield from _one("graphmem_verb_refused_total", "counter", "verbs that were not taken because too many waited", refused)


def exposition(door: Door, health: Health, state: IndexState) -> str:
    """Every sample there is."""
    return "\n".join([*_all(door, health, state), ""])


def _all(door: Door, health: Health, state: IndexState) -> Iterator[str]:
    yield from _one("graphmem_ready", "gauge", "1 when questions are answered", int(health.ready))
    yield from _head("graphmem_part_degraded", "gauge", "1 when answers do without it")
    for part in health.parts:
        yield f'graphmem_part_degraded{{part="{part.name}"}} {int(bool(part.degraded))}'
    yield from door.runner.meter.lines()
    gauges: Iterable[tuple[str, str, float]] = (
        ("graphmem_verbs_pending", "verbs that wait or run", door.runner.pending),
        ("graphmem_idle_seconds", "since the last request ended", round(door.activity.idle_seconds(), 3)),
        ("graphmem_index_generation", "of the code graph", state.generation),
        ("graphmem_index_files", "indexed files", state.files),
        ("graphmem_index_symbols", "symbols in the graph", state.symbols),
        ("graphmem_index_edges", "edges in the graph", state.edges),
        ("graphmem_index_stale_files", "files known to have changed since they were indexed", state.stale_files),
        ("graphmem_index_chunks", "chunks that are searched", state.chunks),
        ("graphmem_index_vectors", "chunks that have a vector", state.vectors),
        ("graphmem_store_queued_writes", "writes that wait for their turn", health.queued_writes),
        ("graphmem_store_wal_bytes", "of the write-ahead log", health.wal_bytes),
        ("graphmem_store_database_bytes", "of the database file", health.database_bytes),
        ("graphmem_store_waste_bytes", "that a compaction would give back, about", health.waste_bytes),
        ("graphmem_notes", "things that had to be put aside or mended", len(health.notes)),
        ("process_resident_memory_bytes", "memory in RAM", health.rss_mb * 1e6),
        ("process_start_time_seconds", "since the epoch", round(time.time() - health.uptime_s, 3)),
    )
    for name, words, value in gauges:
        yield from _one(name, "gauge", words, value)
    times = os.times()
    yield from _one("process_cpu_seconds_total", "counter", "user and system time", round(times.user + times.system, 2))
    if health.last_backup:
        yield from _one("graphmem_backup_age_seconds", "gauge", "since the newest backup", round(_age(health.last_backup), 1))


def _one(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    yield from _head(name, kind, words)
    yield f"{name} {value:.17g}" if isinstance(value, float) else f"{name} {value}"


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def _age(path: str) -> float:
    try:
        return max(0.0, time.time() - Path(path).stat().st_mtime)
    except OSError:
        return 0.0
