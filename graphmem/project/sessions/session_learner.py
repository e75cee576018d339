"""Learn from sessions in the background, and end silent sessions.

A session is silent if its agent has reported no event for some hours.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError
from graphmem.observe.running.checkpoint import TRAIL, UNLEARNT
from graphmem.observe.running.observer import QUIET_AT_START, Observer
from graphmem.runtime.lazy import Lazy
from graphmem.runtime.process.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.answers import Receipt
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.model import SessionRecord
    from graphmem.project.graph.graph_source import GraphSource

TRAILS: Final = "trails"
SWEEP_EVERY: Final = timedelta(minutes=10)


class BookClock:
    """A clock that shows the time of the memory repository's clock.

    If the repository gets another clock, such as a test's, that clock is used from then on.
    """

    def __init__(self, book: MemoryRepository) -> None:
        self._book = book

    def now(self) -> datetime:
        """Return the current time of the memory repository's clock."""
        return self._book.clock.now()


def observer_of(folder: Path, graph: GraphSource, book: MemoryRepository) -> Lazy[Observer]:
    """Return the observer of a project's agent sessions, created when needed.

    Args:
        folder: the directory of the sessions' files.
        graph: provides the project's root.
        book: the memory repository, which provides the clock.
    """

    def roots() -> list[str]:
        root = graph.root_or_none()
        return [str(root)] if root is not None else []

    return Lazy(lambda: Observer(folder, roots, BookClock(book)))


@dataclass(eq=False, repr=False)
class SessionLearner:
    """Learns from sessions of agents in a thread of its own.

    The thread starts with the first session.
    """

    folder: Path  # directory of the sessions' trails
    observer: Lazy[Observer]
    learn_from: Callable[[SessionRecord, str | None], Receipt]  # learns from a session, or from a unit of work in it
    clock: BookClock
    _thread: Lazy[ThreadPoolExecutor] = field(default_factory=lambda: Lazy(lambda: ThreadPoolExecutor(1, "graphmem-learn")), init=False)
    _swept_at: datetime = field(default=datetime.min.replace(tzinfo=UTC), init=False)

    def finish_quiet_sessions(self, hours: float = 6.0) -> list[str]:
        """End sessions that have been silent for some hours, and learn from them.

        Learning runs in the background.

        Returns:
            Ids of the sessions from which graphmem can learn now. A group of sessions has one id. It is returned after all sessions of the
            group have ended.

        Raises:
            BadInputError: `hours` is negative.
        """
        if hours < 0:
            raise BadInputError(f"hours is {hours}; use 0 or more hours", argument="hours", value=hours)
        ready = self.observer().finish_quiet(timedelta(hours=hours))
        for record in ready:
            self.learn_soon(record, None)
        return [record.info.id for record in ready]

    def sweep_when_due(self) -> None:
        """End sessions that fell silent, in the background, if a check is due.

        A session falls silent when a terminal is closed, or when an agent reports no end.
        """
        now = self.clock.now()
        if now - self._swept_at >= SWEEP_EVERY:
            self._swept_at = now
            self._behind_answers("ending quiet sessions", self.finish_quiet_sessions)

    def finish_left_soon(self) -> None:
        """End sessions left open by an earlier process, and learn from them.

        The work runs in the background.
        """
        now = self.clock.now().timestamp()
        if not self.folder.is_dir():
            return
        quiet = any(now - path.stat().st_mtime > QUIET_AT_START.total_seconds() for path in self.folder.glob("*" + TRAIL))
        if quiet or any(self.folder.glob("*" + UNLEARNT)):
            self._behind_answers("ending sessions of an earlier process", self._finish_left)

    def _finish_left(self) -> None:
        unlearnt = self.observer().unlearnt()
        for record in [*unlearnt, *self.observer().finish_left()]:
            self._learn_now(record, None)

    def learn_soon(self, record: SessionRecord, unit: str | None) -> None:
        """Learn memories from a session, or from one task, in the background.

        `unit` is the label of the task; None to learn from the whole session.
        """
        self._behind_answers("learning", lambda: self._learn_now(record, unit))

    def _behind_answers(self, doing: str, work: Callable[[], object]) -> None:
        """Run a function in the thread for learning, so that answers do not wait.

        An error in `work` is logged together with `doing`, the name of the work.
        """

        def guarded() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - nobody looks at what this thread was given
                unraised(error, doing)

        self._thread().submit(guarded)

    def _learn_now(self, record: SessionRecord, unit: str | None) -> None:
        """Learn from a session or a task in it; called in the thread for learning.

        `unit` is the label of the task; None for the whole session. A failure is logged. The record is kept, so that a later call of
        `end_session` can learn from it.
        """
        try:
            self.learn_from(record, unit)
            if unit is None:
                self.observer().settled(record)
        except Exception as error:  # noqa: BLE001 - see above
            unraised(error, f"learning from session {record.info.id}")

    def wait_for_learning(self) -> None:
        """Wait until graphmem has learnt from all ended sessions."""
        self._thread().submit(lambda: None).result()

    def close(self) -> None:
        """Learn from the sessions that wait, and end the thread."""
        self._thread.end(lambda thread: thread.shutdown(wait=True))
