"""Answers report changed files at once, and soon contain them.

The tree is watched meanwhile.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time

import pytest

from graphmem.errors import GraphMemError
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.project.graph.watching import EDIT_QUIET_S, QUIET_S, Watcher, _notifier

PATIENCE_S = 60


def git(root, *arguments):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True, env=clean)


def until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


def has(memory, ref):
    try:
        return bool(memory.symbol(ref))
    except GraphMemError:
        return False


def settle(memory):
    """Wait until watching has begun and everything before was looked at."""
    watcher = memory.parts.following.watcher
    for _ in range(3):
        until(lambda: watcher._folders and not watcher._is_whole and memory.state().state == "fresh", "watching did not begin")
        time.sleep(0.1)


@pytest.fixture(params=["git", "walk"])
def watched(request, tmp_path, open_memory):
    """A small indexed tree that is being watched, in a repository and outside of one."""
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").touch()
    (root / "pkg" / "base.py").write_text("def shared(x):\n    return x\n", encoding="utf-8")
    (root / "pkg" / "user.py").write_text("from pkg.base import shared\n\n\ndef use():\n    return shared(1)\n", encoding="utf-8")
    (root / ".gitignore").write_text("ignored/\n*.tmp.py\n", encoding="utf-8")
    if request.param == "git":
        git(root, "init")
        git(root, "add", ".")
        git(root, "commit", "-m", "first")
    memory = open_memory()
    memory.index(root)
    memory.watch()
    settle(memory)
    return root, memory


def test_a_change_is_stale_at_once_and_indexed_soon_after(watched):
    root, memory = watched
    steps = []
    with memory.subscribe_progress() as feed:
        (root / "pkg" / "base.py").write_text("def shared(x):\n    return x\n\n\ndef fresh():\n    return shared(2)\n", encoding="utf-8")
        until(lambda: memory.state().stale_files, "the change was not noticed")
        state = memory.state()
        assert state.stale == ["pkg/base.py"]
        assert state.state == "stale"
        report = memory.impact("pkg/user.py:use")
        assert report.epistemic != "exact"
        cause = next(cause for cause in report.causes if cause.kind == "stale")
        assert (cause.count, cause.examples) == (1, ["pkg/base.py"])
        until(lambda: has(memory, "pkg/base.py:fresh"), "the change was not indexed")
        until(lambda: memory.state().state == "fresh", "the change stayed stale")
        memory.close()
        steps = [step.stage for step in feed]
    assert {"discover", "parse", "resolve", "write", "done"} <= set(steps)


def test_a_file_saved_without_a_change_is_not_stale(watched):
    root, memory = watched
    before = memory.state().generation
    target = root / "pkg" / "base.py"
    target.write_bytes(target.read_bytes())
    time.sleep(1.5)
    assert memory.state().stale_files == 0
    assert memory.state().generation == before


def test_an_editor_that_writes_a_new_file_and_renames_it_makes_one_edit(watched):
    root, memory = watched
    target = root / "pkg" / "base.py"
    before = memory.state().generation
    (root / "pkg" / "4913").touch()
    (root / "pkg" / "4913").unlink()
    target.rename(target.with_name("base.py~"))
    target.write_text("def shared(x):\n    return renamed(x)\n\n\ndef renamed(x):\n    return x\n", encoding="utf-8")
    target.with_name("base.py~").unlink()
    until(lambda: has(memory, "pkg/base.py:renamed"), "the change was not indexed")
    until(lambda: memory.state().state == "fresh", "it stayed stale")
    assert memory.state().generation == before + 1
    swap = target.with_name(".base.py.new")
    swap.write_text("def shared(x):\n    return 3\n", encoding="utf-8")
    swap.replace(target)
    until(lambda: not has(memory, "pkg/base.py:renamed"), "the replacement was not indexed")


def test_new_folders_are_watched_and_ignored_ones_are_not(watched):
    root, memory = watched
    deep = root / "pkg" / "new" / "deeper"
    deep.mkdir(parents=True)
    (root / "ignored").mkdir()
    until(lambda: str(deep) in memory.parts.following.watcher._folders, "the new folder was not noticed")
    assert str(root / "ignored") not in memory.parts.following.watcher._folders
    (deep / "leaf.py").write_text("def leaf():\n    return 1\n", encoding="utf-8")
    (root / "ignored" / "no.py").write_text("def no():\n    return 1\n", encoding="utf-8")
    (root / "pkg" / "also.tmp.py").write_text("def no():\n    return 1\n", encoding="utf-8")
    until(lambda: has(memory, "pkg/new/deeper/leaf.py:leaf"), "the new file was not indexed")
    until(lambda: memory.state().state == "fresh", "it stayed stale")
    assert not has(memory, "no")
    (root / ".gitignore").write_text("", encoding="utf-8")
    until(lambda: has(memory, "ignored/no.py:no") and has(memory, "pkg/also.tmp.py:no"), "the rules were not read again")
    (root / "pkg" / "new").rename(root / "pkg" / "moved")
    until(lambda: has(memory, "pkg/moved/deeper/leaf.py:leaf") and not has(memory, "pkg/new/deeper/leaf.py:leaf"), "no move")


def test_a_branch_switch_is_one_batch(tmp_path, starlette_tree, open_memory):
    git(starlette_tree, "init")
    git(starlette_tree, "add", ".")
    git(starlette_tree, "commit", "-m", "first")
    git(starlette_tree, "switch", "-c", "other")
    for number, path in enumerate(sorted(starlette_tree.rglob("*.py"))[::2]):
        path.write_text(f"# {number}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    (starlette_tree / "starlette" / "routing.py").rename(starlette_tree / "starlette" / "paths.py")
    (starlette_tree / "only_here").mkdir()
    (starlette_tree / "only_here" / "a.py").write_text("def only_here():\n    return 1\n", encoding="utf-8")
    git(starlette_tree, "add", "-A")
    git(starlette_tree, "commit", "-m", "second")
    git(starlette_tree, "switch", "main")
    memory = open_memory()
    memory.index(starlette_tree)
    memory.watch()
    settle(memory)
    before = memory.state().generation
    git(starlette_tree, "switch", "other")
    until(lambda: has(memory, "only_here/a.py:only_here"), "the switch was not noticed")
    until(lambda: memory.state().state == "fresh", "it stayed stale")
    assert memory.state().generation == before + 1
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)
    git(starlette_tree, "add", "-A")
    assert memory.state().state == "fresh"


def test_a_file_that_git_begins_to_track_against_its_rules_is_indexed(watched):
    root, memory = watched
    if not (root / ".git").exists():
        pytest.skip("this is about git")
    (root / "pkg" / "kept.tmp.py").write_text("def kept():\n    return 1\n", encoding="utf-8")
    time.sleep(0.7)
    assert not has(memory, "kept")
    git(root, "add", "-f", "pkg/kept.tmp.py")
    until(lambda: has(memory, "pkg/kept.tmp.py:kept"), "git's index was not noticed")
    (root / "ignored").mkdir()
    (root / "ignored" / "forced.py").write_text("def forced():\n    return 1\n", encoding="utf-8")
    git(root, "add", "-f", "ignored/forced.py")
    until(lambda: has(memory, "ignored/forced.py:forced"), "git's index was not noticed")
    (root / "ignored" / "forced.py").write_text("def changed():\n    return 1\n", encoding="utf-8")
    until(lambda: has(memory, "ignored/forced.py:changed"), "the file in an ignored folder is not watched")


def test_where_the_system_cannot_watch_files_are_looked_at_again_and_again_and_the_state_says_so(tmp_path, open_memory):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def a():\n    return 1\n", encoding="utf-8")
    memory = open_memory()
    memory.index(root)

    def limited(folders, poll):
        if not poll:
            raise OSError("OS file watch limit reached.")
        return _notifier(folders, poll)

    memory.parts.following.watcher = Watcher(root, DiscoveryOptions(), memory.parts.runs, limited)
    memory.parts.following.watcher.start()
    until(lambda: "max_user_watches" in memory.state().note, "nothing was said")
    time.sleep(1)
    (root / "a.py").write_text("def b():\n    return 1\n", encoding="utf-8")
    until(lambda: has(memory, "a.py:b"), "the change was not found")
    assert "every 2 s" in memory.state().note


def test_a_tree_that_goes_away_keeps_its_index_and_is_followed_when_it_comes_back(watched):
    root, memory = watched
    away = root.with_name("away")
    root.rename(away)
    until(lambda: "does not exist" in memory.state().note, "nothing was said")
    assert has(memory, "pkg/base.py:shared")
    (away / "pkg" / "base.py").write_text("def back():\n    return 1\n", encoding="utf-8")
    away.rename(root)
    until(lambda: has(memory, "pkg/base.py:back"), "it was not followed again")


def test_random_edits_under_watch_end_in_the_graph_of_a_fresh_index(watched, open_memory):
    root, memory = watched
    chooser = random.Random(5)
    names = ["one", "two", "three", "pkg"]
    for number in range(40):
        folder = root / chooser.choice(names)
        target = folder / f"{chooser.choice('abc')}.py"
        action = chooser.choice(["write", "write", "write", "delete", "move", "drop"])
        if action == "write":
            folder.mkdir(exist_ok=True)
            called = chooser.choice(["shared", "f1", "f2", "f3"])
            text = f"from pkg.base import *\nfrom one.a import *\n\n\ndef f{chooser.randrange(4)}(x):\n    return {called}({number})\n"
            target.write_text(text, encoding="utf-8")
        elif action == "delete":
            target.unlink(missing_ok=True)
        elif action == "move" and folder.exists() and folder.name != "pkg":
            other = root / chooser.choice(names[:3])
            if not other.exists():
                folder.rename(other)
        elif action == "drop" and folder.name != "pkg" and folder.exists():
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
        time.sleep(chooser.choice([0, 0, 0.05, 0.3, 0.8]))
    fresh = open_memory("fresh")
    fresh.index(root)
    until(lambda: lines(memory) == lines(fresh), "the graphs differ")
    time.sleep(1)
    assert lines(memory) == lines(fresh)
    assert memory.state().stale_files == 0


def test_an_edit_of_one_or_two_files_waits_less_than_a_batch_or_a_file_without_content(tmp_path):
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "empty.py").touch()
    watcher = Watcher(tmp_path, DiscoveryOptions(), None)
    for paths, is_whole, expected in (
        ({"a.py"}, False, EDIT_QUIET_S),
        ({"a.py", "b.py"}, False, EDIT_QUIET_S),
        ({"a.py", "b.py", "c.py"}, False, QUIET_S),
        ({"a.py"}, True, QUIET_S),
        ({"empty.py"}, False, QUIET_S),
        ({"gone.py"}, False, QUIET_S),
    ):
        watcher._pending, watcher._is_whole = paths, is_whole
        assert watcher._quiet_s() == expected, paths
