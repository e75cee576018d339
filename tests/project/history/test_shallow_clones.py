"""A shallow clone says that it is one, and its oldest commit is nobody's work."""

from __future__ import annotations

import subprocess
from typing import Final

import pytest

from graphmem.errors import GitError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

SHALLOW: Final = "the clone is shallow, so older commits are missing; `git fetch --unshallow` fetches them"


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory):
    """A function that indexes a clone with some of three commits: two of Ann, and the newest of Bob."""
    folder = tmp_path_factory.mktemp("shallow")
    origin = folder / "origin"
    origin.mkdir()

    def git(*words: str, who: str = "Ann") -> None:
        command = ("git", "-c", f"user.name={who}", "-c", f"user.email={who}@example.org", *words)
        subprocess.run(command, cwd=origin, check=True, capture_output=True)

    git("init")
    for number, who in enumerate(("Ann", "Ann", "Bob")):
        (origin / "a.py").write_text(f"def a():\n    return {number}\n")
        git("add", "-A")
        git("commit", "-m", f"Change {number}", who=who)

    def clone(depth: int) -> GraphMem:
        root = folder / str(depth)
        subprocess.run(["git", "clone", "-q", "--depth", str(depth), f"file://{origin}", str(root)], check=True, capture_output=True)
        made = GraphMem.open(folder / f"index{depth}", repo=root, settings=Settings(embedder="none"))
        made.index(root)
        return made

    return clone


def test_of_one_commit_nobody_knows_anything(cloned) -> None:
    with cloned(1) as memory:
        who, people, commits, hot = memory.reviewers("a.py"), memory.people(), memory.commits(), memory.hotspots()
        assert (who.people, people.parts, commits.commits) == ([], [], [])
        for notes in (who.notes, people.notes, commits.notes, hot.notes):
            assert SHALLOW in notes
        for refused in (lambda: memory.drift("HEAD~1"), lambda: memory.review(base="HEAD~1"), lambda: memory.impact_of_diff(base="HEAD~1")):
            with pytest.raises(GitError, match=r"^unknown revision 'HEAD~1'; use a commit, branch or tag, or fetch the older commits"):
                refused()


def test_of_two_commits_the_newer_one_counts(cloned) -> None:
    with cloned(2) as memory:
        assert [(one.name, one.commits) for one in memory.reviewers("a.py").people] == [("Bob", 1)]
        assert [one.commits for one in memory.people().parts] == [1]
        assert [one.author for one in memory.commits().commits] == ["Bob"]


def test_a_whole_clone_is_not_called_shallow(cloned) -> None:
    with cloned(9) as memory:
        assert {one.name: one.commits for one in memory.reviewers("a.py").people} == {"Ann": 2, "Bob": 1}
        for notes in (memory.reviewers("a.py").notes, memory.people().notes, memory.commits().notes, memory.hotspots().notes):
            assert notes == []
        with pytest.raises(GitError, match=r"^unknown revision 'nothing'; use a commit, branch or tag$"):
            memory.review(base="nothing")
