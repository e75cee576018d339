"""`pytest --graphmem`: record calls and the functions that each test runs.

Without the option, only this module is loaded. With the option, a recorder runs during the whole test session. A function is recorded for
the test that runs it. A function that a fixture runs is recorded for every test that uses the fixture. At the end, a trace file is written
to the index directory, and the next `graphmem index` imports the file.
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
    from graphmem.evidence.run import Code, Run, Sighting

_PLUGIN: Final = "graphmem-recording"
_OUTPUT: Final = "graphmem"
_MAX_WRAPPERS: Final = 50  # decorators of one test


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--graphmem`, `--graphmem-root` and `--graphmem-trace`."""
    group = parser.getgroup("graphmem", "graphmem: record the functions that tests run, for impact analysis")
    group.addoption(
        "--graphmem",
        action="store_true",
        help="record which test runs which functions, so that `graphmem index` knows the tests of each function",
    )
    group.addoption(
        "--graphmem-root", metavar="DIR", help="root of the indexed project; default: the project that contains pytest's rootdir"
    )
    group.addoption(
        "--graphmem-trace",
        metavar="FILE",
        help="write the record of which test runs which functions to this file, instead of to the index directory; "
        "also turns on recording, as --graphmem does",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start to record if requested, before the project is imported."""
    asked = early_config.known_args_namespace
    if not (asked.graphmem or asked.graphmem_trace):
        return
    from graphmem.errors import GraphMemError
    from graphmem.location import find_project

    try:
        root = Path(asked.graphmem_root).resolve() if asked.graphmem_root else find_project(early_config.rootpath)
        if not root.is_dir():
            raise pytest.UsageError(f"the value of --graphmem-root, {root}, is not a directory; give the root directory of the project")
        recording = _Recording(early_config, root, asked.graphmem_trace)
    except (GraphMemError, RuntimeError) as error:
        raise pytest.UsageError(
            f"the option --graphmem cannot record this test run ({error}); correct the cause, or run pytest without the option"
        ) from error
    early_config.pluginmanager.register(recording, _PLUGIN)


class _Fixture:
    """The functions that the setup and teardown of one fixture value ran."""

    def __init__(self) -> None:
        self.reached: set[int] = set()


class _Test:
    """A running test, with the functions that it has called so far."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.reached: set[int] = set()
        self.fixtures: list[_Fixture] = []
        self.phases: list[str] = []


class _Recording:
    """The pytest hooks that record a test session."""

    def __init__(self, config: pytest.Config, root: Path, trace: str | None) -> None:
        from graphmem.evidence.recorder import Recorder

        self._config = config
        self._root = root
        self._trace, self._folder = self._place(trace)
        self._tests: list[_Test] = []
        self._running: dict[str, _Test] = {}
        self._items: list[pytest.Item] = []
        self._classes: list[pytest.Class] = []
        self._collected: set[pytest.Collector] = set()
        self._values: dict[Any, _Fixture] = {}
        self._taken_away: list[tuple[Any, set[int]]] = []
        self._of_workers: list[Run] = []
        self._lost: list[str] = []
        self._said: list[str] = []
        self._recorder: Recorder = Recorder(str(root))
        self._recorder.start()

    def _place(self, given: str | None) -> tuple[Path, Path | None]:
        """Return the path of the trace file, and the index directory or None.

        `given` is the value of the option `--graphmem-trace`. If the option is given, the value is the path of the trace file, and the
        second result is None.
        """
        if given:
            return Path(given).absolute(), None
        from graphmem.evidence.inbox import FOLDER
        from graphmem.evidence.trace import SUFFIX
        from graphmem.location import locate
        from graphmem.settings import load_settings

        folder = locate(self._root, load_settings(self._root, os.environ), os.environ).data_dir
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{time.monotonic_ns() % 10**9:09}{SUFFIX}"
        return folder / FOLDER / name, folder

    # which test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record all code that runs from a test's setup to its teardown."""
        test = self._running[item.nodeid] = _Test(item)
        self._tests.append(test)
        before = self._recorder.into(test.reached)
        try:
            return (yield)
        finally:
            self._recorder.into(before)
            del self._running[item.nodeid]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of one phase of a test: setup, call or teardown."""
        test = self._running.get(report.nodeid)
        if test is not None:
            test.phases.append(report.outcome)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record the fixture values that a test uses, before their teardown.

        Values that were made for earlier tests, and values that the test requested at run time, are included.
        """
        test = self._running.get(item.nodeid)
        used = getattr(getattr(item, "_request", None), "_fixture_defs", {})
        if test is not None:
            test.fixtures = [self._values[one] for one in used.values() if one in self._values]
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """Record which code runs while a fixture is set up and torn down."""
        value = self._values[fixturedef] = _Fixture()
        before = self._recorder.into(value.reached)
        try:
            return (yield)
        finally:
            self._recorder.into(before)
            # Finalizers run in reverse order, so the teardown of the value starts here.
            fixturedef.addfinalizer(lambda: self._taken_away.append((fixturedef, self._recorder.into(value.reached))))

    def pytest_fixture_post_finalizer(self, fixturedef: object) -> None:
        """Stop recording code for a fixture value at the end of its teardown."""
        if self._taken_away and self._taken_away[-1][0] is fixturedef:
            self._recorder.into(self._taken_away.pop()[1])

    # which items a test function has; pytest creates all of them, and then drops those that are not selected

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pycollect_makeitem(self) -> Generator[None, object, object]:
        """Keep all items and classes that pytest creates for one name.

        If a test function has parameters, each set of their values is an item. A node id on the command line selects some of the items.
        """
        made = yield
        for one in made if isinstance(made, list) else [made]:
            if isinstance(one, pytest.Class):
                self._classes.append(one)
            elif isinstance(one, pytest.Item):
                self._items.append(one)
        return made

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Keep an item that is created in another way, such as a unittest method."""
        self._items.append(item)

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Note the classes whose items are created."""
        self._collected.add(collector)

    # at the end

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Collect the recording of a pytest-xdist worker that has ended."""
        from graphmem.evidence.run import Run

        said = getattr(node, "workeroutput", {}).get(_OUTPUT)
        if said is None:
            self._lost.append(f"{node.gateway.id} ({error or 'no recording'})")
        else:
            self._of_workers.append(Run(*said))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Stop recording, find the definitions that ran, and write the trace.

        A worker sends its recording to the controller instead.
        """
        from graphmem.evidence.run import describe

        self._recorder.stop()
        mine = self._run()
        output = getattr(self._config, "workeroutput", None)  # exists in workers of pytest-xdist
        if output is not None:
            output[_OUTPUT] = tuple(mine)
            return
        found = describe([mine, *self._of_workers], self._root)
        self._leave(found)

    def pytest_unconfigure(self) -> None:
        """Stop recording, even if the test session never started."""
        self._recorder.stop()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the outcome of the recording."""
        if self._said:
            terminalreporter.write_sep("-", "graphmem")
            for line in self._said:
                terminalreporter.write_line(line)

    def _run(self) -> Run:
        """Return the recording of this process: tests and the functions they ran."""
        from graphmem.evidence.run import ItemRun, run_of

        tests = []
        for test in self._tests:
            code = _code_of(getattr(test.item, "function", None))
            reached = test.reached.union(*(value.reached for value in test.fixtures))
            is_whole = bool(test.phases) and all(outcome == "passed" for outcome in test.phases)
            tests.append(ItemRun(test.item.nodeid, _plain(code), str(test.item.path), is_whole, reached))
        return run_of(self._recorder, tests, self._planned())

    def _planned(self) -> dict[Code, set[str]]:
        """Return the node ids of all items of each test function.

        A class that was not selected has no items, so its own node id stands for each of its methods, inherited ones included.
        """
        found: dict[Code, set[str]] = {}
        named = [(getattr(item, "function", None), item.nodeid) for item in self._items]
        for one in self._classes:
            if one not in self._collected:
                named += [(method, one.nodeid) for base in one.obj.__mro__ for method in vars(base).values() if inspect.isfunction(method)]
        for function, name in named:
            code = _plain(_code_of(function))
            if code is not None:
                found.setdefault(code, set()).add(name)
        return found

    def _leave(self, found: Sighting) -> None:
        """Write the definitions and calls in `found` to the trace file.

        The lines of the terminal summary are prepared, too. If no function ran, no file is written.
        """
        import platform

        from graphmem import __version__
        from graphmem.evidence import inbox, trace

        self._said += [f"the recording of worker {one} is lost" for one in self._lost]
        if found.changed:
            self._said.append(f"edited while the tests ran, so they are not recorded: {_some(found.changed)}")
        if not found.functions:
            self._said.append(f"no function below {self._root} ran, so no trace is written; check whether the code is installed elsewhere")
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
            self._said.append(f"{len(found.nowhere):,} functions match no definition in their file and are omitted: {_some(found.nowhere)}")
        if found.cut:
            self._said.append(f"recorded in part, because the recording stopped during the test: {_some(found.cut)}")
        if found.unmatched:
            self._said.append(
                f"{len(found.unmatched):,} test items match no definition and are recorded for their file: {_some(found.unmatched)}"
            )
        self._said.append(f"written to {self._trace}; `graphmem index` imports it")


def _code_of(function: object) -> CodeType | None:
    """Return the code of a test's undecorated function; None without one.

    Hypothesis stores the original function as `inner_test`, and other decorators store it as `__wrapped__`.
    """
    for _ in range(_MAX_WRAPPERS):
        inner = getattr(getattr(function, "hypothesis", None), "inner_test", None) or getattr(function, "__wrapped__", None)
        if not inspect.isfunction(inner) and not hasattr(inner, "__wrapped__"):
            break
        function = inner
    code = getattr(function, "__code__", None)
    return code if inspect.iscode(code) else None


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _plain(code: CodeType | None) -> Any:
    from graphmem.evidence.run import Code

    return Code(code.co_filename, code.co_qualname, code.co_firstlineno, True) if code is not None else None
