"""A look at a few files says of them what a look at the whole tree says."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from graphmem.parsing.discovery import discover, discover_some
from graphmem.parsing.ignore import DiscoveryOptions

NAMES = ["a", "b.py", "c.ts", "vendor", "node_modules", "build", "d.min.js", "e.lock", "venv", "x y.py", "é.py", "[z].py", "*.md"]
RULES = ["build/\n", "*.ts\n!c.ts\n", "a\n", "/a/b.py\n", "!vendor/\n", ""]


def git(root: Path, *arguments: str) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=clean)


def grow(root: Path, chooser: random.Random, depth: int = 0) -> None:
    """A random tree with ignore files, links, environments and folders of every sort."""
    root.mkdir(exist_ok=True)
    for name in chooser.sample(NAMES, 6):
        target = root / name
        if "." not in name and depth < 3:
            grow(target, chooser, depth + 1)
        elif chooser.random() < 0.1:
            target.symlink_to(chooser.choice(["b.py", "..", "nowhere", "/etc/hosts"]))
        else:
            target.write_text(f"{name} = {chooser.random()}\n" if chooser.random() < 0.9 else "\0", encoding="utf-8")
    for name in (".gitignore", ".graphmemignore"):
        if chooser.random() < 0.3:
            (root / name).write_text(chooser.choice(RULES), encoding="utf-8")
    if depth and chooser.random() < 0.1:
        (root / "pyvenv.cfg").write_text("home = /usr\n", encoding="utf-8")


@pytest.mark.parametrize("by_git", [True, False], ids=["git", "walk"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_some_files_is_what_is_said_of_all(tmp_path, seed, by_git):
    chooser = random.Random(seed)
    root = tmp_path / "root"
    grow(root, chooser)
    (root / "main.py").write_text("x = 1\n", encoding="utf-8")
    if by_git:
        git(root, "init")
        git(root, "add", "main.py")
        for path in chooser.sample(sorted(str(p.relative_to(root)) for p in root.rglob("*.py")), 3):
            git(root, "add", "-f", "--", f":(literal){path}") if (root / path).is_file() else None
    for include_vendored in (False, True):
        options = DiscoveryOptions(include_vendored=include_vendored, exclude=("/a/a/",))
        whole = discover(root, options)
        assert whole.by_git == by_git
        there = [str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() and ".git/" not in str(path)]
        some = [*chooser.sample(sorted(there), len(there) // 2), "gone.py", "no/such/folder/file.py"]
        found = discover_some(root, some, options, by_git=by_git)
        assert found is not None
        assert found.files == [file for file in whole.files if file.path in some]
        assert set(found.diagnostics) <= set(whole.diagnostics)


def test_a_repository_inside_the_tree_takes_a_look_at_everything(tmp_path):
    for root in (tmp_path, tmp_path / "inner"):
        root.mkdir(exist_ok=True)
        git(root, "init")
        (root / "a.py").write_text("x = 1\n", encoding="utf-8")
    assert [file.path for file in discover(tmp_path).files] == ["a.py", "inner/a.py"]
    assert discover_some(tmp_path, ["inner/a.py"], by_git=True) is None
    assert [file.path for file in discover_some(tmp_path, ["a.py"], by_git=True).files] == ["a.py"]


def test_a_file_that_git_tracks_against_its_ignore_rules_stays(tmp_path):
    git(tmp_path, "init")
    for name in ("kept.py", "left.py"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("*.py\n", encoding="utf-8")
    git(tmp_path, "add", "-f", "kept.py")
    assert [file.path for file in discover_some(tmp_path, ["kept.py", "left.py"], by_git=True).files] == ["kept.py"]
