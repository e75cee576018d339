"""`make affected` runs what a change affects: a change of one function brings the tests of its room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import graphmem

ROOT = Path(graphmem.__file__).parents[1]


@pytest.mark.timeout(300)
def test_a_change_of_the_risk_brings_the_tests_of_impact(tmp_path):
    for folder in ("graphmem/analysis", "tests/analysis"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("affected.py", "support/time_budget.py"):
        (tmp_path / "tests" / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "tests" / file, tmp_path / "tests" / file)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "Begin"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, timeout=60)

    def affected(*options: str) -> str:
        words = [sys.executable, "tests/affected.py", *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False).stdout

    assert affected().startswith("0 affected")
    changed = tmp_path / "graphmem" / "analysis" / "risk.py"
    source = changed.read_text(encoding="utf-8")
    assert "facts.outside:\n" in source
    changed.write_text(source.replace("facts.outside:\n", "bool(facts.outside):\n", 1), encoding="utf-8")
    its_test = "tests/analysis/test_impact.py::test_risk_grows_with_dependents_and_missing_tests"
    assert its_test in affected("--collect-only"), "a test that calls the changed function is likely enough to run by default"
    assert its_test in affected("--all", "--collect-only")
