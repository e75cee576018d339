"""Run calls with a deadline: a caller gets the value in time, or none.

Waiting for a late answer would cost an agent more time than the answer is worth.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeVar

from graphmem.errors import BadInputError

T = TypeVar("T")

DEADLINES_S: Final[Mapping[str, float]] = MappingProxyType({"start": 0.5, "prompt": 2.0, "tool": 0.1, "step": 0.05})
"""Seconds by point: system prompt of a session, first message, result of a tool, between steps."""
POINTS: Final = tuple(DEADLINES_S)
QUICK_S: Final = 0.25  # calls with a shorter limit have threads of their own
_WORKERS: Final = 4  # threads of each kind
_log = logging.getLogger(__name__)
_MARGIN: Final = 0.15  # share of a deadline reserved for writing and sending the answer


class Timed(NamedTuple, Generic[T]):
    """The result of a call with a deadline: its value, or None if it was late."""

    value: T | None  # None if it was late
    seconds: float


class Deadlines:
    """Threads for calls whose caller waits only for a limited time.

    A call that misses its deadline continues in the background. Calls with a short time limit have separate threads. So a slow first
    message of one agent does not delay the steps of another.
    """

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(_WORKERS, thread_name_prefix="graphmem-inject-quick")
        self._slow = ThreadPoolExecutor(_WORKERS, thread_name_prefix="graphmem-inject")

    def run(
        self, call: Callable[[float], T], seconds: float, begun: float | None = None, late: Callable[[T], object] | None = None
    ) -> Timed[T]:
        """Call a function, and return its value if it is ready in time.

        Args:
            call: receives its deadline on the clock of `time.monotonic`, so that it can stop early.
            seconds: time limit, counted from `begun`.
            begun: arrival of the request on the same clock; default now.
            late: called with a value that is ready too late; by default the value is discarded.

        Raises:
            Exception: any error that `call` raises before the deadline.
        """
        started = time.monotonic() if begun is None else begun
        until = started + seconds * (1 - _MARGIN)
        left = until - time.monotonic()
        if left <= 0 and late is None:
            return Timed(None, time.monotonic() - started)
        future: Future[T] = (self._quick if seconds < QUICK_S else self._slow).submit(call, until)
        try:
            value = future.result(timeout=max(0.0, left))
        except FutureTimeoutError:
            if late is None:
                future.cancel()
            else:
                future.add_done_callback(partial(_pass_on, late))
            return Timed(None, time.monotonic() - started)
        seconds_taken = time.monotonic() - started
        if time.monotonic() <= until:
            return Timed(value, seconds_taken)
        if late is not None:
            late(value)
        return Timed(None, seconds_taken)

    def close(self) -> None:
        """Accept no more calls; running calls are abandoned."""
        for pool in (self._quick, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)


def _pass_on(late: Callable[[T], object], future: Future[T]) -> None:
    if future.cancelled():
        return
    if (error := future.exception()) is not None:
        _log.warning("a late answer failed: %s", error)
        return
    late(future.result())


def deadline_of(point: str) -> float:
    """Return how many seconds an answer may take at a point of a session.

    `point` is a moment such as `start` or `tool`, one of POINTS.

    Raises:
        BadInputError: the point is unknown.
    """
    if point not in DEADLINES_S:
        raise BadInputError(f"unknown injection point {point!r}; use one of {', '.join(POINTS)}", argument="point", value=point)
    return DEADLINES_S[point]
