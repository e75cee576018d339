"""Let Ctrl-C cancel work that can stop cleanly."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def cancelled_by_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns True after Ctrl-C was pressed.

    A second Ctrl-C raises KeyboardInterrupt.
    """
    asked = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
