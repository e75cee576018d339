"""GraphMem: one open project and its operations, for every interface.

Any thread may read. Reads use the projections (copies of the graph for fast reads). Index runs are serialized. Operations return the
dataclasses of `graphmem.answers`, and raise the errors of `graphmem.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.operations.registry import Operations, implementations
from graphmem.project.opening import PATIENCE_S, open_project
from graphmem.runtime.identity import index_id

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from graphmem.project.parts import Parts
    from graphmem.settings import Settings


class GraphMem(Operations):
    """An open project and its index; use as a context manager, or `close` it.

    Each operation is a method, which calls the object that implements it. These objects are in `parts`, which is internal to graphmem and
    may change at any time.

    Example:
        >>> with GraphMem.open("/tmp/index") as memory:
        ... memory.index("path/to/repository")
        ... report = memory.impact("Flask.dispatch_request", max_depth=3)
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.index_id = index_id(parts.data_dir)  # identifies it for clients, even after it is moved
        for name, implementation in implementations(parts.operations).items():
            setattr(self, name, implementation)
        # Not operations: only callers in the same process have these.
        self.wait_until_ready = parts.projections.wait
        self.watch = parts.runs.watch
        self.warm = parts.runs.warm
        self.fill_vectors = parts.runs.fill_vectors
        self.resume_vectors = parts.runs.resume_vectors
        self.unpin = parts.memories.unpin
        self.session = parts.sessions.session
        self.finish_quiet_sessions = parts.learner.finish_quiet_sessions
        self.wait_for_learning = parts.learner.wait_for_learning
        self.follow_journal = parts.book.follow_journal
        self.sync_when_due = parts.sharing.sync_when_due
        self.prune_when_due = parts.memories.prune_when_due
        self.checkpoint_when_due = parts.upkeep.checkpoint_when_due
        self.compact_when_wasteful = parts.upkeep.compact_when_wasteful
        self.backup_when_due = parts.backups.backup_when_due
        self.rest = parts.upkeep.rest
        self.cool = parts.upkeep.cool
        self.unload_model = parts.upkeep.unload_model
        self.release_memory = parts.runs.release_memory
        self.derive_when_due = parts.semantics.derive_when_due

    @classmethod
    def open(
        cls,
        db: str | Path | None = None,
        repo: str | Path | None = None,
        settings: Settings | None = None,
        keep_warm: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> GraphMem:
        """Open the index in a directory, or create it.

        Args:
            db: the directory of the index; None for `.graphmem` in `repo`.
            repo: the project; only needed to find the default of `db`.
            settings: the settings; None for those of the project's files and the environment.
            keep_warm: keep data for later index runs in memory; for a single run, False halves the memory.
            patience_s: total time that searches wait for vectors of earlier writes. With 0, searches answer at once with the vectors that
                exist, and report the missing ones. Wait in a program that writes and then searches; a server should not wait.

        Raises:
            BadInputError: neither `db` nor `repo` is given, `db` is a file, or git tracks files in it.
            StoreBusyError: another process has the index open.
            SchemaTooNewError, DiskFullError: reported by the store. A damaged database is quarantined; see `maintenance.recovery`.
        """
        return cls(open_project(db, repo, settings, keep_warm, patience_s))

    def __enter__(self) -> GraphMem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop background work, checkpoint and close the database. Idempotent."""
        self.parts.close()

    @property
    def in_place(self) -> bool:
        """Whether the index directory still has the path where it was opened.

        If the directory was moved, the result is False. This process would otherwise write to the old path, where another index may be now.
        """
        return index_id(self.parts.data_dir) == self.index_id

    @property
    def damage(self) -> list[str]:
        """Damage found since opening, with the action taken, one sentence each."""
        return self.parts.upkeep.damage
