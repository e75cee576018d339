"""Find the subject of a test: code that it calls and is named after.

A test has a TESTS edge to a function or class that the test itself calls. The name of the test must begin with the words of that function
or class, as in `test_parse_empty` for `parse`. If it begins with no called name, the definitions around the test are compared (`class
TestParser`, `describe("parser")`). Of several called names, the longest one is used. A test gets no edge to code that it does not call,
because recorded runs showed that tests seldom run such code, even code of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.model import EdgeKind
from graphmem.resolution.symbol_rows import is_test_case

if TYPE_CHECKING:
    from graphmem.resolution.edges.rows import Evidence
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.files.project import Project
    from graphmem.resolution.values.symbol import Symbol

RULE: Final = "named_test"
LEAST_CALL: Final = 0.7
"""Least confidence of a call that shows what a test is about.

In recorded test runs, only half of the calls with less confidence happened. Calls of overrides are such calls.
"""
_AROUND: Final = frozenset(
    {"test", "tests", "testing", "case", "cases", "spec", "it", "should", "describe", "benchmark", "example", "fuzz"}
)
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK: Final = re.compile(r"[\W_]+")


class Called(NamedTuple):
    """A call in a test file, with the symbol that the call runs."""

    scope: int  # index of the definition that contains the call
    symbol: Symbol
    line: int
    confidence: float  # of the call


def add_subjects(entry: FileEntry, project: Project, called: list[Called], evidence: Evidence) -> None:
    """Add an edge from each test of a file to the code that it is about.

    `called` are the calls in the file, with the symbols that they run. The edges are added to `evidence`.
    """
    of_test: dict[int, list[Called]] = {}
    for one in called:
        target = project.file(one.symbol.path) if one.confidence >= LEAST_CALL else None
        if target is not None and not target.in_tests and (test := _test_around(entry, one.scope)) >= 0:
            of_test.setdefault(test, []).append(one)
    for test, calls in of_test.items():
        for names in _names(entry, test):
            words = [(len(own), one) for one in calls if (own := _words(one.symbol.name)) and names[: len(own)] == own]
            longest = max((length for length, _ in words), default=0)
            for length, one in words:
                if length == longest:
                    evidence.edge(EdgeKind.TESTS, entry.symbols[test].id, one.symbol.id, RULE, one.line)
            if words:
                break


def _test_around(entry: FileEntry, scope: int) -> int:
    """Return the test that contains a definition, or -1 if no test does.

    `scope` is the definition. If the definition itself is a test, the result is `scope`. Definitions are given by their positions in the
    file.
    """
    while scope > 0 and not is_test_case(entry, scope):
        scope = entry.definitions[scope].parent
    return scope if scope > 0 else -1


def _names(entry: FileEntry, test: int) -> Iterator[tuple[str, ...]]:
    """Yield the words of a test's name, then of each definition around it.

    The words of one name are a tuple.

    `test` is the test's position among the definitions of the file. Words such as `test` at the beginning or end are left out.
    """
    while test > 0:
        words = _words(entry.definitions[test].name)
        first, last = 0, len(words)
        while first < last and words[first] in _AROUND:
            first += 1
        while last > first and words[last - 1] in _AROUND:
            last -= 1
        yield words[first:last]
        test = entry.definitions[test].parent


@lru_cache(maxsize=4096)
def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case."""
    return tuple(word for word in _BREAK.split(_CAPITAL.sub("_", name).lower()) if word)
