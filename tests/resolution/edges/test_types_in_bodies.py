"""Types that expressions in a body name have edges from that code."""

from __future__ import annotations

import pytest

GO = (
    "package a\ntype T struct{ F int }\ntype Box[V any] struct{ v V }\nfunc Mk[V any]() int { return 1 }\nfunc Two[A, B any](a A, b B) {}\n"
)
BODIES = [
    *(
        ("a.go", GO + "func user(v any) { BODY }\n", body)
        for body in (
            *("_ = []T{}", "_ = [...]T{}", "_ = map[string]*T{}", "_ = Box[T]{}", "_ = make([]T, 1)", "_ = make(chan T)", "_ = new(T)"),
            *("_ = v.(T)", "switch v.(type) { case *T: }", "switch x := v.(type) { case T: _ = x }", "_ = []T(nil)", "Mk[T]()"),
            *("Mk[[]T]()", "Two[*T, int](nil, 1)", "Two[[]T](nil, 1)", "_ = func() T { return nil }"),
        )
    ),
    *(
        ("A.java", "class T {}\nclass A { void user(Object o) { BODY } }\n", body)
        for body in (
            *("f(o instanceof T);", "f(T.class);", "f(T[].class);", "f((T) o);", "f(new T[2]);", "f(new ArrayList<T>());"),
            *("f(new HashMap<String, List<T>>());", "f(T::new);", "f(T::of);", "this.<T>g();", "switch (o) { case T(int a) -> {} }"),
        )
    ),
    *(
        ("a.cs", "class T { }\nclass A { void user(object o) { BODY } }\n", body)
        for body in (
            *("f(o is T);", "f(o is not T);", "f(o is List<T>);", "f(o is T { X: 1 });", "f(o as T);", "f((T) o);", "f(typeof(T));"),
            *("f(new T[2]);", "f(new List<T>());", "G<T>();", "o.G<T>();", "f(default(T));", "f(o switch { T => 1, _ => 2 });"),
        )
    ),
    *(
        ("a.kt", "class T\nfun user(o: Any) { BODY }\n", body)
        for body in (
            *("f(o is T)", "f(o !is T)", "f(o as T)", "f(o as? T)", "f(T::class)", "f(listOf<T>())", "when (o) { is T -> 1 }", "f(::T)"),
            *("try { } catch (e: T) { }", "f { t: T -> 1 }", "for (t: T in ts) { }", "f(object : T() {})"),
        )
    ),
    *(
        ("a.ts", "export class T { a: number = 1 }\nfunction Foo<X>() {}\nfunction user(x: any) { BODY }\n", body)
        for body in (
            *("f(x as T)", "f(x as T[])", "f(x as T | null)", "f(x as { a: T })", "f(x as T['a'])", "f(x as keyof T)", "f(x satisfies T)"),
            *("Foo<T>()", "Foo<T[]>()", "f(new Map<string, T>())", "let k: keyof T", "let k: typeof T", "f(x as typeof T)"),
        )
    ),
    ("a.ts", "export class T { a: number = 1 }\nfunction user(x: any): BODY { return true }\n", "x is T"),
    *(
        ("a.php", "<?php\nclass T {}\nfunction user($o) { BODY }\n", body)
        for body in (
            "f($o instanceof T);",
            "try {} catch (T $e) {}",
            "f(T::class);",
            "f(T::$x);",
            "f(function (): T {});",
            "f(fn(): T => 1);",
        )
    ),
    *(
        ("a.swift", "class T {}\nfunc user(o: Any) { BODY }\n", body)
        for body in (
            *("f(o is T)", "f(o as! T)", "f(o as? [T])", "f([T]())", "f(Array<T>())", "f([String: T]())", "f { (t: T) in 1 }"),
            *("switch o { case is T: break; default: break }", "do { } catch is T { }"),
        )
    ),
    *(
        ("a.scala", "class T\nobject A {\ndef user(o: Any) = { BODY }\n}\n", body)
        for body in (
            *("o.isInstanceOf[T]", "o.asInstanceOf[T]", "classOf[T]", "List[T]()", "new Array[T](2)", "(o: T)", "f((t: T) => 1)"),
            *("o match { case T(a) => 1 }", "o match { case _: T => 1 }"),
        )
    ),
    *(
        ("a.cpp", "#include <vector>\nstruct T { int a; };\nvoid user(void* o) { BODY }\n", body)
        for body in (
            *("f(static_cast<T*>(o));", "f(sizeof(T));", "f(sizeof(T*));", "f((T*) o);", "std::vector<T> v;", "f(std::vector<T>());"),
            *("f(std::make_unique<T>());", "f(alignof(T));", "try { } catch (const T& e) { }", "f([](int a) -> T { return 1; });"),
        )
    ),
    *(
        ("a.c", "struct T { int a; };\nvoid user(void* o) { BODY }\n", body)
        for body in ("f((struct T*) o);", "f(sizeof(struct T));", "f((struct T){1});", "f(offsetof(struct T, a));")
    ),
    *(
        ("a.py", "class T(Exception): ...\ndef user(o):\n    BODY\n", body)
        for body in (
            *("try: ...\n    except T: ...", "try: ...\n    except (OSError, T): ...", "try: ...\n    except (OSError, T) as e: ..."),
            "match o:\n        case T(): ...",
        )
    ),
]


@pytest.mark.parametrize(("path", "source", "body"), BODIES, ids=[f"{path}: {body}" for path, _, body in BODIES])
def test_a_type_that_a_body_names_is_used_there(resolve, path, source, body):
    found = resolve({path: source.replace("BODY", body)})
    users = {src for kind in ("USES_TYPE", "REFERENCES") for src, dst in found.edges(kind) if dst == f"{path}:T"}
    assert {src.rpartition(":")[2].rpartition(".")[2] for src in users} == {"user"}


def test_a_variable_hides_the_type_of_its_name(resolve):
    source = "package a\ntype T struct{}\nvar all []func(int)\nfunc user(T int, v any) { all[T](1); _ = []int{T}; _ = v.(error) }\n"
    found = resolve({"a.go": source})
    assert not [src for kind in ("USES_TYPE", "REFERENCES") for src, dst in found.edges(kind) if dst == "a.go:T"]


def test_what_is_handed_on_as_a_constructor_is_the_class_and_its_constructors(resolve):
    found = resolve(
        {"A.java": "class T { T(int a) {} void go() {} }\nclass A { void user(Optional<Integer> o) { o.map(T::new).get().go(); } }\n"}
    )
    assert {dst for src, dst in found.edges("REFERENCES") if src == "A.java:A.user"} == {"A.java:T", "A.java:T.T"}
    assert ("A.java:A.user", "A.java:T.go") in found.edges("CALLS")
