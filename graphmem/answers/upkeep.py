"""Answers about the index: backups, checks, repairs, health."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

from graphmem.answers.marks import Big, Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class BackupInfo:
    """A backup that was verified when it was made."""

    path: Annotated[str, Doc("path of the backup on the server's machine")]
    made_at: Moment
    project: str
    engine: Annotated[str, Doc("database engine that can open the backup; `any` for a portable backup")]
    bytes: Annotated[int, Big()]
    generation: Annotated[int, Doc("number of changes made to the code graph before the backup")]
    memories: Annotated[int, Doc("number of memories in the backup")]
    entries: Annotated[int, Doc("number of entries in the backup's journal, the log of all changes of memories")]
    seconds: Annotated[float, Doc("duration of creating and verifying the backup, in seconds")]


@answer
class RestoreAnswer:
    """The outcome of restoring a backup."""

    path: str
    made_at: Moment
    files: int
    memories: int
    before: Annotated[str, Doc("path of the backup that was made of the state before the restore; empty when nothing was replaced")]
    notes: list[str]
    rules: Annotated[list[str], Doc("rules for agents that the backup has and the project does not, by file")]
    rules_taken: bool


@answer
class CypherAnswer:
    """The rows that a Cypher query returned."""

    columns: Annotated[list[str], Doc("names of the result columns, in order")]
    rows: Annotated[list[list[Any]], Doc("List of result rows; each row is a list with one value per column")]
    cut: Annotated[bool, Doc("true when the query found more rows than `limit`")]
    limit: Annotated[int, Doc("maximum number of rows that the answer may have")]
    seconds: float


@answer
class CompactAnswer:
    """The outcome of reclaiming unused disk space of the database file."""

    before: Annotated[int, Doc("size of the database file before the compaction, in bytes"), Big()]
    after: Annotated[int, Big()]
    seconds: float


@answer
class RebuildAllAnswer:
    """The outcome of rebuilding everything from the files and the journal."""

    files: int
    symbols: int
    edges: int
    memories: int
    restored: Annotated[
        int, Doc("number of memories that were missing in the graph, or differed from the journal (the log of all changes of memories)")
    ]
    removed: Annotated[
        int, Doc("number of memories that were removed from the graph because the journal (the log of all changes of memories) lacks them")
    ]
    notes: list[str]
    seconds: float


@answer
class Check:
    """One check of the index, and its result."""

    name: str
    level: Annotated[str, Doc("result of the check: ok, note (nothing to do) or bad (needs repair)")]
    said: str
    fix: Annotated[str, Doc("what to do about the problem that the check found; empty when nothing is needed")]


@answer
class VerifyAnswer:
    """Result of checking the index against the project's files and journal."""

    sound: Annotated[bool, Doc("true when every check of the index passed")]
    checks: Annotated[list[Check], Doc("the checks of the index, in the order of execution"), Size(12)]
    seconds: float


@answer
class Part:
    """A feature of an open index, such as semantic search, and its state."""

    name: str
    ready: bool
    degraded: Annotated[str, Doc("why the feature does not work, and what answers lack because of this; empty when it works")]


@answer
class Searches:
    """Statistics of searches since the index was opened."""

    count: int
    p50_ms: Annotated[float, Doc("median duration of the last thousand searches, in milliseconds")]
    p95_ms: float
    boosted: Annotated[float, Doc("share of searches in which the code graph raised the score of a result, 0 to 1")]


@answer
class WeekOfCost:
    """Tokens that memories cost and saved in the sessions of one week."""

    monday: Annotated[str, Doc("first day of the week, as YYYY-MM-DD in UTC")]
    sessions: Annotated[int, Doc("number of sessions of the week in which memories could be shown (all except the control group)")]
    injected_per_session: Annotated[float, Doc("average number of tokens of memories that were shown in a counted session")]
    saved_per_session: Annotated[
        float | None,
        Doc(
            "average number of tokens saved in a counted session, compared with control sessions, in which "
            "no memory is shown; null without control sessions"
        ),
    ]


@answer
class MemoryCost:
    """Tokens spent on showing memories, and tokens saved by fewer file reads."""

    sessions: Annotated[int, Doc("number of agents' sessions whose tokens were counted")]
    injected_tokens: Annotated[int, Doc("total number of tokens of the memories that were shown, over all counted sessions"), Big()]
    injected_per_session: Annotated[
        float | None,
        Doc("average number of tokens that memories added to a session; sessions without memories do not count; null if there are none"),
    ]
    control_sessions: Annotated[int, Doc("number of sessions in the control group, to which no memory is shown")]
    saved_per_session: Annotated[
        float | None,
        Doc(
            "tokens that a session with memories saves on average: tokens read in a control session, minus tokens read "
            "and added in a session with memories; null unless there are sessions of both groups"
        ),
    ]
    weeks: Annotated[list[WeekOfCost], Doc("the last eight weeks with sessions, oldest first"), Size(8)] = field(default_factory=list)


@answer
class Health:
    """The health of an open index, and its features that do not work."""

    status: Annotated[str, Doc("status of the index: ok, degraded or starting")]
    ready: Annotated[bool, Doc("true when the server can answer queries about stored data")]
    parts: Annotated[list[Part], Doc("the state of each feature, such as semantic search"), Size(8)]
    notes: Annotated[list[str], Doc("damaged files of the index that were moved away or repaired since the index was opened")]
    rss_mb: float
    uptime_s: float
    queued_writes: int
    wal_bytes: Annotated[int, Big()]
    database_bytes: Annotated[int, Big()]
    waste_bytes: Annotated[int, Doc("estimated number of bytes that a compaction would free"), Big()]
    last_backup: Annotated[str, Doc('path of the newest backup; "" when there is none')]
    searches: Searches
    cost: MemoryCost
