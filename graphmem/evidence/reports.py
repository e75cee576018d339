"""Import coverage reports of single tests, in any language.

A report lists the lines that one test ran: a test file, a test class or a test function. The name of the test comes from the report itself
(LCOV's `TN:`, JaCoCo's session, V8's first test file). Otherwise it comes from the report's path, as in `cov/TestAdd.out` or
`cov/tests/cart.test.js/lcov.info`. The formats are in `report_formats`. Reports do not contain the sources, so files that changed after a
report are ignored.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import EvidenceError
from graphmem.evidence.observations import NO_SITE, End, Observation, Reading, Seen
from graphmem.evidence.owners import owners_of_lines
from graphmem.evidence.report_formats import ENDINGS, Ran, Test, as_rows, from_rows, tests_of
from graphmem.model import FUNCTION_KINDS, MODULE_QUALNAME, EdgeKind
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.language import language_of_path, language_spec

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, FileFacts
    from graphmem.resolution.resolver import Resolver

SUFFIX: Final = ".reports"
MAGIC: Final = b"graphmem coverage reports 1\n"
MAX_BYTES: Final = 1 << 28  # of all reports together
_SAMPLE: Final = 3
_PLAIN: Final = ("lcov", "coverage", "jacoco", "cover")  # names that tools give every report


class Report(NamedTuple):
    """A coverage report: time of writing, name from its path, and tests.

    `name` is used for a test that has no name in the report, or an unknown one.
    """

    written_ns: int
    name: str
    tests: list[Test]


def pack(path: Path) -> bytes:
    """Pack the coverage report `path`, or all reports in a directory `path`.

    Returns the bytes of one file, which the next index run reads.

    Raises:
        EvidenceError: a report cannot be read, or the directory has none.
    """
    found: list[list[object]] = []
    total = 0
    for file in _files(path):
        try:
            total += file.stat().st_size
            if total > MAX_BYTES:
                raise ValueError(f"the coverage reports have more than {MAX_BYTES >> 20} MB in total; import fewer reports")
            found.append([file.stat().st_mtime_ns, _name(file, path), as_rows(tests_of(file.read_bytes()))])
        except (OSError, ValueError) as error:
            message = f"{file} is not a usable coverage report ({error}); create the report again"
            raise EvidenceError(message, path=str(file), reason="format") from error
    if not found:
        raise EvidenceError(
            f"no coverage reports found in {path} (files that end in {', '.join(ENDINGS)}); create them with a command from "
            "docs/evidence.md",
            path=str(path),
            reason="empty",
        )
    return MAGIC + zlib.compress(json.dumps(found, separators=(",", ":")).encode(), 6)


def unpacked(path: Path) -> list[Report]:
    """Return the coverage reports in a file that `pack` made.

    Raises:
        EvidenceError: `pack` did not make the file, it is damaged, or it cannot be read.
    """
    if path.exists() and not path.is_file():  # reading a pipe would wait for ever
        raise EvidenceError(
            f"{path} is not a file, but graphmem keeps imported coverage there; move it to another place and import the "
            "coverage reports again",
            path=str(path),
            reason="unreadable",
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EvidenceError(
            f"{path}, where graphmem keeps imported coverage, cannot be read ({error.strerror}); import the coverage reports again",
            path=str(path),
            reason="unreadable",
        ) from error
    if not data.startswith(MAGIC):
        raise EvidenceError(
            f"{path} does not contain coverage that graphmem imported; import the coverage reports again", path=str(path), reason="format"
        )
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data[len(MAGIC) :], 4 * MAX_BYTES)
        if not unpacking.eof:
            raise ValueError("the file of imported coverage ends too early; import the coverage reports again")
        return [Report(int(written), str(name), list(from_rows(tests))) for written, name, tests in json.loads(text)]
    except (zlib.error, ValueError, TypeError, LookupError) as error:
        raise EvidenceError(
            f"{path}, where graphmem keeps imported coverage, is damaged ({error}); import the coverage reports again",
            path=str(path),
            reason="damaged",
        ) from error


def read(path: Path, resolver: Resolver, root: Path) -> Reading:
    """Return the functions that each test ran, from packed coverage reports.

    Raises:
        EvidenceError: the file is damaged, or no test of the reports is in the index.
    """
    return _Reading(resolver, root).read_all(path, unpacked(path))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, names, files in os.walk(path):
        names.sort()
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(ENDINGS) and Path(folder, name).is_file())


def _name(file: Path, given: Path) -> str:
    """Return the name of a test, from the path of its coverage report `file`.

    `given` is the path that the user gave. If `given` is a directory, the name is the path of `file` below it, without the suffix. If the
    file has a common name such as `lcov.info`, the name is the path of the folder around the file.
    """
    inner = file.relative_to(given) if given.is_dir() else Path(file.name)
    stem = inner.with_suffix("")
    return (stem.parent if stem.name in _PLAIN else stem).as_posix()


class _Reading:
    """Finds the indexed tests and functions that coverage reports name."""

    def __init__(self, resolver: Resolver, root: Path) -> None:
        self._resolver = resolver
        self._root = root.resolve()
        self._by_name: dict[str, list[str]] = {}
        for path in resolver.paths():
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        self._places: dict[str, str] = {}
        self._written: dict[str, int] = {}
        self._owners: dict[str, list[End | None]] = {}
        self._changed: set[str] = set()

    def read_all(self, path: Path, reports: Iterable[Report]) -> Reading:
        reached: dict[End, set[End]] = {}
        unknown: list[str] = []
        for report in reports:
            for test in report.tests:
                ends = self._first_file(test) if test.is_first_file else self._named(test.name) or self._named(report.name)
                if not ends and not test.is_first_file:  # a process that loads no test file is the test runner
                    unknown.append(test.name or report.name)
                seen = {end for ran in test.ran for end in self._functions(ran, report.written_ns)} if ends else set()
                for end in ends:
                    reached.setdefault(end, set()).update(seen)
        if not reached:
            raise EvidenceError(
                f"no coverage report in {path.name} is named after a test in the index (found: {', '.join(unknown[:_SAMPLE])}); name "
                "each report after its test",
                path=str(path),
                reason="other project",
            )
        notes = [(one, "it changed after its coverage was measured, so nothing is taken from it") for one in sorted(self._changed)]
        if unknown:
            notes.append(("", f"{len(unknown):,} coverage reports are of no test in the index: {', '.join(unknown[:_SAMPLE])}"))
        observations = [
            Observation("coverage", EdgeKind.TESTS, test, tuple(Seen(end, NO_SITE) for end in sorted(seen - {test})))
            for test, seen in sorted(reached.items())
        ]
        origin = {
            "by": "coverage reports",
            "tests": str(len(reached)),
            "files": str(len({end.path for ends in reached.values() for end in ends})),
        }
        return Reading(observations, None, origin, notes)

    # which test

    def _first_file(self, test: Test) -> list[End]:
        """Return the module of the first test file in which `test` ran code.

        The result is a list. It is empty if `test` ran no code in test files.
        """
        for ran in test.ran:
            path = self._indexed_path(ran.path)
            if path and _is_test(path):
                return [self._module(path)]
        return []

    def _named(self, name: str) -> list[End]:
        """Return the test file, test class or test function called `name`.

        The list is empty if the name is unknown or ambiguous.
        """
        if not name:
            return []
        path = self._indexed_path(name)
        if path:
            return [self._module(path)] if _is_test(path) else []
        folder, _, last = name.replace("#", ".").replace("::", "/").rpartition("/")
        where = self._indexed_path(folder) if folder else ""
        found = [
            End(file, one.qualname, one.kind, one.ordinal, one.body_hash)
            for file in ([where] if where else self._resolver.paths())
            if _is_test(file) and (where or not folder or PurePosixPath(file).parent.match(folder))
            for one in self._facts(file).definitions
            if one.kind in (*FUNCTION_KINDS, "class") and (one.qualname == last or one.qualname.endswith("." + last))
        ]
        return found if len(found) == 1 else []

    # which code

    def _functions(self, ran: Ran, written_ns: int) -> Iterator[End]:
        path = self._indexed_path(ran.path)
        if not path or not self._is_unchanged(path, written_ns):
            return
        facts = self._facts(path)
        if path not in self._owners:
            self._owners[path] = owners_of_lines(path, facts.lines, facts.definitions)
        owners = self._owners[path]
        yield from (end for line in ran.lines if 0 < line < len(owners) and (end := owners[line]) is not None)
        if ran.spans:
            yield from self._at_spans(path, facts.definitions, ran.spans)

    def _at_spans(self, path: str, definitions: list[Definition], spans: tuple[tuple[int, int], ...]) -> Iterator[End]:
        """Yield the innermost function around each (start, end) in `spans`.

        Positions are in UTF-16 units from the start of the file. Spans outside of functions are skipped.
        """
        text = to_utf8((self._root / path).read_bytes(), "").source.decode("utf-8", "replace")
        at = _byte_offsets(text)
        for start, end in spans:
            if end >= len(at):
                continue
            first, last = at[start], at[end]
            around = [one for one in definitions if one.start_byte <= first and last <= one.end_byte and one.parent >= 0]
            inner = min(around, key=lambda one: one.end_byte - one.start_byte, default=None)
            while inner is not None and inner.kind not in FUNCTION_KINDS and inner.parent > 0:
                inner = definitions[inner.parent]
            if inner is not None and inner.kind in FUNCTION_KINDS:
                yield End(path, inner.qualname, inner.kind, inner.ordinal, inner.body_hash)

    def _is_unchanged(self, path: str, written_ns: int) -> bool:
        if path not in self._written:
            file = self._root / path
            self._written[path] = file.stat().st_mtime_ns if file.is_file() else -1
        if 0 <= self._written[path] <= written_ns:
            return True
        self._changed.add(path)
        return False

    def _indexed_path(self, given: str) -> str:
        """Return the path in the index for the path `given` in a coverage report.

        Tools write absolute paths or paths from some directory. Go puts the package before a path, and Java leaves out the source folder.
        So two paths match if one of them ends with the other. The result is "" if no indexed path matches, or if several match equally
        well.
        """
        if given not in self._places:
            plain = given.replace("\\", "/")
            absolute = Path(plain)
            if absolute.is_absolute() and self._root in absolute.resolve().parents:
                plain = absolute.resolve().relative_to(self._root).as_posix()
            plain = os.path.normpath(plain).replace(os.sep, "/")
            same = self._by_name.get(plain.rpartition("/")[2], [])
            found = [one for one in same if one == plain]
            found = found or [one for one in same if one.endswith("/" + plain)]
            if not found and (ends := [one for one in same if plain.endswith("/" + one)]):
                longest = max(map(len, ends))
                found = [one for one in ends if len(one) == longest]
            self._places[given] = found[0] if len(found) == 1 else ""
        return self._places[given]

    def _facts(self, path: str) -> FileFacts:
        facts = self._resolver.facts(path)
        if facts is None:
            raise KeyError(path)  # only listed paths are asked for
        return facts

    def _module(self, path: str) -> End:
        module = self._facts(path).definitions[0]
        return End(path, MODULE_QUALNAME, module.kind, module.ordinal, module.body_hash)


def _is_test(path: str) -> bool:
    language = language_of_path(path)
    return bool(language) and language_spec(language).tests.is_test_path(path)


def _byte_offsets(text: str) -> list[int] | range:
    """Return the UTF-8 byte offset of each UTF-16 unit of source text.

    V8 counts positions in UTF-16 units. The last item is the end of the text.
    """
    if text.isascii():
        return range(len(text) + 1)
    offsets, at = [], 0
    for letter in text:
        offsets += [at] * (2 if ord(letter) > 0xFFFF else 1)
        at += len(letter.encode("utf-8", "replace"))
    return [*offsets, at]
