"""A repository that came as an archive brings its own configuration; asking git about it runs nothing of that."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from graphmem.errors import GitError
from graphmem.history.blame import blame
from graphmem.indexing import git
from graphmem.project.code.diffs import of_range

WHO = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def ask(root: Path, *arguments: str) -> None:
    env = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=root, env=env, capture_output=True, check=True)


def a_repository(root: Path) -> Path:
    root.mkdir()
    ask(root, "init", "-q")
    (root / "a.py").write_text("one = 1\n")
    (root / ".gitattributes").write_text("*.py diff=evil filter=e=vil.x\n")
    ask(root, "add", "-A")
    ask(root, "commit", "-q", "-m", "one")
    return root


@pytest.fixture
def caught(tmp_path: Path) -> Path:
    return tmp_path / "caught"


@pytest.fixture
def hostile(tmp_path: Path, caught: Path) -> Path:
    """A changed file, and a program in every place of the configuration from which git would start it."""
    root = a_repository(tmp_path / "hostile")
    inner = a_repository(root / "inner")
    ask(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "./inner", "inner")
    ask(root, "commit", "-q", "-m", "two")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> {caught}\ncat\n")
    trap.chmod(0o755)
    for where in (root, inner):
        (where / "a.py").write_text("one = 2\n")
        for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"):
            ask(where, "config", key, str(trap))
        for key in ("clean", "smudge", "process"):
            ask(where, "config", f"filter.e=vil.x.{key}", str(trap))
        ask(where, "config", "filter.e=vil.x.required", "true")
        ask(where, "config", "diff.submodule", "diff")
        hooks = where / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("post-index-change", "post-checkout"):
            (hooks / name).write_bytes(trap.read_bytes())
            (hooks / name).chmod(0o755)
    return root


def test_the_traps_work(hostile, caught):
    subprocess.run(["git", "diff", "HEAD"], cwd=hostile, capture_output=True, check=False)
    assert caught.exists()


def test_comparing_a_hostile_repository_runs_nothing(hostile, caught):
    assert "+one = 2" in git.diff(hostile, "HEAD", None)
    assert git.show(hostile, "HEAD", "a.py") == b"one = 1\n"
    assert not caught.exists()


def test_comparing_a_hostile_submodule_runs_nothing(hostile, caught):
    found = of_range(hostile, "HEAD", None)
    assert found.files == ["a.py", "inner/a.py"]
    assert not caught.exists()


def test_blaming_lines_of_a_hostile_repository_runs_nothing(hostile, caught):
    assert [one.commit == "" for one in blame(hostile, "a.py").runs] == [True]
    assert not caught.exists()


def test_unpacking_a_hostile_revision_runs_nothing(hostile, caught, tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    git.unpack(hostile, "HEAD", into)
    assert (into / "a.py").read_bytes() == b"one = 1\n"
    assert not caught.exists()


def test_what_a_partial_clone_lacks_is_not_fetched_by_its_own_programs(hostile, caught):
    trap = hostile.parent / "trap"
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap}",
        "protocol.ext.allow": "always",
    }.items():
        ask(hostile, "config", key, value)
    blob = git.run(hostile, "rev-parse", "HEAD:a.py").decode().strip()
    (hostile / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError):
        git.show(hostile, "HEAD", "a.py")
    assert not caught.exists()


def test_variables_of_a_hook_do_not_point_at_another_repository(hostile, tmp_path, monkeypatch):
    other = a_repository(tmp_path / "other")
    (other / "b.py").write_text("b = 1\n")
    ask(other, "add", "-A")
    ask(other, "commit", "-q", "-m", "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert git.show(hostile, "HEAD", "b.py") is None


def test_only_a_missing_file_is_none(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "plain")
    assert git.show(root, "HEAD", "a.py") == b"one = 1\n"
    assert git.show(root, "HEAD", "b.py") is None
    with pytest.raises(GitError):
        git.show(root, "nowhere", "b.py")
    (tmp_path / "bare").mkdir()
    with pytest.raises(GitError):  # its message has "not in a git directory" in it, or a translation of that
        git.show(tmp_path / "bare", "HEAD", "b.py")
