"""Import of outside evidence into the graph, also while people edit."""

from __future__ import annotations

import importlib
import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graphmem.errors import EvidenceError
from graphmem.evidence import trace
from graphmem.evidence.observations import End, Observation, Seen
from graphmem.evidence.sidecar import Sidecar

T = "tests/test_shop.py:"
S = "shop.py:"


@pytest.fixture
def recorded(shop, record, tmp_path):
    """The shop, and the trace of all its tests."""
    record(shop)
    return shop, tmp_path / "run.trace"


def edit(root, name, before, after):
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


def test_a_trace_becomes_calls_and_tests_with_certainty(recorded, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    calls, tests = edges(memory, "runtime", "CALLS"), edges(memory, "runtime", "TESTS")
    assert calls[S + "checkout", S + "hold"] == ("runtime", 31), "no text says that; the line is that of the call"
    assert tests[T + "test_empty", S + "Cart.each"] == ("runtime", 0)
    assert {row["confidence"] for row in memory.export() if row.get("source") == "runtime"} == {1.0}


def test_a_trace_left_by_the_plug_in_is_taken_in_by_the_next_run_once(shop, run_pytest, open_memory, edges):
    memory = open_memory("project/.graphmem")
    assert memory.index(shop).mode == "full"
    run_pytest(shop, "--graphmem")
    assert memory.index().mode == "incremental"
    assert (T + "test_empty", S + "hold") in edges(memory, "runtime", "TESTS")
    assert memory.index().mode == "unchanged"
    assert not list((shop / ".graphmem" / "evidence").iterdir())


def test_a_caller_that_is_edited_loses_its_calls_and_gets_them_back_with_its_text(recorded, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    before = lines(memory)
    edit(root, "shop.py", 'handlers = {"pay": pay, "hold": hold}', 'handlers = {"pay": pay, "hold": lambda cart: 0}')
    memory.index()
    calls = edges(memory, "runtime", "CALLS")
    assert not any(source == S + "checkout" for source, _ in calls)
    assert (S + "Cart.total", S + "rounded") in calls
    edit(root, "shop.py", "lambda cart: 0", "hold")
    memory.index()
    assert lines(memory) == before


def test_a_test_that_is_edited_keeps_what_it_ran_as_older_news(recorded, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    edit(root, "tests/test_shop.py", "assert checkout(Cart()) == 0", "assert not checkout(Cart())")
    memory.index()
    tests = edges(memory, "runtime", "TESTS")
    assert tests[T + "test_empty", S + "hold"][0] == "runtime_before"
    assert tests[T + "test_thread", S + "pay"][0] == "runtime"


def test_moved_lines_keep_everything_and_sites_move_along(recorded, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    before = edges(memory, "runtime", "TESTS")
    edit(root, "shop.py", '"""A shop."""', '"""A shop."""\n\n# more\n')
    memory.index()
    assert edges(memory, "runtime", "TESTS") == before
    assert edges(memory, "runtime", "CALLS")[S + "checkout", S + "hold"] == ("runtime", 34)


def test_a_function_that_goes_takes_its_edges_along_and_brings_them_back(recorded, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    before = lines(memory)
    edit(root, "shop.py", "def hold(cart)", "def keep(cart)")
    memory.index()
    assert not any(target == S + "hold" for _, target in edges(memory, "runtime"))
    edit(root, "shop.py", "def keep(cart)", "def hold(cart)")
    memory.index()
    assert lines(memory) == before


def test_a_run_of_some_tests_leaves_the_others_as_they_were(recorded, record, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    before = edges(memory, "runtime", "TESTS")
    record(root, "-k", "paid and 1")
    take(memory, root, runtime=[path])
    assert edges(memory, "runtime", "TESTS") == before


def test_what_a_test_does_not_run_any_more_is_forgotten_when_it_ran_again(recorded, record, open_memory, take, edges):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    edit(root, "shop.py", "        return rounded(sum(price for price in self.each()))", "        return 0")
    record(root, "-k", "empty")
    take(memory, root, runtime=[path])
    assert (T + "test_empty", S + "Cart.each") not in edges(memory, "runtime", "TESTS")
    assert (T + "test_empty", S + "hold") in edges(memory, "runtime", "TESTS")


def test_an_index_made_again_has_the_same_edges(recorded, open_memory, take):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    before = lines(memory)
    assert memory.index(full=True).mode == "full"
    assert lines(memory) == before


def test_without_its_sidecar_the_graph_holds_no_outside_edges(recorded, open_memory, take, edges, tmp_path):
    root, path = recorded
    memory = open_memory()
    memory.index(root)
    before = lines(memory)
    take(memory, root, runtime=[path])
    assert lines(memory) != before
    (tmp_path / "index" / "evidence.sqlite").unlink()
    memory.index()
    assert lines(memory) == before


BAD = {"cut": lambda data: data[: len(data) // 2], "other": lambda data: b"nothing of the kind"}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_refused_before_anything_changes(recorded, open_memory, take, kind):
    root, path = recorded
    memory = open_memory()
    memory.index(root)
    before = lines(memory)
    path.write_bytes(BAD[kind](path.read_bytes()))
    with pytest.raises(EvidenceError):
        take(memory, root, runtime=[path])
    assert memory.index().mode == "unchanged"
    assert lines(memory) == before


def test_a_bad_file_that_waits_is_quarantined_and_named_while_the_run_goes_on(recorded, open_memory, tmp_path):
    root, path = recorded
    memory = open_memory()
    inbox = tmp_path / "index" / "evidence"
    inbox.mkdir(parents=True)
    (inbox / "bad.trace").write_bytes(path.read_bytes()[:100])
    summary = memory.index(root)
    assert [one["code"] for one in summary.diagnostics] == ["evidence"]
    assert "bad.trace" in summary.diagnostics[0]["message"]
    assert [one.name for one in inbox.iterdir()] == ["bad.trace.refused"]
    assert memory.index().mode == "unchanged"


def test_a_damaged_sidecar_is_a_sentence(recorded, open_memory, take, tmp_path):
    root, path = recorded
    memory = open_memory()
    take(memory, root, runtime=[path])
    memory.close()
    (tmp_path / "index" / "evidence.sqlite").write_bytes(b"no database at all" * 100)
    again = open_memory()
    assert any(note.startswith("evidence.sqlite was quarantined") for note in again.damage)
    again.index(root)
    assert again.verify_index().sound


def test_a_trace_of_another_project_joins_nothing(recorded, open_memory, take, edges, tmp_path):
    _, path = recorded
    other = tmp_path / "other"
    other.mkdir()
    (other / "shop.py").write_text("def checkout():\n    return 1\n", encoding="utf-8")
    memory = open_memory()
    take(memory, other, runtime=[path])
    assert edges(memory, "runtime") == {}


@pytest.fixture
def starlette_tree(tmp_path):
    source = Path(importlib.import_module("starlette").__file__).parent
    tree = tmp_path / "tree"
    shutil.copytree(source, tree / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    return tree


def invented(memory, chooser, count):
    """Observations between definitions of the graph: where they come from means nothing to the merge."""
    rows = [row for row in memory.export() if row["kind"] == "Symbol" and row["symbol_kind"] in ("function", "method", "module", "class")]
    twins: dict[tuple[str, str, str], int] = {}
    ends = []
    for row in sorted(rows, key=lambda row: (row["path"], row["start_byte"], row["end_byte"])):
        key = (row["path"], row["qualname"], row["symbol_kind"])
        twins[key] = twins.get(key, -1) + 1
        ends.append(End(*key, twins[key], row["body_hash"]))
    found = []
    for subject in chooser.sample(ends, count):
        for kind in ("CALLS", "TESTS"):
            seen = {Seen(end, chooser.randrange(-1, 3)) for end in chooser.sample(ends, chooser.randrange(1, 12))}
            found.append(Observation("runtime", kind, subject, tuple(sorted(seen)), chooser.randrange(2)))
    return found


@pytest.mark.parametrize("seed", range(2))
def test_any_sequence_of_edits_and_evidence_equals_a_fresh_index_with_the_same_evidence(starlette_tree, open_memory, take, tmp_path, seed):
    chooser = random.Random(seed)
    originals = {path: path.read_text(encoding="utf-8") for path in starlette_tree.rglob("*.py")}
    memory = open_memory()
    memory.index(starlette_tree)
    history = []
    for _ in range(4):
        for _ in range(chooser.randrange(1, 4)):
            history.append(_edit(starlette_tree, originals, chooser))
        if chooser.random() < 0.6:
            path = tmp_path / "made.trace"
            trace.write(path, invented(memory, chooser, 60), {})
            take(memory, starlette_tree, runtime=[path])
            history.append("took evidence in")
        else:
            memory.index()
    (tmp_path / "fresh").mkdir()
    # The index may have it open: what it wrote last may not be in the file itself yet.
    with (
        closing(sqlite3.connect(tmp_path / "index" / "evidence.sqlite")) as source,
        closing(sqlite3.connect(tmp_path / "fresh" / "evidence.sqlite")) as target,
    ):
        source.backup(target)
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert any(row.get("source") == "runtime" for row in fresh.export())
    assert lines(memory) == lines(fresh), history


def _edit(tree, originals, chooser):
    kind, path = chooser.choice(("append", "cut", "comment", "rename", "delete", "restore")), chooser.choice(sorted(tree.rglob("*.py")))
    text = path.read_text(encoding="utf-8")
    if kind == "append":
        path.write_text(text + f"\n\ndef added_{chooser.randrange(3)}():\n    return 1\n", encoding="utf-8")
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
    else:
        path = chooser.choice(sorted(originals))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(originals[path], encoding="utf-8")
    return f"{kind} {path.name}"


def test_a_sidecar_of_a_later_format_is_refused_and_kept(tmp_path, recorded, open_memory, take):
    root, path = recorded
    take(open_memory(), root, runtime=[path])
    file = tmp_path / "index" / "evidence.sqlite"
    sidecar = Sidecar(file)
    sidecar._open().execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    sidecar._open().commit()
    sidecar.close()
    with pytest.raises(EvidenceError, match="format 99"):
        Sidecar(file).mark()
    assert file.exists()
