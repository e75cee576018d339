"""Terms that are read from expressions of Python."""

from __future__ import annotations

import pytest

from graphmem.parsing import facts as f
from python_facts import read, value


@pytest.mark.parametrize(
    ("expression", "spelled"),
    [
        ("a.b.c", "a.b.c"),
        ("f(1, x, *y, k=v, **kw)", "f(<int>, x, *y, k=v, **=kw)"),
        ("f(p for p in q)", "f(generator of p)"),
        ("a[1:2]", "a[<slice>]"),
        ("a[k, l]", "a[(k, l)]"),
        ("'a' \"b\"", "'ab'"),
        ("b'a'", "<bytes>"),
        ("f'a b {x}'", "<template>"),
        ("f'visit_{x}'", "('visit_' + ?)"),
        ("[a, 1.5, None]", "[a, <float>, <none>]"),
        ("(a,)", "(a)"),
        ("a, b", "(a, b)"),
        ("{a, b}", "{a, b}"),
        ("{'k': v, **w}", "{'k': v, *w: *w}"),
        ("a or b", "either(a, b)"),
        ("a if c else b", "either(a, b)"),
        ("await f()", "await f()"),
        ("(lambda u, v=1: u.w)", "lambda: u.w"),
        ("[e for e in s]", "list of e"),
        ("{k: v for k, v in s}", "dict of (k, v)"),
        ("a + b", "(a + b)"),
        ("a not in b", "(a not in b)"),
        ("-a", "(a - -)"),
        ("not a", "<bool>"),
        ("(a)", "a"),
        ("...", "<ellipsis>"),
        ("(y := a)", "a"),
        ("yield_ if True else f()()", "either(yield_, f()())"),
    ],
)
def test_expressions_become_terms(expression, spelled):
    assert value(expression) == spelled


def test_equal_terms_share_one_index_and_children_come_first():
    facts = read("f(a.b, a.b)\ng(a.b)\n")
    assert len(set(facts.terms)) == len(facts.terms)
    for index, term in enumerate(facts.terms):
        if term[0] == f.ATTR:
            assert term[1] < index


def test_long_strings_and_containers_are_cut():
    facts = read(f"x = '{'a' * 5000}'\ny = [{', '.join('a' for _ in range(500))}]\n")
    assert max(len(term[1]) for term in facts.terms if term[0] == f.STRING) == 200
    assert max(len(term[1]) for term in facts.terms if term[0] == f.LIST) == 64
