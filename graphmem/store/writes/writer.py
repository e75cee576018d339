"""The only thread that writes to a database, with a bounded queue of jobs.

The engine refuses a second write transaction at once instead of making it wait. So all writes run here, in the order they arrive.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from graphmem.errors import StoreBusyError, StoreClosedError

_log = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")
RETRY_S: Final = 1.0  # the retry delay given to a refused caller


class Writer:
    """Runs jobs one after another in its own thread.

    Args:
        name: name of the thread.
        capacity: greatest number of waiting jobs; further jobs are refused.
        busy_timeout_s: seconds that a caller waits for a place in the queue.
    """

    def __init__(self, name: str, capacity: int, busy_timeout_s: float) -> None:
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._capacity = capacity
        self._busy_timeout_s = busy_timeout_s
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def run(self, job: Callable[[], _Answer]) -> _Answer:
        """Queue a job and wait for it; return its result or raise its error.

        Raises:
            StoreBusyError: the queue stayed full.
            StoreClosedError: the writer was stopped.
        """
        future: Future[_Answer] = Future()
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or len(self._jobs) < self._capacity, self._busy_timeout_s):
                raise StoreBusyError(
                    f"{self._capacity} writes to the database are already waiting, which is the maximum; try again in {RETRY_S:g} s",
                    path="",
                    owner=None,
                    retry_after=RETRY_S,
                )
            if self._closed:
                raise StoreClosedError("the database is closed; open the index again")
            self._jobs.append((future, job))
            self._changed.notify_all()
        try:
            return future.result()
        except BaseException:
            future.cancel()  # the caller was interrupted: drop the job unless it has begun
            raise

    def post(self, job: Callable[[], object]) -> None:
        """Queue a job after all queued jobs, and return without waiting for it.

        The job is accepted even if the queue is full. If it fails, the exception is logged.
        """

        def logged() -> None:
            try:
                job()
            except Exception:  # noqa: BLE001 -- logged, whatever it is: nobody waits for it
                _log.exception("%s could not complete a background job", self._thread.name)

        with self._changed:
            if not self._closed:
                self._jobs.append((Future(), logged))
                self._changed.notify_all()

    def waiting(self) -> int:
        """Return the number of jobs that have not begun."""
        with self._changed:
            return len(self._jobs)

    def stop(self) -> None:
        """Accept no more jobs, finish the queue, end the thread. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._jobs)
                if not self._jobs:
                    return
                future, job = self._jobs.popleft()
                self._changed.notify_all()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except BaseException as error:  # noqa: BLE001 -- handed to the caller, whatever it is
                    future.set_exception(error)
            del future, job  # do not keep a batch alive while the thread waits
