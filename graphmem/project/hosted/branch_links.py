"""Links of memories to code that only branches have."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmem.knowledge import AboutRow
from graphmem.memory.repository.code_links import adopt_links
from graphmem.project.hosted.branches import Branches, BranchKey, BranchLink

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.graph.view import GraphView


@dataclass(eq=False)
class BranchLinks:
    """The stored links of all branches, read once after each change.

    Thread-safe.
    """

    branches: Branches
    _known: list[tuple[BranchKey, BranchLink]] | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def of_memory(self, memory: str) -> list[tuple[BranchKey, BranchLink]]:
        """Return (branch, link) for each link of a memory to code of a branch.

        `memory` is the id of the memory.
        """
        with self._lock:  # otherwise an older list could replace the reset by a new link
            if self._known is None:
                self._known = self.branches.links()
            known = self._known
        return [one for one in known if one[1].memory == memory]

    def reset(self) -> None:
        """Discard the links in memory; the next use reads them again."""
        with self._lock:
            self._known = None

    def add(self, key: BranchKey, memory: str, found: Iterable[AboutRow], view: GraphView, main: GraphView) -> bool:
        """Store links of a new memory to code that the main branch lacks.

        Args:
            key: the branch on which the memory was written.
            memory: id of the memory.
            found: links of the memory to code of the branch.
            view: the graph of the branch.
            main: the graph of the main branch.

        Returns:
            Whether there are such links.
        """
        links = [
            BranchLink(
                *(memory, one.target_id, one.role, one.label, one.confidence, one.body_hash, one.commit_sha),
                view.path(node) if one.label == "File" else view.info(node).ref,
            )
            for one in found
            if one.target_id not in main.index_of and (node := view.index_of.get(one.target_id)) is not None
        ]
        if links:
            self.branches.add_links(key, links)
            self.reset()
        return bool(links)

    def adopt(self, book: MemoryRepository, main: GraphView) -> None:
        """Move links to the main branch if it has their code now.

        `book` is the repository of the memories, and `main` is the graph of the main branch.
        """
        there = [one for _, one in self.branches.links() if one.target in main.index_of]
        if there:
            about = [
                AboutRow(one.memory, one.target, one.label, one.role, one.confidence, one.body_hash, one.commit_sha, "valid")
                for one in there
            ]
            adopt_links(book, about)
            self.branches.forget_links(there)
            self.reset()
