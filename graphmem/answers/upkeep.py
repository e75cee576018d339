"""Answers about the index: backups, checks, repairs, health."""

from __future__ import annotations

from typing import Annotated, Any

from graphmem.answers.marks import Big, Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class BackupInfo:
    """A backup that was verified when it was made."""

    path: Annotated[str, Doc("path on the server's machine")]
    made_at: Moment
    project: str
    engine: Annotated[str, Doc("the engine that can open it; `any` when it is portable")]
    bytes: Annotated[int, Big()]
    generation: Annotated[int, Doc("generation of the code graph in the backup")]
    memories: Annotated[int, Doc("number of memories in the backup")]
    entries: Annotated[int, Doc("number of journal entries in the backup")]
    seconds: Annotated[float, Doc("seconds that creating and verifying the backup took")]


@answer
class RestoreAnswer:
    """The outcome of a restore."""

    path: str
    made_at: Moment
    files: int
    memories: int
    before: Annotated[str, Doc("backup of the previous state; empty when there was none")]
    notes: list[str]
    rules: Annotated[list[str], Doc("rules in the backup that are not in the project, by file")]
    rules_taken: bool


@answer
class CypherAnswer:
    """Rows of a Cypher query."""

    columns: Annotated[list[str], Doc("names of the columns, in order")]
    rows: Annotated[list[list[Any]], Doc("A list of rows, each a list with a value for each column")]
    cut: Annotated[bool, Doc("true when there are more rows than `limit`")]
    limit: Annotated[int, Doc("maximum number of rows")]
    seconds: float


@answer
class CompactAnswer:
    """The outcome of a compaction."""

    before: Annotated[int, Doc("bytes of the database file before"), Big()]
    after: Annotated[int, Big()]
    seconds: float


@answer
class RebuildAllAnswer:
    """The outcome of rebuilding everything from the files and the journal."""

    files: int
    symbols: int
    edges: int
    memories: int
    restored: Annotated[int, Doc("memories that were missing or different in the graph")]
    removed: Annotated[int, Doc("memories that are not in the journal")]
    notes: list[str]
    seconds: float


@answer
class Check:
    """One check of the index."""

    name: str
    level: Annotated[str, Doc("ok, note (nothing to do) or bad (needs repair)")]
    said: str
    fix: Annotated[str, Doc("the remedy; empty when none is needed")]


@answer
class VerifyAnswer:
    """Whether the index agrees with its sources."""

    sound: Annotated[bool, Doc("every check passed")]
    checks: Annotated[list[Check], Doc("in the order of execution"), Size(12)]
    seconds: float


@answer
class Part:
    """One ability of a running index."""

    name: str
    ready: bool
    degraded: Annotated[str, Doc("why the ability is missing, and how answers are limited; empty when it works")]


@answer
class Searches:
    """Statistics of searches since the index was opened."""

    count: int
    p50_ms: Annotated[float, Doc("median of the last thousand searches")]
    p95_ms: float
    boosted: Annotated[float, Doc("share of searches with a hit that its graph neighbourhood raised, 0 to 1")]


@answer
class MemoryCost:
    """Tokens that injected memories cost, and tokens of reads that they saved."""

    sessions: Annotated[int, Doc("sessions whose tokens were counted")]
    injected_tokens: Annotated[int, Doc("tokens injected into all of them"), Big()]
    injected_per_session: Annotated[float | None, Doc("none without sessions that were shown memories")]
    control_sessions: Annotated[int, Doc("sessions of the control group, which is shown nothing")]
    saved_per_session: Annotated[
        float | None, Doc("read tokens of a control session, less read and injected tokens of another; none without both")
    ]


@answer
class Health:
    """The health of an open index, and its missing abilities."""

    status: Annotated[str, Doc("ok, degraded or starting")]
    ready: Annotated[bool, Doc("true when queries about stored data can be answered")]
    parts: Annotated[list[Part], Doc("the state of each ability"), Size(8)]
    notes: Annotated[list[str], Doc("files that were quarantined or repaired since it was opened")]
    rss_mb: float
    uptime_s: float
    queued_writes: int
    wal_bytes: Annotated[int, Big()]
    database_bytes: Annotated[int, Big()]
    waste_bytes: Annotated[int, Doc("estimate of the bytes that a compaction would free"), Big()]
    last_backup: Annotated[str, Doc('path of the newest backup; "" when there is none')]
    searches: Searches
    cost: MemoryCost
