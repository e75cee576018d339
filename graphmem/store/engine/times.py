"""Convert times for the engine, which stores them naive and in UTC.

The engine drops the offset of an aware time: it would store 12:00+05:00 as 12:00. So only naive times in UTC may be stored.
"""

from __future__ import annotations

from datetime import UTC, datetime

from graphmem.errors import BadInputError


def now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


def to_naive_utc(moment: datetime, name: str = "time") -> datetime:
    """Convert an aware time to naive UTC.

    Raises:
        BadInputError: the time is naive, so its zone is unknown.
    """
    if moment.tzinfo is None:
        raise BadInputError(f"the time {name} has no time zone; pass a datetime with tzinfo", argument=name)
    return moment.astimezone(UTC).replace(tzinfo=None)


def from_naive_utc(moment: datetime) -> datetime:
    """Convert a naive UTC time from the engine to an aware time in UTC."""
    return moment.replace(tzinfo=UTC)
