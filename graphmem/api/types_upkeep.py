"""GraphQL types of backups, checks and health."""

from __future__ import annotations

from strawberry.scalars import JSON

from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type


@gql_type
class BackupInfo:
    """One backup, which was read back and opened when it was made."""

    path: str = field("on the server's machine")
    made_at: str = field("ISO 8601, UTC")
    project: str
    engine: str = field("that can open it; `any` when it is portable")
    bytes: float
    generation: int = field("of the code graph in it")
    memories: int
    entries: int = field("of the memories' journal in it")
    seconds: float = field("that making and checking it took")


@gql_type
class RestoreAnswer:
    """What a restore brought back."""

    path: str
    made_at: str
    files: int
    memories: int
    before: str = field("backup of what was there; empty when nothing was")
    notes: list[str]
    rules: list[str] = field("rules it brings that are not here already, by file")
    rules_taken: bool


@gql_type
class CompactAnswer:
    """What a compaction gave back."""

    before: float = field("bytes of the database file")
    after: float
    seconds: float


@gql_type
class RebuildAllAnswer:
    """What came of making everything anew from the files and the journal."""

    files: int
    symbols: int
    edges: int
    memories: int
    restored: int = field("memories the graph had lost or had otherwise")
    removed: int = field("memories the journal does not know")
    notes: list[str]
    seconds: float


@gql_type
class Examination:
    """What the index is made of and what is missing from it."""

    said: JSON = field("by name; the names change with what there is to say")


@gql_type
class Check:
    """One thing that was looked at."""

    name: str
    level: str = field("ok, note or bad")
    said: str
    fix: str = field("what to do about it; empty when there is nothing to do")


@gql_type
class VerifyAnswer:
    """Whether the index says what its sources say."""

    sound: bool
    checks: list[Check] = field("in the order they were made", directives=[assumed(12)])
    seconds: float


@gql_type
class Part:
    """One ability of a running index."""

    name: str
    ready: bool
    degraded: str = field("what answers do without it, and why; empty when it is whole")


@gql_type
class Searches:
    """What searches were like since the index was opened."""

    count: int
    p50_ms: float = field("of the last thousand")
    p95_ms: float
    boosted: float = field("share of all with a hit that its neighbourhood in the graph raised, 0 to 1")


@gql_type
class Health:
    """How an open index is: whether it answers, and what it does without."""

    status: str = field("ok, degraded or starting")
    ready: bool
    parts: list[Part] = field("each ability", directives=[assumed(8)])
    notes: list[str] = field("what had to be put aside or mended since it was opened")
    rss_mb: float
    uptime_s: float
    queued_writes: int
    wal_bytes: float
    database_bytes: float
    waste_bytes: float = field("that a compaction would give back, about")
    last_backup: str
    searches: Searches
