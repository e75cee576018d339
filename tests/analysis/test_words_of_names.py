"""Tests are compared with their targets by the words of their names, whichever letters these have."""

from __future__ import annotations

import numpy as np
import pytest

from graphmem.analysis import words_of_names
from graphmem.analysis.words_of_names import name_features

CODE = ["CartRow", "CartRow.addPrice", "CartRow.total", "grüße", "İstanbul"]
TESTS = {
    "tests/test_cart.py": [
        *("TestRow", "TestRow.test_add_price", "TestRow.testTotalOfRow", "test_addprice"),
        *("test_GRÜSSE", "test_grüße_of_all", "test_İstanbul", "testİstanbulToo"),
    ],
    "tests/test_row.py": ["test_cart", "test_prices_add", "test_totally", "test_total", "TestCartRow.test_cart_row_total"],
    "tests/test_İstanbul.py": ["test_row_of_cart", "grüße"],
}


@pytest.fixture
def view(graph):
    row = graph.symbol("shop/cart.py", "CartRow", "class")
    for name in CODE[1:]:
        graph.symbol("shop/cart.py", name, parent_id=row if "." in name else "")
    for path, names in TESTS.items():
        for name in names:
            graph.symbol(path, name)
    return graph.view()


def of(view, folder):
    return np.array([node for node in range(view.n) if view.path(node).startswith(folder) and view.qualname(node)])


def stem(view, node):
    return words_of_names._words(view.path(node).rpartition("/")[2].partition(".")[0])


def by_definition(view, tests, target):
    words = words_of_names._words
    name, owner = words(view.name(target)), int(view.parent[target])
    owners = words(view.name(owner)) if owner >= 0 and view.parent[owner] >= 0 else frozenset()
    rows = []
    for node in tests:
        own = words(view.qualname(node))
        file = stem(view, node)
        rows.append((name <= own, bool(owners) and owners <= own | file, not stem(view, target).isdisjoint(file)))
    return np.array(rows, np.float32)


def test_a_test_has_the_words_that_its_name_is_divided_into(view):
    tests, targets = of(view, "tests/"), [int(node) for node in of(view, "shop/")]
    assert {view.qualname(target) for target in targets} >= set(CODE)
    sums = {}
    for target in targets:
        found = name_features(view, tests, [target])
        assert np.array_equal(found, by_definition(view, tests, target))
        sums[view.qualname(target)] = found[:, 0].sum()
    assert {name: sums[name] for name in CODE} == {"CartRow": 2, "CartRow.addPrice": 1, "CartRow.total": 3, "grüße": 2, "İstanbul": 1}
    assert name_features(view, tests[:0], targets).shape == (0, 3)


def test_only_names_that_can_have_the_words_are_divided(view, monkeypatch):
    (target,) = [node for node in of(view, "shop/") if view.qualname(node) == "CartRow.total"]
    divided, words = [], words_of_names._words
    monkeypatch.setattr(words_of_names, "_words", lambda name: divided.append(name) or words(name))
    name_features(view, of(view, "tests/"), [target])
    assert "test_total" in divided
    assert "test_prices_add" not in divided
