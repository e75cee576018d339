"""Stop requests to a server for a minute after repeated failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

FAILURES: Final = 3  # consecutive failures before a pause
REST_S: Final = 60.0  # seconds of that pause


class RestingError(Exception):
    """Error: a request was not sent, because recent requests had failed.

    No request is sent to the server for a minute.
    """

    def __init__(self, failed: int) -> None:
        super().__init__(f"the last {failed} requests failed, so no request is sent for a minute")


class Rest:
    """Counts consecutive failures of requests to a server. Thread-safe.

    After `FAILURES` failures, `watched` refuses requests for a minute. A success sets the count to 0.

    Args:
        clock: monotonic clock in seconds; for tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._until = float("-inf")

    @contextmanager
    def watched(self, failure: type[Exception]) -> Iterator[None]:
        """Run a `with` block that sends a request, unless requests are paused.

        An error of the type `failure` counts as a failed request, and is raised unchanged. After several failures, requests are paused for
        a minute.

        Raises:
            RestingError: the block was not run, because requests to the server are paused.
        """
        with self._lock:
            if self._clock() < self._until:
                raise RestingError(self._failed)
        try:
            yield
        except failure:
            with self._lock:
                self._failed += 1
                if self._failed >= FAILURES:
                    self._until = self._clock() + REST_S
            raise
        with self._lock:
            self._failed = 0
