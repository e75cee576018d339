"""Operations on the index: health, checks, backups, repairs, Cypher."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from graphmem.answers.doctor import DoctorReport
from graphmem.answers.marks import Size
from graphmem.answers.upkeep import BackupInfo, CompactAnswer, CypherAnswer, Health, RebuildAllAnswer, RestoreAnswer, VerifyAnswer
from graphmem.model import IndexProgress
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import FileName, Local


class UpkeepOperations:
    """Maintenance operations. Over the network none of them accepts a path.

    Backups are in the index's own directory.
    """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def health(self) -> Health:
        """Whether the index can answer queries, and which features do not work."""

    @operation("query", needs="admin", shows=Sight.PLAIN, slow=True, client="own")
    def doctor(self) -> DoctorReport:
        """Facts about the index and its parts, by the name of the part.

        A part that has nothing to report, such as sharing without a team, has no entry.
        """

    @operation("query", needs="admin", shows=Sight.WHOLE)
    def cypher(self, query: str, params: Mapping[str, Any] | None = None, limit: int | None = None) -> CypherAnswer:
        """Rows of a read-only Cypher query on the graph, for administrators.

        Cypher queries are refused unless the settings allow them. `params` is an object with the values of `$name`.
        docs/cypher.md describes the supported queries.
        """

    @operation("query", needs="admin", shows=Sight.PLAIN)
    def backups(self) -> Annotated[list[BackupInfo], Size(20)]:
        """Backups in the index's own directory, newest first."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, client="own")
    def backup(self, dest: Annotated[str | Path | None, Local()] = None, portable: bool = False) -> BackupInfo:
        """Write a backup into the index's own directory, and verify it.

        The backup is read back and opened. A `portable` backup works with every engine.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, client="own")
    def restore(self, file: Annotated[str | Path, FileName()], rules: bool = False) -> RestoreAnswer:
        """Restore a backup from the index's own directory, by its file name.

        The current state is backed up first. With `rules`, the rules in the backup are restored, too; agents get them in every session.
        """

    @operation("query", needs="admin", shows=Sight.PLAIN, slow=True, command="verify")
    def verify_index(self, deep: bool = False) -> VerifyAnswer:
        """Check the index, its journal and the newest backup.

        The command compares the graph, the journal, the project's files and the caches derived from the graph.

        Args:
            deep: also index the files again and report every difference from the stored nodes and edges.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, client="own")
    def rebuild(
        self,
        repo: Annotated[str | Path | None, Local()] = None,
        on_progress: Annotated[Callable[[IndexProgress], None] | None, Local()] = None,
    ) -> RebuildAllAnswer:
        """Rebuild every memory from the journal and the code graph from the files.

        `indexProgress` reports the progress.
        """

    @operation("mutation", needs="admin", shows=Sight.PLAIN, slow=True, command="compact")
    def compact(self) -> CompactAnswer:
        """Rewrite the database without its unused disk space.

        The database is written into a new file.

        An idle server compacts automatically when that would free half of the file.
        """
