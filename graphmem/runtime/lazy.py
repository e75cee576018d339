"""Values that are computed when they are first requested."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is made when it is first requested. Thread-safe.

    Args:
        make: called once to create the value.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        """The value, made at the first call."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    @property
    def is_made(self) -> bool:
        """Whether the value was already made, because it was requested before."""
        return bool(self._made)

    def end(self, close: Callable[[T], object]) -> None:
        """Close the value if it was made."""
        for one in self._made:
            close(one)

    def renew(self, close: Callable[[T], object]) -> None:
        """Close the value if it was made; the next request makes it again."""
        with self._lock:
            made, self._made = self._made, []
        for one in made:
            close(one)
