"""A generated month of sessions with planted lessons and noise, at a smaller size than the benchmark publishes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "learning.py"


@pytest.fixture(scope="module")
def learning():
    spec = importlib.util.spec_from_file_location("learning_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_month_leaves_little_junk_and_most_of_what_was_planted(learning, tmp_path):
    done = learning.run(learning.month(120, 8), tmp_path / "index")
    assert len(done.junk) / done.memories < 0.10, done.junk
    assert len(done.learnt) / len({one.name for one in learning.lessons()}) > 0.75
    assert done.found_junk / done.found > 0.80  # what all of it would have been: the filters do this, not the generator
