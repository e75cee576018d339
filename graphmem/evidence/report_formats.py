"""Formats of coverage reports: LCOV, Go, JaCoCo's XML and V8's JSON.

A format is recognised by its content. Each reader returns the code that ran (lines, or spans of functions), for each path in the report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from graphmem.runtime.texts.lines import lines_of

MAX_LINES: Final = 1_000_000  # of one block; a profile with more is damaged


class Ran(NamedTuple):
    """The lines, or the functions, that a test ran in one file."""

    path: str  # as in the report
    lines: tuple[int, ...] = ()  # 1-based
    spans: tuple[tuple[int, int], ...] = ()  # functions that ran, in UTF-16 units from the start of the file


class Test(NamedTuple):
    """One test in a coverage report, and the code that the test ran."""

    name: str  # "" if the report does not name it
    ran: tuple[Ran, ...]
    is_first_file: bool = False  # the test is the first test file among `ran`


def tests_of(data: bytes) -> list[Test]:
    """Return the tests in a coverage report, each with the code that it ran.

    Raises:
        ValueError: the format is unknown, or the report is damaged.
    """
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    for begins, reader in _READERS:
        if any(head.startswith(one) for one in begins):
            try:
                return reader(data)
            except (LookupError, TypeError, AttributeError, SyntaxError, RecursionError) as error:  # XML's error is a SyntaxError
                raise ValueError(str(error)) from error
    raise ValueError("the format of the report is unknown; give an LCOV report, a Go cover profile, JaCoCo's XML or V8's JSON")


def _lcov(data: bytes) -> list[Test]:
    """Return the tests of an LCOV report, each with the lines that it ran.

    A line `TN:` in the report names a test. The first line of a function also runs when the function is merely defined. Therefore, if an
    `FNDA:` line says that a function was never called, the first line of that function is left out.
    """
    found: dict[str, list[Ran]] = {}
    name, path, lines, starts, idle = "", "", set[int](), dict[str, int](), set[str]()
    for line in lines_of(data.decode("utf-8", "replace")):
        key, _, value = line.partition(":")
        if key == "TN":
            name = value.strip().partition(",")[0]
        elif key == "SF":
            path, lines, starts, idle = value.strip(), set(), {}, set()
        elif key == "FN":
            start, *_, function = value.split(",")
            starts[function.strip()] = int(start)
        elif key == "FNDA":
            count, _, function = value.partition(",")
            if float(count) <= 0:
                idle.add(function.strip())
        elif key == "DA":
            number, count, *_ = value.split(",")
            if float(count) > 0:
                lines.add(int(number))
        elif key.strip() == "end_of_record":
            lines -= {starts[function] for function in idle if function in starts}
            found.setdefault(name, []).append(Ran(path, tuple(sorted(lines))))
            path = ""
    if path:
        raise ValueError("the coverage report ends in the middle: its last record has no `end_of_record`; create the report again")
    return [Test(name, tuple(rows)) for name, rows in found.items()]


def _go(data: bytes) -> list[Test]:
    """Return the single, unnamed test of a Go cover profile.

    The profile's lines are `file:line.column,line.column statements count`.
    """
    found: dict[str, set[int]] = {}
    for line in lines_of(data.decode("utf-8", "replace")):
        if not line or line.startswith("mode:"):
            continue
        place, _, counts = line.rpartition(":")
        span, _, count = counts.split(" ")
        start, _, end = span.partition(",")
        first, last = int(start.partition(".")[0]), int(end.partition(".")[0])
        if not 0 < first <= last < first + MAX_LINES:
            raise ValueError(f"the coverage report has a block whose line numbers are impossible ({span}); create the report again")
        if int(count) > 0:
            found.setdefault(place, set()).update(range(first, last + 1))
    return [Test("", tuple(Ran(path, tuple(sorted(lines))) for path, lines in found.items()))]


def _jacoco(data: bytes) -> list[Test]:
    """Return the single test of a JaCoCo XML report.

    The name of the test is the id of the session (a recorded run) in the report. The name is "" if the report has several sessions, or
    none.
    """
    if b"<!ENTITY" in data:
        raise ValueError("the report declares XML entities, which graphmem does not read; remove its DOCTYPE")
    from xml.etree import ElementTree

    report = ElementTree.fromstring(data)  # noqa: S314 - entities are refused above
    sessions = [one.get("id", "") for one in report.iter("sessioninfo")]
    ran = []
    for package in report.iter("package"):
        for source in package.iter("sourcefile"):
            lines = [int(line.get("nr", "0")) for line in source.iter("line") if int(line.get("ci", "0")) > 0]
            if lines:
                ran.append(Ran(f"{package.get('name', '')}/{source.get('name', '')}", tuple(lines)))
    return [Test(sessions[0] if len(sessions) == 1 else "", tuple(ran))]


def _v8(data: bytes) -> list[Test]:
    """Return the single test of a V8 coverage file (`NODE_V8_COVERAGE`).

    The file does not name the test, so the name is "". The test is later taken to be the first test file among the loaded files. The result
    therefore has the files in the order in which the process loaded them.
    """
    ran = []
    for script in sorted(json.loads(data)["result"], key=lambda one: int(one.get("scriptId") or 0)):
        url = urlsplit(script["url"])
        if url.scheme != "file":
            continue
        called = [one["ranges"][0] for one in script["functions"] if one["ranges"] and one["ranges"][0]["count"] > 0]
        spans = tuple((int(one["startOffset"]), int(one["endOffset"])) for one in called if one["startOffset"] > 0)
        ran.append(Ran(unquote(url.path), spans=spans))
    return [Test("", tuple(ran), is_first_file=True)]


_READERS: Final[tuple[tuple[tuple[bytes, ...], Callable[[bytes], list[Test]]], ...]] = (
    ((b"TN:", b"SF:"), _lcov),
    ((b"mode:",), _go),
    ((b"<?xml", b"<report", b"<!DOCTYPE"), _jacoco),
    ((b"{",), _v8),
)
ENDINGS: Final = (".info", ".lcov", ".out", ".cov", ".xml", ".json")
"""Endings of reports in a directory; other files are ignored."""


def as_rows(tests: list[Test]) -> list[object]:
    """Convert tests of a coverage report to plain values for JSON."""
    return [[one.name, one.is_first_file, [[ran.path, ran.lines, ran.spans] for ran in one.ran]] for one in tests]


def from_rows(rows: Any) -> Iterator[Test]:
    """Yield the tests that `as_rows` converted to plain values."""
    for name, is_first_file, files in rows:
        ran = [
            Ran(str(path), tuple(map(int, lines)), tuple((int(start), int(end)) for start, end in spans)) for path, lines, spans in files
        ]
        yield Test(str(name), tuple(ran), bool(is_first_file))
