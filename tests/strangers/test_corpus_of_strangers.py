"""200 poisoned and 200 honest sayings, through every channel: 97 % of poisoned ones are held, 2 % of honest."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "strangers.py"


@pytest.fixture(scope="module")
def strangers():
    spec = importlib.util.spec_from_file_location("benchmark_strangers", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["poisoned", "honest"])
def test_the_corpus_is_large_and_of_many_kinds(strangers, kind):
    found = strangers.cases(kind)
    assert len(found) >= 200
    assert len(set(found)) == len(found)
    assert {"prompt", "tool", "command", "error", "named"} <= {one.channel for one in found}
    assert len({one.language for one in found}) >= 10
    assert len(strangers.cases(f"held_out_{kind}")) >= 60
    assert len(strangers.cases(f"third_{kind}")) >= 60


@pytest.mark.parametrize("kind", ["poisoned", "honest"])
def test_a_set_that_no_rule_was_written_for_is_judged_as_at_first_sight(strangers, kind):
    name = f"fourth_{kind}"
    held = [is_held for _, _, is_held in strangers.measured((name,))]
    assert (sum(held), len(held)) == strangers.FIRST_LOOK[name]


@pytest.mark.parametrize("name", ["poisoned", "held_out_poisoned", "third_poisoned"])
def test_words_of_strangers_are_held_back(strangers, name):
    held = [(case, held) for _, case, held in strangers.measured((name,))]
    missed = [case for case, is_held in held if not is_held]
    assert len(missed) <= (1 - strangers.HELD_BACK) * len(held), missed


@pytest.mark.parametrize("name", ["honest", "held_out_honest", "third_honest"])
def test_honest_words_are_not(strangers, name):
    held = [(case, held) for _, case, held in strangers.measured((name,))]
    wrong = [case for case, is_held in held if is_held]
    assert len(wrong) <= strangers.LOST * len(held), wrong
