"""Times as the engine keeps them: naive, and UTC by rule.

The engine drops the offset of an aware time (12:00+05:00 becomes 12:00), so nothing else may enter it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from graphmem.errors import BadInputError


def now() -> datetime:
    """The present, aware, in UTC."""
    return datetime.now(UTC)


def to_naive_utc(moment: datetime, name: str = "time") -> datetime:
    """An aware time as naive UTC.

    Raises:
        BadInputError: it is naive; whose midnight it means is not ours to guess.
    """
    if moment.tzinfo is None:
        raise BadInputError(f"{name} has no time zone; give an aware datetime", argument=name)
    return moment.astimezone(UTC).replace(tzinfo=None)


def from_naive_utc(moment: datetime) -> datetime:
    """A time that came out of the engine, aware again."""
    return moment.replace(tzinfo=UTC)
