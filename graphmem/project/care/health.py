"""Report the state of an open index: what works, and what does not."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.analysis.recall import known_calls
from graphmem.answers import to_json
from graphmem.answers.doctor import DoctorReport
from graphmem.answers.upkeep import Health, Part
from graphmem.maintenance import backup as backups
from graphmem.maintenance.recovery import lost_code
from graphmem.model import SKIPPED
from graphmem.parsing.discovery import SKIP_REASONS, SKIP_REMEDIES
from graphmem.runtime.files.vault import read_mark
from graphmem.runtime.process.heap import resident_bytes
from graphmem.store.file.files import size_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.answers.upkeep import MemoryCost
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.project.graph.graph_source import IndexStatus
    from graphmem.project.graph.outside_evidence import OutsideEvidence
    from graphmem.project.graph.watching import Following
    from graphmem.project.history.history_source import HistorySource
    from graphmem.project.sessions.learning import SessionLearning
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

MAX_FAILURES: Final = 200  # partly parsed files for which `doctor` gives a reason


@dataclass(eq=False, repr=False)
class IndexHealth:
    """Reports which abilities of an open index, such as search, work."""

    store: GraphStore
    book: MemoryRepository
    projections: Projections
    vectors: VectorFiller
    searcher: Searcher
    following: Following
    data_dir: Path
    cost: Callable[[], MemoryCost]
    _begun: float = field(default_factory=time.monotonic, init=False)

    def health(self) -> Health:
        """Report whether the index answers, and which abilities are degraded.

        The call does not wait for data that is still being loaded.
        """
        parts = self._parts()
        ready = all(part.ready for part in parts if part.name in ("code", "memories"))
        degraded = [part for part in parts if part.degraded]
        local = self.store.local
        file = Path(local.path) if local is not None else None
        newest = backups.listed(self.data_dir)[-1:]
        return Health(
            status="starting" if not ready else "degraded" if degraded else "ok",
            ready=ready,
            parts=parts,
            notes=[*self.store.notes, *self.book.notes],
            rss_mb=round(resident_bytes() / 1e6, 1),
            uptime_s=round(time.monotonic() - self._begun, 1),
            queued_writes=self.store.queued_writes(),
            wal_bytes=size_of(file.with_name(file.name + ".wal")) if file is not None else 0,
            database_bytes=size_of(file) if file is not None else 0,
            waste_bytes=local.waste() if local is not None else 0,
            last_backup=str(newest[0]) if newest else "",
            searches=self.searcher.tally.summary(),
            cost=self.cost(),
        )

    def _parts(self) -> list[Part]:
        """Return one entry for each ability of the index, in a fixed order.

        Examples of abilities are vector search and the watching of files. If an ability does not work fully, its entry says how this
        affects answers.
        """
        graph, generation = self.projections.graph_if_ready(), self.store.generation()
        status = self.projections.status()
        note = self.projections.note()
        watching = self.following.watcher
        covered, total = self.vectors.covered()
        vectors = self.vectors.note() or (f"{total - covered:,} of {total:,} chunks have no vector yet" if covered < total else "")
        memories = status["memories"].get("note", "")
        feed = self.store.feed
        empty = "nothing is indexed yet; impact and code search return nothing" if not generation else ""
        return [
            Part("code", graph is not None and bool(generation or feed is None), (note if graph is None else "") or empty),
            Part("words", "note" not in status["words"], f"code is searched by names only: {note}" if graph is not None and note else ""),
            Part(
                "vectors",
                not vectors,
                f"search uses words and names where vectors are missing: {vectors}" if vectors and generation else "",
            ),
            Part("memories", not memories, memories),
            Part("journal", not self.book.journal.damaged, "; ".join(self.book.journal.notes)),
            Part("following the writer", not feed.note, feed.note)
            if feed is not None
            else Part(
                "following files",
                watching is not None and not watching.note,
                (watching.note if watching is not None else "only `graphmem index` finds changes of files") if generation else "",
            ),
        ]


@dataclass(eq=False, repr=False)
class Doctor:
    """Reports what an index contains and what it lacks."""

    status: IndexStatus
    health: IndexHealth
    store: GraphStore
    book: MemoryRepository
    projections: Projections
    vectors: VectorFiller
    evidence: OutsideEvidence  # evidence of indexers and test runs
    history: HistorySource
    learning: SessionLearning
    data_dir: Path
    sharing: Callable[[], dict[str, Any]]

    def doctor(self) -> DoctorReport:
        engine, meta, counts = self.store.engine, self.store.meta(), self.store.counts()
        ready = self.projections.graph_if_ready()
        sizes = {entry.name: entry.stat().st_size for entry in sorted(self.data_dir.iterdir()) if entry.is_file()}
        return {
            "project": self.status.project(),
            "engine": engine._asdict(),
            "files": sizes,
            "projections": self.projections.status(),
            "embedder": self.vectors.status(),
            "memories": self.book.status(),
            "rules": counts.edges,
            "text_files": _text_files(ready) if ready is not None else {},
            "skipped": _skipped(json.loads(meta.get(SKIPPED, "{}"))),
            "known_calls": _known_calls(ready) if ready is not None else [],
            "call_rules": counts.calls,
            "call_sites": counts.call_sites,
            "unresolved": counts.unresolved,
            "failed_files": ready.failed_paths if ready is not None else [],
            "failures": dict(islice(ready.failures.items(), MAX_FAILURES)) if ready is not None else {},
            "evidence": self.evidence.report(ready, meta.get("project", ""), meta.get("root", "")) if ready is not None else {},
            "history": self.history.status(),
            "learning": self.learning.status(),
            "sharing": self.sharing(),
            "encryption": read_mark(self.data_dir) or {},
            "health": to_json(self.health.health()),
            "lost_code": lost_code(self.store),
        }


def _skipped(counts: dict[str, int]) -> list[dict[str, object]]:
    """Return the reasons for skipping files, the most frequent first.

    `counts` has the number of files for each reason, such as "too_large". Each item of the result has the keys `reason`, `files` (number),
    `meaning` and `remedy`.
    """
    return [
        {"reason": reason, "files": count, "meaning": SKIP_REASONS.get(reason, ""), "remedy": SKIP_REMEDIES.get(reason, "")}
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count
    ]


def _text_files(view: GraphView) -> dict[str, int]:
    """Count the files that are searched as text, by extension.

    A file whose name has no extension is listed under its whole name.
    """
    names = (path.rpartition("/")[2] for path in view.text_paths)
    return dict(Counter(name[name.rfind(".") :].lower() if "." in name else name for name in names).most_common())


def _known_calls(view: GraphView) -> list[dict[str, Any]]:
    """Return which share of all calls graphmem finds, for each language.

    There is one dict for each language of the project. The shares were measured on benchmarks, not on the project. The key `sentence` has
    the share as a sentence.
    """
    return [{**row._asdict(), "sentence": row.sentence} for row in known_calls(view.arrays.paths.language.unique().to_pylist())]
