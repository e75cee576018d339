"""Exact answers against tests that run alone, each in a process of its own.

    python -m benchmarks alone ROOT … [--path src] [--tests tests]

Each ROOT is a project with tests; it is copied. Its suite is recorded with `pytest --graphmem` and indexed. Then each test runs alone:
pytest collects the suite once and forks for each test, so a test finds nothing that another test left behind, such as an object that is
made once. An independent profile function notes the functions that each test runs.

Impact is asked about each function that a passing test runs alone, unless the index has no symbol of its name, or several. A row counts the
functions, the answers that are `exact`, the exact answers without one of these tests, and the pairs of function and test that they lack. A
test is identified by its function, so parameter sets and inherited tests are one test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import report

from graphmem import GraphMem
from graphmem.errors import GraphMemError
from graphmem.evidence import inbox
from graphmem.settings import Settings

HOME: Final = Path(__file__).resolve().parents[1]
SHOWN: Final = 5  # functions of a row that are named
PLUGIN: Final = '''\
import inspect, json, os, sys, threading

import pytest
from _pytest.runner import runtestprotocol

ROOT, OUT = os.environ["ALONE_ROOT"] + os.sep, os.environ["ALONE_OUT"]
names, ran = {}, set()


def name_of(code):
    """Path and qualified name of a function below the root; "" for other code. Lambdas and comprehensions are part of their function."""
    if code not in names:
        path = os.path.realpath(code.co_filename)
        parts = [one for one in code.co_qualname.split(".") if not one.startswith("<")]
        is_inside = code.co_flags & inspect.CO_OPTIMIZED and path.startswith(ROOT) and parts
        names[code] = f"{path[len(ROOT):]}:{'.'.join(parts)}" if is_inside else ""
    return names[code]


def profile(frame, event, _):
    if event == "call":
        ran.add(frame.f_code)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return True
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        passed = all(one.outcome == "passed" for one in runtestprotocol(item, nextitem=None, log=False))
        sys.setprofile(None)
        code = getattr(inspect.unwrap(getattr(item, "function", None)), "__code__", None)
        if passed and code is not None:
            with open(OUT, "a") as file:
                file.write(json.dumps([name_of(code), sorted({name_of(one) for one in ran} - {""})]) + "\\n")
    finally:
        os._exit(0)
'''


def pytest_in(root: Path, path: list[str], *arguments: str, **variables: str) -> None:
    """Run pytest in `root`; only a broken run is an error, not a failed test."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path), **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 5):  # 5: no test ran in the main process
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}; its output:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def measure(root: Path, given: Path, path: list[str], tests: list[str]) -> dict[str, Any]:
    """Return the row of one project.

    Args:
        root: an empty directory for the copy.
        given: the project.
        path: directories of the copy that are added to PYTHONPATH.
        tests: arguments of pytest.
    """
    project = root / given.name
    shutil.copytree(given, project, ignore=shutil.ignore_patterns(".graphmem", "__pycache__"), symlinks=True)
    (root / "alone_plugin.py").write_text(PLUGIN, encoding="utf-8")
    found = [str(root), str(HOME), *(str(project / one) for one in path)]
    trace = root / "alone.jsonl"
    pytest_in(project, found, "--graphmem-trace", str(root / "suite.trace"), *tests)
    variables = {"ALONE_ROOT": str(project.resolve()), "ALONE_OUT": str(trace)}
    pytest_in(project, found, "-p", "alone_plugin", *tests, **variables)
    runs: dict[str, set[str]] = defaultdict(set)
    for line in trace.read_text(encoding="utf-8").splitlines():
        test, functions = json.loads(line)
        for function in functions:
            runs[function].add(test)
    cases = set().union(*runs.values())
    row: dict[str, Any] = {
        "project": given.name,
        "tests": len(cases),
        "functions": 0,
        "exact": 0,
        "with a miss": 0,
        "pairs": 0,
        "missed": 0,
    }
    named: list[str] = []
    with GraphMem.open(root / "index", repo=project, settings=Settings(embedder="none", git_history=False)) as memory:
        waiting = memory.parts.data_dir / inbox.FOLDER
        waiting.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "suite.trace", waiting)
        memory.index(project)
        for function, tests_alone in sorted(runs.items()):
            if function in cases or "test" in function.partition(":")[0]:
                continue
            try:
                answer = memory.impact(function, limit=100_000)
            except GraphMemError:
                continue  # the source defines the name twice, or a library made the function
            row["functions"] += 1
            if answer.epistemic != "exact":
                continue
            lost = tests_alone - {hit.symbol.ref.partition("#")[0] for hit in answer.tests}
            row["exact"] += 1
            row["pairs"] += len(tests_alone)
            row["missed"] += len(lost)
            if lost:
                row["with a miss"] += 1
                named.append(f"{function} lacks {len(lost)} of {len(tests_alone)}")
    row["share"] = round(row["with a miss"] / row["exact"], 3) if row["exact"] else None
    for one in named[:SHOWN]:
        print(f"  {one}", file=sys.stderr)
    return row


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("roots", type=Path, nargs="+", metavar="ROOT")
    options.add_argument("--path", action="append", default=[], help="added to PYTHONPATH, from ROOT (repeatable)")
    options.add_argument("--tests", action="append", default=[], help="arguments of pytest, from ROOT (repeatable)")
    arguments = options.parse_args()
    rows = []
    for root in arguments.roots:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(Path(folder), root.resolve(), arguments.path, arguments.tests))
    report.table(list(rows[0]), [list(row.values()) for row in rows])
    report.publish("alone", {"rows": rows}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
