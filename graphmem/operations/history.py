"""Operations on history: which files change together, in commits and in sessions of agents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from graphmem.answers import CoAccessAnswer, FileHistory, Recorded
from graphmem.answers.history import Reviewers
from graphmem.operations.declare import Bounds, Sight, Spelled, operation


class HistoryOperations:
    """What changed together."""

    @operation(
        "query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("hits",)}, renamed={"k": "limit"}, command="coaccess", searches=True
    )
    def co_access(
        self,
        files: Sequence[str],
        limit: Annotated[int, Bounds(1, 200), Spelled(was=("--k", "-k"))] = 10,
        *,
        depth: Annotated[int, Bounds(1, 2)] = 1,
        min_sessions: Annotated[int, Bounds(0, 1_000_000)] = 0,
    ) -> CoAccessAnswer:
        """Find the files that change together with these.

        What commits and sessions of agents show, best first.

        Args:
            files: from the project's root.
            limit: how many files.
            depth: 2 also follows what changes with those.
            min_sessions: leave out what changed with them in fewer sessions and commits; 0 keeps what names or code speak for.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"paths": ()})
    def file_history(self, paths: Sequence[str]) -> list[FileHistory]:
        """What history knows of each file: how often, how recently and by how many people it was changed."""

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("people",)}, command="reviewers")
    def reviewers(self, file: str, limit: Annotated[int, Bounds(1, 200)] = 10) -> Reviewers:
        """Find the people who know a file, best first: their commits to it, each halved for every year of its age.

        Args:
            file: from the project's root.
            limit: how many people.
        """

    @operation("mutation", needs="index", shows=Sight.PLAIN)
    def record_co_access(
        self, files: Sequence[str], at: datetime | str | None = None, *, session: str = "", offsets: Sequence[float] = ()
    ) -> Recorded:
        """Record that files were touched together: in one session, task or commit.

        `offsets` are the seconds from the beginning, one for each file, from which who leads and who follows is told.
        """

    @operation("mutation", needs="index", shows=Sight.PLAIN)
    def record_rename(self, old: str, new: str, at: datetime | str | None = None) -> Recorded:
        """Record that a file goes on under another name: what it did before counts for the new one."""
