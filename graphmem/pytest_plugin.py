"""`pytest --graphmem`: which test ran which function, and who called whom, for the graph.

Without the option this module is all that is loaded. With it, a recorder is on from the start of the session to its end; what
runs belongs to the test that runs, and what a fixture runs belongs to every test that uses it. At the end a trace file is left in the
directory of the index, which the next `graphmem index` takes in.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from types import CodeType

    from graphmem.evidence.recorder import Recorder
    from graphmem.evidence.run import Run, Sighting

_PLUGIN: Final = "graphmem-recording"
_OUTPUT: Final = "graphmem"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("graphmem", "graphmem: what the tests run, for impact analysis")
    group.addoption("--graphmem", action="store_true", help="record which test runs which function, for `graphmem index`")
    group.addoption("--graphmem-root", metavar="DIR", help="root of the project graphmem indexes; default: the one around pytest's rootdir")
    group.addoption("--graphmem-trace", metavar="FILE", help="write the recording here instead of beside the index; implies --graphmem")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin to record, where that is asked for: before the first file of the project is imported."""
    asked = early_config.known_args_namespace
    if not (asked.graphmem or asked.graphmem_trace):
        return
    from graphmem.errors import GraphMemError
    from graphmem.settings import find_project

    try:
        root = Path(asked.graphmem_root).resolve() if asked.graphmem_root else find_project(early_config.rootpath)
        if not root.is_dir():
            raise pytest.UsageError(f"--graphmem-root: {root} is no directory")
        recording = _Recording(early_config, root, asked.graphmem_trace)
    except (GraphMemError, RuntimeError) as error:
        raise pytest.UsageError(f"--graphmem: {error}") from error
    early_config.pluginmanager.register(recording, _PLUGIN)


class _Fixture:
    """One value of a fixture: what ran to make it and to take it away belongs to all who had it."""

    def __init__(self) -> None:
        self.reached: set[int] = set()


class _Test:
    """One item while it runs."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.reached: set[int] = set()
        self.fixtures: list[_Fixture] = []
        self.phases: list[str] = []


class _Recording:
    """The hooks of one session that records."""

    def __init__(self, config: pytest.Config, root: Path, trace: str | None) -> None:
        from graphmem.evidence.recorder import Recorder

        self._config = config
        self._root = root
        self._trace, self._folder = self._place(trace)
        self._tests: list[_Test] = []
        self._running: dict[str, _Test] = {}
        self._partly: list[CodeType] = []
        self._values: dict[Any, _Fixture] = {}
        self._taken_away: list[tuple[Any, set[int]]] = []
        self._of_workers: list[Run] = []
        self._lost: list[str] = []
        self._said: list[str] = []
        self._recorder: Recorder = Recorder(str(root))
        self._recorder.start()

    def _place(self, given: str | None) -> tuple[Path, Path | None]:
        """Where the trace goes, and the index whose inbox that is, if it is one."""
        if given:
            return Path(given).absolute(), None
        from graphmem.evidence.inbox import FOLDER
        from graphmem.evidence.trace import SUFFIX
        from graphmem.settings import load_settings, locate

        folder = locate(self._root, load_settings(self._root, os.environ), os.environ).data_dir
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{time.monotonic_ns() % 10**9:09}{SUFFIX}"
        return folder / FOLDER / name, folder

    # which test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Everything from setup to teardown belongs to the test."""
        test = self._running[item.nodeid] = _Test(item)
        self._tests.append(test)
        before = self._recorder.into(test.reached)
        try:
            return (yield)
        finally:
            self._recorder.into(before)
            del self._running[item.nodeid]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whether it ran to its end."""
        test = self._running.get(report.nodeid)
        if test is not None:
            test.phases.append(report.outcome)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Before fixtures go: which values the test had, those made for earlier tests and those asked for by name included."""
        test = self._running.get(item.nodeid)
        used = getattr(getattr(item, "_request", None), "_fixture_defs", {})
        if test is not None:
            test.fixtures = [self._values[one] for one in used.values() if one in self._values]
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """What makes a fixture's value belongs to the value."""
        value = self._values[fixturedef] = _Fixture()
        before = self._recorder.into(value.reached)
        try:
            return (yield)
        finally:
            self._recorder.into(before)
            # Finalizers run in the opposite order, so this is where taking the value away begins.
            fixturedef.addfinalizer(lambda: self._taken_away.append((fixturedef, self._recorder.into(value.reached))))

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """Where taking a value away ends."""
        if self._taken_away and self._taken_away[-1][0] is fixturedef:
            self._recorder.into(self._taken_away.pop()[1])

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """A test of which some parameter sets do not run is seen in part."""
        self._partly += [code for item in items if (code := _code_of(item)) is not None]

    # at the end

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker of pytest-xdist has ended and left what it recorded."""
        from graphmem.evidence.run import Run

        said = getattr(node, "workeroutput", {}).get(_OUTPUT)
        if said is None:
            self._lost.append(f"{node.gateway.id} ({error or 'no recording'})")
        else:
            self._of_workers.append(Run(*said))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Stop, find the definitions that ran, and leave the trace; a worker hands over instead."""
        from graphmem.evidence.run import describe

        self._recorder.stop()
        mine = self._run()
        output = getattr(self._config, "workeroutput", None)  # there in the workers of pytest-xdist
        if output is not None:
            output[_OUTPUT] = tuple(mine)
            return
        found = describe([mine, *self._of_workers], self._root)
        self._leave(found)

    def pytest_unconfigure(self) -> None:
        """Stop also when the session never began."""
        self._recorder.stop()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was recorded, and what was not."""
        if self._said:
            terminalreporter.write_sep("-", "graphmem")
            for line in self._said:
                terminalreporter.write_line(line)

    def _run(self) -> Run:
        """What this process recorded."""
        from graphmem.evidence.run import ItemRun, run_of

        tests = []
        for test in self._tests:
            code = _code_of(test.item)
            reached = test.reached.union(*(value.reached for value in test.fixtures))
            is_whole = bool(test.phases) and all(outcome == "passed" for outcome in test.phases)
            tests.append(ItemRun(_plain(code), str(test.item.path), is_whole, reached))
        return run_of(self._recorder, tests, [one for code in self._partly if (one := _plain(code)) is not None])

    def _leave(self, found: Sighting) -> None:
        """Write the trace and remember what to say."""
        import platform

        from graphmem import __version__
        from graphmem.evidence import inbox, trace

        self._said += [f"the recording of worker {one} is lost" for one in self._lost]
        if found.changed:
            names = ", ".join(found.changed[:3]) + (f" and {len(found.changed) - 3} more" if len(found.changed) > 3 else "")
            self._said.append(f"edited while the tests ran, so nothing is said about them: {names}")
        if not found.functions:
            self._said.append(f"no function below {self._root} ran, so nothing is written; is the code that ran installed elsewhere?")
            return
        calls = sum(len(one.seen) for one in found.observations if one.kind == "CALLS")
        origin = {
            "recorded_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "by": f"graphmem {__version__}, pytest {pytest.__version__}, Python {platform.python_version()}",
            "tests": str(found.tests),
            "functions": str(found.functions),
        }
        if self._folder is not None:
            inbox.prepared(self._folder)
        trace.write(self._trace, found.observations, origin)
        self._said.append(f"{found.tests:,} tests ran {found.functions:,} functions, {calls:,} calls between them")
        if found.nowhere:
            self._said.append(f"{found.nowhere:,} functions that were made while running stand in no file and are left out")
        self._said.append(f"written to {self._trace}; `graphmem index` takes it in")


def _code_of(item: pytest.Item) -> CodeType | None:
    """The code of a test function, under its decorators."""
    function = inspect.unwrap(getattr(item, "function", None) or _code_of)
    code = getattr(function, "__code__", None)
    return code if code is not None and function is not _code_of else None


def _plain(code: CodeType | None) -> Any:
    from graphmem.evidence.run import Code

    return Code(code.co_filename, code.co_qualname, code.co_firstlineno, True) if code is not None else None
