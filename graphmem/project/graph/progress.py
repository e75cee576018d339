"""Send events to many listeners: progress of indexing, changed memories."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from graphmem.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

T = TypeVar("T")

MAX_WAITING: Final = 256  # events that wait for a slow listener


class Feed(Generic[T]):
    """A listener for events: `with feed as events:` begins to listen.

    Iteration over `events` yields each event that is sent during the `with` block, and ends when the block is left. Usable from any thread.
    A slow listener gets only the newest events if they are states. Otherwise the iteration ends with a LimitError.
    """

    def __init__(self, hub: Hub[T], *, is_state: bool) -> None:
        self._hub = hub
        self._is_state = is_state
        self._missed = False
        self._queue: queue.Queue[T | None] = queue.Queue()

    def __enter__(self) -> Iterator[T]:
        self._hub._join(self)
        return self._events()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hub._leave(self)
        self.put(None)

    def put(self, step: T | None) -> None:
        """Add an event for the listener to read.

        `step` is the event; None ends the listener's iteration. If too many events are unread, the oldest ones are dropped.
        """
        while step is not None and self._queue.qsize() >= MAX_WAITING:
            self._missed = not self._is_state
            try:
                self._queue.get_nowait()
            except queue.Empty:
                break
        self._queue.put(step)

    def _events(self) -> Iterator[T]:
        """Yield each event until the end.

        Raises:
            LimitError: the listener was too slow, and events were dropped; not raised for states.
        """
        while True:
            step = self._queue.get()
            if self._missed:
                raise LimitError(
                    f"the listener missed events, because more than {MAX_WAITING} of them waited; subscribe again, and ask for the "
                    "present state",
                    limit="waiting_events",
                    allowed=MAX_WAITING,
                    found=MAX_WAITING + 1,
                )
            if step is None:
                return
            yield step


class Hub(Generic[T]):
    """Sends each event, such as a step of indexing, to all listeners.

    Thread-safe.

    Args:
        replay: whether a new listener first gets the newest event that was sent before. Set `replay` if each event describes a complete
            state. Then a slow listener gets only the newest events.
    """

    def __init__(self, *, replay: bool = False) -> None:
        self._replay = replay
        self._lock = threading.Lock()
        self._feeds: list[Feed[T]] = []
        self.latest: T | None = None

    def publish(self, step: T) -> None:
        """Send an event, such as a step of indexing, to every listener."""
        with self._lock:
            self.latest = step
            feeds = list(self._feeds)
        for feed in feeds:
            feed.put(step)

    def feed(self) -> Feed[T]:
        """Create a listener; `with hub.feed() as events:` begins to listen."""
        return Feed(self, is_state=self._replay)

    def close(self) -> None:
        """End the iteration over events for every listener."""
        with self._lock:
            feeds, self._feeds = self._feeds, []
        for feed in feeds:
            feed.put(None)

    def _join(self, feed: Feed[T]) -> None:
        with self._lock:
            self._feeds.append(feed)
            latest = self.latest if self._replay else None
        if latest is not None:
            feed.put(latest)

    def _leave(self, feed: Feed[T]) -> None:
        with self._lock:
            if feed in self._feeds:
                self._feeds.remove(feed)
