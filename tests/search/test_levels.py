"""A slow service looks at less, says so, and recovers."""

from __future__ import annotations

from graphmem.search.levels import ServiceLevel
from graphmem.search.request import Tuning


def test_a_few_searches_decide_nothing():
    service = ServiceLevel()
    for _ in range(4):
        service.observe(10_000)
    assert service.level().name == "healthy"


def test_slow_searches_degrade_and_fast_ones_heal_with_a_margin_between():
    service = ServiceLevel()
    for _ in range(100):
        service.observe(400)
    slow = service.level()
    assert slow.name == "degraded"
    assert slow.tuned(Tuning()).depth < Tuning().depth
    assert "400 ms" in slow.note()
    for _ in range(100):
        service.observe(250)
    assert service.level().name == "degraded"
    for _ in range(100):
        service.observe(100)
    healthy = service.level()
    assert healthy.name == "healthy"
    assert healthy.note() == ""
    assert healthy.tuned(Tuning()) == Tuning()
