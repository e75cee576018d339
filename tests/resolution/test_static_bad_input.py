"""Source that no language expects: bounded time, a diagnostic, and no edges that are not true."""

from __future__ import annotations

import time

import pytest

from graphmem.parsing.extract import extract
from graphmem.parsing.language import languages
from graphmem.resolution.resolver import Resolver

NAMES = sorted(name for name, spec in languages().items() if spec.rules not in ("", "python", "ecmascript"))
GARBAGE = b"class A { void f( { { if (x) } }} function end def g( fn <<< ### \xff\x00 import ; use :: package\n" * 40


def path_of(name: str) -> str:
    return "file" + languages()[name].extensions[0]


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_parsed_is_reported_and_the_rest_resolved(name):
    path = path_of(name)
    facts = extract(path, GARBAGE.decode("latin-1").encode(), name, "hash")
    resolver = Resolver("p")
    for touched in resolver.update({path: facts}, ()):
        resolver.resolve(touched)
    assert facts.definitions[0].kind == "module"
    if facts.error_count:
        assert facts.diagnostics[0][:2] == ("warning", "syntax")


@pytest.mark.parametrize("name", NAMES)
def test_deep_nesting_ends(name):
    path = path_of(name)
    facts = extract(path, b"f(" * 2_000 + b")" * 2_000, name, "hash")
    resolver = Resolver("p")
    resolver.update({path: facts}, ())
    assert resolver.resolve(path).call_sites <= 2_000


GENERATED = {
    "go": ("package p\n", "func F{0}(x int) int {{ return F{1}(x) }}\n"),
    "java": ("class C {{\n".replace("{{", "{"), "  int f{0}(int x) {{ return f{1}(x); }}\n"),
    "rust": ("", "fn f{0}(x: u32) -> u32 {{ f{1}(x) }}\n"),
    "c": ("", "static int f{0}(int x) {{ return f{1}(x); }}\n"),
}


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_a_generated_file_of_thousands_of_functions_takes_seconds(name):
    head, line = GENERATED[name]
    count = 4_000
    source = head + "".join(line.format(i, (i + 1) % count) for i in range(count)) + ("}\n" if name == "java" else "")
    began = time.process_time()
    path = path_of(name)
    facts = extract(path, source.encode(), name, "hash")
    resolver = Resolver("p")
    resolver.update({path: facts}, ())
    found = resolver.resolve(path)
    assert time.process_time() - began < 40
    assert sum(edge.kind == "CALLS" for edge in found.edges) == count
    assert not found.unresolved


CYCLES = {
    "Go: types that embed each other": {"a.go": "package p\ntype A struct{ B }\ntype B struct{ A }\nfunc f(a A) { a.Run() }\n"},
    "Java: a class that extends itself": {"A.java": "class A extends A { void f() { g(); this.g(); super.f(); } }\n"},
    "Java: imports in a circle": {
        "a/A.java": "package a;\nimport b.*;\nclass A extends B {}\n",
        "b/B.java": "package b;\nimport a.*;\nclass B extends A { void f() { g(); } }\n",
    },
    "Rust: modules that import each other": {
        "src/lib.rs": "mod a; mod b; pub use a::*; pub use b::*;\n",
        "src/a.rs": "pub use super::b::*; pub fn f() { missing(); }\n",
        "src/b.rs": "pub use super::a::*; pub use crate::*;\n",
    },
    "C: headers that include each other": {
        "a.h": '#include "b.h"\nstruct a { struct b *b; };\n',
        "b.h": '#include "a.h"\nstruct b { struct a *a; };\n',
        "a.c": '#include "a.h"\nvoid f(struct a *a) { a->b->a->g(); }\n',
    },
    "Bash: scripts that source each other": {"a.sh": "source b.sh\nmissing\n", "b.sh": "source a.sh\nmissing\n"},
}


@pytest.mark.parametrize("files", CYCLES.values(), ids=CYCLES)
def test_cycles_end_and_nothing_is_called(files, resolve):
    resolved = resolve(files)
    calls = {pair for pair in resolved.edges("CALLS") if pair[1].rpartition(":")[0] in files}
    assert calls <= {("A.java:A.f", "A.java:A.f")}


def test_macros_that_expand_each_other_twice_end(resolve):
    chain = "".join(f"#define M{i}(x) M{i + 1}(x) M{i + 1}(x)\n" for i in range(40))
    uses = "void g() {\n" + "  M0(1);\n" * 20 + "}\n"
    resolved = resolve({"a.c": f"void f(int n) {{}}\n#define M40(x) f(x)\n{chain}{uses}"})
    assert ("a.c:g", "a.c:M0") in resolved.edges("CALLS")
