"""Maintenance of an index: check, rebuild, compact, release memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from graphmem.answers.upkeep import Check, CompactAnswer, RebuildAllAnswer, VerifyAnswer
from graphmem.errors import NotIndexedError
from graphmem.maintenance import checks
from graphmem.memory.repository import retention
from graphmem.model import GraphDelta
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.model import IndexProgress
    from graphmem.project.care.runs import IndexRuns
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore, GraphTables
    from graphmem.vectors.filler import VectorFiller

WASTE_BYTES: Final = 24 << 20  # minimum waste before an automatic compaction
CHECKPOINT_BYTES: Final = 1 << 20  # size of the log below which the next start is fast anyway
CHECKPOINT_CHANGES: Final = 8  # code changes below which they hold little memory
WASTE_SHARE: Final = 0.5  # minimum waste, as a share of the file, before an automatic compaction


@dataclass(eq=False, repr=False)
class Upkeep:
    """Checks, rebuilds and compacts an index, and releases its memory."""

    store: GraphStore
    book: MemoryRepository
    projections: Projections
    vectors: VectorFiller
    data_dir: Path
    settings: Settings
    runs: IndexRuns
    put_aside: Sequence[str]  # damage that was quarantined at opening
    tables_of: Callable[[Path, str], GraphTables]

    @property
    def damage(self) -> list[str]:
        """Return the damage that was found since the index was opened.

        Each item is one sentence with the damage and the action taken. The list is empty if nothing was damaged.
        """
        return [*self.store.notes, *self.book.journal.notes, *self.put_aside, *self.projections.notes]

    def verify_index(self, deep: bool = False) -> VerifyAnswer:
        begun = perf_counter()
        with self.runs.turn:
            found = [
                *checks.database(self.store),  # first: bytes can only be compared with their checksum while it is closed
                *checks.room(self.data_dir),
                *checks.mended(self.damage),
                *checks.derived(self.data_dir),
                *checks.journal(self.book),
                *checks.graph(self.store),
                *checks.projections(self.store, self.projections, self.book),
            ]
            found += checks.files(self.store, self.runs.options)
            found += checks.backups(self.data_dir, self.settings)
        if deep:
            found += self._checked_anew()
        return VerifyAnswer(all(one.level != "bad" for one in found), found, round(perf_counter() - begun, 3))

    def rebuild(self, repo: str | Path | None = None, on_progress: Callable[[IndexProgress], None] | None = None) -> RebuildAllAnswer:
        """Rebuild an index: memories from the journal, code from the files.

        `on_progress` is called for each step. The copies of the graph for fast reads are made again, too.

        Raises:
            RepositoryError: the files do not exist; the memories have been rebuilt.
        """
        begun = perf_counter()
        told = retention.rebuild(self.book)
        run = self.runs.index(repo, full=True, on_progress=on_progress)
        return RebuildAllAnswer(
            files=run.files,
            symbols=run.symbols,
            edges=sum(run.edges_by_kind.values()),
            memories=told.memories,
            restored=told.restored,
            removed=told.removed,
            notes=told.notes,
            seconds=round(perf_counter() - begun, 3),
        )

    def compact(self) -> CompactAnswer:
        begun = perf_counter()
        local = local_file(self.store, "compaction")
        file = Path(local.path)
        with self.runs.turn:
            before = file.stat().st_size
            with self.book.writing():
                self.book.flush()
                generation = local.compact()
            if self.projections.graph_if_ready() is not None:
                self.projections.refresh(generation, GraphDelta.empty())  # the same graph under another number
        return CompactAnswer(before, file.stat().st_size, round(perf_counter() - begun, 3))

    def compact_when_wasteful(self) -> CompactAnswer | None:
        """Compact the database file if this frees half of it, and at least 24 MB.

        Returns None if the file was not compacted.
        """
        local = self.store.local
        if local is None:
            return None
        size, waste = Path(local.path).stat().st_size, local.waste()
        return self.compact() if waste >= max(WASTE_BYTES, WASTE_SHARE * size) else None

    def checkpoint_when_due(self) -> int:
        """Checkpoint the database if its log or its changes in memory are large.

        A checkpoint merges the write-ahead log into the database file. Returns the number of merged bytes; 0 if no checkpoint was due.
        """
        local = self.store.local
        if local is None:
            return 0
        file = Path(local.path)
        log = file.with_name(file.name + ".wal")
        size = log.stat().st_size if log.exists() else 0
        if size < CHECKPOINT_BYTES and local.held_changes() < CHECKPOINT_CHANGES:
            return 0
        self.book.flush()
        local.checkpoint()
        return size

    def rest(self, unused_s: float) -> bool:
        """Close the database if it was unused for `unused_s` seconds.

        The next request opens the database again. Returns True if this call closed it.
        """
        local = self.store.local
        if local is None:
            return False
        self.vectors.record()
        return local.rest(unused_s)

    def cool(self) -> bool:
        """Release memory whose content can be loaded again.

        Return whether any memory was released.
        """
        with self.book.writing():
            self.book.flush()
            return self.projections.cool()

    def unload_model(self) -> str:
        """Unload the embedding model; the next query loads it again.

        Returns the model's name, or "" if no model was loaded.
        """
        return self.vectors.unload()

    def _checked_anew(self) -> list[Check]:
        root = self.store.meta().get("root", "")
        if not root or not self.store.generation():
            raise NotIndexedError(
                "the index has no code graph that could be compared with the files; run `graphmem index` first", path=str(self.data_dir)
            )
        return checks.same_graph(self.store.tables(), self.tables_of(Path(root), self.store.meta().get("project", "")))
