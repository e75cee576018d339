"""Open a branch of a project on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.model import IndexProgress
from graphmem.project.graphmem import GraphMem
from graphmem.project.hosted.branch_projections import copied_words, projected
from graphmem.project.hosted.branch_tree import INDEX
from graphmem.project.hosted.overlays import Overlay
from graphmem.project.opening import wired
from graphmem.project.wiring.inputs import Overlaid

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.project.hosted.branches import BranchKey
    from graphmem.project.parts import Parts
    from graphmem.projection.words.index import WordIndex
    from graphmem.settings import Settings


def open_branch(main: Parts, key: BranchKey, settings: Settings) -> tuple[GraphMem, Callable[[], None]]:
    """Open a branch for reading; return it, and a function that closes it.

    Args:
        main: the open main branch, which must stay open until the branch is closed.
        key: the branch.
        settings: settings of the project.

    Raises:
        BadInputError: the branch is unknown, or the main branch was restored after the push of the branch.
    """
    copy = copied_words(main.overlays)
    try:
        return _opened(main, key, settings, copy)
    finally:
        if copy is not None:
            copy.delete_files()  # unless it was moved to the branch


def _opened(main: Parts, key: BranchKey, settings: Settings, copy: WordIndex | None) -> tuple[GraphMem, Callable[[], None]]:
    """Open a branch as `open_branch` does; return it, and its close function.

    `copy` is a copy of the main branch's index of words, or None.
    """
    overlays = main.overlays
    with main.runs.turn:
        root, store = overlays.prepare(key)
        made = projected(overlays, store, root / INDEX, copy)
        beside = Overlaid(main.history.log().path, lambda memory: overlays.elsewhere(memory, key), made)
        service = GraphMem(wired(store, root / INDEX, settings, keep_warm=False, patience_s=0, main=beside))

        def pushed(files: int) -> None:
            service.parts.progress.publish(IndexProgress("done", files, files, "push"))
            service.fill_vectors()

        overlay = Overlay(key, service.parts.graph, service.parts.projections, store, root, pushed)
        overlays.attach(overlay)

    def close() -> None:
        try:
            service.close()
        finally:
            overlays.detach(overlay)

    return service, close
