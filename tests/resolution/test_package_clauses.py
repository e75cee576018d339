"""The package clause of a file decides which names it sees.

A change of the clause is followed like any other change.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path
from graphmem.resolution.interfaces.layout import read_layout
from graphmem.resolution.resolver import Resolver

CLAUSES = {
    "go": re.compile(r"^package (\w+)$", re.MULTILINE),
    "java": re.compile(r"^package ([\w.]+);$", re.MULTILINE),
    "kotlin": re.compile(r"^package ([\w.]+)$", re.MULTILINE),
    "scala": re.compile(r"^package ([\w.]+)$", re.MULTILINE),
    "cpp": re.compile(r"^namespace (\w+) \{$", re.MULTILINE),
    "csharp": re.compile(r"^namespace ([\w.]+)", re.MULTILINE),
    "php": re.compile(r"^namespace ([\w\\]+);$", re.MULTILINE),
}
HERE = Path(__file__).parent
FIXTURES = [path for language in CLAUSES for path in sorted((HERE / language).glob("*.txt")) if CLAUSES[language].search(path.read_text())]


def facts_of(path, text):
    return extract(path, text.encode(), language_of_path(path), text)


def fresh(files, layout):
    resolver = Resolver("p", layout)
    known = resolver.update({path: facts_of(path, text) for path, text in files.items()}, ())
    return {path: tuple(resolver.resolve(path)) for path in known}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_after_any_changes_of_clauses_the_edges_are_those_of_a_fresh_start(annotated_files, fixture, seed):
    clause = CLAUSES[fixture.parent.name]
    everything = annotated_files(fixture)
    layout = read_layout(everything)[0]
    files = {path: text for path, text in everything.items() if language_of_path(path) == fixture.parent.name}
    with_clause = sorted(path for path in files if clause.search(files[path]))
    pool = sorted({clause.search(files[path])[1] for path in with_clause} | {"elsewhere"})
    chooser = random.Random(seed)
    resolver = Resolver("p", layout)
    current = {}

    def update(changed):
        for touched in resolver.update({path: facts_of(path, files[path]) for path in changed}, ()):
            current[touched] = tuple(resolver.resolve(touched))

    update(sorted(files))
    for step in range(8):
        path = chooser.choice(with_clause)
        old, new = clause.search(files[path])[0], chooser.choice(pool)
        files[path] = files[path].replace(old, old.replace(clause.search(old)[1], new), 1)
        update([path])
        wanted = fresh(files, layout)
        different = sorted(one for one in wanted if current[one] != wanted[one])
        assert not different, f"step {step}: {path} says {new} now"


def test_a_go_file_that_leaves_its_package_is_called_by_it_no_longer():
    files = {"a.go": "package m\nfunc A() int { return B() }\n", "b.go": "package m\nfunc B() int { return 1 }\n"}
    resolver = Resolver("p")
    resolver.update({path: facts_of(path, text) for path, text in files.items()}, ())
    before = resolver.resolve("a.go")
    resolver.resolve("b.go")
    assert "CALLS" in {edge.kind for edge in before.edges}
    again = resolver.update({"b.go": facts_of("b.go", files["b.go"].replace("package m", "package other"))}, ())
    assert again == {"a.go", "b.go"}
    after = resolver.resolve("a.go")
    assert "CALLS" not in {edge.kind for edge in after.edges}
    assert len(after.unresolved) == 1


def test_a_class_of_cpp_that_moves_into_an_inner_namespace_is_no_longer_the_nearest():
    page = "struct Page {\n  void turn() {}\n};\n"
    files = {
        "a.hpp": f"namespace a {{\nnamespace inner {{\nint other();\n}}\n{page}}}\n",
        "b.hpp": f"namespace a {{\nnamespace inner {{\n{page}}}\n}}\n",
        "use.cpp": '#include "a.hpp"\n#include "b.hpp"\nnamespace a {\nvoid use() {\n  Page page;\n  page.turn();\n}\n}\n',
    }
    resolver = Resolver("p")
    resolver.update({path: facts_of(path, text) for path, text in files.items()}, ())
    for path in files:
        resolver.resolve(path)
    moved = files | {"a.hpp": f"namespace a {{\nnamespace inner {{\nint other();\n{page}}}\n}}\n"}
    assert "use.cpp" in resolver.update({"a.hpp": facts_of("a.hpp", moved["a.hpp"])}, ())
    assert tuple(resolver.resolve("use.cpp")) == fresh(moved, None)["use.cpp"] != fresh(files, None)["use.cpp"]
