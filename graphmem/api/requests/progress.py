"""Send events, such as the progress of indexing, to all subscriptions.

Each kind of event has one listening thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from typing import Generic, TypeVar

from graphmem.errors import LimitError
from graphmem.model import ENDED_STAGES, IndexProgress

T = TypeVar("T")

log = logging.getLogger("graphmem.api")

_BACKLOG = 64  # events kept for a slow reader


class _Subscriber(Generic[T]):
    """One subscription of a client: a queue of events in its event loop.

    If the queue is full, old events of a state are dropped, because later ones supersede them. Other events must not be lost unnoticed: the
    queue is emptied, and the reader gets an error.
    """

    def __init__(self, *, is_state: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[T | None] = asyncio.Queue(_BACKLOG)
        self.is_state = is_state
        self.missed = False

    def put(self, step: T | None) -> None:
        """Add an event to the subscription's queue; called in the event loop."""
        if self.queue.full() and not self.is_state and step is not None:
            self.missed = True
        while self.queue.full():
            self.queue.get_nowait()
        self.queue.put_nowait(step)

    def miss(self) -> None:
        """Record that events were dropped; called in the event loop."""
        self.missed = True
        self.put(None)

    async def next(self) -> T | None:
        """Return the next event; None at the end.

        Raises:
            LimitError: the reader was too slow, and events were dropped.
        """
        step = await self.queue.get()
        if self.missed:
            raise LimitError(
                f"the subscription ended, because more than {_BACKLOG} events waited for their reader; subscribe again, and ask for the "
                "present state",
                limit="waiting_events",
                allowed=_BACKLOG,
                found=_BACKLOG + 1,
            )
        return step


class Fan(Generic[T]):
    """Listens to events of one kind, and sends them to all subscriptions.

    Args:
        subscribe: the operation that yields the events.
        is_state: whether a new subscription first gets the latest event of a run in progress; if false, it gets only new events.
    """

    def __init__(self, subscribe: Callable[[], AbstractContextManager[Iterator[T]]], *, is_state: bool) -> None:
        self._subscribe = subscribe
        self._is_state = is_state
        self._lock = threading.Lock()
        self._subscribers: list[_Subscriber[T]] = []
        self._feed: AbstractContextManager[Iterator[T]] | None = None
        self._last: T | None = None
        self._closed = False

    def start(self) -> None:
        """Start to listen for events before the first subscription.

        So the first subscription can begin with the latest event of an index run in progress. Without this call, listening starts at the
        first subscription.
        """
        with self._lock:
            self._listen()

    async def steps(self, follow: bool) -> AsyncGenerator[T, None]:
        """Yield each new event, until the end of an index run.

        If the constructor's `is_state` was true, the latest event of a run in progress comes first.

        Args:
            follow: whether to continue with later events after the end of the run.

        Raises:
            LimitError: `is_state` was not set, and the reader or the listening thread was so slow that events were dropped.
        """
        with self._subscribed() as subscriber:
            while (step := await subscriber.next()) is not None:
                yield step
                if not follow and _ends(step):
                    return

    def close(self) -> None:
        """End all subscriptions to these events."""
        with self._lock:
            self._closed = True
            feed, self._feed = self._feed, None
            self._tell(None)
        if feed is not None:
            feed.__exit__(None, None, None)

    @contextmanager
    def _subscribed(self) -> Iterator[_Subscriber[T]]:
        subscriber: _Subscriber[T] = _Subscriber(is_state=self._is_state)
        with self._lock:
            if self._closed:
                subscriber.put(None)
            elif self._last is not None and self._is_state and not _ends(self._last):
                subscriber.put(self._last)
            self._subscribers.append(subscriber)
            self._listen()
        try:
            yield subscriber
        finally:
            with self._lock:
                self._subscribers.remove(subscriber)

    def _listen(self) -> None:
        """Start the listening thread once; the caller holds the lock."""
        if self._feed is not None or self._closed:
            return
        self._feed = self._subscribe()
        steps = self._feed.__enter__()
        threading.Thread(target=self._pump, args=(steps,), name="graphmem-news", daemon=True).start()

    def _pump(self, steps: Iterator[T]) -> None:
        try:
            for step in steps:
                with self._lock:
                    self._last = step
                    self._tell(step)
        except LimitError:
            self._begin_again()

    def _begin_again(self) -> None:
        """Tell all subscriptions that events were dropped; listen to later ones."""
        with self._lock:
            feed, self._feed = self._feed, None
            for subscriber in self._subscribers:
                with suppress(RuntimeError):  # its loop was closed
                    subscriber.loop.call_soon_threadsafe(subscriber.miss)
            self._listen()
        if feed is not None:
            feed.__exit__(None, None, None)

    def _tell(self, step: T | None) -> None:
        for subscriber in self._subscribers:
            with suppress(RuntimeError):  # its loop was closed; the others still get the step
                subscriber.loop.call_soon_threadsafe(subscriber.put, step)


def _ends(step: object) -> bool:
    """Whether an event is the last event of an index run."""
    return isinstance(step, IndexProgress) and step.stage in ENDED_STAGES


@asynccontextmanager
async def ahead(steps: AsyncIterator[T]) -> AsyncIterator[Callable[[], Awaitable[T | None]]]:
    """Read events one ahead; yield a function that returns the next event.

    The function waits for the event, and returns None after the last one. The next event is requested before the caller handles the current
    one, so none is lost.
    """

    def ask() -> asyncio.Future[T | None]:
        return asyncio.ensure_future(_next(steps))

    pending = ask()
    await asyncio.sleep(0)  # until it listens

    async def following() -> T | None:
        nonlocal pending
        step = await pending
        if step is not None:
            pending = ask()
        return step

    try:
        yield following
    finally:
        pending.cancel()
        with suppress(asyncio.CancelledError):
            await pending


async def _next(steps: AsyncIterator[T]) -> T | None:
    async for step in steps:
        return step
    return None
