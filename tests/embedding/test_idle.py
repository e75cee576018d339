"""Threads that make vectors use idle processors, and leave those that others use."""

from __future__ import annotations

from graphmem.embedding.idle import IdleProcessors, Moment
from graphmem.runtime.process.processors import processors


def looks(most, *seconds):
    """Threads after each second in which the process used, and the machine left, so many processors."""
    moments = [Moment(0.0, 0.0, 0.0)]
    for own, idle in seconds:
        last = moments[-1]
        moments.append(Moment(last.wall + 1, last.own + own, last.idle + idle))
    found = IdleProcessors(most, iter(moments).__next__)
    return [found.threads() for _ in seconds]


def test_an_idle_machine_is_used_at_once_up_to_the_limit():
    assert looks(4, (1.0, 2.9), (3.9, 0.1)) == [4, 4]
    assert looks(2, (1.0, 6.9), (2.0, 5.9)) == [2, 2]


def test_a_busy_machine_has_one_thread():
    assert looks(4, (0.4, 0.0), (0.9, 0.2), (0.2, 3.0)) == [1, 1, 1]


def test_threads_that_compete_with_others_end_one_after_the_other():
    assert looks(4, (1.0, 3.0), (2.0, 0.0), (1.5, 0.0), (1.9, 0.1), (2.0, 2.0)) == [4, 3, 2, 2, 4]


def test_the_clocks_of_this_machine_give_a_number_in_range():
    found = IdleProcessors(processors())
    sum(range(100_000))
    assert 1 <= found.threads() <= processors()
