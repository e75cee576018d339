"""An annotation is used by what it stands before, with and without arguments."""

from __future__ import annotations

SOURCE = """
@interface Mk { String value(); }
@interface Ok {}
@Mk("class") class P {
  @Mk("field") int f = 1;
  @Ok static int g;
  @Mk("made") P() {}
  @Mk("method") void a() {}
  @Ok void b() {}
  void c(@Ok int q, @Mk("parameter") int r) {}
  void d() { @Ok int z = 1; }
  @Override public String toString() { return ""; }
}
@Mk("enum") enum E { @Ok ONE, TWO }
@Mk("record") record R(@Ok int a) {}
@Ok interface I { @Mk("asked") void m(); @Ok int K = 1; }
@Ok @interface An { @Mk("value") String v(); }
"""


def users(found, name):
    edges = {kind: found.edges(kind) for kind in ("USES_TYPE", "REFERENCES")}
    return {src.rpartition(":")[2] for kind in edges for src, dst in edges[kind] if dst == f"A.java:{name}"}


def test_an_annotation_with_arguments_is_used_by_what_it_stands_before(resolve):
    assert users(resolve({"A.java": SOURCE}), "Mk") == {"P", "P.f", "P.P", "P.a", "P.c", "E", "R", "I.m", "An.v"}


def test_an_annotation_without_arguments_is_used_by_what_it_stands_before(resolve):
    assert users(resolve({"A.java": SOURCE}), "Ok") == {"P.g", "P.b", "P.c", "P.d", "E", "R", "I", "I.K", "An"}


def test_annotations_of_the_language_are_nobodys_dependency(resolve):
    assert not [dst for _, dst in resolve({"A.java": SOURCE}).edges("USES_TYPE") if dst.endswith("Override")]


def test_annotations_are_found_in_other_packages(resolve):
    found = resolve(
        {
            "a/Mk.java": "package a;\npublic @interface Mk { Class<?> value(); }\n",
            "b/P.java": "package b;\nimport a.Mk;\nclass T {}\nclass P { @Mk(T.class) void run() {} }\n",
        }
    )
    assert {src for src, dst in found.edges("USES_TYPE") if dst == "a/Mk.java:Mk"} == {"b/P.java:P.run"}
    assert {src for src, dst in found.edges("USES_TYPE") if dst == "b/P.java:T"} == {"b/P.java:P.run"}
