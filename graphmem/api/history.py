"""Root fields of history: each parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import strawberry

from graphmem import answers
from graphmem.api.complexity import assumed, sized_by
from graphmem.api.context import Info
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.limits import at_most, no_more_than
from graphmem.api.types_index import Count, Row

MOST_FILES: Final = 100  # asked about at once
MOST_TOUCHED: Final = 1_000  # recorded at once


@gql_type
class ScorePart:
    """One term of a sum."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    value: float


@gql_type
class CoAccessHit:
    """A file that moves with the files that were asked about."""

    path: str
    score: float = field("what the list is ordered by; comparable within one answer only")
    support: int = field("commits and sessions that touched it with one of the files")
    sessions: int = field("of them sessions of agents")
    commits: int = field("of them commits")
    confidence: float = field("P(it | these): share of the changes of these files that touched it too")
    lift: float = field("how many times more often than by chance")
    direction: str = field("follows, leads or mixed, by four fifths of the sessions that say when; empty when none does")
    delay_s: float = field("average seconds from these files to it in those sessions; negative when it comes first")
    last_seen: str = field("ISO 8601, UTC; empty when they never moved together")
    explained: list[str] = field("kinds of edges of the code between them; none: only history knows")
    depth: int = field("1: moved with these; 2: only with files that moved with these")
    via: str = field("at depth 2 the strongest file between")

    @resolved(list[ScorePart], [assumed(4)])
    @staticmethod
    def parts(parent: strawberry.Parent[answers.CoAccessHit]) -> list[_Part]:
        """What the score adds up."""
        return [_Part(name, value) for name, value in parent.parts.items()]


@gql_type
class CoAccessAnswer:
    """Files that move with these, best first."""

    files: list[str]
    hits: list[CoAccessHit]
    commits: int = field("in the history")
    sessions: int = field("in the history")
    notes: list[str] = field("what is missing from the answer, and why")


@gql_type
class FileHistory:
    """What history knows of a file under all its names."""

    path: str
    changes: int = field("commits and sessions that touched it")
    commits: int
    churn: float = field("commits, each halved for every year of its age")
    first_at: str = field("ISO 8601, UTC")
    last_at: str

    @resolved(list[Count], [assumed(10)])
    @staticmethod
    def authors(parent: strawberry.Parent[answers.FileHistory]) -> list[Row]:
        """Commits by hash of an e-mail address."""
        return [Row(name, count=count) for name, count in parent.authors.items()]


@gql_type
class Recorded:
    """What was recorded."""

    files: int


@dataclass(frozen=True, slots=True)
class _Recorded:
    files: int


@strawberry.type
class HistoryQueries:
    """Questions about what moved together."""

    @resolved(CoAccessAnswer | None, [sized_by("limit", "hits")])
    @staticmethod
    async def co_access(info: Info, files: list[str], depth: int = 1, min_sessions: int = 0, limit: int = 10) -> answers.CoAccessAnswer:
        """Files that move with these, in commits and in sessions of agents.

        `depth` 2 also goes on from those, by the product of both shares. From `minSessions` 1 on only what was seen moving with them is
        given; 0 also gives files that names or edges of the code speak for.
        """
        return await info.context.call(
            info.context.service.co_access,
            no_more_than(MOST_FILES, "files", files),
            at_most(info.context.limits.results, "limit", limit),
            depth=depth,
            min_sessions=min_sessions,
        )

    @resolved(list[FileHistory] | None, [sized_by("paths")])
    @staticmethod
    async def file_history(info: Info, paths: list[str]) -> list[answers.FileHistory]:
        """What history knows of some files, by path; those it does not know are left out."""
        return await info.context.call(info.context.service.file_history, no_more_than(MOST_TOUCHED, "paths", paths))


@strawberry.type
class HistoryMutations:
    """Changes of the history."""

    @resolved(Recorded | None)
    @staticmethod
    async def record_co_access(
        info: Info, files: list[str], at: str | None = None, session: str = "", offsets: list[float] | None = None
    ) -> _Recorded:
        """Keep that these files were touched together; see `GraphMem.record_co_access`."""
        no_more_than(MOST_TOUCHED, "files", files)
        await info.context.call(info.context.service.record_co_access, files, at, session=session, offsets=offsets or ())
        return _Recorded(len(files))

    @resolved(Recorded | None)
    @staticmethod
    async def record_rename(info: Info, old: str, new: str, at: str | None = None) -> _Recorded:
        """Keep that a file goes on under another name."""
        await info.context.call(info.context.service.record_rename, old, new, at)
        return _Recorded(1)
