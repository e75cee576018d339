"""The benchmark of risk: which commits count as fixed or reverted, and what its figures mean."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def risk(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import risk as module

    yield module
    sys.modules.pop("risk", None)


@pytest.fixture
def commit(tmp_path):
    def git(*arguments, at=0):
        day = f"{1_700_000_000 + at * 86_400} +0000"
        names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        dates = {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *arguments], env={**os.environ, **names, **dates}, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def made(message, text, at, path="a.py"):
        (tmp_path / path).write_text(text, encoding="utf-8")
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", message, at=at)
        return git("rev-parse", "HEAD")

    git("init", "-q", "-b", "main")
    return made


def test_commits_whose_lines_a_fix_deletes_and_reverted_ones_within_the_window_are_faulty(risk, commit, tmp_path):
    first = commit("Start", "a = 1\nb = 1\n", 0)
    second = commit("Add c", "a = 1\nb = 1\nc = 3\n", 5)
    third = commit("Add d", "a = 1\nb = 1\nc = 3\nd = 4\n", 6)
    commit("Fix the value of c", "a = 1\nb = 1\nc = 4\nd = 4\n", 10)
    fourth = commit("Add e", "a = 1\nb = 1\nc = 4\nd = 4\ne = 5\n", 11)
    commit(f'Revert "Add e"\n\nThis reverts commit {fourth}.', "a = 1\nb = 1\nc = 4\nd = 4\n", 12)
    commit("Fix a typo", "a = 1\nb = 1\nc = 4\n", 13)
    commit("Fix b at last", "a = 1\nb = 2\nc = 4\n", 40)
    commits = risk.history(tmp_path)
    wanted = {first, second, third, fourth}
    assert risk.faulty(tmp_path, commits, wanted) == {second, fourth}, "a typo is not a fault, and 40 days are too late"


def test_files_of_tests_and_texts_are_not_source(risk):
    assert risk.is_source("src/a.py")
    assert not risk.is_source("tests/test_a.py")
    assert not risk.is_source("README.md")


def test_auc_is_the_share_of_pairs_in_the_right_order(risk):
    assert risk.auc([(1, False), (2, True)]) == 1
    assert risk.auc([(1, False), (1, True)]) == 0.5
    assert risk.auc([(1, False), (3, False), (2, True)]) == 0.5
    assert math.isnan(risk.auc([(1, True)]))


def test_the_page_has_the_tables_of_the_stored_results(risk):
    results = json.loads((BENCHMARKS / "results" / "risk.json").read_text(encoding="utf-8"))["repositories"]
    page = risk.DOCS.read_text(encoding="utf-8")
    assert page[page.index(risk.BEGIN) + len(risk.BEGIN) : page.index(risk.END)].strip() == risk.tables(results)
    assert len(results) >= 6
