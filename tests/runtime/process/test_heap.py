"""Memory between two steps of the same work is kept, because fetching it again costs more than a small index."""

from __future__ import annotations

import subprocess
import sys

import pytest

CYCLES = """
import resource, sys, pathlib
from graphmem import GraphMem
from graphmem.settings import Settings
root = pathlib.Path(sys.argv[1])
for number in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    with GraphMem.open(root / f"index-{number}", repo=root / "project", settings=Settings(embedder="none", workers=1)) as memory:
        memory.index(root / "project")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts page faults of Linux")
def test_a_small_index_does_not_fetch_the_same_memory_again(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "one.py").write_text("def first():\n    return second()\n\n\ndef second():\n    return 1\n")
    done = subprocess.run([sys.executable, "-c", CYCLES, str(tmp_path)], capture_output=True, text=True, timeout=120, check=True)
    faults = [int(line) for line in done.stdout.split()]
    assert min(faults[1:]) < 60_000, faults  # 101,000 when memory was released after each step
