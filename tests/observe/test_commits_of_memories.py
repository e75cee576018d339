"""A memory in a git repository knows its commit; what a commit taught is as old as the commit and names files as they are."""

from __future__ import annotations

import os
import subprocess

import pytest

from graphmem.observe import git_mark
from graphmem.service.graphmem import GraphMem
from graphmem.settings import Settings

MADE = "2023-04-05T06:07:08+00:00"
BODY = """The cache must never be shared between threads, because its lock was released too early.

diff --git a/shop/cache.py b/shop/cache.py
--- a/shop/cache.py
+++ b/shop/other.py
@@ -1 +1 @@
"""


def git(root, *arguments, when=MADE):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", *arguments]
    times = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, env=clean | times)
    return done.stdout.strip()


def commit(root, text, message, when=MADE):
    (root / "shop").mkdir(exist_ok=True)
    (root / "shop" / "cache.py").write_text(text, encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--cleanup=verbatim", "-m", message, when=when)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init")
    commit(root, "def get():\n    return 1\n", "first")
    return root


@pytest.fixture
def memory(tree):
    with GraphMem.open(repo=tree, settings=Settings(embedder="none")) as found:
        yield found


def test_a_lesson_has_the_date_and_the_hash_of_its_commit_and_no_side_of_a_diff(tree, memory):
    sha = commit(tree, "def get():\n    return 2\n", f"Fix a race of the cache\n\n{BODY}")
    later = commit(tree, "def get():\n    return 3\n", f"Fix a leak of the cache\n\n{BODY}", when="2090-01-01T00:00:00+00:00")
    memory.index(tree)
    lessons = {one.commit_sha: one for one in memory.memories().memories}
    assert lessons.keys() == {sha, later}
    assert (lessons[sha].created_at[:10], lessons[sha].valid_from[:10]) == ("2023-04-05", "2023-04-05")
    assert lessons[later].created_at[:4] != "2090"
    for one in lessons.values():
        assert "diff" not in one.content
        assert one.files == ["shop/cache.py"]


@pytest.mark.parametrize(
    ("content", "files"),
    [
        ("diff --git a/shop/cache.py b/shop/gone.py keeps its lock", {"shop/cache.py", "shop/gone.py"}),
        ("The patch (--- a/shop/cache.py) takes the lock away", {"shop/cache.py"}),
        ("Both a/shop/cache.py and b/shop/cache.py take the lock", {"shop/cache.py"}),
        ("A folder of its own: a/only.py takes the lock", {"a/only.py"}),
    ],
)
def test_sides_of_a_diff_are_no_folders(tree, memory, content, files):
    memory.index(tree)
    assert set(memory.remember(content).memory.files) == files


def test_what_is_taught_and_learnt_has_the_commit_it_was_at(tree, memory):
    head = git(tree, "rev-parse", "HEAD")
    assert memory.remember("Before the first index the till is closed at noon.").memory.commit_sha == head
    memory.index(tree)
    assert memory.remember("The till opens at nine, before anybody comes.").memory.commit_sha == head
    next_one = commit(tree, "def get():\n    return 9\n", "more")
    assert memory.remember("The door is locked at eight, whoever is inside.").memory.commit_sha == next_one
    given = memory.remember("The lamp is never turned off by the last one.", commit_sha="0" * 40)
    assert given.memory.commit_sha == "0" * 40
    wish = "no, that's wrong: we run the tests twice before a release. Remember that."
    memory.observe([{"session_id": "s", "step": 1, "at": 1767261600, "kind": "message", "text": wish, "args": {"role": "user"}}])
    memory.end_session("s", "")
    learnt = [one for one in memory.memories().memories if "twice" in one.content]
    assert learnt
    assert {one.commit_sha for one in learnt} == {next_one}


def test_the_commit_is_told_by_the_files_of_git(tree, tmp_path):
    head = git(tree, "rev-parse", "HEAD")
    (tree / "shop").mkdir(exist_ok=True)
    assert git_mark.head(tree / "shop") == head
    git(tree, "pack-refs", "--all")
    assert git_mark.head(tree) == head
    git(tree, "worktree", "add", str(tmp_path / "other"), "-b", "other")
    assert git_mark.head(tmp_path / "other") == head
    git(tree, "checkout", "--detach")
    assert git_mark.head(tree) == head
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert git_mark.head(fresh) == ""
    git(fresh, "init")
    assert git_mark.head(fresh) == ""
    (fresh / ".git" / "HEAD").write_bytes(b"\xff ref: ../../../etc/passwd")
    assert git_mark.head(fresh) == ""
