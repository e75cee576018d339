"""People who know a part of a project, and the bus factor."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime

from graphmem.history.knowledge import MOST_FILES, known_by

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_bus_factor_counts_who_has_half_of_the_recent_commits(tmp_path):
    def commit(who, day, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        env = {
            **os.environ,
            **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in (("NAME", who), ("EMAIL", f"{who}@x"))},
            "GIT_AUTHOR_DATE": f"{day}T12:00:00Z",
            "GIT_COMMITTER_DATE": f"{day}T12:00:00Z",
        }
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        subprocess.run(["git", "commit", "-qm", "change"], cwd=tmp_path, check=True, env=env)

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit("Ada", "2020-01-01", pay="1", ship="1")
    commit("Ada", "2020-01-02", pay="2")
    commit("Bob", "2025-12-01", pay="3")
    (tmp_path / "vendor").mkdir()
    commit("Cid", "2025-12-01", send="1", **{f"vendor/made{i}": "x" for i in range(MOST_FILES)})
    commit("E\x01ve", "2025-12-02", ship="2", **{"two\nlines": "x", "odd\x01name": "x"})
    commit("deps[bot]", "2025-12-03", pay="5")
    commit("Bot", "2025-12-03", **{f"made{i}": "x" for i in range(MOST_FILES)}, pay="4")

    found, gaps = known_by(tmp_path, {"pay.py": "pay", "ship.py": "ship", "send.py": "send", "two\nlines.py": "odd"}, NOW)
    assert gaps == []
    assert found["pay"].order() == ["Bob", "Ada"], "old commits weigh little, and those of very many files nothing"
    assert dict(found["pay"].commits) == {"Ada": 2, "Bob": 1}
    assert found["pay"].bus_factor() == found["ship"].bus_factor() == 1
    assert found["send"].order() == ["Cid"], "third-party code does not make a commit large"
    assert found["odd"].order() == ["E\x01ve"]


def test_a_clone_without_old_contents_knows_the_people_of_a_renamed_file(tmp_path):
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()

    def git(*arguments, where=origin):
        subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=ada@mail.example", *arguments], cwd=where, check=True)

    git("init", "-q")
    git("config", "uploadpack.allowFilter", "true")
    (origin / "pay.py").write_text("".join(f"line {number}\n" for number in range(40)))
    git("add", ".")
    git("commit", "-qm", "pay")
    (origin / "pay.py").rename(origin / "wages.py")
    (origin / "wages.py").write_text("".join(f"line {number}\n" for number in range(1, 41)))
    git("add", "-A")
    git("commit", "-qm", "rename")
    git("clone", "-q", "--filter=blob:none", f"file://{origin}", str(clone), where=tmp_path)

    found, gaps = known_by(clone, {"wages.py": "wages"}, NOW)
    assert gaps == []
    assert dict(found["wages"].commits) == {"Ada": 1}
