"""Index runs: one run, following the files, and what is known of changes meanwhile."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.answers import DiagnosticInfo
from graphmem.errors import IndexCancelledError
from graphmem.model import IndexProgress
from graphmem.parsing.contents import read_regular
from graphmem.parsing.discovery import content_hash
from graphmem.runtime.faults import unraised
from graphmem.runtime.limits import refusal_of_any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from graphmem.answers import IndexSummary
    from graphmem.memory.repository import MemoryRepository
    from graphmem.parsing.ignore import DiscoveryOptions
    from graphmem.project.graph_source import GraphSource
    from graphmem.project.history_source import HistorySource
    from graphmem.project.indexer_source import IndexerSource
    from graphmem.project.progress import Feed, Hub
    from graphmem.project.stale import StaleFiles
    from graphmem.project.watching import Following
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller


@dataclass(eq=False, repr=False)
class IndexRuns:
    """Brings the index up to date with the tree, once or whenever a file changes. Runs take turns."""

    store: GraphStore
    graph: GraphSource
    projections: Projections
    indexers: IndexerSource
    vectors: VectorFiller
    book: MemoryRepository
    history: HistorySource
    stale: StaleFiles
    following: Following
    progress: Hub[IndexProgress]  # tells how it goes
    _closing: threading.Event = field(default_factory=threading.Event, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    turn: threading.Lock = field(default_factory=threading.Lock, init=False)

    def index(
        self,
        repo: str | Path | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexSummary:
        """Bring the index up to date with the tree and return when it is; runs take turns.

        Args:
            repo: the tree; default the one indexed before.
            full: write everything again.
            on_progress: told every step; so is every listener of `subscribe_progress`.
            cancelled: asked often; when it says yes, nothing is written.

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
        """See `index`; `paths` are the only files that can have changed since the last run, from the root, None for all."""

        def tell(step: IndexProgress) -> None:
            self.progress.publish(step)
            if on_progress is not None:
                on_progress(step)

        def stop() -> bool:
            return self._closing.is_set() or (cancelled is not None and cancelled())

        with self.turn:
            try:
                indexer = self.indexers.of(repo)
                self.vectors.pause()
                self.book.flush()  # the run moves the anchors of every memory that was acknowledged before it
                begun = self.stale.now()
                root = Path(repo).resolve() if repo is not None else self.graph.root()
                history = self.history.read_commits(root, tell, stop)
                summary = indexer.run(
                    full=full,
                    paths=paths,
                    on_progress=tell,
                    on_changed=lambda changed: self.stale.mark(changed, begun),
                    cancelled=stop,
                )
                self.stale.settle(begun, paths)
            except BaseException as error:
                tell(IndexProgress("failed", 0, 0, str(refusal_of_any(error) or error) or type(error).__name__))
                raise
        self.vectors.resume()
        self.book.follow_index()
        self.history.learn_from_commits(root, history)
        self.history.derive_edges()
        if self.store.notes:
            summary.diagnostics[:0] = [DiagnosticInfo("", "warning", "damaged", note, 0) for note in self.store.notes]
            summary = dataclasses.replace(summary, diagnostic_count=summary.diagnostic_count + len(self.store.notes))
        return summary

    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        run = uuid.uuid4().hex
        thread = threading.Thread(target=self._run_quietly, args=(repo, full), name=f"index-{run[:8]}", daemon=True)
        thread.start()
        self._thread = thread
        return run

    def _run_quietly(self, repo: str | None, full: bool) -> None:
        """A background run has nobody to raise to: its failure is the last step listeners see."""
        try:
            self.index(repo, full)
        except IndexCancelledError:
            return
        except Exception as error:  # noqa: BLE001 - see above
            said = unraised(error, "the index run")
            if self.progress.latest is None or self.progress.latest.stage != "failed":  # it failed after the new graph was there
                self.progress.publish(IndexProgress("failed", 0, 0, said))

    def watch(self) -> None:
        """Follow the files from now on: answers say at once which have changed, and half a second later they are indexed.

        A system that cannot tell is asked again and again; the state's note says so. `close` ends it.

        Raises:
            NotIndexedError: nothing was indexed yet, so there is no tree to watch.
        """
        self.following.start(self.graph.root, self.indexers.options, self)

    def follow(self, paths: Collection[str] | None) -> None:
        """`index`, for a watcher: these paths alone, or everything.

        Raises:
            GraphMemError: see `index`.
        """
        self.run(paths=paths)

    def warm(self) -> None:
        """Get ready for the next index run, so that it costs what changed; `index` comes first.

        Takes a second or two of processor time for a large project, and does nothing in an index that is warm.
        """
        with self.turn:
            if self.indexers.newest is not None and not self._closing.is_set():
                with contextlib.suppress(IndexCancelledError):
                    self.indexers.newest.warm(self._closing.is_set)

    def mark_stale(self, paths: Collection[str]) -> None:
        """From now on answers say that these files have changed, until a run has looked at them again.

        Args:
            paths: from the root, with '/'.
        """
        self.stale.mark(paths)

    def mark_current(self, paths: Collection[str]) -> None:
        """Take back `mark_stale`."""
        self.stale.settle(self.stale.now(), paths)

    def is_current(self, path: str) -> bool:
        """Whether the index holds this very content of a file, or neither it nor the disk has such a file."""
        view = self.projections.graph_if_ready()
        known = view.path_number.get(path) if view is not None else None
        try:
            data = read_regular(str(self.graph.root() / path), self.indexers.options.max_file_bytes)
        except OSError:
            return known is None
        if view is None or known is None or not isinstance(data, bytes):
            return False
        return bool(content_hash(data) == view.arrays.paths.content_hash[known].as_py())

    def indexed_folders(self) -> set[str]:
        """Folders that hold an indexed file, from the root with '/'; "" is the root."""
        view = self.projections.graph_if_ready()
        return {path.rpartition("/")[0] for path in view.paths} if view is not None else set()

    def resume_vectors(self) -> bool:
        """Go on with vectors that stopped for want of something the system may have again; whether there were any."""
        memories = self.book.embed_again()
        return self.vectors.try_again() or memories

    def subscribe_progress(self) -> Feed[IndexProgress]:
        return self.progress.feed()

    def fill_vectors(self, background: bool = True) -> None:
        """Compute missing vectors of memories and code: from now on in the background, or in this thread until all are there.

        Memories come first, because they are few. After a switch of models all of both are missing.

        Raises:
            EmbedderError: the model cannot be loaded; in the background the state's note says so.
        """
        if background:
            self.book.embed_soon()
            self.vectors.start()
        else:
            self.book.embed_now()
            self.vectors.run()

    @property
    def options(self) -> DiscoveryOptions:
        """What of a tree is read."""
        return self.indexers.options

    def let_go(self) -> bool:
        """Give back the memory that is kept for the next index run, if no run is under way; whether there was some."""
        if not self.turn.acquire(blocking=False):
            return False
        try:
            return self.indexers.newest is not None and self.indexers.newest.let_go()
        finally:
            self.turn.release()

    def forget_indexer(self) -> None:
        """Have the next run begin without what an earlier one left in memory: the graph is another now."""
        self.indexers.newest = None

    def begin_closing(self) -> None:
        """Cancel the run that is under way, and begin no more."""
        self._closing.set()

    def close(self) -> None:
        """Wait for a background run to end."""
        if self._thread is not None:
            self._thread.join()
