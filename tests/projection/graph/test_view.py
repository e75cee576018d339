"""The graph projection says what the tables say, stays equal to a rebuild under edits, and survives a restart."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.answers import SymbolInfo
from graphmem.errors import LimitError
from graphmem.model import GraphDelta
from graphmem.projection.graph import lookups
from graphmem.projection.graph.arrays import EDGE_KINDS, NODE_KINDS, distinct, grouped
from graphmem.projection.graph.edges import kind_mask
from graphmem.projection.graph.lookups import StringLookup
from graphmem.projection.graph.view import GraphView

seeds = st.integers(0, 2**32)


@settings(max_examples=60)
@given(seed=seeds)
def test_a_view_holds_every_row_of_the_tables_and_no_other(world, seed):
    w = world(seed)
    view = GraphView.from_tables(w.tables())
    assert view.ids == sorted([*w.files, *w.symbols, *w.externals])
    for key, row in w.symbols.items():
        i = view.index_of[key]
        assert view.info(i) == SymbolInfo(
            key, row.kind, row.name, row.qualname, row.path, row.start_line, row.end_line, row.signature, row.is_test, row.entry_point
        )
        assert view.doc(i) == row.doc
        assert view.modifiers(i) == row.modifiers.split()
        assert view.body_hash(i) == row.body_hash
        assert view.complexity[i] == row.complexity
        assert view.parent[i] == view.index_of.get(row.parent_id, -1)
        assert i in view.by_name(row.name)
        assert i in view.by_qualname(row.qualname)
        assert i in view.by_path(row.path)
        assert view.is_entry_point[i] == bool(row.entry_point)
    for key, row in w.files.items():
        i = view.file_node(row.path)
        assert view.ids[i] == key
        info = view.file_info(row.path)
        assert (info.lines, info.size_bytes, info.module, info.is_test) == (row.lines, row.size_bytes, row.module, row.is_test)
        assert view.info(i).kind == "file"
    for key, row in w.externals.items():
        info = view.info(view.index_of[key])
        assert (info.kind, info.path) == ("external", "")
        assert info.qualname == (f"{row.package}.{row.name}" if row.name else row.package)
    found = {}
    for e in range(view.m):
        key = (view.kind_of(e), view.ids[view.src[e]], view.ids[view.dst[e]])
        lines = ",".join(map(str, view.lines_of(e)))
        found[key] = (pytest.approx(float(view.confidence[e])), view.source_of(e), view.rule_of(e), int(view.line[e]), lines)
    assert found == {key: (row.confidence, row.source, row.rule, row.line, row.lines) for key, row in w.edges.items()}
    for name in {row.name for row in w.unresolved.values()}:
        mine = [(view.ids[u.caller], u.path, u.line, u.reason) for u in view.unresolved_named(name)]
        theirs = [(row.caller_id, row.path, row.line, row.reason) for row in w.unresolved.values() if row.name == name]
        assert sorted(mine) == sorted(theirs)
        assert [u[1:3] for u in mine] == sorted(u[1:3] for u in mine)


@settings(max_examples=60)
@given(seed=seeds)
def test_walking_forward_and_backward_gives_the_same_edges(world, seed):
    view = GraphView.from_tables(world(seed).tables())
    forward = [(int(view.src[e]), int(e), int(view.dst[e])) for i in range(view.n) for e in view.out_edges(i)]
    backward = [(int(view.src[e]), int(e), int(view.dst[e])) for i in range(view.n) for e in view.in_edges(i)]
    assert forward == sorted(backward)
    assert [e for _, e, _ in forward] == list(range(view.m))
    assert (view.in_src == view.src[view.in_edge]).all()
    for i in range(view.n):
        assert [e for e in view.out_edges(i) if view.kind_of(e) == "CALLS"] == view.out_edges(i, {"CALLS"}).tolist()
        assert [e for e in view.in_edges(i) if view.kind_of(e) in ("CALLS", "INHERITS")] == view.in_edges(i, ["CALLS", "INHERITS"]).tolist()


@settings(max_examples=150)
@given(seed=seeds, size=st.integers(1, 9), edits=st.integers(1, 5))
def test_a_patched_view_equals_one_built_from_scratch(world, seed, size, edits):
    w = world(seed, size)
    view = GraphView.from_tables(w.tables())
    for _ in range(edits):
        view = view.patched(w.edit(), w.generation)
        fresh = GraphView.from_tables(w.tables())
        assert view.arrays.difference(fresh.arrays) == ""
        assert view.generation == fresh.generation
        assert view.counts == fresh.counts
        assert np.array_equal(view.in_src, fresh.in_src)


@settings(max_examples=100)
@given(seed=seeds, size=st.integers(1, 9), edits=st.integers(1, 6))
def test_look_ups_taken_over_by_a_patched_view_are_those_of_one_built_from_scratch(world, seed, size, edits):
    w = world(seed, size)
    view = GraphView.from_tables(w.tables())
    seen = set()
    for _ in range(edits):
        view.warm()
        view.file_names.files_named("")
        seen.update(view.names(), *([view.qualname(i) for i in range(view.n)], view.paths))
        view = view.patched(w.edit(), w.generation)
        fresh = GraphView.from_tables(w.tables())
        assert view.ids == fresh.ids
        assert dict(view.index_of) == dict(fresh.index_of)
        assert sorted(view.names()) == sorted(fresh.names())
        seen.update(fresh.names())
        for word in sorted(seen):
            assert np.array_equal(view.by_name(word), fresh.by_name(word))
            assert np.array_equal(view.by_qualname(word), fresh.by_qualname(word))
            assert np.array_equal(view.by_path(word), fresh.by_path(word))
            assert view.file_node(word) == fresh.file_node(word)
            assert view.file_names.files_named(word) == fresh.file_names.files_named(word)
            assert view.unresolved_named(word) == fresh.unresolved_named(word)
        assert np.array_equal(view.out_ptr, fresh.out_ptr)
        assert np.array_equal(view.in_ptr, fresh.in_ptr)
        assert view.entry_points.equals(fresh.entry_points)


def test_a_change_of_nothing_but_lines_shares_every_column_and_look_up_it_does_not_touch(world):
    w = world(7, 9)
    view = GraphView.from_tables(w.tables())
    view.warm()
    row = next(row for row in w.symbols.values())
    later = view.patched(GraphDelta.empty()._replace(symbols=[row._replace(start_line=row.start_line + 3)]), 2)
    assert int(later.start_line[later.index_of[row.id]]) == row.start_line + 3
    shared = [
        name
        for name in ("id", "qualname", "doc", "path", "parent")
        if getattr(later.arrays.nodes, name) is getattr(view.arrays.nodes, name)
    ]
    assert shared == ["id", "qualname", "doc", "path", "parent"]
    assert later.src is view.src
    assert later.in_ptr is view.in_ptr
    assert later._names is view._names
    assert later.index_of is view.index_of


def test_a_patch_leaves_the_old_view_as_it_was(world):
    w = world(7, 9)
    before, tables = GraphView.from_tables(w.tables()), w.tables()
    before.patched(w.edit(), 2)
    assert before.arrays.difference(GraphView.from_tables(tables).arrays) == ""


@settings(max_examples=15)
@given(seed=seeds)
def test_a_saved_view_is_loaded_as_it_was(world, seed, tmp_path_factory):
    w = world(seed, 8)
    view = GraphView.from_tables(w.tables())
    file = tmp_path_factory.mktemp("graph") / "graph.bin"
    view.save(file)
    loaded = GraphView.load(file, w.generation)
    assert loaded is not None
    assert loaded.arrays.difference(view.arrays) == ""
    delta = w.edit()
    assert loaded.patched(delta, w.generation).arrays.difference(view.patched(delta, w.generation).arrays) == ""


def test_a_saved_view_of_another_generation_or_a_damaged_one_is_not_used(world, tmp_path):
    view = GraphView.from_tables(world(3, 8).tables())
    file = tmp_path / "graph.bin"
    assert GraphView.load(file, view.generation) is None
    view.save(file)
    assert GraphView.load(file, view.generation + 1) is None
    whole = file.read_bytes()
    for damage in (b"", whole[:9], whole[:40], whole[: len(whole) // 2], whole[:-200], b"x" + whole[1:]):
        file.write_bytes(damage)
        assert GraphView.load(file, view.generation) is None
    for at in range(60, len(whole), max(1, len(whole) // 40)):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        file.write_bytes(bytes(changed))
        loaded = GraphView.load(file, view.generation)
        assert loaded is None or loaded.arrays.difference(view.arrays) == ""  # padding carries nothing
    assert [p.name for p in tmp_path.iterdir()] == ["graph.bin"]


def test_an_empty_graph_is_a_view_like_any_other(world):
    w = world(0, 1)
    tables = w.tables()
    empty = tables._replace(**{name: getattr(tables, name).slice(0, 0) for name in tables._fields[1:]})
    view = GraphView.from_tables(empty)
    assert (view.n, view.m, view.ids, view.paths) == (0, 0, [], [])
    assert view.by_name("x").tolist() == view.by_path("x").tolist() == []
    assert view.file_node("x") is None
    assert view.unresolved_named("x") == []


def test_kinds_are_shown_in_the_words_of_the_model(world):
    view = GraphView.from_tables(world(5, 9).tables())
    assert {info.kind for info in view.infos(range(view.n))} <= set(NODE_KINDS)
    assert {view.kind_of(e) for e in range(view.m)} <= set(EDGE_KINDS)
    with pytest.raises(ValueError, match="tuple"):
        kind_mask(["NO_SUCH_KIND"])


def test_a_kind_this_version_does_not_know_is_refused(world):
    w = world(5, 9)
    tables = w.tables()
    sid = next(iter(w.symbols))
    w.symbols[sid] = w.symbols[sid]._replace(kind="spell")
    with pytest.raises(LimitError, match="spell"):
        GraphView.from_tables(w.tables()._replace(generation=tables.generation))


def test_distinct_and_grouped_numbers_are_those_of_numpy_without_its_masked_arrays():
    chance = np.random.default_rng(4)
    for size in (0, 1, 2, 30, 400):
        values = chance.integers(-5, 20, size)
        assert distinct(values).tolist() == np.unique(values).tolist()
        expected = np.unique(values, return_inverse=True, return_counts=True)
        assert [part.tolist() for part in grouped(values)] == [part.tolist() for part in expected]
    names = "import sys, numpy; from graphmem.projection.graph.arrays import distinct, grouped; "
    script = names + "a = numpy.arange(9); distinct(a), grouped(a); "
    masked = subprocess.run([sys.executable, "-c", script + "print('numpy.ma' in sys.modules)"], capture_output=True, text=True, check=True)
    assert masked.stdout.strip() == "False"


def test_a_command_finds_its_names_without_a_table_of_all_names(monkeypatch):
    words = [*"abcab", "é", "", "a.b"]
    lookup = StringLookup(pa.array(words, pa.string()))
    with monkeypatch.context() as broken:
        broken.setattr(lookups._Table, "of", None)
        found = {word: lookup[word].tolist() for word in (*words, "A", "\ud800", "none")}
    assert found == {word: [i for i, one in enumerate(words) if one == word] for word in found}
    for _ in range(2):  # a server asks more often: then from the table
        assert {word: lookup[word].tolist() for word in found} == found
    assert lookup._table is not None
    assert lookup[words[0]].dtype == StringLookup(pa.array(words, pa.string()))[words[0]].dtype
    assert sorted(lookup.words()) == sorted(set(words))
