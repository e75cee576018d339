"""Implementations are found at every level of inheritance, and overloads are told apart."""

from __future__ import annotations

import pytest

from graphmem.analysis.implementations import count_parameters
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

FILES = {
    "a.py": (
        "from abc import ABC, abstractmethod\n\n\nclass Strategy(ABC):\n    @abstractmethod\n    def load(self): ...\n\n\n"
        "class Middle(Strategy):\n    pass\n\n\nclass One(Middle):\n    def load(self):\n        return 1\n\n    def parse(self):\n"
        "        return self.load()\n\n\nclass Two(One):\n    def load(self):\n        return 2\n"
    ),
    "p/A.java": (
        "package p;\ninterface Shape { int area(int a); }\nabstract class Base implements Shape { }\n"
        "class Square extends Base {\n    public int area(int a) { return 1; }\n    public int area(String s, int x) { return 2; }\n}\n"
        "class Big extends Square { public int area(int a) { return 2; } }\nclass Other { public int area(int a) { return 3; } }\n"
        "class Both extends Other implements Shape { }\n"
        "class Third extends Other implements Shape { public int area(int a) { return 4; } }\n"
        "class Unrelated extends Other { public int area(int a) { return 5; } }\n"
    ),
    "p/V.java": (
        "package p;\ninterface Visitor<T> { void visit(T one); void visit(Number one, int two); void visit(Thread one, int two); }\n"
        "class Printer implements Visitor<Integer> {\n    public void visit(Integer one) {}\n"
        "    public void visit(Thread one, int two) {}\n    public void visit(String one, int two) {}\n    public void visit() {}\n}\n"
    ),
    "p/W.java": (
        "package p;\nclass Walker {\n    void visit(String one) {}\n    void visit(Thread one) {}\n}\n"
        "class Half extends Walker { void visit(Thread one) {} }\nclass Whole extends Half { void visit(String one) {} }\n"
    ),
    "t.ts": (
        "export interface Shape { area(a: number): number }\n"
        "export abstract class Base implements Shape { abstract area(a: number): number }\n"
        "export class Square extends Base { area(a: number) { return 1 } }\n"
        "export class Other { area(a: number) { return 2 } }\nexport class Both extends Other implements Shape {}\n"
        "export class Few { area() { return 3 } }\nexport class Short extends Few implements Shape {}\n"  # fewer parameters are allowed
    ),
    "p/Cached.java": (
        'package p;\ninterface Finder { @Cacheable("find, all") Foo find(int id); }\n'
        "class Store { public Foo find(int id) { return null; } public Foo find(int id, int more) { return null; } }\n"
        "class Shop extends Store implements Finder { }\n"
    ),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("implementations") / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(root.parent / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("a.py:Strategy", ["Middle", "One", "Two"]),
        ("a.py:Strategy.load", ["One.load", "Two.load"]),
        ("a.py:One.parse", []),
        ("p/A.java:Shape", ["Base", "Square", "Big", "Both", "Third"]),
        ("p/A.java:Shape.area", ["Square.area", "Big.area", "Other.area", "Third.area"]),
        ("p/A.java:Square.area", ["Big.area"]),
        ("p/W.java:3", ["Whole.visit"]),  # past the other overload of a nearer base
        ("t.ts:Shape.area", ["Base.area", "Square.area", "Other.area", "Few.area"]),
        ("p/Cached.java:Finder.find", ["Store.find"]),
    ],
)
def test_every_level_counts(memory, ref, found):
    answer = memory.implementations(ref)
    assert [one.qualname for one in answer.implementations] == found
    assert answer.total == len(found)


@pytest.mark.parametrize(
    ("signature", "name", "count"),
    [
        ('@Cacheable("x") public Foo find(int a)', "find", 1),
        ("@find(1, 2) void find(int a)", "find", 1),
        ("fun visit(callback: (Int) -> Unit, x: Int): Map<String, Int>", "visit", 2),
        ("func visit(callback: () -> (), x: Int)", "visit", 2),
        ("T Visit<T, U>(T a, Dictionary<int, string> b = null)", "Visit", 2),
        ("def visit[A, B](x: Int): Int", "visit", 1),
        ('fun join(separator: String = ",", short: Boolean = 1 < 2, x: Int)', "join", 3),
        ("bool operator()(int a, int b)", "operator()", 2),
        ("void visit( );", "visit", 0),
        ("val visit", "visit", 0),
    ],
)
def test_the_parameters_of_a_signature_are_counted(signature, name, count):
    assert count_parameters(signature, name) == count


def test_a_limit_leaves_the_total(memory):
    found = memory.implementations("a.py:Strategy", limit=1)
    assert (len(found.implementations), found.total) == (1, 3)


def test_an_override_has_the_parameters_of_what_it_overrides(memory):
    edges = memory.edges("p/V.java", "p/V.java").edges
    assert {(one.src.signature, one.dst.signature) for one in edges if one.kind == "OVERRIDES"} == {
        ("public void visit(Integer one)", "void visit(T one);"),
        ("public void visit(Thread one, int two)", "void visit(Thread one, int two);"),
    }


def test_the_hover_of_an_abstract_method_has_implementations_and_their_callers(memory):
    found = memory.hover("a.py", 6, 10)
    assert (found.is_abstract, found.caller_count) == (True, 0)
    assert [one.qualname for one in found.implementations] == ["One.load", "Two.load"]
    assert [one.qualname for one in found.implementation_callers] == ["One.parse"]


def test_the_method_of_an_interface_counts_as_abstract(memory):
    found = memory.hover("t.ts", 1, 26)
    assert (found.symbol.qualname, found.is_abstract, found.implementation_count) == ("Shape.area", True, 4)
