"""Make the graph and the word index of a branch from the main branch's."""

from __future__ import annotations

import logging
import sqlite3
from typing import TYPE_CHECKING, Final

from graphmem.project.hosted.branch_tree import FOLDER
from graphmem.projection.words.entries import DamagedWordsError

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.project.hosted.overlays import Overlays
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.words.index import WordIndex
    from graphmem.store.overlays.overlay import OverlayStore

_UNCOPIED: Final = (DamagedWordsError, OSError, sqlite3.Error)  # why an index of words could not be copied or changed
_log = logging.getLogger(__name__)


def copied_words(overlays: Overlays) -> WordIndex | None:
    """Copy the main branch's index of words, for `projected`.

    The copy takes as long as the index is large, so it is made without the lock `runs.turn`, and pushes and searches need not wait for it.
    The result is None if the index is not ready, is damaged or cannot be copied, or if a push changes it first.
    """
    words = overlays.runs.projections.snapshot().words
    if words is None:
        return None
    folder = overlays.data_dir / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return words.copied(folder)
    except _UNCOPIED as error:
        _log.warning("the words of the main branch could not be copied for a branch (%s)", error)
        return None


def projected(overlays: Overlays, store: OverlayStore, folder: Path, copy: WordIndex | None) -> tuple[GraphView, WordIndex] | None:
    """Return graph and words of a branch, made from those of the main branch.

    The words are the index of words for search. Only differences from the main branch are computed. If the graph or words of the main
    branch are not ready, the result is None. The caller must then build both from the branch's rows. The caller must hold the lock
    `runs.turn`.

    Args:
        overlays: the branches of the project.
        store: the store of the branch; see `Overlays.prepare`.
        folder: the index directory of the branch, in which the index of words is written.
        copy: a copy from `copied_words`. If a push has changed the main branch since, a new copy is made.
    """
    shot = overlays.runs.projections.snapshot()
    words = shot.words
    if words is None or not words.generation == shot.generation == overlays.store.generation():
        return None
    delta, generation = overlays.delta_to(store.layer.own), store.generation()
    try:
        is_fresh = copy is not None and copy.generation == words.generation
        own = copy.moved(folder) if copy is not None and is_fresh else words.copied(folder)
        return shot.graph.patched(delta, generation), own.patched(delta, generation)
    except _UNCOPIED as error:
        _log.warning("the words of a branch could not be made from the main branch's (%s); they are built from its rows", error)
        return None
