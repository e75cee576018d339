"""A script that ends while an index is open ends as Python says, not by an abort."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
from graphmem import GraphMem
from graphmem.settings import Settings

memory = GraphMem.open(sys.argv[1], settings=Settings(embedder="none", workers=1, max_db_gb=1))
memory.remember_many([{"content": f"number {number} of many things"} for number in range(300)])
"""


def ended(ending: str, place: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT + ending, str(place)]
    return subprocess.run(command, env=dict(environ), capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.parametrize(
    ("ending", "code", "last"), [('raise ValueError("of mine")', 1, "ValueError: of mine"), ("sys.exit(7)", 7, ""), ("", 0, "")]
)
def test_an_ending_outside_of_with_is_the_scripts_own_and_keeps_everything(tmp_path, environ, open_index, ending, code, last):
    done = ended(ending, tmp_path / "index", environ)
    assert (done.returncode, done.stderr.strip().splitlines()[-1:]) == (code, [last] if last else []), done.stderr
    with open_index() as memory:
        assert len(memory.memories(limit=500).memories) == 300
        assert memory.parts.store.notes == []
