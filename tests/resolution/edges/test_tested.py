"""A test is about the code that it calls and is named after."""

from __future__ import annotations

import textwrap

CODE = """
    def parse(text): return text
    def parse_number(text): return int(parse(text))
    def load(): return parse("")
    class Cart:
        def add(self, item): ...
        def total(self): ...
"""
TESTS = """
    from shop import Cart, load, parse, parse_number

    def test_parse_number_of_digits():
        assert parse_number("1") == int(parse("1"))

    def test_load(): ...

    def test_everything():
        load()

    class TestCart:
        def test_total_of_nothing(self):
            cart = Cart()
            cart.add(1)
            assert cart.total() == 0

        def test_empty(self):
            assert Cart()

    def helper():
        parse("x")
"""


def found(resolve, **more):
    files = {"shop.py": textwrap.dedent(CODE), "test_shop.py": textwrap.dedent(TESTS), **more}
    return resolve(files)


def test_a_test_is_about_the_code_it_calls_that_its_name_begins_with(resolve):
    assert found(resolve).edges("TESTS") == {
        ("test_shop.py:test_parse_number_of_digits", "shop.py:parse_number"),  # the longest name, not parse
        ("test_shop.py:TestCart.test_total_of_nothing", "shop.py:Cart.total"),
        ("test_shop.py:TestCart.test_empty", "shop.py:Cart"),  # by the class around it
    }


def test_a_name_alone_and_a_call_alone_make_no_such_edge(resolve):
    about = {source for source, _ in found(resolve).edges("TESTS")}
    assert "test_shop.py:test_load" not in about  # calls nothing
    assert "test_shop.py:test_everything" not in about
    assert "test_shop.py:helper" not in about


def test_code_of_a_nested_function_belongs_to_its_test_and_helpers_are_not_tested(resolve):
    more = """
        from shop import parse
        from test_shop import helper

        def test_parse():
            def inner(): return parse("")
            inner()

        def test_helper():
            helper()
    """
    edges = found(resolve, **{"test_more.py": textwrap.dedent(more)}).edges("TESTS")
    assert ("test_more.py:test_parse", "shop.py:parse") in edges
    assert not [one for one in edges if one[0] == "test_more.py:test_helper"]
