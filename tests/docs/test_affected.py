"""`make affected` runs what a change affects: a change of one function brings the tests of its room."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
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


def test_a_commit_unpacks_only_what_it_changed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests")
    from affected import unpack

    def archive(**files: str) -> bytes:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as out:
            for name, text in files.items():
                member = tarfile.TarInfo(f"graphmem/{name}.py")
                member.size = len(text)
                out.addfile(member, io.BytesIO(text.encode()))
        return made.getvalue()

    assert unpack(archive(a="1", b="2", c="3"), tmp_path) == ["graphmem/a.py", "graphmem/b.py", "graphmem/c.py"]
    kept = (tmp_path / "graphmem" / "a.py").stat()
    assert unpack(archive(a="1", b="4"), tmp_path) == ["graphmem/b.py"]
    after = (tmp_path / "graphmem" / "a.py").stat()  # the time of access may change, because the content is compared
    assert (after.st_ino, after.st_mtime_ns) == (kept.st_ino, kept.st_mtime_ns)
    assert {path.name: path.read_text() for path in (tmp_path / "graphmem").iterdir()} == {"a.py": "1", "b.py": "4"}
