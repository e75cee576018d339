"""List the symbols of a file with counts of callers, tests and memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.analysis.direct_users import direct_users
from graphmem.answers.outline import FileOutline, OutlineEntry
from graphmem.errors import SymbolNotFoundError
from graphmem.knowledge import is_held
from graphmem.memory.texts.types import LIVE_STATUSES, TRAPS
from graphmem.projection.arrays import NODE_KINDS, SYMBOL
from graphmem.runtime.naming import in_project

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.project.graph.graph_source import GraphSource


@dataclass(eq=False, repr=False)
class Outlines:
    """Lists the symbols of a file, with counts for each symbol.

    The counts are of callers, tests and memories.
    """

    graph: GraphSource
    book: MemoryRepository

    def outline(self, path: str) -> FileOutline:
        """List the symbols of a file with their callers, tests and memories.

        See `CodeOperations.outline`.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        view = self.graph.view()
        place = in_project(path, self.graph.root())
        if view.file_node(place) is None:
            raise SymbolNotFoundError(
                f"the index has no file or directory {place}; check the path, or run `graphmem index`", ref=path, suggestions=[]
            )
        nodes = [node for node in view.by_path(place).tolist() if view.label[node] == SYMBOL and NODE_KINDS[view.kind[node]] != "module"]
        nodes.sort(key=lambda node: (view.start_line[node], -view.end_line[node], node))
        entries = []
        for node, info in zip(nodes, view.infos(nodes) if nodes else [], strict=True):
            users = direct_users(view, node, in_order=False)
            about = self._memories_of(info.id)
            suspect = [f"#{one.short_id} {one.title}" for one in about if _is_suspect(one, info.id)]
            traps = sum(one.type in TRAPS for one in about)
            entries.append(OutlineEntry(info, len(users.callers), len(users.tests), len(about), traps, suspect, len(users.users)))
        return FileOutline(place, entries, self.graph.state())

    def _memories_of(self, node_id: str) -> list[MemoryInfo]:
        """Return memories in use about a symbol or a file.

        `node_id` is the id of the symbol or file. Superseded and deprecated memories are left out, and so are those that wait for a
        person's review.
        """
        index = self.book.index()
        rows = (index.row(one) for one in index.about_target(node_id))
        describe = self.book.describer().info
        found = [describe(row) for row in rows if row is not None and row.status in LIVE_STATUSES]
        return [one for one in found if not is_held(one)]


def _is_suspect(memory: MemoryInfo, node_id: str) -> bool:
    return any(one.id == node_id and one.anchor == "suspect" for one in memory.about)
