"""Index runs on the source of a real package."""

from __future__ import annotations

import json
import random

import pytest

from graphmem.errors import BadInputError, IndexCancelledError, RepositoryError
from graphmem.indexing import pipeline
from graphmem.runtime.data.resources import digest


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


def test_a_second_run_over_the_same_tree_touches_nothing(starlette_tree, open_memory):
    memory = open_memory()
    first = memory.index(starlette_tree)
    before = lines(memory)
    second = memory.index(starlette_tree)
    assert first.mode == "full"
    assert second.mode == "unchanged"
    assert second.changed == 0
    assert second.generation == first.generation
    assert lines(memory) == before


def test_unresolved_calls_of_names_that_only_libraries_have_are_counted_apart(tmp_path, open_memory):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def total(x):\n    return x.total() + x.strip_all() + x.strip_all()\n")
    summary = open_memory().index(tmp_path / "tree")
    assert (summary.call_sites, summary.unresolved, summary.unresolved_elsewhere) == (3, 3, 2)


@pytest.mark.parametrize("changed", ["resolution", "grammars", "indexing"])
def test_an_index_made_by_other_code_is_made_again(starlette_tree, open_memory, monkeypatch, changed):
    memory = open_memory()
    memory.index(starlette_tree)
    monkeypatch.setattr(pipeline, "digest", lambda folder: f"{digest(folder)}{folder == changed}")
    assert memory.index(starlette_tree).mode == "full"
    assert memory.index(starlette_tree).mode == "unchanged"


def test_the_same_tree_gives_the_same_bytes_whatever_the_number_of_workers(starlette_tree, open_memory):
    one, two = open_memory("one", workers=1), open_memory("two", workers=2)
    one.index(starlette_tree)
    two.index(starlette_tree)
    assert lines(one) == lines(two)


def test_a_file_of_tests_is_marked_by_its_path(tmp_path, open_memory):
    root = tmp_path / "tree"
    (root / "tests").mkdir(parents=True)
    for path in ("a.py", "test_a.py", "tests/b.py", "tests/notes.md"):
        (root / path).write_text("a = 1\n")
    memory = open_memory()
    memory.index(root)
    (root / "test_a.py").rename(root / "c.py")
    (root / "a.py").rename(root / "test_c.py")
    memory.index(root)
    files = {row["path"]: row["is_test"] for row in memory.export() if row["kind"] == "File"}
    assert files == {"c.py": False, "test_c.py": True, "tests/b.py": True, "tests/notes.md": False}


def test_the_summary_counts_what_the_graph_holds(starlette_tree, open_memory):
    memory = open_memory()
    summary = memory.index(starlette_tree)
    rows = list(memory.export())
    assert summary.files == sum(row["kind"] == "File" for row in rows)
    assert summary.symbols == sum(row["kind"] == "Symbol" for row in rows)
    assert summary.edges_by_kind["CALLS"] == sum(row["kind"] == "CALLS" for row in rows)
    assert sum(summary.edges_by_rule.values()) == sum(summary.edges_by_kind.values())
    assert 0 < summary.unresolved < summary.call_sites
    assert {"discover", "parse", "resolve", "write", "project"} <= summary.seconds.keys()


EDITS = ("append", "cut", "comment", "rename", "delete", "restore", "touch_import")


def edit(tree, originals, chooser):
    """One random edit of a kind that happens while people work; answers what it did."""
    files = sorted(tree.rglob("*.py"))
    kind, path = chooser.choice(EDITS), chooser.choice(files)
    text = path.read_text(encoding="utf-8")
    if kind == "append":
        path.write_text(text + f"\n\ndef added_{chooser.randrange(4)}(request):\n    return request.url_for('x')\n", encoding="utf-8")
    elif kind == "cut":
        blocks = text.split("\n\n\n")
        blocks.pop(chooser.randrange(len(blocks)))
        path.write_text("\n\n\n".join(blocks), encoding="utf-8")
    elif kind == "comment":
        path.write_text("# a line that moves every other\n" + text, encoding="utf-8")
    elif kind == "rename":
        path.rename(path.with_name(f"moved_{chooser.randrange(3)}.py"))
    elif kind == "delete":
        path.unlink()
    elif kind == "touch_import":
        path.write_text("from starlette.responses import *\nimport starlette.routing as routing\n" + text, encoding="utf-8")
    else:
        path = chooser.choice(sorted(originals))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(originals[path], encoding="utf-8")
    return f"{kind} {path.name}"


@pytest.mark.parametrize("seed", range(2))
def test_any_sequence_of_incremental_runs_equals_a_fresh_index(starlette_tree, open_memory, seed):
    chooser = random.Random(seed)
    originals = {path: path.read_text(encoding="utf-8") for path in starlette_tree.rglob("*.py")}
    memory = open_memory()
    memory.index(starlette_tree)
    history = []
    for _ in range(5):
        history += [edit(starlette_tree, originals, chooser) for _ in range(chooser.randrange(1, 4))]
        memory.index()
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh), history


def test_an_incremental_run_of_a_new_process_equals_a_fresh_index(starlette_tree, open_memory):
    memory = open_memory()
    memory.index(starlette_tree)
    memory.close()
    target = next(starlette_tree.rglob("responses.py"))
    target.write_text(target.read_text(encoding="utf-8").replace("class Response:", "class Answer:"), encoding="utf-8")
    again = open_memory()
    assert again.index().mode == "incremental"
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(again) == lines(fresh)


def test_an_interrupted_run_leaves_the_previous_index(starlette_tree, open_memory):
    memory = open_memory()
    memory.index(starlette_tree)
    before = lines(memory)
    for path in starlette_tree.rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8") + "\nx = 1\n", encoding="utf-8")
    asked = []

    def enough():
        asked.append(1)
        return len(asked) > 5

    with pytest.raises(IndexCancelledError, match="interrupted"):
        memory.index(cancelled=enough)
    assert lines(memory) == before
    assert memory.index().mode == "incremental"


def test_broken_files_are_diagnostics_and_the_rest_is_indexed(starlette_tree, open_memory):
    (starlette_tree / "broken.py").write_text("def ok():\n    pass\n\nclass Half(:\n    def method(self\n", encoding="utf-8")
    (starlette_tree / "latin.py").write_bytes(b"# -*- coding: utf-8 -*-\nname = '\xe9'\n\ndef greet():\n    return name\n")
    memory = open_memory()
    summary = memory.index(starlette_tree)
    assert {row["path"] for row in summary.diagnostics} >= {"broken.py", "latin.py"}
    assert memory.symbol("broken.py:ok").symbol.kind == "function"
    assert memory.symbol("latin.py:greet").symbol.start_line == 4


@pytest.mark.parametrize("first", [True, False], ids=["full", "incremental"])
def test_a_file_that_goes_away_while_the_index_is_made_is_an_empty_module_until_the_next_look(starlette_tree, open_memory, first):
    memory = open_memory()
    gone = starlette_tree / "starlette" / "routing.py"
    source = gone.read_bytes()
    if not first:
        memory.index(starlette_tree)
        gone.write_bytes(source + b"\nx = 1\n")

    def vanish(progress):
        if progress.stage == "parse" and not progress.done:
            gone.unlink(missing_ok=True)

    summary = memory.index(starlette_tree, on_progress=vanish)
    assert ("starlette/routing.py", "unreadable") in {(note["path"], note["code"]) for note in summary.diagnostics}
    assert memory.symbol("starlette/applications.py:Starlette").symbol.kind == "class"
    gone.write_bytes(source)
    memory.index(starlette_tree)
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)
    gone.unlink()
    memory.index(starlette_tree)
    assert "starlette/routing.py" not in {row["path"] for row in memory.export() if row["kind"] == "File"}


@pytest.mark.parametrize("make", ["missing", "file", "empty"])
def test_what_cannot_be_indexed_is_refused_with_a_sentence(tmp_path, open_memory, make):
    target = tmp_path / "target"
    if make == "file":
        target.write_text("x", encoding="utf-8")
    elif make == "empty":
        target.mkdir()
    with pytest.raises(RepositoryError):
        open_memory().index(target)


def test_an_index_is_of_one_tree(starlette_tree, tmp_path, open_memory):
    memory = open_memory()
    memory.index(starlette_tree)
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="--db"):
        memory.index(other)


@pytest.mark.parametrize(
    "missing",
    [
        "",
        '[lib]\npath = "src/not/there.rs"\n',
        '[[bin]]\nname = "other"\npath = "src/gone.rs"\n',
        "[lib]\nname = 'generated'\npath = 'src/made.rs'\n",
    ],
)
def test_a_file_that_a_manifest_promises_and_the_tree_lacks_ends_no_run(tmp_path, open_memory, missing):
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "Cargo.toml").write_text(f'[package]\nname = "x"\nversion = "0.1.0"\n{missing}', encoding="utf-8")
    (tree / "src" / "main.rs").write_text("mod a;\nfn h() {}\nfn main() { a::f(); x::f(); }\n", encoding="utf-8")
    (tree / "src" / "a.rs").write_text("use crate::h;\nuse x::other;\npub fn f() { h() }\n", encoding="utf-8")
    memory = open_memory()
    memory.index(tree)
    assert [hit.symbol.qualname for hit in memory.impact("src/main.rs:h", max_depth=1).hits] == ["f"]
    (tree / "src" / "lib.rs").write_text("pub fn other() {}\npub fn f() {}\n", encoding="utf-8")
    memory.index()
    (tree / "src" / "main.rs").unlink()
    memory.index()
    fresh = open_memory("fresh")
    fresh.index(tree)
    assert lines(memory) == lines(fresh)
