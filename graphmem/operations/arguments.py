"""Check arguments of operations: allowed words, ranges, pages of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphmem.errors import BadInputError

MAX_ROWS: Final = 10_000


def one_of(argument: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of the allowed words.

    Raises:
        BadInputError: the message names `argument`, and lists the allowed words.
    """
    if value not in allowed:
        raise BadInputError(f"unknown {argument} {value!r}; use one of {', '.join(allowed)}", argument=argument, value=value)


def within(argument: str, value: float, low: float, high: float) -> None:
    """Refuse a number below `low` or above `high`.

    Raises:
        BadInputError: the message names `argument`, and gives the range.
    """
    if not low <= value <= high:
        raise BadInputError(f"{argument} is {value}; use a number from {low:,} to {high:,}", argument=argument, value=value)


def page(limit: int, offset: int = 0) -> None:
    """Refuse an invalid `limit` or `offset` of a page.

    Raises:
        BadInputError: `limit` is not 1 to 10,000, or `offset` is negative.
    """
    within("limit", limit, 1, MAX_ROWS)
    if offset < 0:
        raise BadInputError(f"offset, the number of results to skip, is {offset}; use 0 or more", argument="offset", value=offset)
