"""Let queries see a small change before the database has committed it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from graphmem.indexing.listener import Listener
from graphmem.model import GraphDelta

if TYPE_CHECKING:
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore

AHEAD_ROWS: Final = 2_000
"""Rows of the largest change that is shown; a larger one takes long to commit, and readers of the store would wait as long."""


@contextmanager
def published(
    store: GraphStore,
    projections: Projections,
    ends: ExitStack,
    delta: GraphDelta,
    outdated: Collection[str],
    listener: Listener,
) -> Iterator[None]:
    """Show a small change in answers before the `with` block commits it.

    If the process ends before the commit, the next run finds the same changed files again. If the run fails, answers return to the last
    committed graph. A large change is not shown before its commit.

    Args:
        store: the database that the change is written to.
        projections: the copies of the graph in memory, which show the change.
        ends: exit stack that is closed at the end of the run.
        delta: the change.
        outdated: paths of the changed and removed files.
        listener: is told `outdated` if the run fails, and when answers contain the change.
    """
    local = store.local
    if local is None or sum(map(len, delta)) > AHEAD_ROWS:
        yield
        return

    def end(kind: type[BaseException] | None, *_: object) -> None:
        projections.withdraw()
        if kind is not None:
            listener.on_changed(outdated)

    with local.announced() as generation, ExitStack() as taken_back:
        if projections.publish(generation, delta):
            taken_back.push(end)
            listener.on_published()
        yield
        ends.push(taken_back.pop_all())
