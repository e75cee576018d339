"""A query with a traceback finds the functions of its frames first."""

from __future__ import annotations

import pytest

from graphmem.search.pipeline import Request, Tuning, search
from graphmem.search.query.frames import Frame, framed, frames

PYTHON = """It fails since the last release:

Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 88, in _run_code
  File "C:\\\\shop env\\\\shop\\\\checkout.py", line 22, in place_order
    amount = self.cart.total_price()
  File "/opt/site-packages/shop/cart.py", line 21, in total_price
    return round_cents(add_tax(price))
  File "<string>", line 1, in <module>
TypeError: can't multiply sequence by non-int of type 'float'
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('File "a b/base.py", line 12, in start', [Frame("a b/base.py", 12, "start")]),
        ('File "base.py", line 12', [Frame("base.py", 12, "")]),
        ('File "base.py", line 3, in <module>', [Frame("base.py", 3, "")]),
        ("    at Server.start (/app/src/server.ts:12:5)", [Frame("/app/src/server.ts", 12, "start")]),
        ("    at async file:///app/src/server.mjs:7:1", [Frame("file:///app/src/server.mjs", 7, "")]),
        ("    at shop.Cart.add(Cart.java:14)", [Frame("Cart.java", 14, "add")]),
        ("\tat Cart.Add in C:\\src\\Cart.cs:line 9", [Frame("C:/src/Cart.cs", 9, "")]),
        ("#0 /srv/cart.php(33): add()", [Frame("/srv/cart.php", 33, "")]),
        ("./main.go:8:2: undefined: x", [Frame("./main.go", 8, "")]),
        ("shop/cart.py:21", [Frame("shop/cart.py", 21, "")]),
        ("see cart.py, released 2024-01-02 at 10:30 on example.org:8080 and 127.0.0.1:80", [Frame("example.org", 8080, "")]),
        ("cart.py has 3 lines: 1, 2 and 3", []),
    ],
)
def test_places_are_read_as_languages_write_them(text, found):
    assert frames(text) == found


def test_every_frame_of_a_long_traceback_is_read_and_a_recursion_once():
    depths = [f'File "a.py", line {line}, in f' for line in (*range(1, 301), *[300] * 700)]
    assert [frame.line for frame in frames("\n".join(depths))] == list(range(1, 301))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (PYTHON, {"Checkout.place_order", "Cart.total_price"}),
        ('File "shop/cart.py", line 900, in add_item', {"Cart.add_item"}),  # of another version: the name decides
        ('File "shop/cart.py", line 14, in gone', {"Cart.add_item"}),  # and where there is none, the line
        ("shop/money.py:7: error", {"add_tax"}),
        ("money.py:3", set()),  # outside of every definition
        ("shop/cart.py:7", {"Cart"}),
        ("nowhere/else.py:7", set()),
        ("TypeError at /x/y/z/checkout.py:11", set()),  # a file of that name, and nothing else speaks for it
        ('File "/x/y/z/checkout.py", line 11, in place_order', {"Checkout.place_order"}),
        ("at Layer.add_item (/app/node_modules/express/cart.py:12:5)", set()),
        ('File "/usr/lib/python3.11/shop/http/cart.py", line 12, in add_item', set()),
        ("error at shop/cart.py:" + "9" * 4400, set()),
        ('File "shop/cart.py", line ' + "1" * 4400, set()),
    ],
)
def test_a_frame_lies_in_the_function_it_names_or_around_its_line(bare, query, names):
    assert {bare.graph.qualname(node) for node in framed(bare.graph, query)} == names


def test_functions_of_a_traceback_come_first(filled, embedder, state):
    hits = search(filled, embedder, Request(PYTHON, k=10), state, Tuning()).hits
    assert {hit.qualname for hit in hits[:2]} == {"Checkout.place_order", "Cart.total_price"}
    assert [any(part.path == "frames" for part in hit.parts) for hit in hits[:3]] == [True, True, False]


def test_a_frame_outside_of_what_is_asked_for_is_not_a_hit(filled, embedder, state):
    answer = search(filled, embedder, Request(PYTHON, k=10, within=("shop/money.py",)), state, Tuning())
    assert {hit.path for hit in answer.hits} == {"shop/money.py"}
    assert "frames" not in answer.answered
