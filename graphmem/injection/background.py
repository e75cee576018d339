"""Work for agents that runs after the answer, on one thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from graphmem.errors import GraphMemError

_log = logging.getLogger(__name__)


class Background:
    """Runs functions one after the other, on a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="graphmem-behind")

    def soon(self, work: Callable[[], object]) -> None:
        """Run a function in the background.

        An error of the function is logged and affects no answer. After `close`, the function is not run.
        """

        def guarded() -> None:
            try:
                work()
            except GraphMemError as error:
                _log.warning("background work of an answer failed: %s", error)
            except Exception:  # noqa: BLE001 -- no caller waits for this thread: log the fault and continue
                _log.exception("background work of an answer failed")

        try:
            self._thread.submit(guarded)
        except RuntimeError:  # closing
            _log.debug("closing: no more background work")

    def wait(self, timeout_s: float) -> None:
        """Wait until all functions that were given so far have run.

        Raises:
            TimeoutError: they have not run within `timeout_s` seconds.
        """
        try:
            done = self._thread.submit(lambda: None)
        except RuntimeError:  # closing
            _log.debug("closing: no more background work")
            return
        done.result(timeout=timeout_s)

    def close(self) -> None:
        """Wait for the running function, and drop those that have not begun."""
        self._thread.shutdown(wait=True, cancel_futures=True)
