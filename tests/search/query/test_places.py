"""Files a query names are told from words that files happen to be called."""

from __future__ import annotations

import math

import pytest

from graphmem.search.pipeline import Request, Tuning, search
from graphmem.search.query.places import named_files

CART, MONEY, CHECKOUT = "shop/cart.py", "shop/money.py", "shop/checkout.py"
SHOP = ["shop/__init__.py", CART, CHECKOUT, MONEY]


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("shop/cart.py", [CART]),
        ("the tax in ./shop/money.py:6 is wrong", [MONEY]),
        ('File "/opt/site-packages/shop/money.py", line 6, in add_tax', [MONEY]),
        ("cart.py rounds twice", [CART]),
        ("shop.checkout sends two mails", [CHECKOUT]),
        ("checkout: refuse an empty order", [CHECKOUT]),
        ("fix(cart): count products once", [CART]),
        ("feat(shop.money)!: another currency", [MONEY]),
        ("✨ fix(cart, money): round once", [CART, MONEY]),
        ("[checkout] mail in the customer's language", [CHECKOUT]),
        ("fix(shop): spelling", SHOP),
        ("shop: spelling\n\nmoney: is not looked at here", SHOP),
        ("put money into the cart", []),
        ("what the customer sees in the checkout: the price", []),
        ("see https://example.org/shop/cart.py", []),
        ("fix: a price without tax, e.g. 1.5 and/or money", []),
        ("elsewhere/cart.py", []),
        ("cart.rs", []),
        ("/opt/cart.py", []),
        (": ... () [] / .", []),
    ],
)
def test_a_file_is_named_by_path_by_module_or_by_the_scope_of_a_description(bare, query, files):
    assert sorted(named_files(bare.graph, query)) == sorted(files)


def test_a_name_that_many_files_have_says_less_of_each(bare):
    assert named_files(bare.graph, "cart: x") == {CART: 1.0}
    assert named_files(bare.graph, "shop: x") == dict.fromkeys(SHOP, pytest.approx(1 / math.sqrt(4)))


@pytest.mark.parametrize(("scope", "path"), [("money", MONEY), ("checkout", CHECKOUT), ("cart", CART)])
def test_code_of_the_file_a_description_begins_with_comes_first(filled, embedder, state, scope, path):
    hits = search(filled, embedder, Request(f"{scope}: the price", k=10, kinds=frozenset({"code"})), state, Tuning()).hits
    assert hits[0].path == path
    lifted = {hit.path for hit in hits if any(part.path == "places" for part in hit.parts)}
    assert lifted == {path}
