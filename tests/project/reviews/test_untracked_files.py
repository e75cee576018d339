"""A review of the working tree says which new files git does not show it."""

from __future__ import annotations

import pytest

from commands import git
from graphmem.cli.output import Output
from graphmem.cli.render.review import review
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings


@pytest.fixture
def memory(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def total():\n    return 1\n")
    (root / ".gitignore").write_text("ignored.py\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "cart.py").write_text("def total():\n    return 2\n")
    for name in ("fees.py", "ignored.py"):
        (root / name).write_text("from cart import total\n\n\ndef fee():\n    return total()\n")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened, root


def untracked(causes):
    return [(one.count, one.message, one.examples) for one in causes if one.kind == "untracked"]


def test_an_untracked_file_is_named_until_git_knows_it(memory):
    opened, root = memory
    for causes in (opened.review().causes, opened.impact_of_diff(base="HEAD").impact.causes):
        [(count, message, examples)] = untracked(causes)
        assert (count, examples) == (1, ["fees.py"])
        assert message.startswith("file is not tracked by git, and so not part of the change (fees.py); `git add --intent-to-add`")
    git(root, "add", "--intent-to-add", "fees.py")
    found = opened.review()
    assert untracked(found.causes) == []
    assert "fees.py" in found.files


def test_a_range_of_commits_has_no_untracked_files(memory):
    opened, root = memory
    git(root, "commit", "-q", "-a", "-m", "second")
    assert untracked(opened.impact_of_diff(base="HEAD~1", head="HEAD").impact.causes) == []


def test_a_review_of_new_files_alone_does_not_only_say_that_nothing_changed(memory, capsys):
    opened, root = memory
    git(root, "commit", "-q", "-a", "-m", "second")
    review(Output(), opened.review(), 5)
    assert "1 file is not tracked by git" in capsys.readouterr().out
