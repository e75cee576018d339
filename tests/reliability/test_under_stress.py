"""The benchmarks of dependability at their smallest size: nothing is lost, nothing doubled, nothing wrong."""

from __future__ import annotations

import json
import shutil
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
        timeout=290,
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


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_damage_of_a_file_is_a_crash_a_wrong_answer_or_called_sound(tmp_path):
    repo = tmp_path / "project"
    shutil.copytree(BENCHMARKS.parent / "graphmem" / "embedding", repo / "embedding", ignore=shutil.ignore_patterns("__pycache__"))
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(repo), *command], check=True)
    told = run("damage", repo, "--count", "60", "--questions", "1", out=tmp_path / "damage.json")
    assert told["cases"] == 60
    counts = ("exit_code_3", "wrong_answers", "lost_memories", "verify_calls_damage_sound")
    assert {name: told[name] for name in counts} == dict.fromkeys(counts, 0), told["faults"]
