"""Clocks as parameters, so that a test can move the time.

All code of memories gets the current time from an object with the interface `Clock`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Interface of a source of the current time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""


class SystemClock:
    """A clock with the current time of this machine."""

    def now(self) -> datetime:
        """Return the current time of this machine, aware, in UTC."""
        return datetime.now(UTC)


class ManualClock:
    """A clock whose time changes only when `advance` is called.

    Args:
        start: an aware time.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """Return the time that the clock was set to, aware."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Move the time of the clock forward."""
        self._now += by
