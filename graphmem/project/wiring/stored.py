"""First step of the wiring: open stored data and its copies in memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.answers import MemoryChange
from graphmem.history import git_mark
from graphmem.history.branches import OtherBranches
from graphmem.history.change_log import HistoryLog
from graphmem.language_model import configured
from graphmem.location import models_dir
from graphmem.maintenance.proving import put_aside_damaged
from graphmem.memory.reading.lifecycle import Policy
from graphmem.memory.repository.repository import MemoryRepository
from graphmem.model import IndexProgress
from graphmem.observe.ledger.ledger import LEDGER, Ledger
from graphmem.observe.running.observer import Observer
from graphmem.project.graph.graph_source import GraphSource, IndexStatus
from graphmem.project.graph.outside_evidence import OutsideEvidence
from graphmem.project.graph.progress import Hub
from graphmem.project.graph.stale import StaleFiles
from graphmem.project.graph.watching import Following
from graphmem.project.history.history_source import LOG, HistorySource
from graphmem.project.sessions.session_learner import TRAILS, observer_of
from graphmem.project.wiring.inputs import Inputs, Later
from graphmem.projection.projections import Projections
from graphmem.runtime.lazy import Lazy
from graphmem.runtime.worktree import journal_folder
from graphmem.search.memories.phases import PhaseBook
from graphmem.vectors.filler import VectorFiller

if TYPE_CHECKING:
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.language_model import LanguageModel
    from graphmem.store.base import GraphStore


@dataclass(frozen=True, kw_only=True)
class StoredParts:
    """Stored data, in-memory copies of it, and what updates the copies."""

    model: LanguageModel | None
    put_aside: list[str]
    projections: Projections
    unfollow: Callable[[], None]
    progress: Hub[IndexProgress]
    stale: StaleFiles
    following: Following
    vectors: VectorFiller
    status: IndexStatus
    graph: GraphSource
    memory_news: Hub[MemoryChange]
    book: MemoryRepository
    history: HistorySource
    evidence: OutsideEvidence
    ledger: Lazy[Ledger]
    trails: Path
    observer: Lazy[Observer]
    phases: PhaseBook


def open_stored(inputs: Inputs, later: Later, opened: contextlib.ExitStack) -> StoredParts:
    """Open the files beside the database, and the in-memory copies."""
    store, data_dir, settings, main = inputs.store, inputs.data_dir, inputs.settings, inputs.main
    model = configured(settings)
    put_aside = put_aside_damaged(data_dir)
    projections = Projections(store, data_dir, main.made if main is not None else None)
    opened.callback(projections.close)
    unfollow = _followed(store, projections)
    progress: Hub[IndexProgress] = Hub(replay=True)
    stale, following = StaleFiles(), Following()
    vectors = VectorFiller(store, projections, settings, progress.publish, models_dir(os.environ))
    status = IndexStatus(store, projections, vectors, data_dir, progress, stale, following)
    graph = GraphSource(store, projections, data_dir, status.state)
    memory_news: Hub[MemoryChange] = Hub()
    book = _memories(inputs, later, projections, vectors, memory_news)
    opened.callback(book.close)
    vectors.follow(book)
    trails, log = data_dir / TRAILS, main.log if main is not None else data_dir / LOG
    return StoredParts(
        model=model,
        put_aside=put_aside,
        projections=projections,
        unfollow=unfollow,
        progress=progress,
        stale=stale,
        following=following,
        vectors=vectors,
        status=status,
        graph=graph,
        memory_news=memory_news,
        book=book,
        history=HistorySource(store, projections, settings, book, Lazy(lambda: HistoryLog(log))),
        evidence=OutsideEvidence(data_dir),
        ledger=Lazy(lambda: Ledger(data_dir / LEDGER)),
        trails=trails,
        observer=observer_of(trails, graph, book),
        phases=PhaseBook(data_dir),
    )


def _memories(inputs: Inputs, later: Later, projections: Projections, vectors: VectorFiller, news: Hub[MemoryChange]) -> MemoryRepository:
    """Open the repository of the memories.

    `later` and `projections` have the parts that follow each change of the memories. `vectors` computes the vectors of queries. Listeners
    of `news` get the ids of the changed memories.
    """
    data_dir, settings, main = inputs.data_dir, inputs.settings, inputs.main

    def changed(delta: KnowledgeDelta) -> None:
        later.injector.memories_changed(delta)
        written = sorted({row.id for row in delta.memories}.union(delta.anchored))
        if written or delta.removed_memories:
            news.publish(MemoryChange(written, sorted(delta.removed_memories)))

    return MemoryRepository(
        inputs.store,
        projections,
        data_dir,
        embedder=vectors.query_embedder,
        on_change=changed,
        commit_at=partial(_commit_at, data_dir),
        branches_of=partial(_branches_of, OtherBranches(), data_dir),
        elsewhere=main.elsewhere if main is not None else lambda memory: later.overlays.elsewhere(memory, None),
        journal=journal_folder(data_dir),
        policy=Policy(settings.memory_limit, settings.memory_mb << 20, settings.memory_remove),
    )


def _followed(store: GraphStore, projections: Projections) -> Callable[[], None]:
    if store.feed is None:
        return lambda: None
    from graphmem.project.team.shared_graph import follow

    return follow(store.feed, projections)


def _commit_at(data_dir: Path, root: str) -> str:
    """Return the commit checked out in the project's root; "" if unknown.

    If `root` is "", the directory that contains `.graphmem` is used instead.
    """
    place = _place(data_dir, root)
    return git_mark.head(place) if place is not None else ""


def _branches_of(branches: OtherBranches, data_dir: Path, root: str, commit: str) -> list[str]:
    """Return the other local Git branches that contain `commit`.

    The list is empty if the checked-out branch contains the commit, too.
    """
    place = _place(data_dir, root)
    return branches.of(place, commit) if place is not None else []


def _place(data_dir: Path, root: str) -> Path | None:
    """Return the project's root, or a guess if `root` is "".

    The guess is the parent of `data_dir` if `data_dir` is named `.graphmem`, and None otherwise.
    """
    beside = data_dir.parent if data_dir.name == ".graphmem" else None
    return Path(root) if root else beside
