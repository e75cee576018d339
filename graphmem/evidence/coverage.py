"""Read data files of coverage.py, recorded with one context per test.

A context is a label of recorded lines; here it shows which test ran them. Two formats of labels are supported. pytest-cov writes
`tests/test_x.py::TestA::test_b[1]|run`. Coverage's own `dynamic_context = test_function` writes `tests.test_x.TestA.test_b`. The data file
is SQLite (coverage 5 and later), so coverage need not be installed. The data file has no hashes of the sources. Therefore source files that
are newer than the data file are skipped.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from graphmem.errors import EvidenceError
from graphmem.evidence.observations import NO_SITE, End, Observation, Reading, Seen
from graphmem.evidence.owners import owners_of_lines
from graphmem.model import FUNCTION_KINDS, EdgeKind

if TYPE_CHECKING:
    from graphmem.resolution.resolver import Resolver

SUFFIX: Final = ".coverage"
MAX_S: Final = 120.0  # timeout for reading one file
_STEPS: Final = 100_000  # instructions of SQLite's virtual machine between two checks of the timeout
_SAMPLE: Final = 3


def check(path: Path) -> int:
    """Return the number of contexts (usually tests) in a coverage.py file.

    Raises:
        EvidenceError: the file is not a data file of coverage, or was recorded without contexts.
    """
    if not path.is_file():
        raise EvidenceError(
            f"the coverage data file {path} was not found; give the path of a file that coverage.py wrote",
            path=str(path),
            reason="unreadable",
        )
    try:
        with closing(_open(path)) as data:
            contexts = int(data.execute("SELECT count(*) FROM context WHERE context != ''").fetchone()[0])
    except sqlite3.Error as error:
        raise EvidenceError(
            f"{path} is not a data file of coverage.py 5 or later ({error}); record the coverage again", path=str(path), reason="format"
        ) from error
    if not contexts:
        raise EvidenceError(
            f"{path} does not say which test ran which line (it has no contexts); record the coverage with `pytest --cov "
            "--cov-context=test`, or with `dynamic_context = test_function` in coverage.py's configuration",
            path=str(path),
            reason="contexts",
        )
    return contexts


def read(path: Path, resolver: Resolver, root: Path) -> Reading:
    """Return the functions that each test ran, from a coverage.py file.

    A test ran a function if it ran a line of the function's body.

    Raises:
        EvidenceError: see `check`; or the index contains none of the tests, or the file is damaged.
    """
    check(path)
    try:
        with closing(_open(path)) as data:
            return _Reading(data, resolver, root, path.stat().st_mtime_ns).read_all(path)
    except (sqlite3.Error, ValueError, TypeError, ArithmeticError, OSError) as error:  # SQLite columns have no fixed types
        raise EvidenceError(
            f"the coverage data file {path} is damaged ({error}); record the coverage again", path=str(path), reason="damaged"
        ) from error


def _open(path: Path) -> sqlite3.Connection:
    """Open a coverage data file (SQLite) with a time limit.

    The limit protects against a crafted file. Instead of tables, such a file can contain views whose evaluation never ends.
    """
    data = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
    data.execute("PRAGMA trusted_schema = OFF")
    until = time.monotonic() + MAX_S
    data.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    return data


class _Reading:
    """Reads an open data file of coverage.py: tests and functions they ran."""

    def __init__(self, data: sqlite3.Connection, resolver: Resolver, root: Path, written_ns: int) -> None:
        self._data = data
        self._resolver = resolver
        self._root = root.resolve()
        self._written_ns = written_ns
        self._owners: dict[str, list[End | None]] = {}  # path -> for each line, from 1 on, the function whose body contains it
        self._changed: list[str] = []

    def read_all(self, path: Path) -> Reading:
        files = dict(self._files())
        reached: dict[End, set[End]] = {}
        unknown: list[str] = []
        for number, context in self._data.execute("SELECT id, context FROM context WHERE context != '' ORDER BY id").fetchall():
            test = self._test(context)
            if test is None:
                unknown.append(context)
                continue
            seen = reached.setdefault(test, set())
            for file, lines in self._lines(number):
                owners = self._owners.get(files.get(file, ""), ())
                seen.update(end for line in lines if 0 < line < len(owners) and (end := owners[line]) is not None and end != test)
        if not reached:
            raise EvidenceError(
                f"the index contains none of the tests in {path}, so the coverage belongs to another project or to older code; record "
                "the coverage again",
                path=str(path),
                reason="other project",
            )
        notes = [(one, "it changed after coverage was measured, so its lines are ignored; measure again") for one in self._changed]
        if unknown:
            some = ", ".join(unknown[:_SAMPLE])
            notes.append(("", f"{len(unknown):,} contexts of the coverage data are not tests in the index: {some}"))
        observations = [
            Observation("coverage", EdgeKind.TESTS, test, tuple(Seen(end, NO_SITE) for end in sorted(seen)))
            for test, seen in sorted(reached.items())
        ]
        origin = {"by": "coverage", "tests": str(len(reached)), "files": str(len(self._owners))}
        return Reading(observations, None, origin, notes)

    def _files(self) -> Iterator[tuple[int, str]]:
        """Yield (number in the data file, path from the root) of usable sources.

        A source file is usable if it is in the index and unchanged since the data file was written.
        """
        for number, name in self._data.execute("SELECT id, path FROM file ORDER BY id").fetchall():
            absolute = (self._root / name).resolve()
            if self._root not in absolute.parents:
                continue
            path = absolute.relative_to(self._root).as_posix()
            facts = self._resolver.facts(path)
            if facts is None:
                continue
            if not absolute.is_file() or absolute.stat().st_mtime_ns > self._written_ns:
                self._changed.append(path)
                continue
            self._owners[path] = owners_of_lines(path, facts.lines, facts.definitions)
            yield number, path

    def _lines(self, context: int) -> Iterator[tuple[int, set[int]]]:
        """Yield (number of a source file, its lines that ran) for a context.

        A context is usually one test, and is given by its number. A file may be yielded several times. If the data file contains jumps
        between lines (branch data), both lines of each jump count as run.
        """
        for file, bits in self._data.execute("SELECT file_id, numbits FROM line_bits WHERE context_id = ?", (context,)):
            yield file, {8 * byte + bit for byte, value in enumerate(bits) for bit in range(8) if value >> bit & 1}
        for file, source, target in self._data.execute("SELECT file_id, fromno, tono FROM arc WHERE context_id = ?", (context,)):
            yield file, {source, target}  # entry and exit of a function have the negative number of its first line

    def _test(self, context: str) -> End | None:
        """Return the test function that a coverage label names; None if unknown.

        coverage.py stores such a label, called a context, with the lines that a test ran. An example is `tests/test_a.py::test_x|run`.
        """
        context = context.rpartition("|")[0] if context.endswith(("|setup", "|run", "|teardown")) else context
        path, colons, name = context.partition("::")
        if colons:
            return self._definition(path, name.partition("[")[0].replace("::", "."))
        parts = context.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            for path in self._modules(".".join(parts[:cut])):
                found = self._definition(path, ".".join(parts[cut:]))
                if found is not None:
                    return found
        return None

    def _modules(self, dotted: str) -> list[str]:
        """Return the files that may be the module `dotted`.

        `dotted` is the name under which the tests imported the module. For `a.b`, the result has `a/b.py` and any file whose path ends with
        `/a/b.py`, such as `src/a/b.py`.
        """
        tail = dotted.replace(".", "/")
        return sorted(path for path in self._owners if path.removesuffix(".py") == tail or path.removesuffix(".py").endswith("/" + tail))

    def _definition(self, path: str, qualname: str) -> End | None:
        facts = self._resolver.facts(path) if path in self._owners else None
        for one in facts.definitions if facts is not None else ():
            if one.qualname == qualname and one.kind in FUNCTION_KINDS:
                return End(path, one.qualname, one.kind, one.ordinal, one.body_hash)
        return None
