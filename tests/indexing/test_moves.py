"""Identity of moved and renamed files and symbols.

It is kept if the match is certain, and lost otherwise.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from textwrap import indent

import pytest

from graphmem.indexing.moves import likeness, similarity
from graphmem.model import file_id, symbol_id

LONG = "    total = 0\n    for item in items:\n        total += item.weight * 2\n    return total\n"


@pytest.fixture
def moved(tmp_path, open_memory, monkeypatch):
    """Index one tree, then another in its place; what moved, as (path:qualname, path:qualname)."""

    def run(before, after):
        root = tmp_path / "tree"
        memory = open_memory()
        root.mkdir()
        write(root, before)
        memory.index(root)
        old = names(memory)
        for path in list(before):
            (root / path).unlink()
        write(root, after)
        deltas = []
        apply = memory.parts.store.apply
        monkeypatch.setattr(memory.parts.store, "apply", lambda delta, meta=None: deltas.append(delta) or apply(delta, meta))
        memory.index()
        new = names(memory)
        delta = deltas[0]
        gone = {*delta.removed_files, *delta.removed_symbols}
        fresh = {row.id for row in (*delta.files, *delta.symbols)}
        for one, other in delta.moves:
            assert one in gone
            assert other in fresh
            assert other not in old
        assert len({one for one, _ in delta.moves}) == len({other for _, other in delta.moves}) == len(delta.moves)
        return {(old[one], new[other]) for one, other in delta.moves}

    return run


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def names(memory):
    found = {}
    for row in memory.export():
        if row["kind"] == "File":
            found[row["id"]] = row["path"]
        elif row["kind"] == "Symbol":
            found[row["id"]] = f"{row['path']}:{row['qualname']}"
    return found


def test_a_renamed_file_takes_its_symbols_along(moved):
    text = f"def weigh(items):\n{LONG}\n\nclass Scale:\n    def read(self):\n        return weigh([])\n"
    assert moved({"a.py": text, "keep.py": "x = 1\n"}, {"pkg/b.py": text, "keep.py": "x = 1\n"}) == {
        ("a.py", "pkg/b.py"),
        ("a.py:<module>", "pkg/b.py:<module>"),
        ("a.py:weigh", "pkg/b.py:weigh"),
        ("a.py:Scale", "pkg/b.py:Scale"),
        ("a.py:Scale.read", "pkg/b.py:Scale.read"),
    }


def test_a_file_that_was_renamed_and_changed_is_known_by_the_lines_that_stayed(moved):
    text = f"def weigh(items):\n{LONG}\n\ndef other(items):\n    return weigh(items) + weigh(items)\n"
    found = moved({"a.py": text}, {"b.py": text.replace("* 2", "* 3") + "\n\ndef more():\n    return 1\n"})
    assert ("a.py", "b.py") in found
    assert {("a.py:weigh", "b.py:weigh"), ("a.py:other", "b.py:other")} <= found
    assert not any(new == "b.py:more" for _, new in found)


def test_a_text_file_is_found_again_too(moved):
    text = "\n".join(f"Paragraph {number} of the guide says something of its own." for number in range(20))
    assert moved({"guide.md": text, "a.py": ""}, {"docs/manual.md": text + "\nAnd one more.", "a.py": ""}) == {
        ("guide.md", "docs/manual.md")
    }


def test_two_files_of_other_content_are_two_files(moved):
    assert (
        moved({"a.py": f"def weigh(items):\n{LONG}"}, {"b.py": "import os\n\n\ndef list_all(folder):\n    return os.listdir(folder)\n"})
        == set()
    )


def test_a_function_moved_to_another_file_is_known_by_its_body(moved):
    function = f"def weigh(items):\n{LONG}"
    assert moved(
        {"a.py": f"x = 1\n\n\n{function}", "b.py": "y = 2\n"},
        {"a.py": "x = 1\n", "b.py": f"y = 2\n\n\n{function}"},
    ) == {("a.py:weigh", "b.py:weigh")}


def test_a_renamed_function_is_known_by_its_body(moved):
    assert moved({"a.py": f"def weigh(items):\n{LONG}"}, {"a.py": f"def measure(items):\n{LONG}"}) == {("a.py:weigh", "a.py:measure")}


def test_a_renamed_class_takes_its_members_along_even_those_that_changed(moved):
    one, two = indent(LONG, "    "), "        return self.one([1])\n"
    before = f"class Scale:\n    unit = 'kg'\n\n    def one(self, items):\n{one}\n    def two(self):\n{two}"
    after = before.replace("class Scale", "class Balance").replace("self.one([1])", "self.one([1, 2])")
    assert moved({"a.py": before}, {"a.py": after}) == {
        ("a.py:Scale", "a.py:Balance"),
        ("a.py:Scale.unit", "a.py:Balance.unit"),
        ("a.py:Scale.one", "a.py:Balance.one"),
        ("a.py:Scale.two", "a.py:Balance.two"),
    }


def test_of_several_equal_files_the_one_whose_path_is_most_alike_is_meant(moved):
    text = f"def weigh(items):\n{LONG}"
    found = moved({"old/a/util.py": text, "old/b/util.py": text}, {"new/a/util.py": text, "new/b/util.py": text})
    assert {("old/a/util.py", "new/a/util.py"), ("old/b/util.py", "new/b/util.py")} <= found
    assert ("old/b/util.py:weigh", "new/b/util.py:weigh") in found


def test_where_nothing_tells_equal_ones_apart_nothing_is_said_to_have_moved(moved):
    text = f"def weigh(items):\n{LONG}"
    assert moved({"a.py": text, "keep.py": ""}, {"b.py": text, "c.py": text, "keep.py": ""}) == set()


def test_small_bodies_that_happen_to_be_equal_are_not_a_move(moved):
    assert (
        moved({"a.py": "def stop():\n    pass\n", "b.py": "x = 1\n"}, {"a.py": "", "b.py": "x = 1\n\n\ndef start():\n    pass\n"}) == set()
    )


def test_git_agrees_which_files_were_renamed(starlette_tree, open_memory, monkeypatch):
    """A real package, half of whose files are renamed and changed a little."""

    def git(*arguments):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
        return subprocess.run(command, cwd=starlette_tree, check=True, capture_output=True, text=True).stdout

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    memory = open_memory()
    memory.index(starlette_tree)
    project = memory.project().name
    for number, path in enumerate(sorted((starlette_tree / "starlette").rglob("*.py"))):
        if number % 2 and path.stat().st_size > 500:
            path.write_text(f"# {number}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
            path.rename(path.with_name(f"new_{path.name}"))
    deltas = []
    apply = memory.parts.store.apply
    monkeypatch.setattr(memory.parts.store, "apply", lambda delta, meta=None: deltas.append(delta) or apply(delta, meta))
    memory.index()
    git("add", "-A")
    renamed = [line.split("\t")[1:] for line in git("diff", "--cached", "-M", "--name-status").splitlines() if line.startswith("R")]
    assert len(renamed) > 10
    moves = set(deltas[0].moves)
    assert {(file_id(project, old), file_id(project, new)) for old, new in renamed} <= moves
    for old, new in renamed:
        module = [symbol_id(project, path, "<module>", "module", 0) for path in (old, new)]
        assert tuple(module) in moves


def test_likeness_counts_the_name_and_the_folders_from_either_end():
    assert likeness("a/b/c.py", "a/b/c.py") == 1
    assert likeness("a/b/c.py", "x/b/c.py") > likeness("a/b/c.py", "x/y/c.py") > likeness("a/b/c.py", "x/y/z.py")


def test_similarity_of_nothing_is_nothing():
    assert similarity(Counter(), Counter()) == 0
    assert similarity(Counter(["abc"]), Counter(["abc"])) == 1
