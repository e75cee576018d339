"""Every rule of the languages with declared types on annotated source: what must be found, and what must not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path, languages
from graphmem.resolution.interfaces.layout import read_layout
from graphmem.resolution.resolver import Resolver

FIXTURES = sorted(
    path
    for name, spec in languages().items()
    if spec.rules not in ("", "python", "ecmascript")
    for path in (Path(__file__).parent / name).glob("*.txt")
)


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def test_every_language_with_rules_has_a_fixture():
    assert {path.parent.name for path in FIXTURES} == {
        name for name, spec in languages().items() if spec.rules not in ("", "python", "ecmascript")
    }


@pytest.mark.parametrize("path", FIXTURES, ids=name_of)
def test_calls_lead_where_the_fixture_says(path, annotated):
    problems = annotated(path)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("path", FIXTURES, ids=name_of)
def test_after_any_edits_the_edges_are_those_of_a_fresh_start(path):
    parts = re.split(r"^(?:#|//)--- (.+)\n", path.read_text(), flags=re.MULTILINE)
    files = dict(zip(parts[1::2], parts[2::2], strict=True))
    layout = read_layout(files)[0]
    facts = {name: extract(name, text.encode(), language, name) for name, text in files.items() if (language := language_of_path(name))}
    fresh = Resolver("p", layout)
    fresh.update(facts, ())
    wanted = {name: tuple(fresh.resolve(name)) for name in facts}

    resolver = Resolver("p", layout)
    current: dict[str, tuple[object, ...]] = {}

    def update(changed, removed=()):
        for touched in resolver.update(changed, removed):
            current[touched] = tuple(resolver.resolve(touched))
        for name in removed:
            current.pop(name, None)

    for name in sorted(facts, reverse=True):  # one file after the other
        update({name: facts[name]})
    assert current == wanted
    for name in sorted(facts):
        update({name: extract(name, b"", language_of_path(name), "empty")})
        update({name: facts[name]})
        assert current == wanted, f"after emptying {name} and writing it again"
        update({}, (name,))
        update({name: facts[name]})
        assert current == wanted, f"after removing {name} and bringing it back"
