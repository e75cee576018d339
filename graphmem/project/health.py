"""How an open index is: what is ready, what answers do without, what it costs to keep."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmem.answers.upkeep import Health, Part
from graphmem.maintenance import backup as backups
from graphmem.store.files import size_of

if TYPE_CHECKING:
    from graphmem.answers import IndexState
    from graphmem.memory.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller


class HealthVerbs:
    """Part of `GraphMem`."""

    _store: GraphStore
    _book: MemoryRepository
    _projections: Projections
    _vectors: VectorFiller
    _data_dir: Path
    _settings: Settings
    _watcher: Any
    _searcher: Searcher
    _begun: float

    def state(self) -> IndexState:  # of GraphMem, which comes first
        """How far answers can be trusted to be of today."""
        raise NotImplementedError

    def health(self) -> Health:
        """Whether this index answers, and what it does without meanwhile. Cheap: nothing is waited for."""
        parts = self._parts()
        ready = all(part.ready for part in parts if part.name in ("code", "memories"))
        degraded = [part for part in parts if part.degraded]
        local = self._store.local
        file = Path(local.path) if local is not None else None
        newest = backups.listed(self._data_dir)[-1:]
        return Health(
            status="starting" if not ready else "degraded" if degraded else "ok",
            ready=ready,
            parts=parts,
            notes=[*self._store.notes, *self._book.notes],
            rss_mb=round(resident_bytes() / 1e6, 1),
            uptime_s=round(time.monotonic() - self._begun, 1),
            queued_writes=self._store.queued_writes(),
            wal_bytes=size_of(file.with_name(file.name + ".wal")) if file is not None else 0,
            database_bytes=size_of(file) if file is not None else 0,
            waste_bytes=local.waste() if local is not None else 0,
            last_backup=str(newest[0]) if newest else "",
            searches=self._searcher.tally.told(),
        )

    def _parts(self) -> list[Part]:
        """One for each ability, in a fixed order; what is degraded says what answers do meanwhile."""
        graph, generation = self._projections.graph_if_ready(), self._store.generation()
        status = self._projections.status()
        note = self._projections.note()
        watching = self._watcher
        covered, total = self._projections.covered()
        vectors = self._vectors.note() or (f"{total - covered:,} of {total:,} chunks have no vector yet" if covered < total else "")
        memories = status["memories"].get("note", "")
        empty = "nothing is indexed yet; impact and code search have nothing to answer from" if not generation else ""
        return [
            Part("code", graph is not None, (note if graph is None else "") or empty),
            Part("words", "note" not in status["words"], f"code is searched by names alone: {note}" if graph is not None and note else ""),
            Part("vectors", not vectors, f"search goes by words and names for what has none: {vectors}" if vectors and generation else ""),
            Part("memories", not memories, memories),
            Part("journal", not self._book.journal.damaged, "; ".join(self._book.journal.notes)),
            Part(
                "following files",
                watching is not None and not watching.note,
                (watching.note if watching is not None else "changes of files are found by `graphmem index` alone") if generation else "",
            ),
        ]


def resident_bytes() -> int:
    """Memory of this process that is in RAM; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
