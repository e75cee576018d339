"""Edges from coverage.py's contexts, in data that coverage itself wrote."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import subprocess
import sys

import pytest

from graphmem.errors import EvidenceError

needs_coverage = pytest.mark.skipif(importlib.util.find_spec("coverage") is None, reason="coverage is not installed")
needs_pytest_cov = pytest.mark.skipif(importlib.util.find_spec("pytest_cov") is None, reason="pytest-cov is not installed")

T, S = "tests/test_shop.py:", "shop.py:"


def measured(root, data, *, branch=False):
    """Run the tests under coverage with the context of its own configuration."""
    config = root.parent / "coveragerc"
    config.write_text(f"[run]\ndynamic_context = test_function\nbranch = {branch}\ndata_file = {data}\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=root,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
        capture_output=True,
        timeout=100,
    )
    return data


@needs_coverage
@pytest.mark.parametrize("branch", [False, True], ids=["lines", "branches"])
def test_contexts_of_test_functions_become_tests(shop, open_memory, take, edges, tmp_path, branch):
    data = measured(shop, tmp_path / "data", branch=branch)
    memory = open_memory()
    take(memory, shop, measured=[data])
    tests = edges(memory, "runtime", "TESTS")
    of_empty = {target for source, target in tests if source == T + "test_empty"}
    assert of_empty == {S + name for name in ("checkout", "hold", "Cart.__init__", "Cart.total", "Cart.each", "rounded")}
    assert {target for source, target in tests if source == T + "TestCart.test_total"} >= {S + "Cart.add", S + "rounded"}
    assert {rule for rule, _ in tests.values()} == {"coverage"}
    assert not any(target == S + "never" for _, target in tests), "that a function is defined does not mean that it ran"


@needs_pytest_cov
def test_contexts_of_pytest_cov_become_tests(shop, run_pytest, open_memory, take, edges, tmp_path):
    data = tmp_path / ".coverage"
    ran = run_pytest(
        shop, "--cov", ".", "--cov-context=test", "--cov-report=", plugins=("pytest_cov",), environ={"COVERAGE_FILE": str(data)}
    )
    assert ran.code == 0, ran.said
    memory = open_memory()
    take(memory, shop, measured=[data])
    tests = edges(memory, "runtime", "TESTS")
    assert {target for source, target in tests if source == T + "test_paid"} >= {S + "checkout", S + "pay", S + "Cart.add"}
    assert (T + "TestCart.test_total", S + "Cart.total") in tests


@needs_coverage
def test_what_a_run_saw_goes_before_what_coverage_measured(shop, record, open_memory, take, edges, tmp_path):
    data = measured(shop, tmp_path / "data")
    record(shop)
    memory = open_memory()
    take(memory, shop, measured=[data], runtime=[tmp_path / "run.trace"])
    assert edges(memory, "runtime", "TESTS")[T + "test_empty", S + "hold"][0] == "runtime"


@needs_coverage
def test_a_file_changed_after_it_was_measured_is_named_and_left_out(shop, open_memory, take, edges, tmp_path):
    data = measured(shop, tmp_path / "data")
    written = data.stat().st_mtime_ns
    os.utime(shop / "shop.py", ns=(written + 10**9, written + 10**9))
    memory = open_memory()
    summary = take(memory, shop, measured=[data])
    assert [(one["path"], one["code"]) for one in summary.diagnostics] == [("shop.py", "evidence")]
    assert not any(target.startswith(S) for _, target in edges(memory, "runtime", "TESTS"))


@needs_coverage
def test_data_of_another_project_joins_nothing_and_is_said_to_be_so(shop, open_memory, take, edges, tmp_path):
    data = measured(shop, tmp_path / "data")
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.py").write_text("def x():\n    return 1\n", encoding="utf-8")
    memory = open_memory()
    summary = take(memory, other, measured=[data])
    assert ["another project" in one["message"] for one in summary.diagnostics] == [True]
    assert edges(memory, "runtime") == {}


def test_data_without_contexts_is_refused_with_what_to_do(shop, open_memory, take, tmp_path):
    data = tmp_path / "data"
    with sqlite3.connect(data) as connection:
        connection.execute("CREATE TABLE context (id INTEGER, context TEXT)")
        connection.execute("INSERT INTO context VALUES (1, '')")
    connection.close()
    with pytest.raises(EvidenceError, match="cov-context"):
        take(open_memory(), shop, measured=[data])


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\1" * 200], ids=["empty", "text", "damaged"])
def test_a_file_that_is_not_data_of_coverage_is_refused(shop, open_memory, take, tmp_path, content):
    data = tmp_path / "data"
    data.write_bytes(content)
    with pytest.raises(EvidenceError, match="not a data file of coverage"):
        take(open_memory(), shop, measured=[data])
