"""Commits with a time, a message or a hash that few others have cost no answer."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.history.blame import blame
from graphmem.history.knowledge import known_by
from graphmem.history.messages import with_words
from graphmem.history.reviewers import reviewers
from graphmem.project.history.history_source import iso

NOW = datetime(2026, 1, 1, tzinfo=UTC)
YEAR_10000 = "@253402300801 +0000"


@pytest.fixture(params=["sha1", "sha256"])
def repository(tmp_path: Path, request) -> Path:
    who = {f"GIT_{role}_{key}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    env = {**os.environ, **who, "GIT_AUTHOR_DATE": YEAR_10000, "GIT_COMMITTER_DATE": YEAR_10000}
    (tmp_path / "price.py").write_text("RATE = 1\n")
    subprocess.run(["git", "init", "-q", f"--object-format={request.param}"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "Set rate\n\nThe rate\x01is fixed."], cwd=tmp_path, check=True, env=env)
    (tmp_path / "price.py").write_text("RATE = 1\nNEW = 2\n")
    return tmp_path


def test_a_commit_of_the_year_10000_has_the_latest_time_that_there_is(repository: Path) -> None:
    latest = "9999-01-01T00:00:00+00:00"
    assert iso(253402300801) == latest
    assert [(one.name, one.last_at) for one in reviewers(repository, "price.py", 5, NOW).people] == [("ann@example.org", latest)]
    known, _ = known_by(repository, {"price.py": "pay"}, NOW)
    assert known["pay"].last == {"ann@example.org": latest}
    assert [one.at for one in with_words(repository, ["rate"], 5)] == [latest]


def test_a_message_may_contain_any_character(repository: Path) -> None:
    [message] = with_words(repository, ["rate"], 5)
    assert (message.subject, message.body) == ("Set rate", "The rate\x01is fixed.")


def test_a_line_without_a_commit_has_no_author_whatever_the_length_of_hashes(repository: Path) -> None:
    old, new = blame(repository, "price.py").runs
    assert (old.author, new.author, new.commit) == ("ann@example.org", "", "")
