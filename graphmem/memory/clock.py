"""Time is a parameter: whatever fades, expires or is dated asks a clock, so ten years can pass in a test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present, aware, in UTC."""


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """The present."""
        return datetime.now(UTC)


class ManualClock:
    """Stands still until it is moved.

    Args:
        start: an aware time.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """Where it stands."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._now += by
