"""A review of files whose names a person could not type, but git and the disk allow."""

from __future__ import annotations

import os

import pytest

from commands import git
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

NAMES = ["plain.py", "~shop.py", "a\nb.py", "a\x01b.py", "a\\b.py", " blank.py ", os.fsdecode(b"bad\xff.py"), f"{'long/' * 230}x.py"]


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_of_any_name_is_reviewed_with_the_files_that_change_along(tmp_path, name):
    root = tmp_path / "shop"
    (root / name).parent.mkdir(parents=True)
    git(root, "init", "-q")
    for number in range(4):
        for path in (name, "beside.py"):
            (root / path).write_text(f"def total():\n    return {number}\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"change {number}")
    (root / name).write_text("def total():\n    return 9\n")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        found = opened.review()
    assert found.files == [name]
    assert [one.path for one in found.forgotten] == ["beside.py"]
