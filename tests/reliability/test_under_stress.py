"""The benchmarks of dependability at their smallest size: nothing is lost, nothing doubled, nothing wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(name: str, *arguments: str | Path, out: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), *map(str, arguments), "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        cwd=out.parent,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return dict(json.loads(out.read_text()))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_processes_killed_at_their_work_lose_nothing(tmp_path):
    told = run("kills", "--count", "7", out=tmp_path / "kills.json")
    assert told["kills"] == 7
    assert told["acknowledged"]
    assert (told["lost"], told["faults"]) == (0, [])


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_server_that_is_killed_and_ended_under_load_loses_and_doubles_nothing(tmp_path):
    told = run("soak", "--seconds", "10", "--clients", "2", "--folder", tmp_path / "soak", out=tmp_path / "soak.json")
    assert told["acknowledged_writes"]
    assert (told["lost"], told["doubled"], told["orphans"], told["faults"]) == (0, 0, 0, [])
