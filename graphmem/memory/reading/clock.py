"""Clocks as parameters, so that a test can move the time.

All code of memories gets the current time from an object with the interface `Clock`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Interface of a source of the current time."""

    def now(self) -> datetime:
        """Return the current time in UTC, as a datetime with a time zone."""


class SystemClock:
    """A clock with the current time of this machine."""

    def now(self) -> datetime:
        """Return this machine's time in UTC, as a datetime with a time zone."""
        return datetime.now(UTC)


class ManualClock:
    """A clock whose time changes only when `advance` is called.

    Args:
        start: a datetime with a time zone.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """Return the time to which the clock was set, with its time zone."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Move the time of the clock forward by the duration `by`."""
        self._now += by
