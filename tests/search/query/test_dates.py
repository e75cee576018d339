"""Dates in questions find what was learnt then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem.projection.memories.index import MemoryIndex
from graphmem.search.memories.finding import MemoryQuery, gather, join
from graphmem.search.query.dates import Period, nearness, periods
from graphmem.search.request import Request, Tuning
from graphmem.store.base import Knowledge

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)  # a Wednesday


def days(query: str, years: tuple[int, int] = (2023, 2023)) -> list[tuple[str, str]]:
    return [(str(period.start.date()), str(period.end.date())) for period in periods(query, NOW, years)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What did Ana find on 1 February, 2023?", [("2023-02-01", "2023-02-02")]),
        ("What was accepted on May 23rd, 2022?", [("2022-05-23", "2022-05-24")]),
        ("the 3rd of March", [("2023-03-03", "2023-03-04")]),
        ("what changed in December 2023", [("2023-12-01", "2024-01-01")]),
        ("when did they camp in June?", [("2023-06-01", "2023-07-01")]),
        ("since Sept. 2022", [("2022-09-01", "2022-10-01")]),
        ("deployed 2026-05-02", [("2026-05-02", "2026-05-03")]),
        ("how often in 2022", [("2022-01-01", "2023-01-01")]),
        ("what did we fix yesterday", [("2026-11-24", "2026-11-25")]),
        ("what broke last week", [("2026-11-16", "2026-11-23")]),
        ("decisions of last month", [("2026-10-01", "2026-11-01")]),
        ("who knew it last year", [("2025-01-01", "2026-01-01")]),
        ("renamed 3 weeks ago", [("2026-11-01", "2026-11-08")]),
    ],
)
def test_a_written_date_is_a_period(query, expected):
    assert days(query) == expected


@pytest.mark.parametrize("query", ["it may break", "march through the list", "the August build", "HTTP 404 in 2 files", "1.2.2023"])
def test_ordinary_words_and_impossible_dates_are_none(query):
    assert days(query) == []


def test_a_date_without_a_year_means_every_year_of_the_memories():
    assert days("in June", (2022, 2024)) == [(f"{year}-06-01", f"{year}-07-01") for year in (2022, 2023, 2024)]


def test_memories_of_the_period_count_in_full_and_those_around_it_less():
    june = Period(datetime(2023, 6, 1, tzinfo=UTC), datetime(2023, 7, 1, tzinfo=UTC))
    inside, after, before, later = (nearness(june.start + timedelta(days=shift), [june]) for shift in (10, 31, -1, 60))
    assert inside == 1
    assert 1 > after > before > later
    assert nearness(june.start, []) == 0


def test_of_equal_memories_those_of_the_date_come_first(memory):
    rows = [
        memory(f"m{n}", f"Ana finished another painting, number {n}.", created_at=datetime(2023, n, 5, tzinfo=UTC)) for n in range(1, 13)
    ]
    index = MemoryIndex.from_knowledge(Knowledge(1, rows, [], [], [], []))
    tuning = Tuning(depth=5)
    for month, expected in (("June", "m6"), ("November", "m11")):
        request = Request(f"which painting did Ana finish in {month} 2023?", kinds=frozenset({"memory"}))
        lists = gather(index, MemoryQuery(request, ["painting", "ana", "finish"], None, NOW), tuning, {}, None)
        assert join(lists, tuning)[0].id == expected
    undated = Request("which painting did Ana finish?", kinds=frozenset({"memory"}))
    assert gather(index, MemoryQuery(undated, ["painting"], None, NOW), tuning, {}, None).dates == {}
