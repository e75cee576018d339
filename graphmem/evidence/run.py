"""Find the definitions that a recorded test run called.

A recorder identifies functions by file, qualified name and first line. The graph has definitions with the hash of their bodies. The
functions are converted to definitions right after the run, before files change. With the hashes, later runs can tell which parts of the
record are still valid.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.evidence.observations import NO_SITE, OTHER_PROCESS, End, Observation, Seen
from graphmem.evidence.recorder import CUT, PROCESS, Recorder, stamp
from graphmem.model import FUNCTION_KINDS, MODULE_QUALNAME, EdgeKind
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition

_NAMED_LAMBDA: Final = re.compile(r"\w+\s*(?::[^=]*)?=\s*lambda\b")


class Code(NamedTuple):
    """A code object in a form that can be sent to another process."""

    path: str  # `co_filename`
    qualname: str
    line: int  # first line, decorators included
    is_function: bool


class ItemRun(NamedTuple):
    """One test item of pytest that ran, such as one parameter set of a test."""

    name: str  # node id of pytest
    code: Code | None  # of the test function; None for other items, such as doctests
    path: str  # of the file it was collected from
    is_whole: bool  # it passed, so it ran to its end; the recording did not stop
    reached: set[int]  # ids of code objects, and PROCESS or CUT


class Run(NamedTuple):
    """The record of one process during a test run, as plain values.

    If tests run in several processes, `execnet` sends each worker's record to the process that started the worker.
    """

    codes: dict[int, tuple[Any, ...]]  # id -> Code
    callers: list[tuple[int, int, int]]  # (callee, caller, line of the call from the caller's first line; -1: outside the project)
    tests: list[tuple[Any, ...]]  # ItemRun
    planned: list[tuple[tuple[Any, ...], list[str]]]  # (Code of a test function, node ids of all its items, also of those that did not run)
    stamps: dict[str, tuple[int, int]]


def run_of(recorder: Recorder, tests: Iterable[ItemRun], planned: Mapping[Code, Collection[str]]) -> Run:
    """Convert the record of a `Recorder` to plain values.

    Args:
        recorder: a stopped recorder.
        tests: the test items that ran.
        planned: node ids of all items of each collected test function, also of items that were not selected.
    """
    wanted = set(recorder.callers) | {caller for callers in recorder.callers.values() for caller, line in callers.items() if line >= 0}
    codes = {}
    for key in wanted:
        code = recorder.codes[key]
        codes[key] = (code.co_filename, code.co_qualname, code.co_firstlineno, bool(code.co_flags & inspect.CO_OPTIMIZED))
    callers = [(callee, caller, line) for callee, found in recorder.callers.items() for caller, line in found.items() if line >= 0]
    rows = [
        (
            one.name,
            tuple(one.code) if one.code is not None else None,
            one.path,
            one.is_whole and CUT not in one.reached,
            sorted(one.reached),
        )
        for one in tests
    ]
    return Run(codes, callers, rows, [(tuple(code), sorted(names)) for code, names in planned.items()], dict(recorder.stamps))


class Sighting(NamedTuple):
    """The calls that a test run recorded, and what could not be used.

    The lists have the functions that match no definition, the test items that match no definition, the files that changed during the run,
    and the tests that were recorded in part.
    """

    observations: list[Observation]
    functions: int  # of the project that ran
    tests: int  # test functions that ran
    nowhere: list[str]  # functions that ran and match no definition of their file, for example from `exec`
    unmatched: list[str]  # test items whose function matches no definition; their runs are recorded for their file
    changed: list[str]  # files that were edited during the tests; they are skipped
    cut: list[str]  # tests during which the recording stopped


def describe(runs: Iterable[Run], root: Path) -> Sighting:
    """Convert the functions that a test run recorded to their definitions.

    Args:
        runs: the records of all processes of one test run.
        root: root directory of the project; paths are relative to it.
    """
    return _Describing(root).read_all(list(runs))


class _Describing:
    """Finds the definitions of functions that a test run called."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.join(os.path.realpath(root), "")  # noqa: PTH118
        self._files: dict[str, _File | None] = {}
        self._changed: set[str] = set()
        self._nowhere: set[Code] = set()
        self._unmatched: list[str] = []
        self._cut: set[str] = set()
        self._partly: set[Code] = set()
        self._calls: dict[End, set[Seen]] = {}
        self._tests: dict[End, tuple[list[bool], set[End]]] = {}
        self._with_process: set[End] = set()
        self._functions: set[End] = set()

    def read_all(self, runs: list[Run]) -> Sighting:
        ran = {row[0] for run in runs for row in run.tests}
        self._partly = {Code(*code) for run in runs for code, names in run.planned if not ran.issuperset(names)}
        for run in runs:
            self._take(run)
        observations = [
            Observation("runtime", EdgeKind.CALLS, subject, tuple(sorted(seen))) for subject, seen in sorted(self._calls.items())
        ]
        for subject, (passed, reached) in sorted(self._tests.items()):
            seen = tuple(Seen(end, NO_SITE) for end in sorted(reached) if end != subject)
            count = OTHER_PROCESS if subject in self._with_process else len(passed) if all(passed) else 0
            observations.append(Observation("runtime", EdgeKind.TESTS, subject, seen, count))
        return Sighting(
            observations, len(self._functions), len(self._tests), self._named(), self._unmatched, sorted(self._changed), sorted(self._cut)
        )

    def _take(self, run: Run) -> None:
        codes = {key: Code(*row) for key, row in run.codes.items()}
        ends = {key: self._end(code, run.stamps) for key, code in codes.items()}
        self._functions.update(end for key, end in ends.items() if end is not None and codes[key].is_function)
        for callee, caller, line in run.callers:
            src, dst = ends[caller], ends[callee]
            if src is None or dst is None or (_is_nameless(codes[callee]) and not self._is_call_of_lambda(codes[callee], src, dst)):
                continue
            self._calls.setdefault(src, set()).add(Seen(dst, self._offset(codes[caller], src, line)))
        for row in run.tests:
            name, code, *others = row
            test = ItemRun(name, Code(*code) if code is not None else None, *others)
            file = Code(test.path, MODULE_QUALNAME, 1, False)
            subject = self._end(test.code or file, run.stamps)
            shown = f"{self._shown(test.path)}:{test.code.qualname if test.code is not None else MODULE_QUALNAME}"
            if CUT in test.reached:
                self._cut.add(shown)
            if subject is None:
                self._unmatched.append(shown)
                subject = self._end(file, run.stamps)  # such as the TestCase that Hypothesis makes of a state machine
            if subject is not None:
                passed, reached = self._tests.setdefault(subject, ([], set()))
                passed.append(test.is_whole and test.code not in self._partly)
                if PROCESS in test.reached:
                    self._with_process.add(subject)
                reached.update(end for key in test.reached if (end := ends.get(key)) is not None)

    def _is_call_of_lambda(self, callee: Code, src: End, dst: End) -> bool:
        """Whether a lambda that ran is the value of the name `dst`.

        Any other lambda or comprehension is part of the function around it, so running it is not a call. The result is also False if
        `src` is `dst`, because then the lambda runs inside itself.
        """
        file = self._files[callee.path]
        return file is not None and src != dst and file.is_lambda(dst)

    def _named(self) -> list[str]:
        """Return the functions that ran but match no definition in their file.

        Each function is written as `path:qualname`. Test functions in the list of unmatched tests are left out.
        """
        return sorted({f"{self._shown(one.path)}:{one.qualname}" for one in self._nowhere} - {*self._unmatched})

    def _shown(self, path: str) -> str:
        return os.path.realpath(path).removeprefix(self._root)

    def _offset(self, caller: Code, src: End, line: int) -> int:
        """Return the line of a call, counted from the first line of `src`.

        `src` is the definition that contains the code object `caller`. `line` is counted from the first line of `caller`.
        """
        file = self._files[caller.path]
        return max(0, caller.line + line - file.first_line(src)) if file is not None else NO_SITE

    def _end(self, code: Code, stamps: dict[str, tuple[int, int]]) -> End | None:
        if code.path not in self._files:
            self._files[code.path] = self._file(code.path, stamps.get(code.path))
        file = self._files[code.path]
        found = file.definition(code) if file is not None else None
        if found is None and file is not None and code.is_function:
            self._nowhere.add(code)
        return found

    def _file(self, name: str, met: tuple[int, int] | None) -> _File | None:
        """Return the definitions of the Python file `name`.

        `met` is (modification time, size) of the file when its code ran. The result is None if the file has changed since then, is
        unreadable, or is outside the project.
        """
        absolute = os.path.realpath(name)
        if not absolute.startswith(self._root) or language_of_path(absolute) != "python":
            return None
        path = absolute[len(self._root) :].replace(os.sep, "/")
        try:
            data = Path(absolute).read_bytes()
        except OSError:
            self._changed.add(path)
            return None
        if met is not None and stamp(absolute) != met:
            self._changed.add(path)
            return None
        return _File(path, extract(path, to_utf8(data, "python").source, "python", content_hash(data)).definitions)


class _File:
    """Finds the definitions that compiled functions of one file come from."""

    def __init__(self, path: str, definitions: Iterable[Definition]) -> None:
        self._path = path
        self._named: dict[str, list[Definition]] = {}
        for one in definitions:
            if one.kind != "variable":
                self._named.setdefault(one.qualname, []).append(one)
        self._lambdas = [one for twins in self._named.values() for one in twins if _NAMED_LAMBDA.match(one.signature)]
        self._starting: dict[int, list[Definition]] = {}
        for one in (one for twins in self._named.values() for one in twins if one.kind in FUNCTION_KINDS):
            self._starting.setdefault(one.start_line, []).append(one)
        self._lines = {self._as_end(one): one.start_line for twins in self._named.values() for one in twins}

    def first_line(self, end: End) -> int:
        return self._lines[end]

    def is_lambda(self, end: End) -> bool:
        """Whether a definition is a name that is assigned a lambda."""
        return any(self._as_end(one) == end for one in self._lambdas)

    def definition(self, code: Code) -> End | None:
        """Return the definition of a code object, or an enclosing definition.

        For a lambda or comprehension, the result is the name that is assigned the lambda, as in `double = lambda x: x * 2`. Without such a
        name it is the enclosing function. If no definition has the function's name, the result is the
        only definition that begins on the function's line. The result is None if no definition matches.
        """
        for name, is_own in _names(code.qualname):
            twins = self._named.get(name, [])
            for one in twins:
                if is_own and (one.kind in FUNCTION_KINDS) == code.is_function and one.start_line == code.line:
                    return self._as_end(one)
            if not is_own and (assigned := self._assigned_in(name, code.line)):
                return self._as_end(assigned[-1])
            around = [one for one in twins if one.start_line <= code.line <= one.end_line]
            if around and (not is_own or not code.is_function):
                return self._as_end(around[-1])
        starting = self._starting.get(code.line, []) if code.is_function and not _is_nameless(code) else []
        # A wrapper such as Hypothesis' takes the place of a function: its file and first line, but not its qualified name.
        return self._as_end(starting[0]) if len(starting) == 1 else None

    def _assigned_in(self, owner: str, line: int) -> list[Definition]:
        """Return the names in the scope `owner` that are assigned a lambda.

        Only lambdas whose lines contain `line` are considered. For `double = lambda x: x * 2`, the name is `double`.
        """
        inside = "" if owner == MODULE_QUALNAME else f"{owner}."
        return [one for one in self._lambdas if one.start_line <= line <= one.end_line and one.qualname == inside + one.name]

    def _as_end(self, one: Definition) -> End:
        return End(self._path, one.qualname, one.kind, one.ordinal, one.body_hash)


def _is_nameless(code: Code) -> bool:
    """Whether a code object belongs to a lambda or comprehension."""
    return code.qualname.rpartition(".")[2].startswith("<")


def _names(qualname: str) -> Iterator[tuple[str, bool]]:
    """Yield (qualified name in the graph, whether the code has this name).

    For the function `A.f`, the result is (`A.f`, True). For a lambda in this function, `A.f.<locals>.<lambda>`, the result is (`A.f`,
    False), because the graph has only the enclosing function.
    """
    parts = [part for part in qualname.split(".") if part != "<locals>"]
    is_own = True
    while parts and parts[-1].startswith("<") and parts[-1] != MODULE_QUALNAME:
        parts.pop()
        is_own = False
    yield ".".join(parts) or MODULE_QUALNAME, is_own
