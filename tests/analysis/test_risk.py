"""Whose risk is never low, and what a level says first."""

from __future__ import annotations

import pytest

from graphmem.analysis.impact import impact
from graphmem.analysis.impact_question import Question
from graphmem.answers import IndexState

STATE = IndexState("fresh", 1, "", 0, 0, 0, 0, 0)
PUBLIC = "public API: callers outside are not known"


def risk(graph, ref):
    from graphmem.analysis.refs import resolve_ref

    view = graph.view()
    return impact(view, list(resolve_ref(view, ref)), Question(), STATE).risk


@pytest.fixture
def library(graph):
    """A package with a manifest, and functions with one caller each."""
    for path in ("setup.py", "lib/__init__.py"):
        graph.symbol(path, "<module>", "module")
    return graph


@pytest.mark.parametrize(
    ("path", "name", "extra", "reason"),
    [
        ("lib/a.py", "shown", {}, PUBLIC),
        ("lib/_a.py", "listed", {"modifiers": "exported"}, PUBLIC),
        ("tool/a.py", "handler", {"entry_point": "route"}, "route handler: requests from outside call it"),
        ("tool/a.py", "handed_out", {"entry_point": "export"}, PUBLIC),
    ],
)
def test_what_code_outside_may_call_is_never_low(library, path, name, extra, reason):
    library.symbol(path, name, **extra)
    library.edge("lib/b.py:_caller", f"{path}:{name}").edge("test_b.py:test_it", "lib/b.py:_caller")
    found = risk(library, f"{path}:{name}")
    assert (found.level, found.score, found.reasons[0]) == ("medium", 20.0, reason)


def test_what_the_front_of_a_package_imports_is_public_with_what_it_inherits(library):
    library.symbol("lib/_impl.py", "Base", "class")
    library.symbol("lib/_impl.py", "Client", "class")
    for name in ("Base.send", "Base._send"):
        library.symbol("lib/_impl.py", name, "method", parent_id=library.id("lib/_impl.py:Base"))
        library.edge("lib/b.py:_caller", f"lib/_impl.py:{name}")
    library.edge("test_b.py:test_it", "lib/b.py:_caller")
    library.edge("lib/_impl.py:Client", "lib/_impl.py:Base", kind="INHERITS")
    assert risk(library, "lib/_impl.py:Base.send").level == "low"
    library.edge("lib/__init__.py:<module>", "lib/_impl.py:Client", kind="REFERENCES", rule="import")
    assert risk(library, "lib/_impl.py:Base.send").reasons[0] == PUBLIC
    assert risk(library, "lib/_impl.py:Base._send").level == "low"


@pytest.mark.parametrize(("path", "name"), [("lib/a.py", "_hidden"), ("lib/_a.py", "inside"), ("tool/a.py", "of_a_script")])
def test_what_is_private_or_of_no_package_can_be_low(library, path, name):
    library.edge("lib/b.py:_caller", f"{path}:{name}").edge("test_b.py:test_it", "lib/b.py:_caller")
    found = risk(library, f"{path}:{name}")
    assert found.level == "low"
    assert found.reasons[0] == "1 dependent besides tests, in 1 file"


def test_what_go_lets_nobody_import_is_not_public(library):
    for path in ("internal/a.go", "lib/b.go"):
        library.symbol(path, "Open", modifiers="exported")
        library.written_in(path, "go")
    assert PUBLIC not in risk(library, "internal/a.go:Open").reasons
    assert PUBLIC in risk(library, "lib/b.go:Open").reasons


def test_symbols_of_one_level_are_told_apart_by_their_rank_in_the_project(graph):
    for number in range(20):
        graph.symbol("app/a.py", f"leaf_{number}")
    for number in range(3):
        graph.edge(f"app/b.py:user_{number}", "app/a.py:much_used")
    graph.edge("app/b.py:user_0", "app/a.py:leaf_0")
    graph.edge("test_b.py:test_it", "app/a.py:leaf_1")  # tests do not count
    much, little, none = (risk(graph, f"app/a.py:{name}") for name in ("much_used", "leaf_0", "leaf_1"))
    assert (much.rank, little.rank, none.rank) == (round(23 / 24, 4), round(22 / 24, 4), 0.0)
    assert "more direct dependents than 95% of this project's symbols" in much.reasons
    assert "more direct dependents than 91% of this project's symbols" in little.reasons
    assert not [one for one in none.reasons if "symbols" in one]


def test_a_class_is_ranked_with_the_dependents_of_its_members(graph):
    graph.symbol("app/a.py", "Box", "class")
    for name in ("Box.open", "Box.shut"):
        graph.symbol("app/a.py", name, "method", parent_id=graph.id("app/a.py:Box"))
        graph.edge("app/b.py:user", f"app/a.py:{name}")
        graph.edge("app/a.py:Box", f"app/a.py:{name}", kind="DEFINES")
    graph.edge("app/a.py:Box.open", "app/a.py:Box.shut").edge("app/c.py:other", "app/a.py:Box.shut")
    found = risk(graph, "app/a.py:Box")
    assert "2 dependents besides tests, in 2 files" in found.reasons  # its own method is not a dependent
    assert found.rank == 3 / 5  # Box.shut has three, Box two


def test_classes_are_ranked_in_a_graph_of_more_than_46_000_nodes(graph):
    for number in range(50_000):  # the square of so many needs more than 31 bits
        graph.symbol("app/leaves.py", f"leaf_{number}")
    for number in range(30):  # nodes are ordered by hashes, so some of them are among the last
        graph.symbol("app/a.py", f"Box{number}", "class")
        graph.symbol("app/a.py", f"Box{number}.open", "method", parent_id=graph.id(f"app/a.py:Box{number}"))
        graph.edge("app/b.py:user", f"app/a.py:Box{number}.open")
        graph.edge(f"app/a.py:Box{number}", f"app/a.py:Box{number}.open", kind="DEFINES")
    assert risk(graph, "app/a.py:Box7").rank == round(50_001 / 50_061, 4)


def test_without_a_manifest_a_plain_name_is_not_public_api(graph):
    graph.symbol("app/__init__.py", "<module>", "module")
    graph.edge("app/b.py:caller", "app/a.py:helper").edge("test_b.py:test_it", "app/b.py:caller")
    assert risk(graph, "app/a.py:helper").level == "low"


def test_a_method_that_may_override_an_external_one_names_the_base(graph):
    graph.symbol("app/a.py", "Mine", "class")
    graph.symbol("app/a.py", "Mine.run", "method", parent_id=graph.id("app/a.py:Mine"))
    graph.external("threading", "Thread")
    graph.edge("app/a.py:Mine", "threading.Thread", kind="INHERITS")
    found = risk(graph, "app/a.py:Mine.run")
    assert found.level == "medium"
    assert found.reasons[0] == "may override a method of threading.Thread: callers outside are not known"


def test_as_many_unresolved_sites_as_resolved_ones_make_the_level_a_lower_bound(graph):
    graph.edge("b.py:caller", "a.py:_f", lines="3,4")
    graph.missed("c.py:who", "_f", 5)
    assert not risk(graph, "a.py:_f").at_least
    graph.missed("c.py:who", "_f", 6)
    found = risk(graph, "a.py:_f")
    assert found.at_least
    assert "2 unresolved call sites may call it, 2 resolved ones do" in found.reasons
