"""How an open index is: what is ready, what answers do without, what it costs to keep."""

from __future__ import annotations

import os
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers import to_json
from graphmem.answers.upkeep import Health, Part
from graphmem.maintenance import backup as backups
from graphmem.maintenance.recovery import lost_code
from graphmem.store.files import size_of

if TYPE_CHECKING:
    from graphmem.memory.repository import MemoryRepository
    from graphmem.project.graph_source import IndexStatus
    from graphmem.project.history_source import HistorySource
    from graphmem.project.learning import SessionLearning
    from graphmem.project.outside_evidence import OutsideEvidence
    from graphmem.project.watching import Following
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

MAX_FAILURES: Final = 200  # files of which `doctor` has the reason why they were read in part


class IndexHealth:
    """Says how an open index is.

    Args:
        store: of the index.
        book: of memories.
        projections: of both.
        vectors: of both.
        searcher: counts its searches.
        following: notices changes of files.
        data_dir: of the index.
    """

    def __init__(
        self,
        store: GraphStore,
        book: MemoryRepository,
        projections: Projections,
        vectors: VectorFiller,
        searcher: Searcher,
        following: Following,
        data_dir: Path,
    ) -> None:
        self._store = store
        self._book = book
        self._projections = projections
        self._vectors = vectors
        self._searcher = searcher
        self._following = following
        self._data_dir = data_dir
        self._begun = time.monotonic()

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
        watching = self._following.watcher
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


class Doctor:
    """Says what an index is made of and what is missing from it.

    Args:
        status: of the index.
        health: of it.
        store: of its graph.
        book: of its memories.
        projections: of both.
        vectors: of both.
        evidence: from outside.
        history: of the files.
        learning: from sessions.
        data_dir: of the index.
    """

    def __init__(
        self,
        status: IndexStatus,
        health: IndexHealth,
        store: GraphStore,
        book: MemoryRepository,
        projections: Projections,
        vectors: VectorFiller,
        evidence: OutsideEvidence,
        history: HistorySource,
        learning: SessionLearning,
        data_dir: Path,
    ) -> None:
        self._status = status
        self._health = health
        self._store = store
        self._book = book
        self._projections = projections
        self._vectors = vectors
        self._evidence = evidence
        self._history = history
        self._learning = learning
        self._data_dir = data_dir

    def doctor(self) -> dict[str, Any]:
        engine, meta, counts = self._store.engine, self._store.meta(), self._store.counts()
        ready = self._projections.graph_if_ready()
        sizes = {entry.name: entry.stat().st_size for entry in sorted(self._data_dir.iterdir()) if entry.is_file()}
        return {
            "project": self._status.project(),
            "engine": engine._asdict(),
            "files": sizes,
            "projections": self._projections.status(),
            "embedder": self._vectors.status(),
            "memories": self._book.status(),
            "rules": counts.edges,
            "call_rules": counts.calls,
            "call_sites": counts.call_sites,
            "unresolved": counts.unresolved,
            "failed_files": ready.failed_paths if ready is not None else [],
            "failures": dict(islice(ready.failures.items(), MAX_FAILURES)) if ready is not None else {},
            "evidence": self._evidence.report(ready, meta.get("project", ""), meta.get("root", "")) if ready is not None else {},
            "history": self._history.status(),
            "learning": self._learning.status(),
            "health": to_json(self._health.health()),
            "lost_code": lost_code(self._store),
        }


def resident_bytes() -> int:
    """Memory of this process that is in RAM; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
