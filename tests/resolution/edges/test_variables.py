"""Uses of fields, constants, enum members and variables have edges."""

from __future__ import annotations

import pytest

PYTHON = """
class Color:
    RED = 1
    kind: int = 0
    none = None
    def own(self): return self.kind
class Sub(Color):
    def RED(self): ...
TABLE = {}
def constant(): return Color.RED
def field(c: Color): return c.kind
def receiver(): return TABLE.get('x')
def hidden(): return Sub.RED
def write(c: Color): c.kind = 2
def made(): return Color().own()
def inherited(c: Sub): return c.none
def local():
    TABLE = {}
    return TABLE.get('x')
"""


def test_members_of_python_classes_are_used_where_they_are_read_and_written(resolve):
    found = resolve({"a.py": PYTHON}).edges("REFERENCES")
    assert {(src[5:], dst[5:]) for src, dst in found} == {
        ("constant", "Color"),
        ("constant", "Color.RED"),
        ("Color.own", "Color.kind"),
        ("field", "Color.kind"),
        ("receiver", "TABLE"),
        ("hidden", "Sub"),
        ("hidden", "Sub.RED"),
        ("write", "Color.kind"),
        ("inherited", "Color.none"),
    }


@pytest.mark.parametrize(
    ("path", "source", "uses"),
    [
        (
            "K.java",
            "enum Color { RED }\nclass K {\n static final int MAX = 3; int field; int own;\n int read() { return own; }\n"
            " int both() { own = 2; return own; }\n void write() { own = 5; }\n void count() { own++; }\n"
            " int local() { int own = 1; own = 2; return own; }\n}\n"
            "class U {\n Color a() { return Color.RED; }\n int b() { return K.MAX; }\n int c(K k) { return k.field; }\n}\n",
            "K.read>K.own K.both>K.own K.write>K.own K.count>K.own U.a>Color U.a>Color.RED U.b>K U.b>K.MAX U.c>K.field",
        ),
        (
            "a.go",
            "package a\ntype T struct { F int; run func() }\nvar Conf = T{}\nvar G = 1\nfunc a(t *T) int { return t.F }\n"
            "func b() int { return Conf.F }\nfunc c() { G = 5 }\nfunc d() int { G := 6; return G }\nfunc e(t T) { t.run() }\n",
            "a>T.F b>Conf b>T.F c>G e>T.run",
        ),
        (
            "a.rs",
            "enum Kind { One, Two(u8) }\nstruct P { a: u8 }\nfn a(x: u8) -> Kind { Kind::Two(x) }\nfn b(p: &P) -> u8 { p.a }\n"
            "fn c() -> Kind { Kind::One }\n",
            "a>Kind a>Kind.Two b>P.a c>Kind c>Kind.One",
        ),
        (
            "a.ts",
            "enum Color { Red }\nclass K { static MAX = 3; f = 1 }\ninterface O { name: string }\nconst OBJ = { a: 1 };\nlet G = 1;\n"
            "function a() { return Color.Red }\nfunction b(k: K) { return k.f + K.MAX }\nfunction c(o: O) { return o.name }\n"
            "function d() { return OBJ.a }\nfunction e() { G = 2; return G }\nfunction f() { let G = 2; G = 4; return G }\n",
            "a>Color a>Color.Red b>K.f b>K b>K.MAX c>O.name d>OBJ e>G",
        ),
        (
            "a.php",
            "<?php\nclass A { const LIM = 1; public $f = 1; function m() { return $this->f + self::LIM; } }\n"
            "function u(A $a) { return A::LIM + $a->f; }\n",
            "A.m>A.f A.m>A.LIM u>A u>A.LIM u>A.f",
        ),
        (
            "a.cs",
            "enum Color { Red }\nclass K { public const int MAX = 3; public int Field; int own; int r() { own = 2; return own; } }\n"
            "class U { Color a() { return Color.Red; } int b(K k) { return K.MAX + k.Field; } }\n",
            "K.r>K.own U.a>Color U.a>Color.Red U.b>K U.b>K.MAX U.b>K.Field",
        ),
        (
            "a.kt",
            "enum class Color { RED }\nclass K { var field = 1\n fun r(): Int { field = 2; return field } }\n"
            "fun a(): Color = Color.RED\nfun c(k: K): Int { return k.field }\n",
            "K.r>K.field a>Color a>Color.RED c>K.field",
        ),
        (
            "a.swift",
            "enum Color { case red }\nclass K { static let max = 3; var field = 1; func r() -> Int { field = 2; return field } }\n"
            "func a() -> Color { return Color.red }\nfunc b() -> Int { return K.max }\nfunc c(k: K) -> Int { return k.field }\n",
            "K.r>K.field a>Color a>Color.red b>K b>K.max c>K.field",
        ),
        (
            "a.scala",
            "object Conf { val Max = 3 }\nclass K { var field = 1; def r(): Int = { field = 2; field } }\n"
            "object U { def b(): Int = Conf.Max\n def c(k: K): Int = k.field }\n",
            "K.r>K.field U.b>Conf U.b>Conf.Max U.c>K.field",
        ),
        (
            "a.cpp",
            "enum class Color { Red };\nstruct K { static const int MAX = 3; int field; int own; int r() { own = 2; return own; } };\n"
            "int G = 1;\nColor a() { return Color::Red; }\nint b(K* k) { return K::MAX + k->field; }\nint c() { G = 2; return G; }\n",
            "K.r>K.own a>Color a>Color.Red b>K b>K.MAX b>K.field c>G",
        ),
    ],
)
def test_members_and_variables_are_used_where_they_are_said(resolve, path, source, uses):
    found = {(src, dst) for src, dst in resolve({path: source}).edges("REFERENCES") if dst.startswith(path)}
    assert {f"{src.partition(':')[2]}>{dst.partition(':')[2]}" for src, dst in found} == set(uses.split())


HEADER = "#ifndef K_H\n#define K_H\n#define MAX 3\nenum Color { RED, BLUE };\ntypedef enum { ON, OFF } State;\nextern int total;\n#endif\n"


@pytest.mark.parametrize("ending", ["c", "cpp"])
def test_constants_of_a_header_are_used_where_their_names_stand(resolve, ending):
    source = (
        '#include "k.h"\nint a(int c) { switch (c) { case RED: return MAX; } return 0; }\nvoid b() { int x[MAX]; total = x[BLUE]; }\n'
        "int c(State s) { return s == ON; }\nint d() { int RED = 1; return RED; }\n"
    )
    header = "k.h" if ending == "c" else "k.hpp"
    found = resolve({header: HEADER, f"app.{ending}": source.replace("k.h", header)}).edges("REFERENCES")
    assert {f"{src.partition(':')[2]}>{dst.partition(':')[2]}" for src, dst in found} == {
        *("a>Color.RED", "a>MAX", "b>MAX", "b>Color.BLUE", "b>total", "c>ON"),
    }


def test_members_of_an_enum_class_are_not_names_of_the_scope_around(resolve):
    source = "enum class Color { RED };\nint RED = 2;\nint a() { return RED; }\n"
    assert resolve({"a.cpp": source}).edges("REFERENCES") == {("a.cpp:a", "a.cpp:RED")}


def test_a_variable_of_another_file_is_used_by_code_that_names_its_member(resolve):
    found = resolve(
        {
            "conf.py": "class Conf:\n    url = ''\nCONF = Conf()\n",
            "app.py": (
                "import conf\nfrom conf import CONF\n"
                "def a(): return CONF.url\ndef b(): return conf.CONF.url\ndef c(CONF): return CONF.url\n"
            ),
        }
    ).edges("REFERENCES")
    assert {one for one in found if one[0].startswith("app.py")} == {
        ("app.py:a", "conf.py:CONF"),
        ("app.py:a", "conf.py:Conf.url"),
        ("app.py:b", "conf.py:CONF"),
        ("app.py:b", "conf.py:Conf.url"),
    }


def test_naming_a_function_to_reach_what_hangs_on_it_is_not_a_use_of_it(resolve):
    source = "class Q:\n    def save(self): ...\n    save.alters_data = True\n"
    assert resolve({"a.py": source}).edges("REFERENCES") == set()


def test_an_edge_shows_the_line_of_the_site_it_is_believed_for(resolve):
    source = (
        "class Context:\n    def header(self): ...\nclass Request:\n    def header(self): ...\n"
        "def f(c: Context, x):\n    x.header()\n    c.header()\n    c.header()\n"
    )
    (edge,) = [one for one in resolve({"a.py": source}).results["a.py"].edges if one.kind == "CALLS" and one.rule == "receiver_type"]
    assert (edge.line, edge.lines) == (7, "6,7,8")


def test_a_component_in_markup_refers_to_the_file_that_defines_it(resolve):
    found = resolve(
        {
            "ui/Shelf.vue": '<template>\n  <Child />\n</template>\n<script setup>\nimport Child from "./Child.vue"\n</script>\n',
            "ui/Child.vue": "<template>\n  <p>x</p>\n</template>\n<script setup>\nconst a = 1\n</script>\n",
        }
    )
    child = next(symbol.id for symbol in found.symbols.values() if symbol.path == "ui/Child.vue" and symbol.qualname == "<module>")
    edges = [edge for edge in found.results["ui/Shelf.vue"].edges if edge.dst == child]
    assert [(edge.kind, edge.rule, edge.line) for edge in edges] == [("REFERENCES", "import", 2)]


def test_gos_blank_identifier_is_not_a_symbol_and_its_value_is_still_used(resolve):
    source = "package a\ntype T struct{}\nfunc make() *T { return nil }\nvar _ any = make()\nvar _, kept = 1, 2\nconst _ = iota\n"
    found = resolve({"a.go": source})
    assert not [symbol for symbol in found.symbols.values() if symbol.name == "_"]
    assert ("a.go:<module>", "a.go:make") in found.edges("CALLS")


def test_a_variable_that_holds_a_function_of_a_library_is_used_where_it_is_called(resolve):
    files = {
        "maths.ts": "export const sign = Math.sign\n",
        "use.js": "import { sign } from './maths'\nexport function f(x) { return sign(x) }\n",
    }
    assert ("use.js/f", "maths.ts/sign") in {
        (src.replace(":", "/"), dst.replace(":", "/")) for src, dst in resolve(files).edges("REFERENCES")
    }


def test_a_call_of_a_method_does_not_use_the_field_of_the_same_name(resolve):
    java = "class B {\n  private int size;\n  B size(int n) { this.size = n; return this; }\n}\nclass U { void u(B b) { b.size(1); } }\n"
    assert ("U.u", "B.size") not in {(src[7:], dst[7:]) for src, dst in resolve({"B.java": java}).edges("REFERENCES")}
