"""Operations on memories that are shared with a team."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import MEMORY
from graphmem.answers.sharing import SharingAnswer, SharingStatus
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Bounds, Ref


class SharingOperations:
    """Exchange of memories with a team's database.

    Only administrators may call these operations, because they read and write all shared memories.
    """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True)
    def sync_memories(self, url: str = "", key: str = "") -> SharingAnswer:
        """Exchange memories with the team's PostgreSQL database.

        Personal memories stay on this machine. Nothing is overwritten: concurrent changes are shown with both sides.

        Args:
            url: address postgresql://host/name; default: the setting sync_url.
            key: key of the project, before its first exchange; default: Git's first commit.
        """

    @operation("query", needs="admin", shows=Sight.WHOLE, command="organisation status")
    def sharing_status(self) -> SharingStatus:
        """Show the last sync with the team, and disagreements."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE, command="organisation decide")
    def decide_disagreement(self, id: Annotated[str, Ref(MEMORY)], field: str, side: Annotated[int, Bounds(1, 100)]) -> SharingStatus:  # noqa: A002
        """Settle a disagreement about a field of a memory.

        A disagreement about the text is between two memories; `graphmem memory resolve` settles it.

        Args:
            id: id or short id of the memory.
            field: name of the field, as `graphmem organisation status` shows it.
            side: number of the correct value in the list of `graphmem organisation status`, from 1.
        """
