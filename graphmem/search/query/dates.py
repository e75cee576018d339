"""Compare dates in a query with the creation times of memories.

For "What did Ana paint in June?", memories that were created in June or just after rank higher, even without a date in the text. A date
without a year, such as "3 June", means this date in each recent year with memories. Words like "yesterday" count back from now.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from graphmem.runtime.patterns import lazy_pattern

MOST: Final = 4  # dates of a query that are used
_AFTER: Final = 0.6  # score just after the period, because people report an event later
_BEFORE: Final = 0.3  # score just before it, because people plan an event earlier
_FADES: Final = 3.0  # days after which these fall to 1/e
_WINDOW: Final = timedelta(days=9)  # around a period; scores are below 0.03 outside
_YEARS: Final = 30  # years that a date without a year may mean

_MONTHS: Final = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_SHORT: Final = {name.casefold(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_MONTH: Final = "(?P<month>" + "|".join([*_MONTHS, *(f"{name}\\.?" for name in _SHORT if name not in _MONTHS)]) + ")"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?!\d)"
_IN: Final = r"(?:in|during|of|since|until|by|before|after|last|this|early|late|mid)[ -]"
_SHAPES: Final = tuple(
    lazy_pattern(shape, re.IGNORECASE)
    for shape in (
        r"(?<!\d)(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?!\d)",
        rf"(?<!\d){_DAY}(?: of)? {_MONTH}\b(?:,? {_YEAR})?",
        rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?",
        rf"\b{_MONTH}(?:,| of)? {_YEAR}",
        rf"\b{_IN}(?:the )?{_MONTH}\b",
        rf"\b{_IN}{_YEAR}",
    )
)
_AGO: Final = lazy_pattern(r"\b(?P<count>\d{1,3}|an?) (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE)
_RELATIVE: Final = lazy_pattern(r"\b(?P<word>today|yesterday|(?P<which>last|this) (?P<unit>week|month|year))\b", re.IGNORECASE)
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


class Period(NamedTuple):
    """A span of time that a query names, such as June 2024, in UTC."""

    start: datetime
    end: datetime  # excluded

    @property
    def window(self) -> tuple[datetime, datetime]:
        """(Begin, end) of a window of time around the period.

        The window begins earlier and ends later than the period. A memory that was created in the window gets a score.
        """
        return self.start - _WINDOW, self.end + _WINDOW


def periods(query: str, now: datetime, years: tuple[int, int]) -> list[Period]:
    """Return the periods (spans of time) that a query names, without repeats.

    Args:
        query: the search text.
        now: the time from which "yesterday" counts.
        years: first and last year of the memories, for dates without a year.
    """
    found: dict[Period, None] = {}
    taken: list[tuple[int, int]] = []
    for shape in _SHAPES:
        for match in shape.finditer(query):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            named = [*_named(match, years)]
            if named:
                taken.append(match.span())
                found |= dict.fromkeys(named)
    found |= dict.fromkeys(_relative(query, now))
    return list(found)[: MOST * _YEARS]


def nearness(created: datetime, spans: Iterable[Period]) -> float:
    """Return how near the time `created` is to the nearest of some periods.

    The value is 1 inside a period and falls with the distance from the period. The value is 0 if `spans`, the periods, is empty.
    """
    return max((_nearness(created, span) for span in spans), default=0.0)


def _nearness(created: datetime, span: Period) -> float:
    if span.start <= created < span.end:
        return 1.0
    share, gap = (_AFTER, created - span.end) if created >= span.end else (_BEFORE, span.start - created)
    return share * math.exp(-gap.total_seconds() / 86_400 / _FADES)


def _named(match: re.Match[str], years: tuple[int, int]) -> Iterator[Period]:
    """Yield the periods that a date in a query means.

    `match` is the date in the query. A date without a year means one period for each of the latest years in `years` (first, last). A date
    that does not exist, such as 31 June, means none.
    """
    parts = match.groupdict()
    month = _number(parts.get("month") or "")
    day = int(parts.get("day") or 0)
    first, last = years
    chosen = [int(parts["year"])] if parts.get("year") else range(max(first, last - _YEARS), last + 1)
    for year in chosen:
        if not month:
            yield Period(_utc(date(year, 1, 1)), _utc(date(year + 1, 1, 1)))
        elif not day:
            yield Period(_utc(date(year, month, 1)), _utc(date(year + month // 12, month % 12 + 1, 1)))
        elif 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
            yield Period(_utc(date(year, month, day)), _utc(date(year, month, day) + timedelta(days=1)))


def _number(month: str) -> int:
    name = month.casefold().rstrip(".")
    if name.isdecimal():
        return int(name) if 1 <= int(name) <= 12 else 0
    return _MONTHS.get(name) or _SHORT.get(name, 0)


def _relative(query: str, now: datetime) -> Iterator[Period]:
    today = now.astimezone(UTC).date()
    for match in _AGO.finditer(query):
        count = int(match["count"]) if match["count"].isdecimal() else 1
        length = _DAYS[match["unit"].casefold()]
        middle = today - timedelta(days=count * length)
        yield Period(_utc(middle - timedelta(days=length // 2)), _utc(middle + timedelta(days=length // 2 + 1)))
    for match in _RELATIVE.finditer(query):
        unit = (match["unit"] or "").casefold()
        if not unit:
            start = today - timedelta(days=1 if match["word"].casefold() == "yesterday" else 0)
            yield Period(_utc(start), _utc(start + timedelta(days=1)))
            continue
        start = today - timedelta(days={"week": today.weekday(), "month": today.day - 1, "year": today.timetuple().tm_yday - 1}[unit])
        end = today + timedelta(days=1)
        if match["which"].casefold() == "last":
            end, before = start, start - timedelta(days=1)
            start = {"week": start - timedelta(days=7), "month": before.replace(day=1), "year": before.replace(month=1, day=1)}[unit]
        yield Period(_utc(start), _utc(end))


def _utc(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
