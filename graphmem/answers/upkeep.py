"""Answers about the index itself: backups, checks, repairs, health."""

from __future__ import annotations

from typing import Annotated, Any

from graphmem.answers.marks import Big, Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class BackupInfo:
    """One backup, which was read back and opened when it was made."""

    path: Annotated[str, Doc("on the server's machine")]
    made_at: Moment
    project: str
    engine: Annotated[str, Doc("that can open it; `any` when it is portable")]
    bytes: Annotated[int, Big()]
    generation: Annotated[int, Doc("of the code graph in it")]
    memories: Annotated[int, Doc("in it")]
    entries: Annotated[int, Doc("of the memories' journal in it")]
    seconds: Annotated[float, Doc("that making and checking it took")]


@answer
class RestoreAnswer:
    """What a restore brought back."""

    path: str
    made_at: Moment
    files: int
    memories: int
    before: Annotated[str, Doc("backup of what was there; empty when nothing was")]
    notes: list[str]
    rules: Annotated[list[str], Doc("rules it brings that are not here already, by file")]
    rules_taken: bool


@answer
class CypherAnswer:
    """Rows of a query that a person wrote."""

    columns: Annotated[list[str], Doc("their names, in order")]
    rows: Annotated[list[list[Any]], Doc("A list of rows, each a list with a value for each column")]
    cut: Annotated[bool, Doc("there are more rows than were wanted")]
    limit: Annotated[int, Doc("rows that were wanted")]
    seconds: float


@answer
class CompactAnswer:
    """What a compaction gave back."""

    before: Annotated[int, Doc("bytes of the database file"), Big()]
    after: Annotated[int, Big()]
    seconds: float


@answer
class RebuildAllAnswer:
    """What came of making everything anew from the files and the journal."""

    files: int
    symbols: int
    edges: int
    memories: int
    restored: Annotated[int, Doc("memories the graph had lost or had otherwise")]
    removed: Annotated[int, Doc("memories the journal does not know")]
    notes: list[str]
    seconds: float


@answer
class Check:
    """One thing that was looked at."""

    name: str
    level: Annotated[str, Doc("ok, note or bad")]
    said: str
    fix: Annotated[str, Doc("what to do about it; empty when there is nothing to do")]


@answer
class VerifyAnswer:
    """Whether the index says what its sources say."""

    sound: Annotated[bool, Doc("nothing is bad")]
    checks: Annotated[list[Check], Doc("in the order they were made"), Size(12)]
    seconds: float


@answer
class Part:
    """One ability of a running index."""

    name: str
    ready: bool
    degraded: Annotated[str, Doc("what answers do without it, and why; empty when it is whole")]


@answer
class Searches:
    """What searches were like since the index was opened."""

    count: int
    p50_ms: Annotated[float, Doc("of the last thousand")]
    p95_ms: float
    boosted: Annotated[float, Doc("share of all with a hit that its neighbourhood in the graph raised, 0 to 1")]


@answer
class Health:
    """How an open index is: alive, ready to answer, and what it does without."""

    status: Annotated[str, Doc("ok, degraded or starting")]
    ready: Annotated[bool, Doc("questions about what is stored can be answered")]
    parts: Annotated[list[Part], Doc("each ability"), Size(8)]
    notes: Annotated[list[str], Doc("what had to be put aside or mended since it was opened")]
    rss_mb: float
    uptime_s: float
    queued_writes: int
    wal_bytes: Annotated[int, Big()]
    database_bytes: Annotated[int, Big()]
    waste_bytes: Annotated[int, Doc("that a compaction would give back, about"), Big()]
    last_backup: Annotated[str, Doc('path; "" when there is none')]
    searches: Searches
