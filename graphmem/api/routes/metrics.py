"""The body of `/metrics`: all counters and gauges of the server as text.

`meter` documents the format.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.api.requests.meter import head, sample

if TYPE_CHECKING:
    from graphmem.answers import IndexState
    from graphmem.answers.upkeep import Health
    from graphmem.api.requests.context import ServerState

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def exposition(server: ServerState, health: Health, state: IndexState) -> str:
    """Return all counters and gauges of the server in Prometheus' format."""
    return "\n".join([*_all(server, health, state), ""])


def _all(server: ServerState, health: Health, state: IndexState) -> Iterator[str]:
    yield from sample("graphmem_ready", "gauge", "1 when questions are answered", int(health.ready))
    yield from head("graphmem_part_degraded", "gauge", "1 if the part does not work, so that answers lack it")
    for part in health.parts:
        yield f'graphmem_part_degraded{{part="{part.name}"}} {int(bool(part.degraded))}'
    yield from server.runner.meter.lines()
    gauges: Iterable[tuple[str, str, float]] = (
        ("graphmem_operations_pending", "operations that wait or run", server.runner.pending),
        ("graphmem_idle_seconds", "since the last request ended", round(server.activity.idle_seconds(), 3)),
        ("graphmem_index_generation", "of the code graph", state.generation),
        ("graphmem_index_files", "indexed files", state.files),
        ("graphmem_index_symbols", "symbols in the graph", state.symbols),
        ("graphmem_index_edges", "edges in the graph", state.edges),
        ("graphmem_index_stale_files", "files known to have changed since they were indexed", state.stale_files),
        ("graphmem_index_chunks", "chunks that are searched", state.chunks),
        ("graphmem_index_vectors", "chunks that have a vector", state.vectors),
        ("graphmem_store_queued_writes", "writes that wait for their turn", health.queued_writes),
        ("graphmem_store_wal_bytes", "size of the write-ahead log", health.wal_bytes),
        ("graphmem_store_database_bytes", "size of the database file", health.database_bytes),
        ("graphmem_store_waste_bytes", "approximate size that a compaction would release", health.waste_bytes),
        ("graphmem_notes", "parts that were quarantined or repaired", len(health.notes)),
        ("process_resident_memory_bytes", "memory in RAM", health.rss_mb * 1e6),
        ("process_start_time_seconds", "start time since the epoch", round(time.time() - health.uptime_s, 3)),
    )
    for name, words, value in gauges:
        yield from sample(name, "gauge", words, value)
    cost = health.cost
    yield from sample("graphmem_injected_tokens_total", "counter", "tokens of memories injected into sessions", cost.injected_tokens)
    yield from sample("graphmem_sessions_counted_total", "counter", "sessions whose tokens were counted", cost.sessions)
    if cost.saved_per_session is not None:
        words = "read tokens of a control session, less read and injected tokens of another"
        yield from sample("graphmem_tokens_saved_per_session", "gauge", words, cost.saved_per_session)
    times = os.times()
    yield from sample("process_cpu_seconds_total", "counter", "user and system time", round(times.user + times.system, 2))
    if health.last_backup:
        yield from sample("graphmem_backup_age_seconds", "gauge", "age of the newest backup", round(_age(health.last_backup), 1))


def _age(path: str) -> float:
    try:
        return max(0.0, time.time() - Path(path).stat().st_mtime)
    except OSError:
        return 0.0
