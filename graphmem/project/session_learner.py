"""Learning from sessions behind the answers, and ending those that nobody ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError
from graphmem.observe.checkpoint import TRAIL, UNLEARNT
from graphmem.observe.observer import QUIET_AT_START, Observer
from graphmem.project.lazy import Lazy
from graphmem.runtime.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.answers import Receipt
    from graphmem.memory.repository import MemoryRepository
    from graphmem.observe.model import SessionRecord
    from graphmem.project.graph_source import GraphSource

TRAILS: Final = "trails"
SWEEP_EVERY: Final = timedelta(minutes=10)


class BookClock:
    """The book's clock, whichever it has by now."""

    def __init__(self, book: MemoryRepository) -> None:
        self._book = book

    def now(self) -> datetime:
        """The present."""
        return self._book.clock.now()


def observer_of(folder: Path, graph: GraphSource, book: MemoryRepository) -> Lazy[Observer]:
    """The observer of a project's sessions.

    Args:
        folder: of their trails.
        graph: says where the project is.
        book: says what time it is.
    """

    def roots() -> list[str]:
        root = graph.root_or_none()
        return [str(root)] if root is not None else []

    return Lazy(lambda: Observer(folder, roots, BookClock(book)))


@dataclass(eq=False, repr=False)
class SessionLearner:
    """Learns from sessions on a thread of its own, which begins with the first."""

    folder: Path  # of the sessions' trails
    observer: Lazy[Observer]
    learn_from: Callable[[SessionRecord, str | None], Receipt]  # learns from one, or from a unit of work in it
    clock: BookClock
    _thread: Lazy[ThreadPoolExecutor] = field(default_factory=lambda: Lazy(lambda: ThreadPoolExecutor(1, "graphmem-learn")), init=False)
    _swept_at: datetime = field(default=datetime.min.replace(tzinfo=UTC), init=False)

    def finish_quiet_sessions(self, hours: float = 6.0) -> list[str]:
        """End sessions without news for so long, and learn from them; answers their ids.

        Raises:
            BadInputError: a negative time.
        """
        if hours < 0:
            raise BadInputError(f"hours is {hours}; it is 0 or more", argument="hours", value=hours)
        ready = self.observer().finish_quiet(timedelta(hours=hours))
        for record in ready:
            self.learn_soon(record, None)
        return [record.info.id for record in ready]

    def sweep_when_due(self) -> None:
        """End sessions that fell silent (a closed terminal, an agent that tells no end) while others go on."""
        now = self.clock.now()
        if now - self._swept_at >= SWEEP_EVERY:
            self._swept_at = now
            self._behind_answers("ending quiet sessions", self.finish_quiet_sessions)

    def finish_left_soon(self) -> None:
        """End sessions that an earlier process left running, if they have been quiet for long."""
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
        """Learn from a session, or from a unit of work in it, behind the answer."""
        self._behind_answers("learning", lambda: self._learn_now(record, unit))

    def _behind_answers(self, doing: str, work: Callable[[], object]) -> None:
        """Do something on the learner's thread; an error is logged, and the next occasion does it again."""

        def guarded() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - nobody looks at what this thread was given
                unraised(error, doing)

        self._thread().submit(guarded)

    def _learn_now(self, record: SessionRecord, unit: str | None) -> None:
        """Learn on the learner's thread: a failure is logged; the record is kept, and `end_session` does it again."""
        try:
            self.learn_from(record, unit)
            if unit is None:
                self.observer().settled(record)
        except Exception as error:  # noqa: BLE001 - see above
            unraised(error, f"learning from session {record.info.id}")

    def wait_for_learning(self) -> None:
        """Return when what ended sessions teach has been learnt."""
        self._thread().submit(lambda: None).result()

    def close(self) -> None:
        """Finish learning, and begin no more."""
        self._thread.end(lambda thread: thread.shutdown(wait=True))
