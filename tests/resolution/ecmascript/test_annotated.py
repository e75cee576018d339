"""Annotated sources: after `// ->` stand all calls of a line that lead into the project, and by which rule.

What a line hands to a framework counts as well.

A line without an arrow must lead nowhere, so every line is also a test for false edges.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from graphmem.model import ENTRY_RULES
from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path
from graphmem.resolution.interfaces.layout import read_layout
from graphmem.resolution.resolver import Resolver

FIXTURES = sorted(Path(__file__).parent.glob("*.txt"))
Calls = dict[tuple[str, int], set[tuple[str, str]]]


def files_of(fixture: Path) -> dict[str, str]:
    parts = re.split(r"^=== (.+)\n", fixture.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def expected(files: dict[str, str]) -> Calls:
    found: Calls = {}
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if "// -> " in line:
                items = line.partition("// -> ")[2].split(", ")
                found[path, number] = {(item.rpartition(" ")[0], item.rpartition(" ")[2]) for item in items}
    return found


def resolved(files: dict[str, str]) -> Calls:
    resolver = Resolver("p", read_layout(files)[0])
    sources = {path: text for path, text in files.items() if language_of_path(path)}
    facts = {path: extract(path, re.sub(r"// -> .*", "", text).encode(), language_of_path(path), path) for path, text in sources.items()}
    resolver.update(facts, ())
    names = {row.id: f"{path}:{row.qualname}" for path in facts for row in resolver.symbols(path)}
    found: Calls = defaultdict(set)
    for path in sorted(facts):
        for edge in resolver.resolve(path).edges:
            is_called = edge.kind == "CALLS" or (edge.kind == "REFERENCES" and edge.rule in ENTRY_RULES)
            if is_called and edge.dst in names:
                for line in edge.lines.split(","):
                    found[path, int(line)].add((names[edge.dst], edge.rule))
    return dict(found)


def count(tally, wanted: Calls, found: Calls) -> None:
    """Precision and recall by rule, for the table at the end of a session."""
    for place in wanted.keys() | found.keys():
        language = language_of_path(place[0])
        targets = {target for target, _ in found.get(place, ())}
        for target, rule in wanted.get(place, ()):
            tally.wanted[language, rule][0] += target in targets
            tally.wanted[language, rule][1] += 1
        for edge in found.get(place, ()):
            tally.found[language, edge[1]][0] += edge in wanted.get(place, ())
            tally.found[language, edge[1]][1] += 1


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_calls_lead_where_the_annotations_say_and_nowhere_else(fixture, tally):
    files = files_of(fixture)
    wanted, found = expected(files), resolved(files)
    count(tally, wanted, found)
    lines = {f"{path}:{line} {files[path].splitlines()[line - 1].strip()}" for path, line in wanted.keys() | found.keys()}
    assert lines, "the fixture says something"
    problems = [
        f"{path}:{line}  missing {sorted(wanted.get((path, line), set()) - found.get((path, line), set()))}"
        f"  unexpected {sorted(found.get((path, line), set()) - wanted.get((path, line), set()))}"
        for path, line in sorted(wanted.keys() | found.keys())
        if wanted.get((path, line)) != found.get((path, line))
    ]
    assert not problems, "\n".join(problems)


def all_edges(resolver: Resolver, paths: list[str]) -> dict[str, tuple[object, ...]]:
    return {path: tuple(resolver.resolve(path)[:3]) for path in paths}


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_after_any_edits_the_edges_are_those_of_a_fresh_start(fixture):
    files = files_of(fixture)
    layout = read_layout(files)[0]
    facts = {path: extract(path, text.encode(), language, path) for path, text in files.items() if (language := language_of_path(path))}
    empty = {path: extract(path, b"", language_of_path(path), "empty") for path in facts}
    fresh = Resolver("p", layout)
    fresh.update(facts, ())
    wanted = all_edges(fresh, sorted(facts))

    resolver = Resolver("p", layout)
    current: dict[str, object] = {}
    for path in sorted(facts, reverse=True):  # one file after the other, users before what they use
        for touched in resolver.update({path: facts[path]}, ()):
            current[touched] = tuple(resolver.resolve(touched)[:3])
    assert current == wanted
    for path in sorted(facts):
        for change in ({path: empty[path]}, {path: facts[path]}):
            for touched in resolver.update(change, ()):
                current[touched] = tuple(resolver.resolve(touched)[:3])
        assert current == wanted, f"after emptying {path} and writing it again"
        for touched in resolver.update({}, (path,)):
            current[touched] = tuple(resolver.resolve(touched)[:3])
        current.pop(path)
        for touched in resolver.update({path: facts[path]}, ()):
            current[touched] = tuple(resolver.resolve(touched)[:3])
        assert current == wanted, f"after removing {path} and bringing it back"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("export const pick: Left = (a) => a", "export const pick: Right = (a) => a"),
        ("export const pick = left((a) => a)", "export const pick = right((a) => a)"),
        ("export const { pick } = left({ pick: (a) => a })", "export const { pick } = right({ pick: (a) => a })"),
        ("export const pick = (): A => one()", "export const pick = (): B => one()"),
        ("export function pick() { return make<A>() }", "export function pick() { return make<B>() }"),
        ("type C = A\nexport const pick = (): C => one()", "type C = B\nexport const pick = (): C => one()"),
    ],
)
def test_what_an_edit_says_of_types_reaches_other_files(before, after):
    head = """
import { A, B } from "./kinds"
type Left = (a: A) => A
type Right = (a: B) => B
function left(x: any): any { return x }
function right(x: any): any { return x }
function make<T>(): T { return null as any }
"""
    files = {
        "kinds.ts": "export class A { go() {} }\nexport class B { go() {} }\n",
        "made.ts": head + before,
        "use.ts": 'import { pick } from "./made"\npick(null).go()\n',
    }

    def facts_of(path: str, text: str):
        return extract(path, text.encode(), "typescript", path)

    resolver = Resolver("p", read_layout({})[0])
    resolver.update({path: facts_of(path, text) for path, text in files.items()}, ())
    current = all_edges(resolver, sorted(files))
    changed = facts_of("made.ts", head + after)
    for touched in resolver.update({"made.ts": changed}, ()):
        current[touched] = tuple(resolver.resolve(touched)[:3])
    fresh = Resolver("p", read_layout({})[0])
    fresh.update({**{path: facts_of(path, text) for path, text in files.items()}, "made.ts": changed}, ())
    assert current == all_edges(fresh, sorted(files))
