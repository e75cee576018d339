"""The parts of an open project, and how they are closed.

A part is an object that implements some operations.
"""

from __future__ import annotations

import atexit
import logging
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import GraphMemError
from graphmem.runtime.process.system import after_fork

if TYPE_CHECKING:
    from graphmem.injection.injector import Injector
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.model import IndexProgress
    from graphmem.observe.ledger.ledger import Ledger
    from graphmem.observe.running.observer import Observer
    from graphmem.project.care.backing_up import Backups
    from graphmem.project.care.runs import IndexRuns
    from graphmem.project.care.upkeep import Upkeep
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.graph.progress import Hub
    from graphmem.project.graph.watching import Following
    from graphmem.project.history.history_source import HistorySource
    from graphmem.project.hosted.overlays import Overlays
    from graphmem.project.hosted.receiving import Receiving
    from graphmem.project.memories.writing import Memories
    from graphmem.project.sessions.operations import Sessions
    from graphmem.project.sessions.session_learner import SessionLearner
    from graphmem.project.structure.semantic_source import SemanticSource
    from graphmem.project.team.sharing import Sharing
    from graphmem.projection.projections import Projections
    from graphmem.runtime.lazy import Lazy
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Parts:
    """The objects that implement the operations of an open project.

    Attributes:
        operations: objects that implement the operations.
        endings: functions that close the parts, in this order.
    """

    data_dir: Path
    store: GraphStore
    projections: Projections
    graph: GraphSource
    book: MemoryRepository
    vectors: VectorFiller
    history: HistorySource
    injector: Injector
    semantics: SemanticSource
    observer: Lazy[Observer]
    ledger: Lazy[Ledger]
    progress: Hub[IndexProgress]
    following: Following
    runs: IndexRuns
    memories: Memories
    sessions: Sessions
    sharing: Sharing
    learner: SessionLearner
    upkeep: Upkeep
    backups: Backups
    receiving: Receiving
    overlays: Overlays
    operations: tuple[object, ...]
    endings: tuple[Callable[[], object], ...]

    def close(self) -> None:
        """Close all parts of the open project. Idempotent."""
        _open.discard(self)
        for end in self.endings:
            end()


def close_at_exit(parts: Parts) -> None:
    """Close the parts when the process exits, unless they are closed before."""
    _open.add(parts)


_open: Final[weakref.WeakSet[Parts]] = weakref.WeakSet()


def _close_open() -> None:
    """Close the projects that a script left open, when the process exits.

    A thread that is still inside the engine would abort the process at exit.
    """
    for parts in list(_open):
        try:
            parts.close()
        except GraphMemError as error:
            _log.warning("%s", error)


atexit.register(_close_open)
after_fork(_open.clear)
