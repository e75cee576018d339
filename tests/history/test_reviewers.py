"""People who know a file, on a real repository."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.history.reviewers import reviewers

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*arguments: str, who: str = "Ann", when: str = "2026-05-01") -> None:
        said = [f"user.name={who}", f"user.email={who.lower()}@example.org", "commit.gpgsign=false", "init.defaultBranch=main"]
        command = ["git", *(part for one in said for part in ("-c", one)), *arguments]
        dates = {"GIT_AUTHOR_DATE": f"{when}T12:00:00Z", "GIT_COMMITTER_DATE": f"{when}T12:00:00Z", "PATH": "/usr/local/bin:/usr/bin:/bin"}
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=dates)

    git("init", "-q")
    for number, (who, when) in enumerate([("Old", "2020-01-01"), ("Old", "2020-01-02"), ("Old", "2020-01-03"), ("Ann", "2026-05-01")]):
        (tmp_path / "price.py").write_text(f"RATE = {number}\n")
        git("add", "-A")
        git("commit", "-qm", f"change {number}", who=who, when=when)
    (tmp_path / "price.py").write_text("RATE = 7\n")
    git("commit", "-qam", "update", who="renovate[bot]", when="2026-05-10")
    (tmp_path / "lock.py").write_text("VERSION = 1\n")
    git("add", "-A")
    git("commit", "-qm", "pin", who="renovate[bot]", when="2026-05-11")
    git("mv", "price.py", "money.py")
    git("commit", "-qm", "rename", who="Eve", when="2026-05-20")
    return tmp_path


def test_a_recent_commit_counts_more_than_three_old_ones_and_a_rename_is_followed(repository: Path) -> None:
    found = reviewers(repository, "money.py", 10, NOW)
    assert [(one.name, one.commits) for one in found.people] == [("Eve", 1), ("Ann", 1), ("Old", 3)]
    assert sum(one.share for one in found.people) == pytest.approx(1, abs=0.001)
    assert found.people[1].last_at.startswith("2026-05-01")


def test_one_person_with_two_spellings_is_one_and_a_bot_with_her_address_takes_nothing_from_her(repository: Path) -> None:
    def commit(rate: int, who: str, address: str) -> None:
        (repository / "money.py").write_text(f"RATE = {rate}\n")
        said = ["-c", f"user.name={who}", "-c", f"user.email={address}", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *said, "commit", "-qam", "update"], cwd=repository, check=True)

    commit(8, "ann", "ann@home.example.org")
    for rate in (9, 10, 11):
        commit(rate, "shop release bot", "ann@example.org")
    found = reviewers(repository, "money.py", 10, datetime.now(UTC)).people
    assert {one.name: one.commits for one in found} == {"Ann": 2, "Eve": 1, "Old": 3}


def test_a_file_that_git_does_not_know_has_nobody_and_a_note(repository: Path) -> None:
    found = reviewers(repository, "nothing.py", 10, NOW)
    assert (found.people, found.notes) == ([], ["git has no commit that changed nothing.py"])


def test_a_bot_knows_nothing(repository: Path) -> None:
    found = reviewers(repository, "lock.py", 10, NOW)
    assert (found.people, found.notes) == ([], ["only bots committed to lock.py"])


def test_without_git_the_note_says_why(tmp_path: Path) -> None:
    assert "not under git" in reviewers(tmp_path, "price.py", 10, NOW).notes[0]
