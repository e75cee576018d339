"""Making vectors waits while a question is answered, but not for ever."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from graphmem.settings import Settings
from graphmem.vectors import filler as module
from graphmem.vectors.filler import ANSWER_S, PATIENCE_S, VectorFiller


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping moves; `on_sleep` is called each time."""
    made = SimpleNamespace(at=100.0, on_sleep=lambda: None)

    def sleep(seconds):
        assert seconds > 0
        made.at += seconds
        made.on_sleep()

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: made.at, sleep=sleep))
    return made


@pytest.fixture
def filler():
    return VectorFiller(None, None, Settings(embedder="none"), lambda _: None)


def test_without_questions_nothing_waits(clock, filler):
    filler._step_back()
    assert clock.at == 100.0


def test_it_waits_until_a_question_is_probably_answered(clock, filler):
    filler.query_embedder()
    filler._step_back()
    assert clock.at == pytest.approx(100.0 + ANSWER_S, abs=0.011)


def test_questions_without_a_pause_do_not_stop_it(clock, filler):
    filler.query_embedder()
    clock.on_sleep = filler.query_embedder
    filler._step_back()
    assert clock.at == pytest.approx(100.0 + PATIENCE_S, abs=0.011)


def test_a_pause_of_the_filling_ends_the_wait(clock, filler):
    filler.query_embedder()
    filler._stopping.set()
    filler._step_back()
    assert clock.at == 100.0


def test_after_the_end_nothing_begins_again(opened):
    service = opened(embedder="hashed")
    service.close()
    service.parts.runs.vectors.start()  # as a search or a push does, which was still being answered
    assert [one.name for one in threading.enumerate() if one.name == "graphmem-vectors"] == []
