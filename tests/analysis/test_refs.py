"""References that a person types, and the symbols that they name."""

from __future__ import annotations

import pytest

from graphmem.analysis.refs import resolve_ref
from graphmem.errors import AmbiguousSymbolError, BadInputError, SymbolNotFoundError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index


@pytest.fixture
def view(graph):
    graph.symbol("pkg/query.py", "<module>", "module", (1, 90))
    graph.symbol("pkg/query.py", "QuerySet", "class", (10, 60))
    graph.symbol("pkg/query.py", "QuerySet.filter", "method", (20, 30))
    graph.symbol("pkg/other.py", "Other.filter", "method", (5, 9))
    graph.symbol("pkg/other.py", "run", lines=(12, 14))
    graph.symbol("lib/other.py", "run", lines=(1, 4))
    return graph.view()


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        ("pkg/query.py:QuerySet.filter", "pkg/query.py:QuerySet.filter"),
        ("query.py:QuerySet", "pkg/query.py:QuerySet"),
        ("QuerySet.filter", "pkg/query.py:QuerySet.filter"),
        ("QuerySet", "pkg/query.py:QuerySet"),
        ("pkg.query.QuerySet", "pkg/query.py:QuerySet"),
        ("query.py:25", "pkg/query.py:QuerySet.filter"),
        ("query.py:12:4", "pkg/query.py:QuerySet"),
        ("query.py:80", "pkg/query.py:<module>"),
        ("pkg/other.py:run", "pkg/other.py:run"),
    ],
)
def test_a_reference_means_one_symbol(view, ref, meant):
    (node,) = resolve_ref(view, ref)
    assert view.info(node).ref == meant


@pytest.mark.parametrize("line", ["0", "92", "99999", "9" * 300])
def test_a_line_that_the_file_lacks_is_not_its_top_level_code(view, line):
    with pytest.raises(SymbolNotFoundError, match=r"the last line of pkg/query\.py is 90"):
        resolve_ref(view, f"query.py:{line}")


def test_a_bare_name_means_the_class_and_not_its_constructor(graph):
    _class(graph, "shop/Cart.java", "Cart", "Cart", "total")
    view = graph.view()
    (node,) = resolve_ref(view, "Cart")
    assert view.info(node).ref == "shop/Cart.java:Cart"
    (node,) = resolve_ref(view, "Cart.Cart")
    assert view.info(node).ref == "shop/Cart.java:Cart.Cart"


def _class(graph, path, name, *methods):
    key = graph.symbol(path, name, "class")
    for method in methods:
        graph.symbol(path, f"{name}.{method}", "method", parent_id=key)


@pytest.fixture
def derived(graph):
    """Page → AbstractPage → Node in two files; a test has a class Page, too."""
    _class(graph, "pkg/page.py", "Page")
    _class(graph, "pkg/page.py", "AbstractPage", "copy")
    _class(graph, "pkg/node.py", "Node", "copy", "move")
    _class(graph, "pkg/other.py", "Other", "move")
    _class(graph, "test_page.py", "Page")
    graph.edge("pkg/page.py:Page", "pkg/page.py:AbstractPage", kind="INHERITS")
    graph.edge("pkg/page.py:AbstractPage", "pkg/node.py:Node", kind="INHERITS")
    return graph.view()


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        ("Page.copy", "pkg/page.py:AbstractPage.copy"),
        ("Page.move", "pkg/node.py:Node.move"),
        ("pkg/page.py:Page.move", "pkg/node.py:Node.move"),
        ("pkg.page.Page.copy", "pkg/page.py:AbstractPage.copy"),
    ],
)
def test_an_inherited_member_is_the_definition_in_the_nearest_base(derived, ref, meant):
    (node,) = resolve_ref(derived, ref)
    assert derived.info(node).ref == meant


@pytest.mark.parametrize("ref", ["Node.filter", "Other.copy", "test_page.py:Page.copy"])
def test_a_member_that_no_base_defines_is_not_found(derived, ref):
    with pytest.raises(SymbolNotFoundError):
        resolve_ref(derived, ref)


def test_a_member_of_two_bases_at_the_same_distance_is_ambiguous(graph):
    _class(graph, "pkg/both.py", "Left", "open")
    _class(graph, "pkg/both.py", "Right", "open")
    _class(graph, "pkg/both.py", "Both")
    graph.edge("pkg/both.py:Both", "pkg/both.py:Left", kind="INHERITS").edge("pkg/both.py:Both", "pkg/both.py:Right", kind="INHERITS")
    with pytest.raises(AmbiguousSymbolError) as caught:
        resolve_ref(graph.view(), "Both.open")
    assert [one.ref for one in caught.value.candidates] == ["pkg/both.py:Left.open", "pkg/both.py:Right.open"]


def test_an_embedded_struct_gives_the_method_that_an_interface_only_declares(graph):
    interface = graph.symbol("routes.go", "Routes", "interface")
    graph.symbol("routes.go", "Routes.GET", "method", parent_id=interface, modifiers="abstract")
    _class(graph, "routes.go", "Group", "GET")
    _class(graph, "routes.go", "Engine")
    graph.edge("routes.go:Engine", "routes.go:Routes", kind="INHERITS").edge("routes.go:Engine", "routes.go:Group", kind="INHERITS")
    view = graph.view()
    (node,) = resolve_ref(view, "Engine.GET")
    assert view.info(node).ref == "routes.go:Group.GET"


def test_one_of_several_definitions_with_one_name_can_be_meant(graph):
    graph.symbol("pkg/box.py", "Box.lid", "method", (5, 6))
    graph.symbol("pkg/box.py", "Box.lid", "method", (9, 12), ordinal=1)
    view = graph.view()
    assert len(resolve_ref(view, "pkg/box.py:Box.lid")) == 2
    (second,) = resolve_ref(view, "pkg/box.py::Box.lid#2")
    assert view.start_line[second] == 9
    with pytest.raises(SymbolNotFoundError):
        resolve_ref(view, "pkg/box.py:Box.lid#3")


def test_a_path_means_the_file(view):
    (node,) = resolve_ref(view, "pkg/query.py")
    assert view.info(node).kind == "file"


def test_an_ambiguous_name_answers_with_candidates(view):
    with pytest.raises(AmbiguousSymbolError) as caught:
        resolve_ref(view, "filter")
    assert [one.ref for one in caught.value.candidates] == ["pkg/other.py:Other.filter", "pkg/query.py:QuerySet.filter"]
    assert caught.value.total == 2


def test_of_names_alike_the_one_in_the_class_that_was_named_is_suggested_first(view):
    with pytest.raises(SymbolNotFoundError) as caught:
        resolve_ref(view, "QuerySet.filtr")
    assert caught.value.suggestions[0] == "pkg/query.py:QuerySet.filter"


def test_a_member_that_was_renamed_is_suggested_by_its_class(graph):
    _class(graph, "pkg/backup.py", "Backup", "store_apps", "load")
    _class(graph, "pkg/vault.py", "Vault", "store_secrets")
    with pytest.raises(SymbolNotFoundError) as caught:
        resolve_ref(graph.view(), "Backup.store_addons")
    assert caught.value.suggestions == ["pkg/backup.py:Backup.store_apps"]
    assert "did you mean pkg/backup.py:Backup.store_apps?" in caught.value.message


def test_an_unknown_name_is_an_error_with_suggestions(view):
    with pytest.raises(SymbolNotFoundError) as caught:
        resolve_ref(view, "QuerySett")
    assert caught.value.suggestions == ["pkg/query.py:QuerySet"]
    assert "QuerySet" in caught.value.message


@pytest.mark.parametrize("ref", ["", "  ", "x" * 1001])
def test_an_empty_or_endless_reference_is_refused(view, ref):
    with pytest.raises(BadInputError):
        resolve_ref(view, ref)


def test_a_bare_name_never_hides_a_method_behind_a_function(graph):
    graph.symbol("a.py", "filter")
    graph.symbol("b.py", "Query.filter", "method")
    graph.symbol("test_c.py", "filter")
    with pytest.raises(AmbiguousSymbolError) as caught:
        resolve_ref(graph.view(), "filter")
    assert [one.ref for one in caught.value.candidates] == ["a.py:filter", "b.py:Query.filter"]


def test_a_bare_name_of_a_test_double_does_not_stand_in_the_way(graph):
    graph.symbol("app.py", "Flask", "class")
    graph.symbol("test_app.py", "Flask", "class")
    graph.symbol("b.py", "Flask", "variable")
    (node,) = resolve_ref(graph.view(), "Flask")
    assert graph.view().info(node).ref == "app.py:Flask"


@pytest.fixture
def overloaded(graph):
    """Two overloads and what runs, with ids in another order than lines; and the same name elsewhere."""
    for ordinal, line, modifiers in ((0, 5, "overload"), (1, 9, "overload"), (2, 12, "")):
        graph.symbol("pkg/core.py", "Context.invoke", "method", (line, line + 2), ordinal=ordinal, modifiers=modifiers)
    graph.symbol("pkg/core.py", "Group.invoke", "method", (40, 50))
    graph.edge("pkg/cli.py:cli", "pkg/core.py:Context.invoke#1", 0.4).edge("pkg/cli.py:main", "pkg/core.py:Context.invoke#2")
    return graph.view()


def test_what_runs_comes_before_its_overloads(overloaded):
    assert [int(overloaded.start_line[node]) for node in resolve_ref(overloaded, "pkg/core.py:Context.invoke")] == [12, 5, 9]


def test_candidates_are_named_once_each_and_every_one_of_them_can_be_typed(overloaded):
    with pytest.raises(AmbiguousSymbolError) as caught:
        resolve_ref(overloaded, "invoke")
    refs = [one.ref for one in caught.value.candidates]
    assert refs == ["pkg/core.py:Context.invoke", "pkg/core.py:Group.invoke"]
    assert caught.value.total == 2
    assert [one.start_line for one in caught.value.candidates] == [12, 40]
    for one in caught.value.candidates:
        assert overloaded.info(resolve_ref(overloaded, one.ref)[0]) == one


@pytest.mark.parametrize(
    "ref", ["pkg/core.py:Context.invoke:{}", "core.py:Context.invoke:{}", "Context.invoke:{}", "invoke:{}", "pkg/core.py:{}"]
)
@pytest.mark.parametrize("line", [5, 9, 12, 14])
def test_one_of_definitions_that_share_a_name_is_meant_by_its_line(overloaded, ref, line):
    (node,) = resolve_ref(overloaded, ref.format(line))
    assert overloaded.start_line[node] <= line <= overloaded.end_line[node]


def test_a_line_where_no_definition_of_the_name_stands_is_refused(overloaded):
    with pytest.raises(SymbolNotFoundError):
        resolve_ref(overloaded, "Context.invoke:30")


def test_a_name_that_stands_in_a_file_read_in_part_is_not_said_to_be_nowhere(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "whole.py").write_text("def whole(): return 'Hidden'\n")
    (root / "broken.py").write_text("def g(): ...\n)) = = ((\nx = = Hidden\n")
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with pytest.raises(SymbolNotFoundError, match=r"occurs in broken\.py, of which only a part could be read"):
            memory.impact("Hidden")
        with pytest.raises(SymbolNotFoundError) as nowhere:
            memory.symbol("Hid")
        assert "broken.py" not in str(nowhere.value)


def test_the_name_of_a_file_means_its_default_export_or_the_file(tmp_path):
    root = tmp_path / "shop"
    files = {
        "api/deleteById.ts": "export default function deleteOne(id: number) {\n  return id\n}\n",
        "api/prices.ts": "export function rounded(one: number) {\n  return one\n}\n",
        "api/index.ts": "import deleteById from './deleteById'\nimport { rounded } from './prices'\n\n"
        "export function run() {\n  return rounded(deleteById(1))\n}\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        assert memory.resolve("deleteById").ref == "api/deleteById.ts:deleteOne"
        prices = memory.resolve("prices")
        assert (prices.kind, prices.path) == ("file", "api/prices.ts")
        assert [hit.symbol.ref for hit in memory.impact("deleteById").hits] == ["api/index.ts:run"]
