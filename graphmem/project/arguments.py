"""Bounds that operations hold their arguments to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphmem.errors import BadInputError

MAX_ROWS: Final = 10_000


def one_of(argument: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a word that is none of the allowed ones.

    Raises:
        BadInputError: with the allowed ones in its sentence.
    """
    if value not in allowed:
        raise BadInputError(f"{value!r} is no {argument}; there are {', '.join(allowed)}", argument=argument, value=value)


def within(argument: str, value: float, low: float, high: float) -> None:
    """Refuse a number out of its range.

    Raises:
        BadInputError: with the range in its sentence.
    """
    if not low <= value <= high:
        raise BadInputError(f"{argument} is {value}, allowed is {low:,} to {high:,}", argument=argument, value=value)


def page(limit: int, offset: int = 0) -> None:
    """Refuse a page that cannot be.

    Raises:
        BadInputError: `limit` is not 1 to 10,000, or `offset` is negative.
    """
    within("limit", limit, 1, MAX_ROWS)
    if offset < 0:
        raise BadInputError(f"offset is {offset}, it cannot be negative", argument="offset", value=offset)
