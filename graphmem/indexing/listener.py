"""Callbacks of an index run, which report its steps and may stop it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from graphmem.errors import IndexCancelledError
from graphmem.model import IndexProgress


def _ignore(_: Collection[str]) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listener:
    """Functions that a run calls to report steps and to ask whether to stop.

    Attributes:
        on_progress: receives every step.
        cancelled: called between steps; if it returns True, the run stops without writing.
        on_changed: receives the outdated paths before they are processed, and again if a published change was taken back.
        on_published: called when answers contain a small change, shortly before its commit. Not called for a large change or a full run:
            answers contain these only after the commit.
    """

    on_progress: Callable[[IndexProgress], None]
    cancelled: Callable[[], bool]
    on_changed: Callable[[Collection[str]], None] = _ignore
    on_published: Callable[[], None] = lambda: None

    def step(self, stage: str, done: int = 0, total: int = 0, message: str = "") -> None:
        """Report the progress of the run: the stage, and `done` of `total` files."""
        self.on_progress(IndexProgress(stage, done, total, message))

    def check(self) -> None:
        """Stop the run if its caller wants that.

        Raises:
            IndexCancelledError: the function `self.cancelled` returned True.
        """
        if self.cancelled():
            raise IndexCancelledError(
                "indexing was interrupted, and the index is unchanged; repeat the command to continue", stage="interrupted"
            )
