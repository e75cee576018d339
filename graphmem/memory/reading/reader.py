"""Read the memories of one project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.errors import AmbiguousMemoryError, MemoryNotFoundError
from graphmem.memory.reading.describe import Describer
from graphmem.memory.texts.text import contextual_text
from graphmem.runtime.texts.naming import raw

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from graphmem.knowledge import AboutRow, MemoryRow, NamedFile
    from graphmem.memory.reading.clock import Clock
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.memories.index import MemoryIndex
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore


class MemoryReader:
    """Memories of one open index, and the code to which they are linked.

    Any thread may call it.

    Args:
        store: the open database.
        projections: copies of the memories and of the code in memory.
        data_dir: the index directory.
        clock: gives the time.
        branches_of: called with the root and a commit; returns the local branches that contain the commit and are not checked out.
        elsewhere: called with the id of a memory whose code this index lacks; returns the branches on this server that have the code.
    """

    def __init__(
        self,
        store: GraphStore,
        projections: Projections,
        data_dir: Path,
        clock: Clock,
        branches_of: Callable[[str, str], list[str]],
        elsewhere: Callable[[str], list[str]],
    ) -> None:
        self.store = store
        self.projections = projections
        self.clock = clock
        self._data_dir = data_dir
        self._branches_of = branches_of
        self._elsewhere = elsewhere
        self._paths: dict[str, str] | None = None

    def index(self) -> MemoryIndex:
        """Return the in-memory index of all memories, as of the last write."""
        return self.projections.memories()

    def view(self) -> GraphView | None:
        """Return the code graph; None when nothing is indexed."""
        return self.projections.graph() if self.store.generation() else None

    def describer(self) -> Describer:
        """Return an object that converts memories to answers.

        Properties that depend on the time, such as the confidence, are computed for the current time.
        """
        return Describer(self.index(), self.view(), self.clock.now(), self.paths, self.branches_of)

    def branches_of(self, row: MemoryRow, *, gone: bool) -> list[str]:
        """Return the other branches that contain the code of a memory.

        A memory's code is the code that the memory is linked to. On a server of many projects, the result has pushed branches.

        In a repository, the result has local branches that contain the memory's commit. It is [] if the checked-out branch contains the
        commit, too, or if no code of the memory is missing in this index (`gone` is False).
        """
        if found := self._elsewhere(row.id):
            return found
        return self._branches_of(self.store.meta().get("root", ""), row.commit_sha) if gone and row.commit_sha else []

    def row(self, memory_id: str) -> MemoryRow:
        """Return a memory by its id, its short id, or the start of its short id.

        Raises:
            MemoryNotFoundError, AmbiguousMemoryError: no memory matches, or several memories match.
        """
        index = self.index()
        wanted = raw(memory_id.strip()) if isinstance(memory_id, str) else ""
        row = index.row(wanted)
        if row is None and (known := index.by_short_id(wanted.lower())):
            row = index.row(known)
        if row is None and len(wanted) >= 3:
            fitting = index.short_ids(wanted.lower())
            if len(fitting) > 1:
                rows = [one for short in fitting[:20] if (one := index.row(index.by_short_id(short) or "")) is not None]
                raise AmbiguousMemoryError(
                    f"{wanted!r} is ambiguous: {len(fitting)} memory ids begin with it ({', '.join(fitting[:5])}); type more characters",
                    id=wanted,
                    candidates=[{"id": one.id, "short_id": one.short_id, "title": one.title} for one in rows],
                )
            row = index.row(index.by_short_id(fitting[0]) or "") if fitting else None
        if row is None:
            raise MemoryNotFoundError(f"unknown memory {wanted[:80]!r}; `graphmem memory list` lists all", id=wanted[:200])
        return row

    def paths(self) -> dict[str, str]:
        """Return the paths of files that memories name but the graph lacks.

        The result maps the id of each such file to its path.
        """
        if self._paths is None:
            self._paths = self.store.remembered_names()
        return self._paths

    def forget_paths(self) -> None:
        """Drop the cached result of `paths`, so that the graph is read again."""
        self._paths = None

    def text_of(self, row: MemoryRow, about: Sequence[AboutRow] | None = None, files: Sequence[NamedFile] = ()) -> str:
        """Return the text from which the vector of a memory is made.

        Args:
            row: row of the memory.
            about: links of the memory; default: the current ones.
            files: files that the links name and that are not in the graph yet.
        """
        view, describer = self.view(), self.describer()
        named = {file.id: file.path for file in files}
        links = self.index().about(row.id) if about is None else about
        paths = sorted({named.get(link.target_id) or describer.name(link) for link in links if link.label == "File"})
        modules = sorted({info.module for path in paths if view is not None and (info := view.file_info(path)) is not None and info.module})
        return contextual_text(row.content, row.type, paths, modules)

    def unembedded(self, have: Collection[str], limit: int) -> dict[str, str]:
        """Return the texts of memories whose vectors are missing.

        The result maps hashes (`text_hash`) to texts. At most `limit` texts are returned. Texts with a hash in `have` are left out. So are
        texts of superseded and deprecated memories.
        """
        index = self.index()
        rows = index.rows(list(index.without_vector_in(have).values())[:limit])
        return {row.text_hash: self.text_of(row) for row in rows.values() if row.text_hash not in have}

    def project(self) -> str:
        """Return the project's name.

        The ids of files depend on the name. If the project was never indexed, this call chooses the name.
        """
        name = self.store.meta().get("project", "")
        if not name:
            folder = self._data_dir.resolve()
            name = (folder.parent if folder.name == ".graphmem" else folder).name or "project"
            self.store.set_meta({"project": name})
        return name
