"""Index runs: update the index once, or after each change of a file."""

from __future__ import annotations

import dataclasses
import threading
import time
import uuid
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.answers import DiagnosticInfo
from graphmem.errors import IndexCancelledError, StoreBusyError
from graphmem.indexing.listener import Listener
from graphmem.memory.repository.code_links import follow_index
from graphmem.model import IndexProgress
from graphmem.parsing.contents import most_bytes, read_regular
from graphmem.parsing.discovery import content_hash
from graphmem.runtime.process.faults import unraised
from graphmem.runtime.process.limits import refusal_of_any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from graphmem.answers import IndexSummary
    from graphmem.history.git_history import Reading
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.parsing.ignore import DiscoveryOptions
    from graphmem.project.care.seeding import Seeding
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.graph.indexer_source import IndexerSource
    from graphmem.project.graph.progress import Feed, Hub
    from graphmem.project.graph.stale import StaleFiles
    from graphmem.project.graph.watching import Following
    from graphmem.project.history.history_source import HistorySource
    from graphmem.project.structure.semantic_source import SemanticSource
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

STEP_S: Final = 0.02  # between two looks whether an index run has begun


@dataclass(eq=False, repr=False)
class IndexRuns:
    """Updates the index from the files, once or after each change of a file.

    Runs are serialized.
    """

    store: GraphStore
    graph: GraphSource
    projections: Projections
    indexers: IndexerSource
    vectors: VectorFiller
    book: MemoryRepository
    history: HistorySource
    seeding: Seeding
    semantics: SemanticSource
    stale: StaleFiles
    following: Following
    progress: Hub[IndexProgress]  # progress of runs
    _closing: threading.Event = field(default_factory=threading.Event, init=False)
    _waiting: dict[tuple[str | None, bool], str] = field(default_factory=dict, init=False)  # runs for the background, with their ids
    _thread: threading.Thread | None = field(default=None, init=False)  # does the runs in the background
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)  # of the two above
    turn: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_due: threading.Event = field(default_factory=threading.Event, init=False)  # a run waits for its turn
    _ended: float = field(default=-inf, init=False)  # time at which the last run ended

    def index(
        self,
        repo: str | Path | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexSummary:
        """Bring the index up to date with the files. Runs are serialized.

        Args:
            repo: root directory of the files; None for the directory that was indexed before.
            full: rewrite the rows of all files, not only those of changed files.
            on_progress: called with every step of the run, like every listener of `subscribe_progress`.
            cancelled: called often; when the function returns true, the run ends and nothing is written.

        Raises:
            RepositoryError, IndexCancelledError, DiskFullError: see `indexing.pipeline`.
        """
        return self.run(repo, full, on_progress, cancelled)

    def run(
        self,
        repo: str | Path | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        paths: Collection[str] | None = None,
    ) -> IndexSummary:
        """Update the index from all files of the project, or only from some.

        `paths` are the files to read, as paths from the root. Every file that changed since the last run must be among them. None stands
        for all files. The other arguments are those of `index`.
        """
        if self.store.feed is not None:
            raise StoreBusyError(
                "this server only reads, and another server indexes the project; send the request to that server", path="", owner=None
            )

        def tell(step: IndexProgress) -> None:
            self.progress.publish(step)
            if on_progress is not None:
                on_progress(step)

        def stop() -> bool:
            return self._closing.is_set() or (cancelled is not None and cancelled())

        root, history, summary = self._run_in_turn(repo, full, paths, tell, stop)
        self.vectors.resume()
        follow_index(self.book)
        self.seeding.refresh(root)
        self.history.learn_from_commits(root, history)
        if self.vectors.is_started:
            self.book.embed_soon()
        self.history.derive_edges()
        return self._with_notes(self._derived_after(summary))

    def _run_in_turn(
        self,
        repo: str | Path | None,
        full: bool,
        paths: Collection[str] | None,
        tell: Callable[[IndexProgress], None],
        stop: Callable[[], bool],
    ) -> tuple[Path, Reading | None, IndexSummary]:
        """Wait until no other run is active, then read commits and index files.

        The run stops if `stop` returns True. Returns (root, commits, summary). A failure is sent to `tell` as the last step, and then
        raised.
        """
        self._is_due.set()
        with self.turn:
            self._is_due.clear()
            try:
                indexer = self.indexers.of(repo)
                self.vectors.pause()
                self.book.flush()  # the run must move the anchors of every acknowledged memory
                begun = self.stale.now()
                root = Path(repo).resolve() if repo is not None else self.graph.root()
                history = self.history.read_commits(root, tell, stop)
                listener = Listener(
                    on_progress=tell,
                    cancelled=stop,
                    on_changed=lambda changed: self.stale.mark(changed, begun),
                    on_published=lambda: self.stale.settle(begun, paths),
                )
                summary = indexer.run(listener, full=full, paths=paths)
                self.stale.settle(begun, paths)
            except BaseException as error:
                tell(IndexProgress("failed", 0, 0, str(refusal_of_any(error) or error) or type(error).__name__))
                raise
            finally:
                self._ended = time.monotonic()
        return root, history, summary

    def _derived_after(self, summary: IndexSummary) -> IndexSummary:
        """Derive modules and flows after a large run, unless the project closes.

        Modules are groups of files, and flows are paths of calls. Returns the summary of the run. If results were derived,
        `seconds["explorer"]` of the summary is the time that this took.
        """
        if self._closing.is_set():
            return summary
        started = time.perf_counter()
        if not self.semantics.derive_after(summary):
            return summary
        return dataclasses.replace(summary, seconds={**summary.seconds, "explorer": round(time.perf_counter() - started, 3)})

    def _with_notes(self, summary: IndexSummary) -> IndexSummary:
        """Add the store's notes about damaged files to a summary, first."""
        if not self.store.notes:
            return summary
        summary.diagnostics[:0] = [DiagnosticInfo("", "warning", "damaged", note, 0) for note in self.store.notes]
        return dataclasses.replace(summary, diagnostic_count=summary.diagnostic_count + len(self.store.notes))

    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        with self._lock:
            # A run that has not begun will read the files later than now, so it also serves an equal request.
            run = self._waiting.setdefault((repo, full), uuid.uuid4().hex)
            if self._thread is None:
                thread = threading.Thread(target=self._run_waiting, name="graphmem-index", daemon=True)
                thread.start()
                self._thread = thread
        return run

    def _run_waiting(self) -> None:
        """Do the queued index runs, one after the other, in the background thread."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                repo, full = next(iter(self._waiting))
                del self._waiting[repo, full]
            self._run_quietly(repo, full)

    def _run_quietly(self, repo: str | None, full: bool) -> None:
        """Bring the index up to date; called in a background thread.

        With `full`, everything is rebuilt. A failure raises no error; the listeners of progress receive the failure as the last step.
        """
        try:
            self.index(repo, full)
        except IndexCancelledError:
            return
        except Exception as error:  # noqa: BLE001 - see above
            said = unraised(error, "the index run")
            if self.progress.latest is None or self.progress.latest.stage != "failed":  # it failed after the new graph was committed
                self.progress.publish(IndexProgress("failed", 0, 0, said))

    def watch(self) -> None:
        """Follow file changes: mark files as changed at once, index them soon.

        If the system cannot report changes, the files are polled, and a note in `state()` says so. Watching ends when the project is
        closed.

        Raises:
            NotIndexedError: nothing was indexed yet, so the tree to watch is unknown.
        """
        self.following.start(self.graph.root, self.indexers.options, self)

    def follow(self, paths: Collection[str] | None) -> None:
        """Index the changed files that the watcher of files reports, or all files.

        `paths` are the changed files; None stands for all files.

        Raises:
            GraphMemError: see `index`.
        """
        self.run(paths=paths)

    def warm(self) -> None:
        """Load the data that the next index run needs, to make the run fast.

        Call `index` first. For a large project, loading takes some seconds of processor time. Loading waits while an index run is due.
        """
        with self.turn:
            newest = self.indexers.newest
            if newest is None or self._closing.is_set():
                return
            try:
                files = newest.core_files() if newest.warm(self._closing.is_set) else []
            except IndexCancelledError:
                return
        for path in files:
            while self._is_due.is_set() and not self._closing.wait(STEP_S):
                pass
            with self.turn:
                if self._closing.is_set():
                    return
                newest.answer_ahead(path)
        with self.turn:
            newest.end_warming()

    def mark_stale(self, paths: Collection[str]) -> None:
        """Report files as changed since they were indexed.

        Answers mark the files as stale until an index run has read them.

        Args:
            paths: paths of the files, from the root, with '/'.
        """
        self.stale.mark(paths)

    def mark_current(self, paths: Collection[str]) -> None:
        """Stop reporting the files `paths` as changed since they were indexed."""
        self.stale.settle(self.stale.now(), paths)

    def is_current(self, path: str) -> bool:
        """Whether the index and the file at `path` have the same content.

        If neither the index nor the project has the file, the result is True.
        """
        view = self.projections.graph_if_ready()
        known = view.path_number.get(path) if view is not None else None
        try:
            data = read_regular(str(self.graph.root() / path), most_bytes(path, self.indexers.options.max_file_bytes))
        except OSError:
            return known is None
        if view is None or known is None or not isinstance(data, bytes):
            return False
        return bool(content_hash(data) == view.arrays.paths.content_hash[known].as_py())

    def indexed_folders(self) -> set[str]:
        """Return the paths of the folders that contain indexed files.

        The paths start at the root and use '/'; "" is the root itself.
        """
        view = self.projections.graph_if_ready()
        return {path.rpartition("/")[0] for path in view.paths} if view is not None else set()

    def resume_vectors(self) -> bool:
        """Resume computing vectors after a failure such as a full disk.

        Returns True if the computation had stopped and is resumed.
        """
        memories = self.book.embed_again()
        return self.vectors.try_again() or memories

    def subscribe_progress(self) -> Feed[IndexProgress]:
        return self.progress.feed()

    def fill_vectors(self, background: bool = True) -> None:
        """Compute missing vectors of memories and code.

        The work runs in the background. With `background=False`, the call returns only when all vectors are computed. Memories come first,
        because they are few. After a change of the embedding model, all vectors are missing.

        Raises:
            EmbedderError: the model cannot be loaded; in the background, a note in `state()` reports the fault instead.
        """
        if background:
            self.book.embed_soon()
            self.vectors.start()
        else:
            self.book.embed_now()
            self.vectors.run()

    @property
    def options(self) -> DiscoveryOptions:
        """The rules that decide which files of a tree are indexed."""
        return self.indexers.options

    def release_memory(self, unused_s: float = 0.0) -> bool:
        """Release memory that is kept for the next index run.

        Nothing is released during a run, or less than `unused_s` seconds after the last run. Returns whether any memory was released.
        """
        if time.monotonic() - self._ended < unused_s or not self.turn.acquire(blocking=False):
            return False
        try:
            return self.indexers.newest is not None and self.indexers.newest.release_memory()
        finally:
            self.turn.release()

    def forget_indexer(self) -> None:
        """Discard data kept for the next index run.

        Call this after the graph was replaced, because the data belongs to the old graph.
        """
        self.indexers.newest = None

    def begin_closing(self) -> None:
        """Cancel the current run, and start no more runs."""
        self._closing.set()

    def close(self) -> None:
        """Wait for the index runs in the background to end."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
