"""Paths between two symbols: what stands for what, and which of several ways is told."""

from __future__ import annotations

import pytest

from graphmem.analysis.paths import best_path
from graphmem.analysis.refs import resolve_ref
from graphmem.answers import IndexState

STATE = IndexState("fresh", 1, "", 0, 0, 0, 0, 0)


def path(view, source, target, **bounds):
    return best_path(view, resolve_ref(view, source), resolve_ref(view, target), STATE, **bounds)


def ends(answer):
    return [(step.src.qualname, step.dst.qualname) for step in answer.steps]


@pytest.fixture
def routers(graph):
    """`Hono.constructor` makes a `Trie`; `Hono.serve` calls `Hono.match`, which calls `Trie.add`."""
    for owner, path, members in (("Hono", "hono.py", ("constructor", "serve", "match")), ("Trie", "trie.py", ("add",))):
        key = graph.symbol(path, owner, "class")
        for name in members:
            graph.symbol(path, f"{owner}.{name}", "method", parent_id=key)
            graph.edge(f"{path}:{owner}", f"{path}:{owner}.{name}", kind="DEFINES", rule="parser")
    graph.edge("hono.py:Hono.constructor", "trie.py:Trie", 0.98)
    graph.edge("hono.py:Hono.serve", "hono.py:Hono.match")
    graph.edge("hono.py:Hono.match", "trie.py:Trie.add", 0.95)
    return graph.view()


def test_a_class_depends_on_what_its_members_depend_on_and_is_depended_on_through_them(routers):
    assert ends(path(routers, "hono.py:Hono", "trie.py:Trie")) == [("Hono.constructor", "Trie")]
    assert ends(path(routers, "hono.py:Hono.serve", "trie.py:Trie")) == [("Hono.serve", "Hono.match"), ("Hono.match", "Trie.add")]
    assert path(routers, "trie.py:Trie", "hono.py:Hono").steps == []


def test_a_file_stands_for_its_symbols(routers):
    answer = path(routers, "hono.py", "trie.py")
    assert ends(answer) == [("Hono.constructor", "Trie")]
    assert (answer.source.kind, answer.target.kind) == ("file", "file")


def test_a_member_beside_its_class_is_the_member(routers):
    assert ends(path(routers, "hono.py:Hono", "hono.py:Hono.match")) == [("Hono.serve", "Hono.match")]
    assert ends(path(routers, "hono.py:Hono.serve", "hono.py:Hono")) == [("Hono.serve", "Hono.match")]


def test_a_path_beyond_the_bounds_is_the_nearest_miss_and_can_be_asked_for(graph):
    for number in range(6):
        graph.symbol("chain.py", f"f{number}")
    for number in range(5):
        graph.edge(f"chain.py:f{number}", f"chain.py:f{number + 1}", 0.5)
    view = graph.view()
    missed = path(view, "chain.py:f0", "chain.py:f5")
    assert missed.steps == []
    assert missed.nearest == (
        "beyond these bounds there is one of 5 steps with confidence 0.031: ask with max_depth 10 and min_confidence 0.0312"
    )
    assert len(path(view, "chain.py:f0", "chain.py:f5", min_confidence=0.0312).steps) == 5
    assert "max_depth 5 and min_confidence 0.01" in path(view, "chain.py:f0", "chain.py:f5", max_depth=2, min_confidence=0.01).nearest


def test_without_any_path_it_is_said_how_far_each_end_gets_and_which_call_would_close_the_gap(graph):
    for name in ("serve", "handle", "lonely", "route", "find"):
        graph.symbol("mux.py", name)
    graph.edge("mux.py:serve", "mux.py:handle")
    graph.edge("mux.py:route", "mux.py:find")
    graph.missed("mux.py:handle", "route", 7)
    view = graph.view()
    said = path(view, "mux.py:serve", "mux.py:find").nearest
    assert said == (
        "at confidence 0.05 or more the source leads to mux.py:handle, 1 step away; mux.py:route, 1 step away leads to the target; "
        "mux.py:handle calls route in line 7, which could not be followed and may be mux.py:route"
    )
    assert path(view, "mux.py:lonely", "mux.py:serve").nearest == (
        "at confidence 0.05 or more the source leads to nothing; nothing leads to the target"
    )
    assert path(view, "mux.py:serve", "mux.py:handle").nearest == ""


def test_members_of_one_class_on_both_sides_are_named_when_no_call_would_close_the_gap(graph):
    mux = graph.symbol("mux.go", "Mux", "class")
    for name in ("ServeHTTP", "routeHTTP"):
        graph.symbol("mux.go", f"Mux.{name}", "method", parent_id=mux)
    graph.symbol("tree.go", "FindRoute")
    graph.edge("mux.go:Mux.routeHTTP", "tree.go:FindRoute")
    assert path(graph.view(), "mux.go:Mux.ServeHTTP", "tree.go:FindRoute").nearest.endswith(
        "; mux.go:Mux.ServeHTTP and mux.go:Mux.routeHTTP are both members of Mux, and the second leads to the target in 1 step"
    )
