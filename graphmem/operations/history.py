"""Operations on history: files that change together, and their authors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from graphmem.answers import CoAccessAnswer, FileHistory, Recorded
from graphmem.answers.history import Reviewers
from graphmem.answers.source import Blame
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Bounds, Place, Spelled


class HistoryOperations:
    """Queries about the history of files, and records of changes."""

    @operation(
        "query", needs="read", shows=Sight.SEEN, sizes={"limit": ("hits",)}, renamed={"k": "limit"}, command="coaccess", searches=True
    )
    def co_access(
        self,
        files: Annotated[Sequence[str], Place()],
        limit: Annotated[int, Bounds(1, 200), Spelled(was=("--k", "-k"))] = 10,
        *,
        depth: Annotated[int, Bounds(1, 2)] = 1,
        min_sessions: Annotated[int, Bounds(0, 1_000_000)] = 0,
    ) -> CoAccessAnswer:
        """Find the files that often change together with given files.

        The evidence comes from commits and agents' sessions. Files with the highest score come first.

        Args:
            files: paths from the project's root.
            limit: the maximum number of files.
            depth: 1: files that change with the given files; 2: also files that change with the files found by 1.
            min_sessions: the minimum number of common sessions and commits; 0 also keeps files related only by names or code.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"paths": ()})
    def file_history(self, paths: Sequence[str]) -> list[FileHistory]:
        """List how often, how recently and by how many people files changed.

        `paths` are the files, from the root of the project.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("people",)}, command="reviewers")
    def reviewers(self, file: Annotated[str, Place()], limit: Annotated[int, Bounds(1, 200)] = 10) -> Reviewers:
        """Find the people who know a file best.

        People are ranked by their commits to the file. The weight of a commit halves with each year of its age.

        Args:
            file: path of the file from the project's root.
            limit: the maximum number of people.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def blame(self, file: str) -> Blame:
        """Find who last changed each line of a file, and in which commit.

        Args:
            file: path of an indexed file; may also be absolute or a file URI.
        """

    @operation("mutation", needs="index", shows=Sight.PLAIN)
    def record_co_access(
        self, files: Sequence[str], at: datetime | str | None = None, *, session: str = "", offsets: Sequence[float] = ()
    ) -> Recorded:
        """Record that files changed together in a session, task or commit.

        `offsets` are seconds from the start, one for each file. The offsets show which file is changed first.
        """

    @operation("mutation", needs="index", shows=Sight.PLAIN)
    def record_rename(self, old: str, new: str, at: datetime | str | None = None) -> Recorded:
        """Record a rename of a file; the new name gets the history of the old."""
