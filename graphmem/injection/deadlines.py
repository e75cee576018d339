"""Answers by a deadline: what is not ready in time is not given, because an agent that waits has lost more than it gains."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeVar

from graphmem.errors import BadInputError

T = TypeVar("T")

DEADLINES_S: Final[Mapping[str, float]] = MappingProxyType({"start": 0.5, "prompt": 2.0, "tool": 0.1, "step": 0.05})
"""By point: the system prompt of a session, its first message, a tool's result, between steps."""
POINTS: Final = tuple(DEADLINES_S)
QUICK_S: Final = 0.25  # calls that may take less do not stand in line behind others
_WORKERS: Final = 4  # of each
_MARGIN: Final = 0.15  # of a deadline, kept for writing the answer down and sending it


class Timed(NamedTuple, Generic[T]):
    """What came of a call with a deadline."""

    value: T | None  # None: it was late
    seconds: float


class Deadlines:
    """Runs calls in threads of its own and waits for them no longer than they may take. What is late goes on and is thrown away.

    Calls that have to be quick have threads that no slower one may hold: a first message of one agent is no reason for another to wait
    between its steps.
    """

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(_WORKERS, thread_name_prefix="graphmem-inject-quick")
        self._slow = ThreadPoolExecutor(_WORKERS, thread_name_prefix="graphmem-inject")

    def run(self, call: Callable[[float], T], seconds: float, begun: float | None = None) -> Timed[T]:
        """The call's value when it is there in time.

        Args:
            call: told when it has to be done, on the clock of `time.monotonic`, so that it can stop between two steps.
            seconds: allowed, from `begun`.
            begun: when the question came, on the same clock; default now.

        Raises:
            whatever the call raises in time.
        """
        started = time.monotonic() if begun is None else begun
        until = started + seconds * (1 - _MARGIN)
        left = until - time.monotonic()
        if left <= 0:
            return Timed(None, time.monotonic() - started)
        future: Future[T] = (self._quick if seconds < QUICK_S else self._slow).submit(call, until)
        try:
            value = future.result(timeout=left)
        except FutureTimeoutError:
            future.cancel()
            return Timed(None, time.monotonic() - started)
        seconds_taken = time.monotonic() - started
        return Timed(value if time.monotonic() <= until else None, seconds_taken)

    def close(self) -> None:
        """Take no more; what runs is let go."""
        for pool in (self._quick, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)


def deadline_of(point: str) -> float:
    """Seconds allowed at a point.

    Raises:
        BadInputError: there is no such point.
    """
    if point not in DEADLINES_S:
        raise BadInputError(f"{point!r} is no point; there are {', '.join(POINTS)}", argument="point", value=point)
    return DEADLINES_S[point]
