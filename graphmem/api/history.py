"""Root fields of history: each parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import strawberry

from graphmem import answers
from graphmem.api.complexity import sized_by
from graphmem.api.context import Info
from graphmem.api.describe import gql_type, resolved
from graphmem.api.limits import at_most, no_more_than
from graphmem.api.types_history import CoAccessAnswer, FileHistory

MOST_FILES: Final = 100  # asked about at once
MOST_TOUCHED: Final = 1_000  # recorded at once


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
