"""Verbs of index runs: one run, following the files, and what is known of changes meanwhile."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.answers import DiagnosticInfo
from graphmem.errors import BadInputError, IndexCancelledError, NotIndexedError, RepositoryError
from graphmem.model import IndexProgress
from graphmem.parsing.contents import read_regular
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.project.watching import Watcher
from graphmem.runtime.faults import unraised
from graphmem.runtime.limits import refusal_of_any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from graphmem.answers import IndexSummary
    from graphmem.history.git_history import Reading
    from graphmem.indexing.inputs import Inputs
    from graphmem.indexing.pipeline import Indexer
    from graphmem.memory.repository import MemoryRepository
    from graphmem.parsing.facts_cache import FactsCache
    from graphmem.project.progress import Feed, Hub
    from graphmem.project.stale import StaleFiles
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

FACTS: Final = "facts.sqlite"
INPUTS: Final = "inputs.sqlite"


class RunVerbs:
    """Part of `GraphMem`. Runs take turns."""

    _store: GraphStore
    _data_dir: Path
    _settings: Settings
    _keep_warm: bool
    _projections: Projections
    _cache: FactsCache | None
    _inputs: Inputs | None
    _indexer: Indexer | None
    _stale: StaleFiles
    _hub: Hub[IndexProgress]
    _vectors: VectorFiller
    _book: MemoryRepository
    _turn: threading.Lock
    _closing: threading.Event
    _watcher: Watcher | None
    _run: threading.Thread | None
    _root: Callable[[], Path]
    _read_history: Callable[[Path, Callable[[IndexProgress], None], Callable[[], bool], Settings], Reading | None]
    _learn_from_commits: Callable[[Path, Reading | None], None]
    _derive_co_accessed: Callable[[], None]

    def index(
        self,
        repo: str | Path | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        paths: Collection[str] | None = None,
    ) -> IndexSummary:
        """Bring the index up to date with the tree and return when it is; runs take turns.

        Args:
            repo: the tree; default the one indexed before.
            full: write everything anew.
            paths: the only files that can have changed since the last run, from the root; default: look at all.
            on_progress: told every step; so is every listener of `subscribe_progress`.
            cancelled: asked often; when it says yes, nothing is written.

        Raises:
            RepositoryError, IndexCancelledError, DiskFullError: see `indexing.pipeline`.
        """

        def tell(step: IndexProgress) -> None:
            self._hub.publish(step)
            if on_progress is not None:
                on_progress(step)

        def stop() -> bool:
            return self._closing.is_set() or (cancelled is not None and cancelled())

        with self._turn:
            try:
                indexer = self._indexer_for(repo)
                self._vectors.pause()
                self._book.flush()  # the run moves the anchors of every memory that was acknowledged before it
                begun = self._stale.now()
                root = Path(repo).resolve() if repo is not None else self._root()
                history = self._read_history(root, tell, stop, self._settings)
                summary = indexer.run(
                    full=full,
                    paths=paths,
                    on_progress=tell,
                    on_changed=lambda changed: self._stale.mark(changed, begun),
                    cancelled=stop,
                )
                self._stale.settle(begun, paths)
            except BaseException as error:
                tell(IndexProgress("failed", 0, 0, str(refusal_of_any(error) or error) or type(error).__name__))
                raise
        self._vectors.resume()
        self._book.follow_index()
        self._learn_from_commits(root, history)
        self._derive_co_accessed()
        if self._store.notes:
            summary.diagnostics[:0] = [DiagnosticInfo("", "warning", "damaged", note, 0) for note in self._store.notes]
            summary = dataclasses.replace(summary, diagnostic_count=summary.diagnostic_count + len(self._store.notes))
        return summary

    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        """Index in the background and answer the run's id at once; listen with `subscribe_progress`."""
        run = uuid.uuid4().hex
        thread = threading.Thread(target=self._run_quietly, args=(repo, full), name=f"index-{run[:8]}", daemon=True)
        self._run = thread
        thread.start()
        return run

    def _run_quietly(self, repo: str | None, full: bool) -> None:
        """A background run has nobody to raise to: its failure is the last step listeners see."""
        try:
            self.index(repo, full)
        except IndexCancelledError:
            return
        except Exception as error:  # noqa: BLE001 - see above
            said = unraised(error, "the index run")
            if self._hub.latest is None or self._hub.latest.stage != "failed":  # it failed after the new graph was there
                self._hub.publish(IndexProgress("failed", 0, 0, said))

    def watch(self) -> None:
        """Follow the files from now on: answers say at once which have changed, and half a second later they are indexed.

        A system that cannot tell is asked again and again; the state's note says so. `close` ends it.

        Raises:
            NotIndexedError: nothing was indexed yet, so there is no tree to watch.
        """
        if self._watcher is None:
            self._watcher = Watcher(self._root(), self._discovery_options(), self)
            self._watcher.start()

    def follow(self, paths: Collection[str] | None) -> None:
        """`index`, for a watcher: these paths alone, or everything.

        Raises:
            GraphMemError: see `index`.
        """
        self.index(paths=paths)

    def warm(self) -> None:
        """Get ready for the next index run, so that it costs what changed; `index` comes first.

        Takes a second or two of processor time for a large project, and does nothing in an index that is warm.
        """
        with self._turn:
            if self._indexer is not None and not self._closing.is_set():
                with contextlib.suppress(IndexCancelledError):
                    self._indexer.warm(self._closing.is_set)

    def mark_stale(self, paths: Collection[str]) -> None:
        """From now on answers say that these files have changed, until a run has looked at them again.

        Args:
            paths: from the root, with '/'.
        """
        self._stale.mark(paths)

    def mark_current(self, paths: Collection[str]) -> None:
        """Take back `mark_stale`."""
        self._stale.settle(self._stale.now(), paths)

    def is_current(self, path: str) -> bool:
        """Whether the index holds this very content of a file, or neither it nor the disk has such a file."""
        view = self._projections.graph_if_ready()
        known = view.path_number.get(path) if view is not None else None
        try:
            data = read_regular(str(self._root() / path), self._settings.max_file_kb << 10)
        except OSError:
            return known is None
        if view is None or known is None or not isinstance(data, bytes):
            return False
        return bool(content_hash(data) == view.arrays.paths.content_hash[known].as_py())

    def indexed_folders(self) -> set[str]:
        """Folders that hold an indexed file, from the root with '/'; "" is the root."""
        view = self._projections.graph_if_ready()
        return {path.rpartition("/")[0] for path in view.paths} if view is not None else set()

    def _watcher_note(self) -> str:
        return self._watcher.note if self._watcher is not None else ""

    def resume_vectors(self) -> bool:
        """Go on with vectors that stopped for want of something the system may have again; whether there were any."""
        memories = self._book.embed_again()
        return self._vectors.try_again() or memories

    def subscribe_progress(self) -> Feed[IndexProgress]:
        """A listener to index runs and the filling of vectors."""
        return self._hub.feed()

    def fill_vectors(self, background: bool = True) -> None:
        """Compute missing vectors of memories and code: from now on in the background, or in this thread until all are there.

        Memories come first, because they are few. After a switch of models all of both are missing.

        Raises:
            EmbedderError: the model cannot be loaded; in the background the state's note says so.
        """
        if background:
            self._book.embed_soon()
            self._vectors.start()
        else:
            self._book.embed_now()
            self._vectors.run()

    def _indexer_for(self, repo: str | Path | None) -> Indexer:
        meta = self._store.meta()
        root = Path(repo).resolve() if repo is not None else Path(meta["root"]) if "root" in meta else None
        if root is None:
            raise NotIndexedError("this index is empty; say which repository to read", path=str(self._data_dir))
        if not root.is_dir():
            kind = "is not a directory" if root.exists() else "does not exist"
            raise RepositoryError(f"{root} {kind}; name the folder of the repository", path=str(root))
        before = meta.get("root")
        if before and Path(before) != root and Path(before).is_dir():
            raise BadInputError(
                f"this index is of {before}, not of {root}; choose another directory with --db",
                argument="repo",
                root=before,
                path=str(root),
            )
        if self._indexer is None or before != str(root):
            # A process that only asks has no need of what parses and resolves: a tenth of a second.
            from graphmem.indexing.inputs import Inputs
            from graphmem.indexing.pipeline import Indexer, IndexOptions
            from graphmem.parsing.facts_cache import FactsCache

            options = IndexOptions(
                self._discovery_options(),
                workers=self._settings.workers or None,
                keep_warm=self._keep_warm,
            )
            project = meta.get("project") or root.name
            self._cache = self._cache or FactsCache(self._data_dir / FACTS, project)
            self._inputs = self._inputs or Inputs(self._data_dir / INPUTS)
            self._indexer = Indexer(self._store, self._projections, self._cache, self._inputs, self._data_dir, root, project, options)
        return self._indexer

    def _discovery_options(self) -> DiscoveryOptions:
        return DiscoveryOptions(
            max_file_bytes=self._settings.max_file_kb << 10,
            include_vendored=self._settings.include_vendored,
            include_generated=self._settings.include_vendored,
        )
