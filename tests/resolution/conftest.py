"""Annotated fixtures: source with the expected definitions in comments under each reference.

    #--- pkg/a.py
    class A:
        def run(self): ...
    #--- main.py
    from pkg.a import A
    A().run()
    #   ^ receiver_type: pkg/a.py:A.run

`^ rule: path:qualname, …` says which definitions of the project the line above calls, and by which rule they
are found; without a path they are in the same file, `name#1` is the second of that name, a number is a line,
and a class stands for its constructors too. `^ none` says that nothing of the project is called; `^ only
outside` the same, and that some edge leads out. `^ gap: …` is a call that is not found yet: it is counted and
printed, and a gap that closes fails until it is renamed. Comments begin with `#` or `//`, whatever the language.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pytest

from graphmem.model import ENTRY_RULES, EdgeRow, ExternalRow, FileRow, SymbolRow, UnresolvedRow, file_id
from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path
from graphmem.projection.graph.view import GraphView
from graphmem.resolution.edges.rows import FileResolution
from graphmem.resolution.interfaces.layout import read_layout
from graphmem.resolution.resolver import Resolver
from graphmem.store.base import GraphTables

Place = tuple[str, int]

_FILE = re.compile(r"^\s*(?:#|//)--- (\S+)\s*$")
_ARROW = re.compile(r"^\s*(?:#|//)\s*\^ (\w+)(?: outside)?(?:: (.*))?$")


@dataclass
class Expectation:
    path: str
    line: int
    rule: str
    places: list[tuple[str, str]]  # (path, qualname, qualname#ordinal or line)


@dataclass
class Annotated:
    """A fixture taken apart: files without annotations, and what was expected of them."""

    name: str
    files: dict[str, str] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)


@dataclass
class Resolved:
    """Everything a resolver says about some files."""

    resolver: Resolver
    results: dict[str, FileResolution]
    symbols: dict[str, SymbolRow]

    def calls(self, path: str, line: int) -> dict[Place, str]:
        """Definitions of the project that a line calls or hands to a framework, by (path, line of the name), with the rule."""
        found: dict[Place, str] = {}
        for edge in self.results[path].edges:
            is_called = edge.kind == "CALLS" or (edge.kind == "REFERENCES" and edge.rule in ENTRY_RULES)
            if is_called and edge.dst in self.symbols and str(line) in edge.lines.split(","):
                target = self.symbols[edge.dst]
                found[target.path, target.name_line] = edge.rule
        return found

    def edges(self, kind: str) -> set[tuple[str, str]]:
        """(source, destination) of all edges of a kind, as path:qualname or package:name."""
        outside = {row.id: f"{row.package}:{row.name}" for result in self.results.values() for row in result.externals}
        names = {id_: f"{row.path}:{row.qualname}" for id_, row in self.symbols.items()} | outside
        return {
            (names.get(edge.src, "file"), names.get(edge.dst, "file"))
            for result in self.results.values()
            for edge in result.edges
            if edge.kind == kind
        }


def read_annotated(path: Path) -> Annotated:
    fixture = Annotated(path.stem)
    current, lines = "", []
    for text in path.read_text(encoding="utf-8").splitlines():
        header, arrow = _FILE.match(text), _ARROW.match(text)
        if header:
            current, lines = header[1], []
        elif arrow:
            places = []
            for place in filter(None, (part.strip() for part in (arrow[2] or "").split(","))):
                target, _, name = place.rpartition(":")
                places.append((target or current, name))
            fixture.expectations.append(Expectation(current, len(lines), arrow[1], places))
        else:
            lines.append(text)
        if current:
            fixture.files[current] = "\n".join(lines) + "\n"
    return fixture


def resolve_files(files: dict[str, str]) -> Resolved:
    resolver = Resolver("fixture", read_layout(files)[0])
    facts = {}
    for path, text in files.items():
        language = language_of_path(path)
        if language:
            facts[path] = extract(path, text.encode(), language, "")
    results = {path: resolver.resolve(path) for path in sorted(resolver.update(facts, ()))}
    symbols = {row.id: row for path in results for row in resolver.symbols(path)}
    return Resolved(resolver, results, symbols)


@dataclass
class Tally:
    """Precision and recall by language and rule over all fixtures of a session."""

    found: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))  # true, all
    wanted: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))  # found, all
    gaps: list[str] = field(default_factory=list)

    def table(self) -> str:
        rows = [f"{'language':12} {'rule':16} {'precision':>13} {'recall':>13}"]
        keys = sorted({*self.found, *self.wanted})
        for language in sorted({language for language, _ in keys}):
            own = [key for key in keys if key[0] == language]
            rows += [self._row(*key, [key]) for key in own if self.found[key][1] or self.wanted[key][1]]
            rows.append(self._row(language, "all rules", own))
        return "\n".join([*rows, f"known gaps: {len(self.gaps)}", *self.gaps])

    def _row(self, language: str, rule: str, keys: list[tuple[str, str]]) -> str:
        found = [sum(self.found[key][part] for key in keys) for part in (0, 1)]
        wanted = [sum(self.wanted[key][part] for key in keys) for part in (0, 1)]
        return f"{language:12} {rule:16} {_share(*found):>13} {_share(*wanted):>13}"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {part / whole:.2f}" if whole else "-"


_TALLY = Tally()


def check_annotated(fixture: Annotated) -> list[str]:
    """Return sentences on missing and unexpected edges of a fixture."""
    resolved = resolve_files(fixture.files)
    constructors: dict[Place, Place] = {}
    by_id = resolved.symbols
    lines: dict[tuple[str, str], int] = {}
    for row in by_id.values():
        twin = 0
        while (row.path, f"{row.qualname}#{twin}") in lines:
            twin += 1
        lines[row.path, f"{row.qualname}#{twin}"] = row.name_line
        lines.setdefault((row.path, row.qualname), row.name_line)

    def place_of(target: tuple[str, str]) -> Place:
        if target[1].isdigit():
            return target[0], int(target[1])
        if target not in lines:
            pytest.fail(f"{fixture.name}: no definition {target[0]}:{target[1]}")
        return target[0], lines[target]

    for row in by_id.values():
        parent = by_id.get(row.parent_id)
        if parent is not None and row.name in ("__init__", "__new__", "constructor"):
            constructors[row.path, row.name_line] = (parent.path, parent.name_line)
    problems = []
    by_line: dict[Place, list[Expectation]] = defaultdict(list)
    for expectation in fixture.expectations:
        by_line[expectation.path, expectation.line].append(expectation)
    for (path, line), expectations in by_line.items():
        language = language_of_path(path)
        found = resolved.calls(path, line)
        expected = {place_of(p): e.rule for e in expectations if e.rule not in ("gap", "none", "only") for p in e.places}
        gaps = {place_of(p) for e in expectations if e.rule == "gap" for p in e.places}
        for place, rule in expected.items():
            hit = place in found
            _TALLY.wanted[language, rule][0] += hit
            _TALLY.wanted[language, rule][1] += 1
            if not hit:
                problems.append(f"{path}:{line} does not call {place[0]}:{place[1]} ({rule}); it calls {found}")
            elif found[place] != rule:
                problems.append(f"{path}:{line} calls {place[0]}:{place[1]} by rule {found[place]}, expected {rule}")
        for place, rule in found.items():
            implied = constructors.get(place) in expected or constructors.get(place) in gaps
            true = place in expected or place in gaps or implied
            _TALLY.found[language, rule][0] += true
            _TALLY.found[language, rule][1] += 1
            if place in gaps:
                problems.append(f"{path}:{line} now calls {place[0]}:{place[1]}: the gap is closed, name its rule")
            elif not true:
                problems.append(f"{path}:{line} calls {place[0]}:{place[1]} ({rule}), which it must not")
        if any(e.rule == "only" for e in expectations):
            outside = [
                e for e in resolved.results[path].edges if e.kind == "CALLS" and e.dst not in by_id and str(line) in e.lines.split(",")
            ]
            if not outside:
                problems.append(f"{path}:{line} has no edge that leads out of the project")
        _TALLY.wanted[language, "gap"][1] += len(gaps)
        _TALLY.gaps += [f"  {fixture.name} {path}:{line} -> {place[0]}:{place[1]}" for place in sorted(gaps)]
    return problems


@pytest.fixture
def annotated():
    """`annotated(path)`: check one fixture file, return its problems."""
    return lambda path: check_annotated(read_annotated(path))


@pytest.fixture
def annotated_files():
    """`annotated_files(path)`: the files of a fixture, without annotations."""
    return lambda path: read_annotated(path).files


@pytest.fixture
def tally():
    """True and wanted edges by rule, counted over a session and printed at its end."""
    return _TALLY


@pytest.fixture
def resolve():
    """`resolve({path: text})`: what a resolver says about some files."""
    return resolve_files


@pytest.fixture(scope="session")
def graph_of():
    """`graph_of({path: text})`: the graph that analysis walks over, of some files."""
    resolve_files({"first.py": ""})  # raises the recursion limit before hypothesis looks at it
    return _graph_of


def _graph_of(files: dict[str, str]) -> GraphView:
    resolved = resolve_files(files)
    rows = [row for result in resolved.results.values() for row in result.edges]
    externals = {row for result in resolved.results.values() for row in result.externals}
    unresolved = [row for result in resolved.results.values() for row in result.unresolved]
    of_files = [FileRow(file_id("fixture", path), path, language_of_path(path), "", "", 0, 0, False, 0, "", 0) for path in resolved.results]
    return GraphView.from_tables(
        GraphTables(
            1,
            _table(of_files, FileRow),
            _table(list(resolved.symbols.values()), SymbolRow),
            _table(list(externals), ExternalRow),
            _table(rows, EdgeRow),
            _table(unresolved, UnresolvedRow),
        )
    )


def _table(rows: list[Any], kind: Any) -> pa.Table:
    types = {str: pa.string(), int: pa.int64(), bool: pa.bool_(), float: pa.float64()}
    schema = pa.schema([(name, types[hint]) for name, hint in get_type_hints(kind).items()])
    return pa.table({name: [getattr(row, name) for row in sorted(rows)] for name in schema.names}, schema=schema)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _TALLY.wanted:
        terminalreporter.section("resolution fixtures")
        terminalreporter.write_line(_TALLY.table())
