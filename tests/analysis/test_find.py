"""Search for symbols and files by several words."""

from __future__ import annotations

import pytest

from made_once import empty_index

FILES = {
    "shop/checkout/totals.py": "def checkout_total(lines): ...\ndef total(lines): ...\nclass CheckoutLine:\n    def total(self): ...\n",
    "shop/order/totals.py": "def total_of_order(lines): ...\n",
    "tests/test_totals.py": "def test_checkout_total(): ...\n",
}


@pytest.fixture
def service(tmp_path):
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    for path, text in FILES.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_text(text, encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as opened:
        opened.index(tmp_path / "tree")
        yield opened


def names(service, query, **given):
    found, total = service.symbols(query, **given)
    assert total >= len(found)
    return [one.ref for one in found]


def test_several_words_are_found_in_names_classes_and_paths(service):
    assert names(service, "checkout total")[0] == "shop/checkout/totals.py:checkout_total"
    assert names(service, "Total Checkout") == [
        "shop/checkout/totals.py:checkout_total",
        "tests/test_totals.py:test_checkout_total",
        "shop/checkout/totals.py:total",
        "shop/checkout/totals.py:CheckoutLine.total",
        "shop/checkout/totals.py:CheckoutLine",
    ]
    assert names(service, "order total") == ["shop/order/totals.py:total_of_order"]
    assert names(service, "order missing") == []
    assert names(service, "checkout total", kinds=["method"]) == ["shop/checkout/totals.py:CheckoutLine.total"]
    assert [len(names(service, "checkout total", limit=1, offset=at)) for at in range(6)] == [1, 1, 1, 1, 1, 0]


def test_files_are_found_by_words_of_their_paths(service):
    paths = [one.path for one in service.files(query="totals")[0]]
    assert paths == ["shop/order/totals.py", "tests/test_totals.py", "shop/checkout/totals.py"]
    assert [one.path for one in service.files(query="shop CHECKOUT")[0]] == ["shop/checkout/totals.py"]
    assert [one.path for one in service.files("tests/", query="totals")[0]] == ["tests/test_totals.py"]


def test_callers_in_code_come_before_tests_that_are_surer(graph):
    from graphmem.analysis.refs import resolve_ref
    from graphmem.analysis.relations import sites

    graph.edge("test_a.py:test_it", "app/a.py:target", 1.0).edge("app/b.py:user", "app/a.py:target", 0.5)
    view = graph.view()
    (target,) = resolve_ref(view, "app/a.py:target")
    assert [one.symbol.path for one in sites(view, target, "callers", 10)] == ["app/b.py", "test_a.py"]
    assert [one.symbol.path for one in sites(view, target, "callers", 1)] == ["app/b.py"]


def test_of_one_name_the_definition_that_is_used_most_comes_first_and_tests_come_last(graph):
    from graphmem.analysis.relations import find_symbols

    graph.symbol("test_a.py", "render")
    graph.symbol("a.py", "Page", "class")
    graph.symbol("a.py", "Page.render", "method", parent_id=graph.id("a.py:Page"))
    graph.symbol("a.py", "Render", "class")
    graph.edge("z.py:user", "c.py:render").edge("z.py:other", "c.py:render").edge("z.py:user", "b.py:render")
    found, total = find_symbols(graph.view(), "render", None, 10, 0)
    expected = ["c.py:render", "b.py:render", "a.py:Page.render", "a.py:Render", "test_a.py:render"]
    assert [one.ref for one in found] == expected
    assert total == len(expected)
    upper, _ = find_symbols(graph.view(), "Render", None, 10, 0)
    assert upper[0].ref == "a.py:Render"


def test_a_route_or_a_title_with_a_dot_is_found_as_people_write_it(graph):
    from graphmem.analysis.relations import find_symbols

    for path, name in (("a.ts", "POST carts·info"), ("a.ts", "POST carts·infos"), ("a.ts", "info"), ("b.ts", "Carts.info")):
        graph.symbol(path, name)
    found, total = find_symbols(graph.view(), "carts.info", None, 10, 0)
    assert [one.qualname for one in found] == ["Carts.info", "POST carts·info", "POST carts·infos"]
    assert total == 3
