"""A server may say how often one address asks; who asks more often is told when to come again."""

from __future__ import annotations

import pytest

from graphmem.api.http.rate import MOST_ADDRESSES, RateLimit
from graphmem.api.requests.limits import ServerLimits

QUERY = {"query": "{ __typename }"}


def test_more_than_a_minute_s_worth_is_refused_with_when_to_come_again(limited):
    client = limited(per_minute=1)
    answers = [client.post(QUERY) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 429]
    (error,) = answers[-1].json()["errors"]
    facts = error["extensions"]
    assert (facts["code"], facts["error"], facts["limit"], facts["allowed"]) == ("LIMIT", "LimitError", "per_minute", 1)
    assert 0 < facts["retry_after"] <= 60
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60


def test_health_is_always_told(limited):
    client = limited(per_minute=1)
    assert [client.http.get("/health").status_code for _ in range(3)] == [200] * 3
    assert client.http.get("/metrics").status_code == 200
    assert client.http.get("/metrics").status_code == 429


def test_wrong_tokens_count_too(serve):
    client = serve(token="right", limits=ServerLimits(per_minute=1))
    assert [client.post(QUERY).status_code for _ in range(2)] == [401, 429]


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


def test_a_bucket_fills_evenly_and_each_address_has_its_own(clock):
    limit = RateLimit(None, 60, clock=clock)
    assert [limit._take("a") for _ in range(61)] == [0.0] * 60 + [1.0]
    assert limit._take("b") == 0.0
    clock.now = 1.0
    assert (limit._take("a"), limit._take("a")) == (0.0, 1.0)
    clock.now = 10_000.0
    assert [limit._take("a") for _ in range(61)] == [0.0] * 60 + [1.0]


def test_addresses_are_not_remembered_without_end(clock):
    limit = RateLimit(None, 1, clock=clock)
    for number in range(MOST_ADDRESSES + 10):
        limit._take(str(number))
    assert len(limit._buckets) == MOST_ADDRESSES
