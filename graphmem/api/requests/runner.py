"""Run operations in threads with a deadline, outside the event loop."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from graphmem.api.requests.limits import ServerLimits
from graphmem.api.requests.meter import Meter
from graphmem.errors import DeadlineError, LimitError

P = ParamSpec("P")
T = TypeVar("T")

RETRY_S: Final = 1.0  # a full queue is processed in about this time; refused clients are told to wait it


class OperationRunner:
    """Runs operations of all requests in a limited number of threads.

    A running operation cannot be stopped from outside. An operation that misses its deadline finishes in its thread, and its result is
    dropped. Until then it counts as pending, so that further operations are refused and do not accumulate.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="graphmem-operation")
        self._slow = _SlowCalls(limits.slow_threads)
        self.meter = Meter()
        self._pending = 0
        self._lock = threading.Lock()

    @property
    def pending(self) -> int:
        """Number of operations that wait or run."""
        return self._pending

    async def run(self, deadline: float, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an operation in one of the threads and return its answer.

        Args:
            deadline: time of the event loop's clock after which the answer is dropped.
            operation: the function to call; it must be thread-safe.
            *args: arguments of the function.
            **kwargs: keyword arguments of the function.

        Raises:
            DeadlineError: the operation did not finish in time.
            LimitError: too many operations are waiting.
        """
        loop = asyncio.get_running_loop()
        remaining = deadline - loop.time()
        if remaining <= 0:
            raise self._late()
        self._admit()
        answer: Future[T] = Future()
        try:
            job = self._pool.submit(_answered, answer, functools.partial(operation, *args, **kwargs))
        except BaseException:
            # The pool queues a call before it starts a thread. A call refused here must not be run later by another thread.
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
            if answer.done() and not answer.cancelled() and isinstance(answer.exception(), TimeoutError):  # the operation itself raised it
                raise
            raise self._late() from None

    async def run_long(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a slow operation without a deadline, and return its answer.

        Slow operations have threads of their own, so that quick ones need not wait for them. If the client disconnects, the operation is
        still run.

        Raises:
            LimitError: too many operations are waiting.
        """
        self._admit()
        answer: Future[T] = Future()
        begun = time.perf_counter()
        answer.add_done_callback(lambda done: self._leave(done, begun))
        self._slow.add(answer, functools.partial(operation, *args, **kwargs))
        return await asyncio.shield(asyncio.wrap_future(answer))

    def close(self) -> None:
        """Accept no more operations; running ones finish in their threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._slow.cancel()

    def _admit(self) -> None:
        with self._lock:
            if self._pending >= self._limits.pending:
                self.meter.refused()
                raise LimitError(
                    f"the server is busy with {self._pending} requests; try again in {RETRY_S:g} s",
                    limit="pending",
                    allowed=self._limits.pending,
                    found=self._pending,
                    retry_after=RETRY_S,
                )
            self._pending += 1

    def _leave(self, job: Future[Any] | None, begun: float) -> None:  # runs in the thread that finished or cancelled the job
        with self._lock:
            self._pending -= 1
        if job is not None and not job.cancelled():
            self.meter.done(time.perf_counter() - begun, failed=job.exception() is not None)

    def _late(self) -> DeadlineError:
        seconds = self._limits.seconds
        return DeadlineError(
            f"The answer took more than {seconds:g} s; ask for less, or raise the server's setting limits.seconds", seconds=seconds
        )


class _SlowCalls:
    """Slow calls in a limited number of threads, first come, first served.

    The threads are daemons, so that a process can end while a call runs. A thread ends when no call waits.
    """

    def __init__(self, threads: int) -> None:
        self._most, self._threads = threads, 0
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._lock = threading.Lock()

    def add(self, answer: Future[T], call: Callable[[], T]) -> None:
        """Run `call` when a thread is free; its result goes to `answer`."""
        with self._lock:
            self._waiting.append((answer, call))
            if self._threads == self._most:
                return
            self._threads += 1
        try:
            threading.Thread(target=self._work, name="graphmem-slow-operation", daemon=True).start()
        except RuntimeError:  # the system starts no more threads
            with self._lock:
                self._threads -= 1
            if answer.cancel():  # otherwise another thread already runs the call
                raise

    def cancel(self) -> None:
        """Cancel the calls that wait."""
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
        for answer, _ in waiting:
            answer.cancel()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                answer, call = self._waiting.popleft()
            _answered(answer, call)


def _answered(answer: Future[T], call: Callable[[], T]) -> None:
    """Run `call` and store its result or error in the future `answer`.

    If the client no longer waits, the function is not called.
    """
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001 - passed to the waiting task
        answer.set_exception(error)
