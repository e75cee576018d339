"""Telling many listeners how an index run goes."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from graphmem.model import IndexProgress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

# A listener that stops reading is told the newest steps only: progress is a state, not a log.
MAX_WAITING = 256


class Feed:
    """One listener: a context manager whose value iterates over progress until it is left, from any thread."""

    def __init__(self, hub: ProgressHub) -> None:
        self._hub = hub
        self._queue: queue.Queue[IndexProgress | None] = queue.Queue()

    def __enter__(self) -> Iterator[IndexProgress]:
        self._hub._join(self)
        return iter(self._queue.get, None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hub._leave(self)
        self.put(None)

    def put(self, step: IndexProgress | None) -> None:
        """Hand over a step, dropping the oldest one a slow listener has not read."""
        while self._queue.qsize() >= MAX_WAITING:
            try:
                self._queue.get_nowait()
            except queue.Empty:
                break
        self._queue.put(step)


class ProgressHub:
    """Keeps the newest step and passes each on to every listener. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._feeds: list[Feed] = []
        self.latest: IndexProgress | None = None

    def publish(self, step: IndexProgress) -> None:
        """Tell everybody."""
        with self._lock:
            self.latest = step
            feeds = list(self._feeds)
        for feed in feeds:
            feed.put(step)

    def feed(self) -> Feed:
        """A new listener; enter it to listen."""
        return Feed(self)

    def close(self) -> None:
        """End every listener's iteration."""
        with self._lock:
            feeds, self._feeds = self._feeds, []
        for feed in feeds:
            feed.put(None)

    def _join(self, feed: Feed) -> None:
        with self._lock:
            self._feeds.append(feed)
            latest = self.latest
        if latest is not None:
            feed.put(latest)

    def _leave(self, feed: Feed) -> None:
        with self._lock:
            if feed in self._feeds:
                self._feeds.remove(feed)
