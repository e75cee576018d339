"""Commits become changes: whole, incremental, after a rebase, and whatever shape the repository is in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from graphmem.errors import GitError, IndexCancelledError
from graphmem.history import coaccess, git_history, git_lessons, git_log, git_mark
from graphmem.history.change_log import GIT, HistoryLog
from graphmem.history.co_edits import History


class Repo:
    """A real repository whose clock moves an hour with every commit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hours = 0
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        at = f"@{1_700_000_000 + 3600 * self.hours} +0000"
        who = {
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "Ann@example.org",
            "GIT_COMMITTER_NAME": "C",
            "GIT_COMMITTER_EMAIL": "c@example.org",
        }
        env = {
            **os.environ,
            **who,
            "GIT_AUTHOR_DATE": at,
            "GIT_COMMITTER_DATE": at,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        done = subprocess.run(["git", *arguments], cwd=self.root, env=env, input=stdin, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, message: str = "change", **files: str | None) -> str:
        """Write files (`a__b` is a/b.py; None deletes) and commit."""
        self.hours += 1
        for name, text in files.items():
            path = self.root / (name.replace("__", "/") + ".py")
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def log(tmp_path: Path):
    log = HistoryLog(tmp_path / "history.sqlite")
    yield log
    log.close()


def told(log: HistoryLog) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((entry.change.key, entry.change.files) for entry in log.since(0))


def moves_with(log: HistoryLog, path: str) -> list[str]:
    history = History().follow(log)
    return [history.nodes[one.node].path for one in coaccess.rank(history, [path], min_support=1)]


LONG = "".join(f"line {i}\n" for i in range(40))


def test_every_commit_is_a_change_with_its_files(repo, log):
    first = repo.commit(a="1", b="1")
    second = repo.commit(a="2", pkg__c="1")
    steps = []
    reading = git_history.read(repo.root, log, on_progress=steps.append)
    assert (reading.commits, reading.gone, reading.notes) == (2, False, [])
    assert told(log) == sorted([(first, ("a.py", "b.py")), (second, ("a.py", "pkg/c.py"))])
    assert {step.stage for step in steps} == {"history"}
    assert (steps[-1].done, steps[-1].total) == (2, 2)


def test_a_second_look_costs_one_question_and_changes_nothing(repo, log):
    repo.commit(a="1")
    git_history.read(repo.root, log)
    mark = log.mark()
    assert git_history.read(repo.root, log).commits == 0
    assert log.mark() == mark


def test_renames_are_followed(repo, log):
    repo.commit(old=LONG, friend="1")
    repo.commit(old=None, new=LONG)
    repo.commit(new=LONG + "more", other="1")
    git_history.read(repo.root, log)
    assert set(moves_with(log, "new.py")) == {"friend.py", "other.py"}
    assert moves_with(log, "old.py") == []


def test_merges_are_left_out_and_what_they_bring_is_not(repo, log):
    repo.commit(a="1")
    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit(b="1", c="1")
    repo.git("checkout", "-q", "main")
    repo.commit(a="2")
    repo.hours += 1
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    git_history.read(repo.root, log)
    assert (side, ("b.py", "c.py")) in told(log)
    assert len(told(log)) == 3


def test_in_pieces_and_at_once_give_the_same(repo, log, tmp_path):
    repo.commit(a=LONG, b="1")
    git_history.read(repo.root, log)
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(b="2", c="1")
    repo.git("checkout", "-q", "main")
    repo.commit(a=None, z=LONG)
    git_history.read(repo.root, log)
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    repo.commit(z=LONG + "1", c="2")
    git_history.read(repo.root, log)
    whole = HistoryLog(tmp_path / "whole.sqlite")
    git_history.read(repo.root, whole)
    assert told(log) == told(whole)
    for path in ("z.py", "b.py", "c.py"):
        one, other = (
            [(history.nodes[hit.node].path, hit.score) for hit in coaccess.rank(history, [path])]
            for history in (History().follow(log), History().follow(whole))
        )
        assert one == other
    whole.close()


def test_what_was_rebased_away_is_taken_out(repo, log):
    repo.commit(a="1")
    repo.commit(a="2", wrong="1")
    git_history.read(repo.root, log)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    right = repo.commit(a="3", right="1")
    reading = git_history.read(repo.root, log)
    assert (reading.commits, reading.gone) == (1, True)
    assert moves_with(log, "a.py") == ["right.py"]
    assert right in dict(told(log))


def test_a_last_commit_that_git_has_forgotten_means_reading_all_again(repo, log):
    repo.commit(a="1", b="1")
    lost = repo.commit(a="2", c="1")
    git_history.read(repo.root, log)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert not git_log.is_there(repo.root, lost)
    git_history.read(repo.root, log)
    assert moves_with(log, "a.py") == ["b.py"]


def test_what_agents_did_stays_when_commits_go(repo, log):
    from graphmem.history.change_log import AGENT, Change

    log.append([Change(AGENT, 1_700_000_000.0, ("a.py", "session.py"))])
    repo.commit(a="1", b="1")
    git_history.read(repo.root, log)
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.commit(a="1", c="1")
    git_history.read(repo.root, log)
    assert "session.py" in moves_with(log, "a.py")
    assert log.counts() == {"agent": 1, "git": 1}


def test_a_commit_of_fifty_thousand_files_joins_none_and_its_renames_are_followed(repo, log):
    # A few contents in folders of 200: git itself takes long to make 50,000 blobs, or one folder of them.
    stream = b"".join(b"blob\nmark :%d\ndata 5\n%05d\n" % (i + 1, i) for i in range(2_500))
    stream += b"commit refs/heads/main\ncommitter C <c@example.org> 1700000000 +0000\ndata 3\nbig\n"
    stream += b"".join(b"M 644 :%d f/%d/%d.py\n" % (i % 2_500 + 1, i // 200, i) for i in range(50_000))
    stream += b"commit refs/heads/main\ncommitter C <c@example.org> 1700003600 +0000\ndata 4\nmove\n"
    stream += b"R f g\nM 644 inline g/0/1.py\ndata 2\n1\nM 644 inline h.py\ndata 2\nh\n"
    stream += b"commit refs/heads/main\ncommitter C <c@example.org> 1700007200 +0000\ndata 5\nsmall\n"
    stream += b"M 644 inline g/0/1.py\ndata 2\n7\nM 644 inline h.py\ndata 2\ni\n"
    repo.git("fast-import", "--quiet", stdin=stream)
    git_history.read(repo.root, log)
    assert moves_with(log, "g/0/1.py") == ["h.py"]
    assert moves_with(log, "g/0/2.py") == []
    assert log.path.stat().st_size < 40_000_000


def test_shapes_of_repositories_are_notes_and_no_failures(repo, log, tmp_path):
    (tmp_path / "plain").mkdir()
    assert "no Git repository" in git_history.read(tmp_path / "plain", log).notes[0]
    assert "no commits" in git_history.read(repo.root, log).notes[0]
    for i in range(5):
        repo.commit(a=str(i), b=str(i))
    subprocess.run(
        ["git", "clone", "-q", "--depth", "2", f"file://{repo.root}", str(tmp_path / "shallow")], check=True, capture_output=True
    )
    reading = git_history.read(tmp_path / "shallow", log)
    assert "shallow" in reading.notes[0]
    assert git_history.notes_of(HistoryLog(log.path)) == reading.notes  # another process says it too
    assert reading.commits == 1  # what lies at the edge looks as if it had made every file
    subprocess.run(["git", "fetch", "-q", "--unshallow"], cwd=tmp_path / "shallow", check=True, capture_output=True)
    git_history.read(tmp_path / "shallow", log)
    assert log.counts() == {"git": 5}


def test_every_move_of_head_is_seen_in_the_files_of_git_and_an_edit_is_none(repo, tmp_path):
    def moved(*arguments: str) -> bool:
        before = git_mark.mark(repo.root)
        assert before is not None
        repo.git(*arguments)
        return git_mark.mark(repo.root) != before

    assert git_mark.mark(repo.root) is not None  # no commits yet
    repo.commit(a="1")
    before = git_mark.mark(repo.root)
    (repo.root / "a.py").write_text("2")
    repo.git("add", "-A")
    repo.git("status")
    assert git_mark.mark(repo.root) == before
    assert moved("commit", "-q", "-m", "two")
    assert moved("commit", "-q", "--amend", "-m", "three")
    assert moved("checkout", "-q", "-b", "other")
    assert moved("reset", "-q", "--soft", "HEAD") is False
    assert moved("commit", "-q", "--allow-empty", "-m", "four")
    repo.git("pack-refs", "--all")
    assert moved("commit", "-q", "--allow-empty", "-m", "five")
    assert moved("checkout", "-q", "--detach", "main")
    assert moved("reset", "-q", "--hard", "other")
    repo.git("worktree", "add", "-q", str(tmp_path / "second"), "main")
    tree = tmp_path / "second"
    before = git_mark.mark(tree)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"], cwd=tree, check=True)
    assert git_mark.mark(tree) not in (None, before)
    assert git_mark.mark(tmp_path) == ("", ())  # no repository around it


def test_without_git_the_history_is_a_note(repo, log, monkeypatch):
    repo.commit(a="1")
    monkeypatch.setenv("PATH", "")
    assert "git is not installed" in git_history.read(repo.root, log).notes[0]


def test_a_folder_of_a_repository_has_its_own_paths(repo, log):
    repo.commit(top="1", app__a="1", app__b="1")
    git_history.read(repo.root / "app", log)
    assert [files for _, files in told(log)] == [("a.py", "b.py")]


def test_submodules_are_not_files(repo, log, tmp_path):
    other = Repo(tmp_path / "other")
    other.commit(x="1")
    repo.commit(a="1")
    repo.hours += 1
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repo.commit(a="2", b="2")
    git_history.read(repo.root, log)
    assert "sub" not in {path for _, files in told(log) for path in files}


def test_names_that_try_to_look_like_records_are_names(repo, log):
    names = ["M", "R100", "\x01" + "a" * 40, "new\nline", " lead", "é.py", "D\tx"]
    for name in names:
        (repo.root / name).write_text("1")
    repo.commit("odd \x01 subject")
    git_history.read(repo.root, log)
    assert {path for _, files in told(log) for path in files} == set(names)


def test_a_repository_cannot_make_us_run_anything(repo, log, tmp_path):
    repo.commit(a="1")
    caught = tmp_path / "caught"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {caught}\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand"):
        repo.git("config", key, str(trap))
    repo.git("config", "log.showSignature", "true")
    (repo.root / ".gitattributes").write_text("*.py diff=evil\n")
    repo.git("config", "diff.evil.textconv", str(trap))
    repo.git("config", "diff.evil.command", str(trap))
    assert git_history.read(repo.root, log).commits == 1
    assert not caught.exists()


def test_being_interrupted_leaves_the_log_as_it_was(repo, log):
    repo.commit(a="1")
    with pytest.raises(IndexCancelledError):
        git_history.read(repo.root, log, cancelled=lambda: True)
    assert log.counts() == {}
    assert git_history.read(repo.root, log).commits == 1


def test_a_damaged_repository_is_an_error_and_leaves_the_log_as_it_was(repo, log):
    repo.commit(a="1", b="1")
    git_history.read(repo.root, log)
    repo.commit(a="2", c="1")
    tree = repo.git("rev-parse", "HEAD^{tree}")
    (repo.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitError, match=tree) as refused:
        git_history.read(repo.root, log)
    assert tree in refused.value.stderr
    assert moves_with(log, "a.py") == ["b.py"]
    assert tree in git_history.notes_of(log)[0]  # for who asks later


def test_a_clone_without_old_contents_is_read_without_looking_into_them(repo, log):
    text = "".join(f"line {number}\n" for number in range(30))
    repo.commit(a=text, b="1")
    repo.commit(moved=text, a=None, b="2")
    blob = repo.git("rev-parse", "HEAD:moved.py")
    repo.commit(changed=text + "more\n", moved=None, b="3")
    (repo.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    here = git_log.repository(repo.root)
    assert here is not None
    assert len(git_log.newest(repo.root, here, 10, 100)) == 3
    read = git_history.read(repo.root, log)
    assert (read.commits, read.notes) == (3, [git_history.LACKS])
    assert git_history.notes_of(log) == [git_history.LACKS]
    assert moves_with(log, "moved.py") == ["b.py"]  # what moved unchanged is followed, what was changed on the way is not
    again = repo.commit(b="4")
    assert git_history.read(repo.root, log).commits == 1
    assert log.meta()["git_head"] == again


def test_contents_that_come_back_are_looked_into(repo, log):
    text = "".join(f"line {number}\n" for number in range(30))
    repo.commit(a=text, b="1")
    blob = repo.git("rev-parse", "HEAD:a.py")
    repo.commit(moved=text + "more\n", a=None, b="2")
    away = repo.root / ".git" / "objects" / blob[:2] / blob[2:]
    kept = away.read_bytes()
    away.unlink()
    assert git_history.read(repo.root, log).notes == [git_history.LACKS]
    away.write_bytes(kept)
    assert git_history.read(repo.root, log).notes == []
    assert moves_with(log, "moved.py") == ["b.py"]
    assert sum(len(entry.change.renamed) for entry in log.since(0)) == 1


def test_a_failure_that_passes_changes_nothing_of_how_commits_are_told(repo, log, monkeypatch):
    text = "".join(f"line {number}\n" for number in range(30))
    repo.commit(a=text, b="1")
    repo.commit(moved=text + "more\n", a=None, b="2")
    git_history.read(repo.root, log)
    repo.commit(b="3")

    def fails(*_: object) -> int:
        raise GitError("git rev-list took longer than 60 s", command=("rev-list",), stderr="")

    with monkeypatch.context() as patched:
        patched.setattr(git_log, "count", fails)
        with pytest.raises(GitError):
            git_history.read(repo.root, log)
    assert git_history.read(repo.root, log).notes == []
    assert sum(len(entry.change.renamed) for entry in log.since(0)) == 1


def test_who_changed_a_file_is_a_hash(repo, log):
    repo.commit(a="1")
    git_history.read(repo.root, log)
    (facts,) = History().follow(log).files(86_400.0)
    assert (facts.path, facts.commits) == ("a.py", 1)
    ((who, commits),) = facts.authors.items()
    assert commits == 1
    assert b"example.org" not in log.path.read_bytes()
    assert who == git_log.hashed("ann@EXAMPLE.org", log.meta()["salt"])


# ---- what fixes teach

TRAP = "The cache was shared between threads, because the class attribute is evaluated once. It must be made in __init__."


@pytest.mark.parametrize(
    ("subject", "body", "teaches"),
    [
        ("Fix race in the cache", TRAP, True),
        ("Fix race in the cache", f"```diff\n-cache = {{}}\n+cache = None\n```\n\n{TRAP}", True),
        ("Fix race in the cache", "", False),
        ("Fix race in the cache", "Closes #12", False),
        ("Add a cache", TRAP, False),
        ("Fix typo in docs", TRAP, False),
        ("Bump version, fix CI", TRAP, False),
        ("Fix crash on start", "* because\n* otherwise", False),
    ],
)
def test_only_a_fix_that_says_why_teaches(repo, log, subject, body, teaches):
    sha = repo.commit(f"{subject}\n\n{body}", cache="1", tests__test_cache="1")
    reading = git_history.read(repo.root, log, is_lesson=git_lessons.may_teach, most_lessons=10)
    messages = git_log.bodies(repo.root, [one.sha for one in reading.lessons])[0]
    found = git_lessons.lessons(reading.lessons, messages, {"cache.py", "tests/test_cache.py"})
    assert len(found) == teaches
    for item in found:
        assert item["content"].startswith("Fix race in the cache. The cache was shared")
        assert item["files"] == ["cache.py", "tests/test_cache.py"]
        assert (item["source"], item["type"], item["commit_sha"]) == ("commit_auto", "gotcha", sha)


def test_a_lesson_ends_with_a_whole_sentence(repo, log):
    long = f"Callers of the first kind ({'w' * 420}) saw it first."
    endless = f"It was caused by {', '.join(['one more thing'] * 40)}."
    repo.commit(f"Fix race in the cache\n\n{endless}\n\n{long} {TRAP} {long}", cache="1")
    reading = git_history.read(repo.root, log, is_lesson=git_lessons.may_teach, most_lessons=10)
    messages = git_log.bodies(repo.root, [one.sha for one in reading.lessons])[0]
    (found,) = git_lessons.lessons(reading.lessons, messages, {"cache.py"})
    assert found["content"] == f"Fix race in the cache. {TRAP}"


def test_a_merged_commit_that_repeats_its_pull_request_teaches_once(repo, log):
    repo.commit(f"Fix race in the cache\n\n{TRAP}", cache="1")
    merged = repo.commit(f"Fix race in the cache (#12)\n\n{TRAP}", cache="2")
    repo.commit(f"Fix leak in the cache (#13)\n\n{TRAP}", cache="3")
    reading = git_history.read(repo.root, log, is_lesson=git_lessons.may_teach, most_lessons=10)
    messages = git_log.bodies(repo.root, [one.sha for one in reading.lessons])[0]
    found = git_lessons.lessons(reading.lessons, messages, {"cache.py"})
    assert [one["title"] for one in found] == ["Fix leak in the cache (#13)", "Fix race in the cache (#12)"]
    assert found[1]["commit_sha"] == merged


def test_lessons_are_few_and_name_only_what_is_still_there(repo, log):
    for i in range(git_lessons.MOST_LEARNT + 5):
        repo.commit(f"Fix crash {i}\n\n{TRAP}", **{f"m{i}": str(i)})
    reading = git_history.read(repo.root, log, is_lesson=git_lessons.may_teach, most_lessons=git_lessons.MOST_LEARNT + 2)
    assert len(reading.lessons) == git_lessons.MOST_LEARNT + 2
    messages = git_log.bodies(repo.root, [one.sha for one in reading.lessons])[0]
    assert len(git_lessons.lessons(reading.lessons, messages, {f"m{i}.py" for i in range(100)})) == git_lessons.MOST_LEARNT
    assert git_lessons.lessons(reading.lessons, messages, {"elsewhere.py"}) == []


def test_a_lesson_is_about_code_and_not_about_the_changelog(repo, log):
    (repo.root / "doc").mkdir()
    (repo.root / "doc/changelog.asciidoc").write_text("now")
    repo.commit(f"Fix race in the cache\n\n{TRAP}", cache="1")
    reading = git_history.read(repo.root, log, is_lesson=git_lessons.may_teach, most_lessons=10)
    messages = git_log.bodies(repo.root, [one.sha for one in reading.lessons])[0]
    (found,) = git_lessons.lessons(reading.lessons, messages, {"cache.py", "doc/changelog.asciidoc"})
    assert found["files"] == ["cache.py"]


def test_only_commits_are_read_as_commits(log, repo):
    repo.commit(a="1")
    git_history.read(repo.root, log)
    assert {entry.change.source for entry in log.since(0)} == {GIT}
