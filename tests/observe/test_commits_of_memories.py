"""A memory in a git repository knows its commit; what a commit taught is as old as the commit and names files as they are."""

from __future__ import annotations

import os
import subprocess

import pytest

from graphmem.errors import GitError, SymbolNotFoundError
from graphmem.history import git_lessons, git_log, git_mark
from graphmem.project.graphmem import GraphMem
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
    both = "def get():\n    return 2\n\n\ndef put():\n    return 3\n"
    later = commit(tree, both, f"Fix a leak of the cache\n\n{BODY}", when="2090-01-01T00:00:00+00:00")
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
def test_sides_of_a_diff_are_not_folders(tree, memory, content, files):
    memory.index(tree)
    assert set(memory.remember(content).memory.files) == files


def test_what_is_taught_and_learnt_has_the_commit_it_was_at(tree, memory):
    head = git(tree, "rev-parse", "HEAD")
    assert memory.remember("Before the first index the till is closed at noon.").memory.commit_sha == head
    memory.index(tree)
    assert memory.remember("The till opens at nine, before anybody comes.").memory.commit_sha == head
    next_one = commit(tree, "def get():\n    return 9\n", "more")
    assert memory.remember("The door is locked at eight, even if people are inside.").memory.commit_sha == next_one
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


def test_a_commit_that_git_cannot_read_costs_itself_alone(tree):
    shas = [commit(tree, f"def get():\n    return {at}\n", f"Fix a race of the cache {at}\n\n{BODY}") for at in range(2, 7)]
    bad = shas[2]
    place = tree / ".git" / "objects" / bad[:2] / bad[2:]
    place.chmod(0o600)
    place.write_bytes(b"not an object")
    found, unread = git_log.bodies(tree, shas)
    assert unread == [bad]
    assert found.keys() == {*shas} - {bad}
    with pytest.raises(GitError):
        git_log.bodies(tree, [bad])


def test_a_message_in_another_encoding_or_one_that_breaks_a_rule_costs_itself_alone(tree, memory):
    good = commit(tree, "def get():\n    return 2\n", f"Fix a race of the cache\n\n{BODY}")
    raw = git(tree, "cat-file", "commit", "HEAD").encode() + b"\n"
    both = "def get():\n    return 2\n\n\ndef put():\n    return 3\n"
    (tree / "shop" / "cache.py").write_text(both, encoding="utf-8")
    git(tree, "add", ".")
    head, _, _ = raw.partition(b"\n\n")
    lines = [line for line in head.split(b"\n") if not line.startswith((b"tree", b"parent"))]
    made = [b"tree " + git(tree, "write-tree").encode(), b"parent " + good.encode(), *lines]
    body = BODY.encode().replace(b"threads", b"thr\xff\xe9ads \x1b[31m")
    (tree / "raw").write_bytes(b"\n".join(made) + b"\n\nFix a leak \xff of the cache\n\n" + body)
    sha = git(tree, "hash-object", "-t", "commit", "-w", "raw")
    (tree / "raw").unlink()
    git(tree, "update-ref", "HEAD", sha)
    commit(tree, f"{both}\n\ndef size():\n    return 4\n", f"Fix a crash of the cache\n\n{BODY}")
    memory.index(tree)
    assert {one.commit_sha for one in memory.memories().memories} >= {good, git(tree, "rev-parse", "HEAD")}
    assert not memory.health().notes or "fault of graphmem" not in str(memory.health().notes)


def test_a_message_that_ends_in_an_unforeseen_error_is_named(monkeypatch):
    monkeypatch.delenv("_GRAPHMEM_RAISE", raising=False)
    one = git_log.Commit("a" * 40, 0.0, "", "Fix a race", ("shop/cache.py",), (), (), 1)
    bad = one._replace(sha="b" * 40, subject=None)
    faults = []
    learnt = git_lessons.lessons([one, bad], {one.sha: BODY, bad.sha: BODY}, {"shop/cache.py"}, faults)
    assert [item["commit_sha"] for item in learnt] == [one.sha]
    assert len(faults) == 1
    assert faults[0].startswith("commit bbbbbbbbbbbb teaches nothing: ")


def test_paths_of_a_file_are_taken_in_every_form(tree, memory):
    memory.index(tree)
    path = tree / "shop" / "cache.py"
    expected = memory.file_history(["shop/cache.py"])
    assert len(expected) == 1
    for given in (str(path), path.as_uri()):
        assert memory.file_history([given]) == expected
        assert memory.rules([given]) == memory.rules(["shop/cache.py"])
        assert memory.prefetch(given).module == memory.prefetch("shop/cache.py").module
        assert memory.step_limit(given, 5) == memory.step_limit("shop/cache.py", 5)
        around = memory.subgraph([given, "nowhere.py:nothing"])
        assert {one.id for one in around.nodes} == {one.id for one in memory.subgraph(["shop/cache.py"]).nodes}
        assert [(one.ref, one.code) for one in around.missed] == [("nowhere.py:nothing", "NOT_FOUND")]
    with pytest.raises(SymbolNotFoundError):
        memory.subgraph(["nowhere.py:nothing"])


def test_traps_of_a_file_are_shown_whatever_form_its_path_has(tree, memory):
    memory.index(tree)
    memory.remember("The cache is emptied by each deploy, never rely on it.", type="gotcha", files=["shop/cache.py"])
    memory.set_trust_level("autonomous")
    shown = []
    for given in ("shop/cache.py", str(tree / "shop" / "cache.py"), (tree / "shop" / "cache.py").as_uri()):
        shown.append([one.id for one in memory.context("tool", files=[given], deadline_s=30).items])
    assert shown[0] == shown[1] == shown[2]
    assert shown[0]
