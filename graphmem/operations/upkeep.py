"""Operations on the index itself: health, checks, backups, repairs, people's own queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from graphmem.answers.marks import Size
from graphmem.answers.upkeep import BackupInfo, CompactAnswer, CypherAnswer, Health, RebuildAllAnswer, RestoreAnswer, VerifyAnswer
from graphmem.model import IndexProgress
from graphmem.operations.declare import FileName, Local, Sight, operation


class UpkeepOperations:
    """Upkeep. Over the network no operation takes a path: backups are in the index's own directory."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def health(self) -> Health:
        """Whether the index answers, and what it does without meanwhile."""

    @operation("query", needs="admin", shows=Sight.PLAIN, slow=True, client="own")
    def doctor(self) -> dict[str, Any]:
        """What the index is made of and what is missing from it, by name; the names change with what there is to report."""

    @operation("query", needs="admin", shows=Sight.WHOLE)
    def cypher(self, query: str, params: Mapping[str, Any] | None = None, limit: int | None = None) -> CypherAnswer:
        """Rows of a read-only Cypher query over the graph; off unless the settings allow it, and for administrators.

        `params` is an object with the values of `$name`; docs/cypher.md says what may be written.
        """

    @operation("query", needs="admin", shows=Sight.PLAIN)
    def backups(self) -> Annotated[list[BackupInfo], Size(20)]:
        """Backups in the index's own directory, newest first."""

    @operation("mutation", needs="admin", shows=Sight.PLAIN, slow=True, client="own")
    def backup(self, dest: Annotated[str | Path | None, Local()] = None, portable: bool = False) -> BackupInfo:
        """Write a backup into the index's own directory, read it back and open it; `portable` for every engine."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, client="own")
    def restore(self, file: Annotated[str | Path, FileName()], rules: bool = False) -> RestoreAnswer:
        """Go back to a backup in the index's own directory, by its file name; what is here now is backed up first.

        `rules` also takes its rules: texts that are put in front of every agent.
        """

    @operation("query", needs="admin", shows=Sight.PLAIN, slow=True, command="verify")
    def verify_index(self, deep: bool = False) -> VerifyAnswer:
        """Check the index, its journal and the newest backup.

        Graph, journal, files and projections are compared with each other.

        Args:
            deep: also index the tree again, and compare node by node, edge by edge.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, client="own")
    def rebuild(
        self,
        repo: Annotated[str | Path | None, Local()] = None,
        on_progress: Annotated[Callable[[IndexProgress], None] | None, Local()] = None,
    ) -> RebuildAllAnswer:
        """Rebuild every memory from the journal, and the code graph from the files; `indexProgress` tells how it goes."""

    @operation("mutation", needs="admin", shows=Sight.PLAIN, slow=True, command="compact")
    def compact(self) -> CompactAnswer:
        """Give back the room that deleted rows take.

        The database is written into a new file.

        An idle server does so by itself when half of the file would be given back.
        """
