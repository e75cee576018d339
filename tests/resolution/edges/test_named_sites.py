"""Uses of type aliases and of re-exported names have edges."""

from __future__ import annotations

import pytest

PYTHON = {
    "pkg/__init__.py": "from .kinds import Handler as Handler\n",
    "pkg/kinds.py": "import typing as t\nHandler = t.Callable[[int], str]\nPair = tuple[int, int]\nT = t.TypeVar('T')\n",
    "pkg/more.py": "from . import Handler\ndef more(h: Handler): ...\n",
    "app.py": (
        "import typing as t\nimport pkg.kinds\nfrom pkg import Handler\nfrom pkg import kinds as k\n"
        "if t.TYPE_CHECKING:\n    from pkg.kinds import Pair\n"
        "def plain(h: Handler): ...\n"
        "def quoted(h: 'Handler') -> 't.Optional[Pair]': ...\n"
        "def inside(h: t.Callable[['Handler'], None]): ...\n"
        "def through(h: k.Handler, p: pkg.kinds.Pair): ...\n"
        "class C:\n    held: 'list[Handler]'\n    def give(self, Handler: int) -> int: ...\n"
        "def told(mode: t.Literal['Handler'] = 'Handler'): ...\n"
        "def noted(h: t.Annotated[int, k.Handler]): ...\n"
    ),
}


def test_python_aliases_are_used_where_annotations_name_them(resolve):
    found = resolve(PYTHON).edges("USES_TYPE")
    handler, pair = "pkg/kinds.py:Handler", "pkg/kinds.py:Pair"
    of_aliases = {(src, dst) for src, dst in found if dst in (handler, pair)}
    assert of_aliases == {
        ("app.py:plain", handler),
        ("app.py:quoted", handler),
        ("app.py:quoted", pair),
        ("app.py:inside", handler),
        ("app.py:through", handler),
        ("app.py:through", pair),
        ("app.py:C", handler),
        ("pkg/more.py:more", handler),
    }


def test_classes_that_a_function_type_takes_are_used(resolve):
    found = resolve({"a.py": "from typing import Callable\nclass Request: ...\ndef on(f: Callable[[Request], None]): ...\n"})
    assert found.edges("USES_TYPE") == {("a.py:on", "a.py:Request")}


def test_an_import_that_goes_round_in_a_circle_ends(resolve):
    found = resolve({"a.py": "from b import X\ndef f(x: X): ...\n", "b.py": "from a import X\n"})
    assert found.edges("USES_TYPE") == set()


TYPESCRIPT = {
    "kinds.ts": "export interface I { n: number }\nexport type Id = string | number;\nexport type Held = { of: Id, i: I };\n",
    "index.ts": "export { Id as Key } from './kinds';\nexport * from './kinds';\n",
    "app.ts": (
        "import { Key, Held } from './index';\nimport * as kinds from './kinds';\n"
        "export function one(id: Key): Promise<Held> { throw 1 }\n"
        "export const two = (id: kinds.Id) => id;\n"
        "export class C { id: Held['of'] }\n"
    ),
}


def test_typescript_aliases_are_followed_through_files_that_pass_them_on(resolve):
    found = resolve(TYPESCRIPT).edges("USES_TYPE")
    assert {(src, dst) for src, dst in found if dst.startswith("kinds.ts")} == {
        ("kinds.ts:Held", "kinds.ts:Id"),
        ("kinds.ts:Held", "kinds.ts:I"),
        ("app.ts:one", "kinds.ts:Id"),
        ("app.ts:one", "kinds.ts:Held"),
        ("app.ts:two", "kinds.ts:Id"),
        ("app.ts:C", "kinds.ts:Held"),
    }


@pytest.mark.parametrize(
    ("path", "source", "uses"),
    [
        ("a.go", "package a\ntype T map[string]int\ntype F func(int) int\nfunc f(t T, g F) {}\n", {("f", "T"), ("f", "F")}),
        ("a.rs", "type R = Result<i32, String>;\nfn f(r: R) -> Vec<R> { vec![r] }\n", {("f", "R")}),
        ("a.kt", "typealias Handler = (String) -> Int\nfun f(h: Handler) {}\n", {("f", "Handler")}),
        ("a.swift", "typealias Done = (Int) -> Void\nfunc f(d: Done) {}\n", {("f", "Done")}),
        ("a.py", "type N = int | str\ntype Many[T] = list[T]\ndef f(n: N) -> Many[int]: ...\n", {("f", "N"), ("f", "Many")}),
        ("a.scala", "object O {\n  type M = Map[String, Int]\n  def f(m: M): Int = 1\n}\n", {("O.f", "O.M")}),
        ("a.c", "typedef int (*cb)(int x);\nint run(cb c) { return c(1); }\n", {("run", "cb")}),
        ("a.cpp", "#include <vector>\nusing Vec = std::vector<int>;\nVec f(Vec v) { return v; }\n", {("f", "Vec")}),
        ("a.cs", "delegate int Cb(int x);\nclass S { int Run(Cb c) { return c(1); } }\n", {("S.Run", "Cb")}),
    ],
)
def test_aliases_are_used_where_a_declaration_names_them(resolve, path, source, uses):
    found = {(src, dst) for src, dst in resolve({path: source}).edges("USES_TYPE") if dst.startswith(path)}
    assert found == {(f"{path}:{src}", f"{path}:{dst}") for src, dst in uses}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("Box.java", "class Box<T extends Comparable<T>> { T v; T get() { return v; } <U> U m(U u) { return u; } }\n"),
        ("a.ts", "export class V<T> { t: T; m<U>(u: U): T { return this.t } }\n"),
        ("a.go", "package m\nfunc Map[T any, U any](x []T, f func(T) U) []U { return nil }\n"),
        ("a.rs", "pub struct S<T> { t: T }\nimpl<T> S<T> { fn g<U>(&self, u: U) -> T { todo!() } }\n"),
    ],
)
def test_parameters_of_a_type_are_nobodys_type(resolve, path, source):
    found = {(src, dst) for src, dst in resolve({path: source}).edges("USES_TYPE") if dst.startswith(path)}
    assert not {one for one in found if one[1].rpartition(":")[2] in ("T", "U")}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.swift", "typealias T = Int\nfunc f<T, U>(a: T, b: U) {}\nfunc g(a: T) {}\nclass V<T> {\n  func m(a: T) {}\n}\n"),
        ("a.scala", "object P {\n type T = Int\n def f[T, U](a: T, b: U): Int = 1\n def g(a: T): Int = 1\n class V[T](t: T) {}\n}\n"),
        ("a.kt", "typealias T = Int\nfun <T, U> f(a: T, b: U) {}\nfun g(a: T) {}\nclass V<T> {\n  fun m(a: T) {}\n}\n"),
        (
            "a.cs",
            "delegate int T(int x);\nclass X {\n  void f<T>(T a) {}\n  void g(T a) {}\n}\nclass V<T> {\n  void m(T a) {}\n}\n",
        ),
        (
            "a.cpp",
            "using T = int*;\ntemplate <typename T> void f(T a) {}\nvoid g(T a) {}\ntemplate <class T> struct V { void m(T a); };\n",
        ),
        ("a.ts", "type T = string;\nfunction f<T, U>(a: T, b: U) {}\nfunction g(a: T) {}\nclass V<T> {\n  m(a: T) {}\n}\n"),
    ],
)
def test_parameters_of_a_type_hide_an_alias_of_their_name(resolve, path, source):
    found = resolve({path: source}).edges("USES_TYPE")
    assert {src.rpartition(":")[2].rpartition(".")[2] for src, dst in found if dst.startswith(path)} == {"g"}


@pytest.mark.parametrize(
    ("path", "source", "uses"),
    [
        (
            "a.py",
            "class Outer:\n    Alias = dict[str, int]\nclass Sub(Outer): ...\ndef f(a: Outer.Alias): ...\ndef g(a: 'Sub.Alias'): ...\n",
            {("f", "Outer.Alias"), ("g", "Outer.Alias")},
        ),
        (
            "a.ts",
            "export namespace N { export type Id = string; export interface I { a: Id } }\nfunction f(a: N.Id, b: N.I) {}\n",
            {("N.I", "N.Id"), ("f", "N.Id"), ("f", "N.I")},
        ),
        (
            "a.cpp",
            "struct O { using A = int*; typedef int Old; };\nstruct P : O {};\nO::A f(P::Old o) { return 0; }\n",
            {("f", "O.A"), ("f", "O.Old")},
        ),
        ("a.rs", "mod m { pub type R = u32; }\nfn f(a: m::R) {}\n", {("f", "m.R")}),
        ("a.swift", "struct O { typealias Done = (Int) -> Void }\nfunc f(d: O.Done) {}\n", {("f", "O.Done")}),
        ("a.scala", "object O {\n  type M = Map[String, Int]\n}\nclass C { def f(m: O.M): Int = 1 }\n", {("C.f", "O.M")}),
        ("a.cs", "class O { public delegate int Cb(int x); }\nclass S { int Run(O.Cb c) { return 1; } }\n", {("S.Run", "O.Cb")}),
        (
            "a.c",
            "typedef struct S { int a; } S1, *S2;\ntypedef int (*tab[3])(int);\nint run(tab t, S1 s, S2 q) { return 1; }\n",
            {("S1", "S"), ("S2", "S"), ("run", "S"), ("run", "S1"), ("run", "S2"), ("run", "tab")},
        ),
    ],
)
def test_aliases_that_are_members_are_used_where_they_are_named(resolve, path, source, uses):
    found = {(src, dst) for src, dst in resolve({path: source}).edges("USES_TYPE") if dst.startswith(path)}
    assert found == {(f"{path}:{src}", f"{path}:{dst}") for src, dst in uses}


def test_a_package_refers_to_what_it_offers(resolve):
    found = resolve(
        {
            "pkg/__init__.py": "from .a import f, C as D, LIMIT, _own\nfrom . import a\nfrom os import path\n",
            "pkg/a.py": "LIMIT = 1\ndef f(): ...\nclass C: ...\ndef _own(): ...\n",
            "pkg/told/__init__.py": "from pkg.a import f, C\n__all__ = ['C']\n",
            "pkg/user.py": "from pkg import f\n",
        }
    )
    assert found.edges("REFERENCES") == {
        ("pkg/__init__.py:<module>", "pkg/a.py:f"),
        ("pkg/__init__.py:<module>", "pkg/a.py:C"),
        ("pkg/__init__.py:<module>", "pkg/a.py:LIMIT"),
        ("pkg/told/__init__.py:<module>", "pkg/a.py:C"),
    }
    assert {edge.line for edge in found.results["pkg/__init__.py"].edges if edge.kind == "REFERENCES"} == {1}


def test_a_file_refers_to_what_it_exports_of_others(resolve):
    found = resolve(
        {
            "a.ts": "export function f() {}\nexport type T = number;\nexport const c = 1;\nfunction own() {}\nexport { own };\n",
            "b.ts": "import { c } from './a';\nexport { f as g, T } from './a';\nexport { c };\nexport * from './a';\n",
        }
    )
    assert found.edges("REFERENCES") == {("b.ts:<module>", "a.ts:f"), ("b.ts:<module>", "a.ts:T"), ("b.ts:<module>", "a.ts:c")}


def test_what_is_not_a_type_hides_none_further_out(resolve):
    found = resolve(
        {
            "m.py": "class Status: ...\n",
            "a.py": (
                "from typing import Optional, Annotated, Literal as L\nfrom m import Status\nbatch = 32\nHandler = list[int]\n"
                "class Order:\n    Status: Status\n    state: Optional[Status] = None\n    def m(self) -> 'Status': ...\n"
                "def f(x: Float[Array, 'batch'], y: L['Handler'], z: Annotated[int, 'Handler', batch]): ...\n"
            ),
        }
    )
    assert {one for one in found.edges("USES_TYPE") if one[1].startswith(("a.py", "m.py"))} == {
        ("a.py:Order", "m.py:Status"),
        ("a.py:Order.m", "m.py:Status"),
    }


def test_a_parameter_of_a_type_hides_an_alias_of_its_name(resolve):
    source = "type T = string;\nfunction f<T>(x: T): T { return x }\ninterface I<T> { t: T }\nexport class V<T> { t: T }\n"
    assert resolve({"a.ts": source}).edges("USES_TYPE") == set()


BARREL = {
    "kinds.ts": "export type Id = string;\nexport class K {}\nexport type Only = number;\nexport default class D {}\n",
    "barrel.ts": "export type Id = number;\nexport class K {}\nexport * from './kinds';\n",
    "swap.ts": "import { Id } from './kinds';\nimport { K } from './barrel';\nclass X {}\nexport { Id as X };\nexport { K as Id };\n",
    "app.ts": "import D, { Id, K, Only } from './barrel';\nexport function f(a: Id, k: K, o: Only, d: D) {}\n",
    "other.ts": "import { X } from './swap';\nexport function g(x: X) {}\n",
}


def test_what_a_file_exports_itself_hides_what_it_passes_on_of_all(resolve):
    found = resolve(BARREL).edges("USES_TYPE")
    assert {dst for src, dst in found if src == "app.ts:f"} == {"barrel.ts:Id", "barrel.ts:K", "kinds.ts:Only"}
    assert {dst for src, dst in found if src == "other.ts:g"} == {"kinds.ts:Id"}


def test_defaults_are_passed_on(resolve):
    found = resolve(
        {
            "Button.tsx": "export default function Button() {}\n",
            "Card.tsx": "class Card {}\nexport default Card;\n",
            "Size.ts": "type Size = 'a' | 'b';\nexport default Size;\n",
            "index.ts": (
                "export { default as Button } from './Button';\nexport { default } from './Card';\n"
                "export { default as Size } from './Size';\n"
            ),
            "app.ts": "import S from './Size';\nimport { Size } from './index';\nfunction f(s: S) {}\nfunction g(s: Size) {}\n",
        }
    )
    offered = {dst for src, dst in found.edges("REFERENCES") if src == "index.ts:<module>"}
    assert offered == {"Button.tsx:Button", "Card.tsx:Card", "Size.ts:Size"}
    assert found.edges("USES_TYPE") == {("app.ts:f", "Size.ts:Size"), ("app.ts:g", "Size.ts:Size")}


def test_a_long_chain_of_files_that_pass_a_name_on_is_followed(resolve):
    chain = {f"m{at}.py": f"from m{at + 1} import A\n" for at in range(600)}
    found = resolve({**chain, "m600.py": "A = list[int]\n", "app.py": "from m0 import A\ndef f(a: A): ...\n"})
    assert found.edges("USES_TYPE") == {("app.py:f", "m600.py:A")}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("main.go", "package m\nfunc (s *S) Run() {}\ntype S struct {\n\tx int\n}\n"),
        ("a.rs", "impl S { fn run(&self) {} }\nstruct S;\n"),
        ("a.cpp", "void S::run() {}\nstruct S { void run(); };\n"),
        ("a.swift", "extension S { func run() {} }\nclass S {}\n"),
        ("a.kt", "fun S.run() {}\nclass S\n"),
        ("a.lua", "function S.run() end\nlocal S = {}\n"),
    ],
)
def test_a_method_may_stand_before_its_type(resolve, path, source):
    assert any(dst.lower().endswith("run") for _, dst in resolve({path: source}).edges("DEFINES"))
