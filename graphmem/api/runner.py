"""Runs verbs in threads under a deadline, so that the event loop never waits for one."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from graphmem.api.limits import ServerLimits
from graphmem.api.meter import Meter
from graphmem.errors import DeadlineError, LimitError

P = ParamSpec("P")
T = TypeVar("T")

RETRY_S: Final = 1.0  # what a refused client is told to wait: a full queue is worked off in about that


class VerbRunner:
    """A bounded pool of threads for the verbs of all requests.

    A verb cannot be stopped from outside: one that misses its deadline finishes in its thread and
    its result is dropped. Until then it counts as pending, so that a pile of them is refused
    instead of growing.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="graphmem-verb")
        self.meter = Meter()
        self._pending = 0
        self._lock = threading.Lock()

    @property
    def pending(self) -> int:
        """Verbs that wait or run."""
        return self._pending

    async def run(self, deadline: float, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The verb's answer.

        Args:
            deadline: time of the running loop's clock at which the answer is no longer wanted.
            verb: what to call; it must be thread-safe.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Raises:
            DeadlineError: it did not finish in time.
            LimitError: too many verbs are waiting already.
        """
        loop = asyncio.get_running_loop()
        remaining = deadline - loop.time()
        if remaining <= 0:
            raise self._late()
        self._admit()
        answer: Future[T] = Future()
        try:
            job = self._pool.submit(_answered, answer, functools.partial(verb, *args, **kwargs))
        except BaseException:
            # The pool queues a call before it starts a thread for it: what is refused here must not be done later by another thread.
            if answer.cancel():
                self._leave(None, 0.0)
                raise
        else:
            job.add_done_callback(lambda done: answer.cancel() if done.cancelled() else None)
        begun = time.perf_counter()
        answer.add_done_callback(lambda done: self._leave(done, begun))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), remaining)
        except TimeoutError:
            if answer.done() and not answer.cancelled():  # the verb itself raised it
                raise
            raise self._late() from None

    async def run_long(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of a verb that has no deadline, in a thread of its own so that it takes nobody's place."""
        answer: Future[T] = Future()
        call = functools.partial(verb, *args, **kwargs)
        threading.Thread(target=_answered, args=(answer, call), name="graphmem-long-verb", daemon=True).start()
        # A client that goes away ends its waiting, not the work.
        return await asyncio.shield(asyncio.wrap_future(answer))

    def close(self) -> None:
        """Take no more verbs; those that run finish by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _admit(self) -> None:
        with self._lock:
            if self._pending >= self._limits.pending:
                self.meter.refused()
                raise LimitError(
                    f"The server is busy with {self._pending} calls; try again in {RETRY_S:g} s",
                    limit="pending",
                    allowed=self._limits.pending,
                    found=self._pending,
                    retry_after=RETRY_S,
                )
            self._pending += 1

    def _leave(self, job: Future[Any] | None, begun: float) -> None:  # runs in whatever thread finished or cancelled the job
        with self._lock:
            self._pending -= 1
        if job is not None and not job.cancelled():
            self.meter.done(time.perf_counter() - begun, failed=job.exception() is not None)

    def _late(self) -> DeadlineError:
        seconds = self._limits.seconds
        return DeadlineError(f"The answer took more than {seconds:g} s; ask for less or raise the server's limit", seconds=seconds)


def _answered(answer: Future[T], call: Callable[[], T]) -> None:
    """Give the answer of a call to whoever waits, unless nobody does any more."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits
        answer.set_exception(error)
