"""The graph that operations query, and whether it is up to date."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import graphmem
from graphmem.answers import IndexState, Project
from graphmem.errors import NotIndexedError, StoreBusyError
from graphmem.runtime.texts.naming import in_project

if TYPE_CHECKING:
    from graphmem.model import IndexProgress
    from graphmem.project.graph.progress import Hub
    from graphmem.project.graph.stale import StaleFiles
    from graphmem.project.graph.watching import Following
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

MAX_STALE: Final = 20  # changed files that an answer names; it counts all of them
_as_path: Final = lru_cache(8)(Path)  # each question asks for the root several times


@dataclass(eq=False, repr=False)
class IndexStatus:
    """Tells which project an index is of, and whether the index is current."""

    store: GraphStore
    projections: Projections
    vectors: VectorFiller
    data_dir: Path
    progress: Hub[IndexProgress]  # progress of index runs
    stale: StaleFiles
    following: Following

    def project(self) -> Project:
        meta = self.store.meta()
        engine = self.store.engine
        return Project(
            name=meta.get("project", ""),
            root=meta.get("root", ""),
            data_dir=str(self.data_dir),
            version=graphmem.__version__,
            engine=f"{engine.name} {engine.version}",
            state=self.state(),
            text_only=view.text_only if (view := self.projections.graph_if_ready()) is not None else {},
        )

    def state(self) -> IndexState:
        """Return whether answers match the current files; no file is read."""
        meta = self.store.meta()
        ready = self.projections.graph_if_ready()
        generation = max(self.store.generation(), ready.generation if ready is not None else 0)  # an edit's graph is ahead of the store
        latest = self.progress.latest
        running = latest is not None and latest.stage not in ("done", "failed", "embed")
        view = self.projections.graph() if generation and not running else self.projections.graph_if_ready()
        counts = view.counts if view is not None else {}
        stage = latest if latest is not None and (running or latest.stage == "embed") else None
        stale = self.stale.paths() if generation else []
        feed = self.store.feed
        notes = (
            feed.note if feed is not None else "",
            self.projections.note(),
            self.following.note,
            self.vectors.note(),
            self.vectors.switching(),
        )
        return IndexState(
            state="indexing" if running else "empty" if not generation else "stale" if stale else "fresh",
            generation=generation,
            indexed_at=meta.get("indexed_at", ""),
            files=counts.get("files", 0),
            symbols=counts.get("symbols", 0),
            edges=counts.get("edges", 0),
            chunks=self.vectors.chunks(),
            vectors=self.vectors.filled(),
            stage=stage.stage if stage else "",
            done=stage.done if stage else 0,
            total=stage.total if stage else 0,
            stale_files=len(stale),
            note="; ".join(filter(None, notes)),
            stale=stale[:MAX_STALE],
        )


@dataclass(eq=False, repr=False)
class GraphSource:
    """Gives operations the graph of the newest finished index run.

    The class also gives the name and the root of the project.
    """

    store: GraphStore
    projections: Projections
    data_dir: Path
    state: Callable[[], IndexState]  # how far answers match the files

    def view(self) -> GraphView:
        """The graph of the newest finished index run.

        Raises:
            NotIndexedError: no run has finished yet.
        """
        view = self.view_or_none()
        if view is None:
            state = self.state()
            if state.state == "indexing":
                raise NotIndexedError(
                    f"the first index run has not finished (stage {state.stage}, {state.done:,} of {state.total:,}); try again in a moment",
                    path=str(self.data_dir),
                )
            raise self._empty()
        return view

    def view_or_none(self) -> GraphView | None:
        """The graph of the newest finished index run.

        The value is None if no run has finished, or while the first graph is in the database but not yet loaded into memory.
        """
        view = self.projections.graph() if self.store.generation() else None
        return view if view is not None and view.generation else None

    def committed_view(self) -> GraphView:
        """The newest graph, after waiting until it is committed to the database.

        The method `view` may return a graph shortly before it is in the database.

        Raises:
            NotIndexedError: no run has finished yet.
            StoreBusyError: the last edit was not written to the database in time.
        """
        if not self.projections.await_commit():
            raise StoreBusyError(
                "the last edit is still being written to the database, so the query could not be answered; try again",
                path=str(self.data_dir),
                owner=None,
            )
        return self.view()

    @property
    def project(self) -> str:
        """The project's name; "" before the first index run."""
        return self.store.meta().get("project", "")

    @property
    def root_path(self) -> str:
        """The project's root directory as a string; "" before the first index run."""
        return self.store.meta().get("root", "")

    def root(self) -> Path:
        """The project's root directory.

        Raises:
            NotIndexedError: nothing was indexed yet.
        """
        root = self.root_path
        if not root:
            raise self._empty()
        return _as_path(root)

    def root_or_none(self) -> Path | None:
        """The project's root directory; None before the first index run."""
        root = self.root_path
        return Path(root) if root else None

    def from_root(self, given: Iterable[str] | None) -> tuple[str, ...]:
        """Convert file URIs and absolute paths to paths from the root.

        `given` has the values; None gives (). A value that is not a string is returned unchanged, because a later check refuses it.
        """
        root = self.root_path
        return tuple(in_project(one, root) if isinstance(one, str) else one for one in given or ())

    def _empty(self) -> NotIndexedError:
        """Return the error for an index without a graph.

        If a damaged database was quarantined (renamed), the message says so. If the graph comes from another server and cannot be read, the
        message is the reason.
        """
        why = f" ({'; '.join(self.store.notes)})" if self.store.notes else ""
        if self.store.feed is not None and self.store.feed.note:
            return NotIndexedError(self.store.feed.note, path=str(self.data_dir))
        return NotIndexedError(f"this index is empty{why}; run `graphmem index` on a repository first", path=str(self.data_dir))


def with_stale(state: IndexState, paths: Collection[str]) -> IndexState:
    """Add the changed files `paths` to the stale files of an index state."""
    every = sorted({*state.stale, *paths})
    if state.state not in ("fresh", "stale") or len(every) <= len(state.stale):
        return state
    count = state.stale_files + len(every) - len(state.stale)
    return dataclasses.replace(state, state="stale", stale_files=count, stale=every[:MAX_STALE])
