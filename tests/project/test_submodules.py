"""A change of a submodule's files is reviewed like a change of the project's own files, because the index has both."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import git
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings


@pytest.fixture
def memory(tmp_path):
    """A project with a submodule `libs/tax`, whose function the project calls."""
    tax, root = tmp_path / "tax", tmp_path / "shop"
    for folder, name, text in (
        (tax, "rates.py", "def rate():\n    return 1\n"),
        (root, "cart.py", "from libs.tax.rates import rate\n\n\ndef total():\n    return rate()\n"),
    ):
        folder.mkdir()
        (folder / name).write_text(text)
        git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "first")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tax), "libs/tax")
    git(root, "commit", "-q", "-m", "second")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened, root


def edit(root: Path) -> None:
    (root / "libs/tax/rates.py").write_text("def rate():\n    return 2\n")
    (root / "libs/tax/fees.py").write_text("def fee():\n    return 3\n")


def test_an_uncommitted_change_in_a_submodule_is_reviewed_with_its_dependents(memory):
    opened, root = memory
    assert opened.review().files == []
    edit(root)
    opened.index()
    found = opened.review()
    assert found.files == ["libs/tax/rates.py"]
    assert [(one.change, one.symbol.qualname) for one in found.changed] == [("body", "rate")]
    assert [hit.symbol.qualname for hit in found.breaks] == ["total"]
    assert [one.examples for one in found.causes if one.kind == "untracked"] == [["libs/tax/fees.py"]]


def test_a_new_commit_of_a_submodule_is_reviewed_by_its_files_also_in_a_range_of_commits(memory):
    opened, root = memory
    edit(root)
    git(root / "libs/tax", "commit", "-q", "-a", "-m", "raise")
    opened.index()
    assert opened.review().files == ["libs/tax/rates.py"]
    git(root, "commit", "-q", "-a", "-m", "third")
    assert opened.review().files == []
    for ends in (("HEAD~1", None), ("HEAD~1", "HEAD")):
        found = opened.impact_of_diff(base=ends[0], head=ends[1])
        assert (found.files, [hit.symbol.qualname for hit in found.impact.hits]) == (["libs/tax/rates.py"], ["total"])


def test_a_submodule_that_was_added_removed_or_lacks_the_commit_is_one_file_of_the_change(memory, tmp_path):
    opened, root = memory
    assert opened.impact_of_diff(base="HEAD~1").files == [".gitmodules", "libs/tax"]
    git(root, "clone", "-q", str(root), str(tmp_path / "clone"))  # its submodule is not checked out
    with GraphMem.open(tmp_path / "other", settings=Settings(embedder="none")) as other:
        other.index(tmp_path / "clone")
        assert other.review().files == []
        assert other.impact_of_diff(base="HEAD~1", head="HEAD").files == [".gitmodules", "libs/tax"]
    git(root, "rm", "-q", "-f", "libs/tax")
    assert opened.review().files == [".gitmodules", "libs/tax"]


def test_a_submodule_of_both_revisions_is_not_a_new_module_in_the_drift(memory):
    opened, root = memory
    (root / "cart.py").write_text("from libs.tax.rates import rate\n\n\ndef total():\n    return rate() + 1\n")
    git(root, "commit", "-q", "-a", "-m", "third")
    opened.index()
    assert opened.drift("HEAD~1").modules == []
