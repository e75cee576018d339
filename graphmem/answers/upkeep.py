"""Answers about the index itself: backups, checks, repairs, health."""

from __future__ import annotations

from typing import Any

from graphmem.answers.plain import answer


@answer
class BackupInfo:
    """One backup, which was read back and opened when it was made."""

    path: str
    made_at: str  # ISO 8601, UTC
    project: str
    engine: str  # that can open it; "any" when it is portable
    bytes: int
    generation: int  # of the code graph in it
    memories: int  # in it
    entries: int  # of the memories' journal in it
    seconds: float  # that making and checking it took


@answer
class RestoreAnswer:
    """What a restore brought back."""

    path: str
    made_at: str
    files: int
    memories: int
    before: str  # backup of what was there; "" when nothing was
    notes: list[str]
    rules: list[str]  # rules it brings that are not here already, by file
    rules_taken: bool


@answer
class CypherAnswer:
    """Rows of a query that a person wrote."""

    columns: list[str]  # their names, in order
    rows: list[list[Any]]  # values as JSON has them
    cut: bool  # there are more than were wanted
    limit: int  # rows that were wanted
    seconds: float


@answer
class CompactAnswer:
    """What a compaction gave back."""

    before: int  # bytes of the database file
    after: int
    seconds: float


@answer
class RebuildAllAnswer:
    """What came of making everything anew from the files and the journal."""

    files: int
    symbols: int
    edges: int
    memories: int
    restored: int  # memories the graph had lost or had otherwise
    removed: int  # memories the journal does not know
    notes: list[str]
    seconds: float


@answer
class Check:
    """One thing that was looked at."""

    name: str
    level: str  # ok | note | bad
    said: str
    fix: str  # what to do about it; "" when there is nothing to do


@answer
class VerifyAnswer:
    """Whether the index says what its sources say."""

    sound: bool  # nothing is bad
    checks: list[Check]
    seconds: float


@answer
class Part:
    """One ability of a running index."""

    name: str
    ready: bool
    degraded: str  # what does without it meanwhile, and why; "" when it is whole


@answer
class Searches:
    """What searches were like since the index was opened."""

    count: int
    p50_ms: float  # of the last thousand
    p95_ms: float
    boosted: float  # share of all with a hit that its neighbourhood in the graph raised, 0..1


@answer
class Health:
    """How an open index is: alive, ready to answer, and what it does without."""

    status: str  # ok | degraded | starting
    ready: bool  # questions about what is stored can be answered
    parts: list[Part]
    notes: list[str]  # what had to be put aside or mended since it was opened
    rss_mb: float
    uptime_s: float
    queued_writes: int
    wal_bytes: int
    database_bytes: int
    waste_bytes: int  # that a compaction would give back, about
    last_backup: str  # path; "" when there is none
    searches: Searches
