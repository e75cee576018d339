"""The same suite on the other engine, in a process of its own: two engines in one process break the interpreter."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

OTHER = "ladybug"
ANCHORS = Path(__file__).with_name("test_store_anchors.py").relative_to(Path(__file__).parents[2]).as_posix()
WHICHEVER = "leave_the_same_knowledge_whichever_way_they_are_written"
SEEDS_OF_KUZU = (1, 2)  # random edits take half a minute a seed: one of three also runs here
# What memories do in each way of writing is graphmem's doing. That the engine gives the same in all ways is what the random edits compare.
WAYS_OF_KUZU = "test_store_anchors and (new-file or replace)"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(importlib.util.find_spec(OTHER) is None, reason="ladybug is not installed")
def test_the_store_suite_passes_on_ladybug(engine):
    if engine == OTHER:
        pytest.skip("this is the run on ladybug")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            str(Path(__file__).parent),
            "--engine",
            OTHER,
            "-m",
            "not slow",
            "-k",
            f"not ({WAYS_OF_KUZU})",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            *(word for seed in SEEDS_OF_KUZU for word in ("--deselect", f"{ANCHORS}::test_random_edits_{WHICHEVER}[{seed}]")),
        ],
        capture_output=True,
        text=True,
        timeout=1790,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
