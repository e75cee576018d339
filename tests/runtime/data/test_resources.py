"""Which code this is: an index made by other code is not taken for ours."""

from __future__ import annotations

import pytest

from graphmem.runtime.data import resources as _resources
from graphmem.runtime.data.resources import digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one folder, and what is said of it."""
    (tmp_path / "rules" / "deep").mkdir(parents=True)
    (tmp_path / "rules" / "a.py").write_text("A = 1\n")
    (tmp_path / "rules" / "deep" / "b.scm").write_text("(b) @b\n")
    monkeypatch.setattr(_resources, "files", lambda _: tmp_path)
    return tmp_path / "rules", lambda: digest.__wrapped__("rules")


@pytest.mark.parametrize(
    "edit",
    [
        lambda folder: (folder / "a.py").write_text("A = 2\n"),
        lambda folder: (folder / "deep" / "b.scm").write_text("(c) @b\n"),
        lambda folder: (folder / "deep" / "b.scm").rename(folder / "b.scm"),
        lambda folder: (folder / "c.toml").write_text(""),
        lambda folder: (folder / "a.py").unlink(),
    ],
)
def test_whatever_is_changed_in_a_folder_changes_its_digest(package, edit):
    folder, told = package
    before = told()
    edit(folder)
    assert told() != before


def test_what_running_leaves_behind_does_not(package):
    folder, told = package
    before = told()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"compiled")
    assert told() == before


def test_folders_of_the_package_and_beside_it_have_one():
    assert len({digest(folder) for folder in ("parsing", "resolution", "indexing", "grammars")}) == 4
