"""Which tests impact names once it knows what they ran: exactly those, on a real package's own suite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy.polynomial
import pytest

from graphmem.mcp_server.impact_text import impact as impact_for_agents
from graphmem.project.graph.outside_evidence import OutsideEvidence

WITNESS = '''\
"""A second, slower recorder that shares nothing with the one that is tested: every call, test by test."""

import json
import os
import sys
import threading

import pytest

from graphmem.project.graph.outside_evidence import OutsideEvidence

ROOT = os.path.dirname(os.path.abspath(__file__)) + os.sep
reached = {}
shared = set()
current = None


def profile(frame, event, arg):
    if event == "call" and current is not None:
        code = frame.f_code
        if code.co_filename.startswith(ROOT) and code.co_flags & 1:
            name = code.co_qualname.replace(".<locals>", "")
            while name.rpartition(".")[2].startswith("<"):
                name = name.rpartition(".")[0]
            current.add(code.co_filename[len(ROOT):] + ":" + name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    global current
    own = getattr(item.function, "__wrapped__", item.function).__code__
    name = own.co_filename[len(ROOT):] + ":" + own.co_qualname.replace(".<locals>", "")
    current = reached.setdefault(name, set())
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        current = None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    global current
    before = current
    if fixturedef.scope != "function":
        current = shared
    try:
        return (yield)
    finally:
        current = before


def pytest_sessionfinish():
    with open(os.path.join(ROOT, "..", "witness.json"), "w") as file:
        json.dump([{name: sorted(found) for name, found in reached.items()}, sorted(shared)], file)
'''


@pytest.fixture
def tree(tmp_path):
    """The Python package of numpy that comes with its tests, on its own: seven families of classes over one base."""
    root = tmp_path / "tree"
    shutil.copytree(Path(numpy.polynomial.__file__).parent, root / "polynomial", ignore=shutil.ignore_patterns("__pycache__"))
    for path in root.rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8").replace("numpy.polynomial", "polynomial"), encoding="utf-8")
    (root / "pyproject.toml").write_text(
        "[project]\nname = 'polynomial'\n[tool.pytest.ini_options]\npythonpath = ['.']\n", encoding="utf-8"
    )
    return root


def f1(named, true):
    return 2 * len(named & true) / (len(named) + len(true))


def test_with_a_run_the_tests_to_run_are_exactly_those_that_ran_it(tree, run_pytest, open_memory, take, tmp_path):
    ran = run_pytest(tree, "--graphmem-trace", str(tmp_path / "run.trace"))
    assert "passed" in ran.said, ran.said
    (tree / "conftest.py").write_text(WITNESS, encoding="utf-8")
    assert "passed" in run_pytest(tree, plugins=()).said
    (tree / "conftest.py").unlink()
    witness, shared = json.loads((tmp_path / "witness.json").read_text(encoding="utf-8"))
    true: dict[str, set[str]] = {}
    for test, functions in witness.items():
        for one in functions:
            if one.startswith("polynomial/") and "/tests/" not in one:
                true.setdefault(one, set()).add(test)
    memory = open_memory()
    take(memory, tree, runtime=[tmp_path / "run.trace"])
    view = memory.parts.graph.view()
    judged = {
        view.info(view.index_of[one]).ref for one in OutsideEvidence(memory.parts.data_dir).runs(view, memory.parts.graph.project).judged
    }
    assert judged <= set(witness)
    assert len(judged) > 250, "all but those that failed or were skipped"
    scores = {}
    for one, tests in sorted(true.items())[::2]:  # every other one, for time
        if (
            one not in shared and tests & judged
        ):  # shared fixtures have tests of their own; of a test that did not run to its end nobody can say what it does not run
            scores[one] = f1({hit.symbol.ref for hit in memory.impact(one, limit=100_000).tests} & judged, tests & judged)
    assert len(scores) > 80
    assert {one: score for one, score in scores.items() if score < 1.0} == {}


def test_an_exact_answer_names_the_tests_that_may_run_the_target_in_a_process_they_started(shop, record, open_memory, take, tmp_path):
    (shop / "tests" / "test_more.py").write_text(
        "import os\nimport subprocess\nimport sys\n\n\n"
        "def test_program():\n"
        "    code = 'import shop; shop.checkout(shop.Cart())'\n"
        "    subprocess.run([sys.executable, '-c', code], check=True, env={**os.environ, 'PYTHONPATH': '.'})\n",
        encoding="utf-8",
    )
    _, ran = record(shop)
    assert ran.code == 0, ran.said
    memory = open_memory()
    take(memory, shop, runtime=[tmp_path / "run.trace"])
    report = memory.impact("checkout")
    assert report.epistemic == "exact"
    assert {hit.symbol.name for hit in report.tests} == {"test_empty", "test_paid"}
    (cause,) = [one for one in report.causes if one.kind == "other_processes"]
    assert (cause.count, cause.examples) == (1, ["tests/test_more.py:test_program"])
    assert "tests/test_more.py:test_program" in impact_for_agents(report, 4_000), "an agent reads which test it is"
    (shop / "tests" / "test_more.py").write_text("def test_program():\n    assert True\n", encoding="utf-8")
    memory.index(shop)
    assert "other_processes" not in {one.kind for one in memory.impact("checkout").causes}, "the test is another one now"


def test_a_test_that_got_a_stored_result_is_not_left_out(shop, record, open_memory, take, tmp_path):
    """Alone, the second test runs the function; after the first test it gets the result that `lru_cache` stored."""
    (shop / "prices.py").write_text(
        "import functools\n\nfrom shop import rounded\n\n\n@functools.lru_cache(maxsize=None)\ndef price(x):\n    return low(x)\n\n\n"
        "def low(x):\n    return rounded(x)\n\n\ndef choose(x):\n    return x or price(1)\n",
        encoding="utf-8",
    )
    (shop / "tests" / "test_prices.py").write_text(
        "from prices import choose, low, price\n\n\ndef test_first():\n    assert price(1) == 1\n\n\n"
        "def test_second():\n    assert price(1) == 1\n\n\ndef test_other():\n    assert choose(3) == 3\n\n\n"
        "def test_low():\n    price(2) if low(1) else choose(4)\n",
        encoding="utf-8",
    )
    _, ran = record(shop)
    assert ran.code == 0, ran.said
    memory = open_memory()
    take(memory, shop, runtime=[tmp_path / "run.trace"])
    for name in ("price", "low"):
        report = memory.impact(name)
        assert report.epistemic == "exact"
        assert {hit.symbol.name for hit in report.tests} >= {"test_first", "test_second"}, name
    (cause,) = [one for one in memory.impact("choose").causes if one.kind == "not_run"]
    assert (cause.count, cause.message[:7]) == (1, "test is"), "where no result is stored, the run decides"
