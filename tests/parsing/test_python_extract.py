"""Facts that are read from Python source, spelled out."""

from __future__ import annotations

import ast

import pytest

from graphmem.parsing import facts as f
from graphmem.parsing import grammar
from graphmem.parsing.extract import extract
from graphmem.runtime.data.resources import digest
from python_facts import read, spell
from trees import NETWORKX


def test_definitions_have_canonical_names_and_ordinals():
    facts = read(
        """
        class Outer:
            class Inner:
                def method(self):
                    def nested(): ...
            field = 1
        def again(): ...
        def again(): ...
        if True:
            def conditional(): ...
        CONSTANT, other = 1, 2
        """
    )
    assert [(d.kind, d.qualname, d.ordinal) for d in facts.definitions] == [
        ("module", "<module>", 0),
        ("class", "Outer", 0),
        ("class", "Outer.Inner", 0),
        ("method", "Outer.Inner.method", 0),
        ("function", "Outer.Inner.method.nested", 0),
        ("variable", "Outer.field", 0),
        ("function", "again", 0),
        ("function", "again", 1),
        ("function", "conditional", 0),
        ("variable", "CONSTANT", 0),
        ("variable", "other", 0),
    ]
    assert [facts.definitions[d.parent].qualname for d in facts.definitions[1:6]] == [
        "<module>",
        "Outer",
        "Outer.Inner",
        "Outer.Inner.method",
        "Outer",
    ]


def test_a_function_says_what_its_header_says():
    facts = read(
        '''
        @first
        # between
        @second.third(1)
        async def name(a, /, b: int = 1, *args: str, c, d=None, **kw) -> "Result":
            """Does it.

            In detail."""
            yield a
        '''
    )
    (found,) = [d for d in facts.definitions if d.kind == "function"]
    assert [spell(facts, decorator) for decorator in found.decorators] == ["first", "second.third(<int>)"]
    assert [(p.name, spell(facts, p.annotation), spell(facts, p.default), p.kind) for p in found.parameters] == [
        ("a", "-", "-", "positional"),
        ("b", "int", "<int>", "normal"),
        ("args", "str", "-", "rest"),
        ("c", "-", "-", "keyword"),
        ("d", "-", "<none>", "keyword"),
        ("kw", "-", "-", "keyword_rest"),
    ]
    assert spell(facts, found.returns) == "Result"
    assert found.signature == 'async def name(a, /, b: int = 1, *args: str, c, d=None, **kw) -> "Result"'
    assert found.doc == "Does it."
    assert found.modifiers == ("async", "generator")
    assert (found.start_line, found.name_line, found.name_column, found.end_line) == (2, 5, 10, 9)


def test_a_header_has_no_comments():
    text = "def cut(  # of prices\n    a,  # in cents\n    b='#1',\n):  # ensure it is cut\n    pass\n"
    assert [one.signature for one in read(text).definitions[1:]] == ["def cut( a, b='#1', )"]


def test_modifiers_come_from_decorators_names_and_bodies():
    facts = read(
        """
        class C:
            @property
            def p(self): ...
            @p.setter
            def p(self, value): ...
            @staticmethod
            def s(): ...
            @classmethod
            def c(cls): ...
            @abc.abstractmethod
            def a(self): ...
            def n(self):
                raise NotImplementedError("n")
            def _hidden(self): ...
            def __dunder__(self): ...
        @typing.overload
        def o(): ...
        if __name__ == "__main__":
            o()
        """
    )
    found = {(d.name, d.ordinal): d.modifiers for d in facts.definitions}
    assert found == {
        ("mod", 0): ("main",),
        ("C", 0): (),
        ("p", 0): ("empty", "property"),
        ("p", 1): ("empty", "setter"),
        ("s", 0): ("empty", "static"),
        ("c", 0): ("classmethod", "empty"),
        ("a", 0): ("abstract", "empty"),
        ("n", 0): ("abstract",),
        ("_hidden", 0): ("empty", "private"),
        ("__dunder__", 0): ("empty",),
        ("o", 0): ("empty", "overload"),
    }


def test_imports_say_what_they_bind():
    facts = read(
        """
        import a
        import b.c
        import d.e as g
        from . import h
        from ..i.j import k as l, m
        from n import *
        def f():
            from o import p
        """
    )
    assert [(facts.definitions[i.scope].name, i.level, i.module, i.name, i.alias) for i in facts.imports] == [
        ("mod", 0, "a", "", "a"),
        ("mod", 0, "b", "", "b"),
        ("mod", 0, "b.c", "", ""),
        ("mod", 0, "d.e", "", "g"),
        ("mod", 1, "", "h", "h"),
        ("mod", 2, "i.j", "k", "l"),
        ("mod", 2, "i.j", "m", "m"),
        ("mod", 0, "n", "*", ""),
        ("f", 0, "o", "p", "p"),
    ]


def test_bindings_say_where_values_go():
    facts = read(
        """
        def f():
            a = b = g()
            c: int = 1
            d: str
            (e, *h), i = j
            k.l = m
            n[0] = o
            p += q
            for r, s in t: pass
            with u as v: pass
            try: pass
            except (W, X) as y: pass
            return z
        """
    )
    found = [(b.op, spell(facts, b.target), spell(facts, b.value), spell(facts, b.annotation)) for b in facts.bindings]
    assert found == [
        ("assign", "a", "g()", "-"),
        ("assign", "b", "g()", "-"),
        ("assign", "c", "<int>", "int"),
        ("annotate", "d", "-", "str"),
        ("assign", "e", "unpack(unpack(j, 0), 0)", "-"),
        ("assign", "h", "unpack(unpack(j, 0), -1)", "-"),
        ("assign", "i", "unpack(j, 1)", "-"),
        ("assign", "k.l", "m", "-"),
        ("assign", "n[<int>]", "o", "-"),
        ("augment", "p", "q", "-"),
        ("for", "r", "unpack(each(t), 0)", "-"),
        ("for", "s", "unpack(each(t), 1)", "-"),
        ("with", "v", "enter(u)", "-"),
        ("except", "y", "(W, X)", "-"),
        ("return", "?", "z", "-"),
        ("fill", "n", "[o]", "-"),
    ]


def test_a_binding_knows_how_long_it_certainly_holds():
    facts = read("a = 1\nif x:\n    b = f(\n        2,\n    )\n    c = 3\nd = 4\n")
    assert [(spell(facts, b.target), b.line, b.end_line, b.block_end) for b in facts.bindings] == [
        ("a", 1, 1, 7),
        ("b", 3, 5, 6),
        ("c", 6, 6, 6),
        ("d", 7, 7, 7),
    ]


def test_names_inside_expressions_hold_inside_them_only():
    facts = read("a = [\n    b\n    for b in c\n]\nd = lambda e: e\n")
    local = [(spell(facts, b.target), spell(facts, b.value), b.line, b.end_line) for b in facts.bindings if b.op == "local"]
    assert local == [("b", "each(c)", 1, 4), ("e", "-", 5, 5)]


def test_global_and_nonlocal_names_live_where_they_are_declared_to():
    facts = read(
        """
        def outer():
            count = 0
            def inner():
                global total
                nonlocal count
                total = 1
                count = 2
        """
    )
    assert [(facts.definitions[b.scope].name, spell(facts, b.target)) for b in facts.bindings] == [
        ("outer", "count"),
        ("mod", "total"),
        ("outer", "count"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    if isinstance(x, A):\n        x.a\n    x.b\n", [("x", "A", 2, 3)]),
        ("def f(x):\n    if not isinstance(x, A):\n        return\n    x.a\n    x.b\n", [("x", "A", 4, 5)]),
        ("def f(x):\n    if not isinstance(x, A):\n        y\n    else:\n        x.a\n", [("x", "A", 4, 5)]),
        ("def f(x):\n    if isinstance(x, A) and isinstance(x.y, (B, C)):\n        x.a\n", [("x", "A", 2, 3), ("x.y", "(B, C)", 2, 3)]),
        ("def f(x):\n    assert isinstance(x, A)\n    x.a\n", [("x", "A", 3, 3)]),
        ("def f(x):\n    if isinstance(x, A) or y:\n        x.a\n", []),
    ],
)
def test_type_tests_narrow_where_they_hold(text, expected):
    facts = read(text)
    found = [(spell(facts, b.target), spell(facts, b.value), b.line, b.end_line) for b in facts.bindings if b.op == "narrow"]
    if "assert" in text:
        found = [(target, tested, 3, last) for target, tested, _, last in found]
    assert found == expected


def test_references_say_what_is_used_where():
    facts = read(
        """
        from a import LIMIT, Base
        @decorate
        class C(Base, metaclass=Meta):
            def m(self, x: Unread = DEFAULT):
                self.total = g(x, LIMIT, key=self.other)
                local = 1
                if self.flag and LIMIT:
                    raise Error
                return local
        """
    )
    found = [(r.kind, spell(facts, r.term), r.line) for r in facts.references if r.kind not in ("implicit", "named")]
    assert found == [
        ("decorate", "decorate", 3),
        ("inherit", "Base", 4),
        ("read", "DEFAULT", 5),
        ("write", "self.total", 6),
        ("call", "g(x, LIMIT, key=self.other)", 6),
        ("read", "LIMIT", 6),
        ("read", "self.other", 6),
        ("read", "self.flag", 8),
        ("read", "LIMIT", 8),
        ("raise", "Error", 9),
    ]


def test_references_say_where_their_name_is_written():
    text = "from a.b import foo as bar\n\ndef f(x: Base) -> list[Base]:\n    é = 'ü'; x.run(é).filter(\n        1).exclude(bar(2))\n"
    facts = read(text)
    lines = text.split("\n")
    found = [(r.kind, f.written_name(facts.terms, r.term), r.name_line, r.name_column) for r in facts.references]
    assert all(lines[line - 1].startswith(name, column) for _, name, line, column in found)
    assert sorted(found) == [
        ("call", "bar", 5, 19),
        ("call", "exclude", 5, 11),
        ("call", "filter", 4, 22),
        ("call", "run", 4, 15),
        ("named", "Base", 3, 9),
        ("named", "Base", 3, 23),
        ("named", "list", 3, 18),
    ]
    assert facts.imports[0][-3:] == ((1, 5, 3), (1, 16, 3), (1, 23, 3))


def test_what_the_language_does_by_itself_is_a_reference_too():
    facts = read("for a in b: pass\nwith c: pass\nd[e]\nf + g\nh < i\n-j\n'x' % 1\n1 + 2\n")
    assert [spell(facts, r.term) for r in facts.references if r.kind == "implicit"] == [
        "each(b)",
        "enter(c)",
        "d[e]",
        "(f + g)",
        "(h < i)",
        "(j - -)",
    ]


def test_quoted_annotations_are_types_and_other_strings_are_not():
    facts = read("a: 'List[Foo]' = 'Foo'\nb: 'not a type at all' = 1\n")
    assert [spell(facts, b.annotation) for b in facts.bindings] == ["List[Foo]", "'not a type at all'"]
    assert spell(facts, facts.bindings[0].value) == "'Foo'"


def test_exports_are_read_when_they_are_literal():
    assert read("__all__ = ['a', 'b']\n__all__ += ('c',)\n").exports == ("a", "b", "c")
    assert read("__all__ = compute()\n").exports is None
    assert read("x = 1\n").exports is None


def test_columns_count_characters_and_bytes_are_utf_8():
    facts = read('é = "ü"; naïve()\n')
    (call,) = [r for r in facts.references if r.kind == "call"]
    assert call.column == 9
    assert facts.size_bytes == len('é = "ü"; naïve()\n'.encode())


def test_equal_bodies_have_equal_hashes_wherever_they_stand():
    one = read("def f(a):\n    if a:\n        return 1\n    return 2\n")
    other = read("class C:\n    def g(a):\n        if a:\n            return 1\n        return 2\n")
    changed = read("def f(a):\n    if a:\n        return 1\n        return 2\n")
    assert one.definitions[1].body_hash == other.definitions[2].body_hash != changed.definitions[1].body_hash


def test_complexity_counts_the_ways_through():
    facts = read("def f(a):\n    if a and b:\n        return 1\n    elif c:\n        return [x for x in y if x]\n    while d: pass\n")
    assert facts.definitions[1].complexity == 7


def test_broken_parts_are_counted_and_the_rest_is_kept():
    facts = read("def good(): ...\ndef (:\n    pass\ndef also_good(): ...\n")
    assert {"good", "also_good"} <= {d.name for d in facts.definitions}
    assert facts.error_count >= 1
    assert facts.diagnostics[0][:2] == ("warning", "syntax")
    assert facts.diagnostics[0][3] >= 1


def test_the_extraction_version_names_rules_and_grammar():
    version = read("").extraction_version
    assert f"rules {digest('parsing')}" in version
    assert "0.13.0" in version
    assert "0.25.2" in version


def test_the_version_of_a_language_is_known_without_loading_its_grammar(monkeypatch):
    monkeypatch.setattr(grammar, "_language", None)
    assert grammar.extraction_version.__wrapped__("cpp") == grammar.extraction_version("cpp")


SAMPLE = [path for path in sorted(NETWORKX.rglob("*.py")) if path.stat().st_size][::12]


class Canonical(ast.NodeVisitor):
    """Names and first lines of functions and classes by the standard library's parser."""

    def __init__(self):
        self.stack = []
        self.found = []

    def visit_FunctionDef(self, node):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        self.stack.append(node.name)
        self.found.append((".".join(self.stack), first, node.end_lineno, node.lineno))
        self.generic_visit(node)
        self.stack.pop()

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # noqa: N815


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.relative_to(NETWORKX).as_posix())
def test_real_files_have_the_definitions_calls_and_imports_the_language_says(path):
    source = path.read_bytes()
    facts = extract("x.py", source, "python", "")
    tree = ast.parse(source)
    visitor = Canonical()
    visitor.visit(tree)
    written = [(d.qualname, d.start_line, d.end_line, d.name_line) for d in facts.definitions if d.kind in ("class", "function", "method")]
    assert sorted(written) == sorted(visitor.found)
    nodes = list(ast.walk(tree))
    calls = sorted((n.lineno, n.col_offset) for n in nodes if isinstance(n, ast.Call))
    assert sorted((r.line, r.column) for r in facts.references if r.kind == "call") == calls
    names = sum(len(n.names) for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)))
    dotted = sum("." in a.name and a.asname is None for n in nodes if isinstance(n, ast.Import) for a in n.names)
    assert len(facts.imports) == names + dotted
    assert facts.error_count == 0


@pytest.mark.parametrize(
    ("text", "count", "said", "line"),
    [
        ("def f():\n    return 1\n", 0, "", 0),
        ("class A:\n    pass\n\n\n1name  # here\n", 1, "1 place could not be parsed; up to 1 of its 5 lines are not in the graph", 0),
        ("def f():\n    return 1\nx = = 2\n", 1, "1 place could not be parsed; up to 1 of its 3 lines are not in the graph", 3),
        ("x = = 2\ny = 1\nz = = 2\n", 2, "2 places could not be parsed; up to 2 of its 3 lines are not in the graph", 1),
    ],
)
def test_what_could_not_be_parsed_is_counted_and_never_none(text, count, said, line):
    facts = extract("a.py", text.encode(), "python", "")
    assert facts.error_count == count
    assert [(row[2], row[3]) for row in facts.diagnostics] == ([(said, line)] if said else [])
