"""A small project with tests that really run, and indexes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import graphmem
from graphmem.evidence import trace
from graphmem.project.graph.outside_evidence import leave
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

SHOP = '''\
"""A shop."""

import threading


def rounded(value):
    return round(value, 2)


class Cart:
    def __init__(self):
        self.prices = []

    def add(self, price):
        self.prices.append(price)
        return self

    @property
    def total(self):
        return rounded(sum(price for price in self.each()))

    def each(self):
        yield from self.prices

    def close(self):
        self.prices = []


def checkout(cart, notify=None):
    handlers = {"pay": pay, "hold": hold}
    total = handlers["pay" if cart.total else "hold"](cart)
    if notify:
        notify(total)
    return total


def pay(cart):
    return cart.total


def hold(cart):
    return 0


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def never():
    return rounded(1)
'''
CONFTEST = """\
import pytest

from shop import Cart


@pytest.fixture(scope="module")
def shared():
    cart = Cart().add(2)
    yield cart
    cart.close()
"""
TESTS = """\
import pytest

from shop import Cart, checkout, in_thread, pay, rounded


def test_empty():
    assert checkout(Cart()) == 0


def test_shared_first(shared):
    assert shared.prices == [2]


def test_shared_second(shared):
    assert shared.prices == [2]


def test_thread():
    in_thread(lambda: pay(Cart()))


@pytest.mark.parametrize("price", [1, 2])
def test_paid(price):
    seen = []
    assert checkout(Cart().add(price), seen.append) == price


class TestCart:
    def test_total(self):
        assert Cart().add(1.001).total == 1


def test_sorted():
    assert sorted([2, 1], key=lambda one: rounded(one)) == [1, 2]
"""


class Ran(NamedTuple):
    """Result of a run of pytest."""

    code: int
    said: str


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "shop.py").write_text(SHOP, encoding="utf-8")
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\n[tool.pytest.ini_options]\npythonpath = ["."]\n', encoding="utf-8")
    (root / "tests" / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (root / "tests" / "test_shop.py").write_text(TESTS, encoding="utf-8")
    return root


def _run_pytest(root, *arguments, plugins=("graphmem.pytest_plugin",), environ=()):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for plugin in plugins:
        command += ["-p", plugin]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHMEM_", "PYTEST_", "COV_"))}
    home = str(Path(graphmem.__file__).parents[1])
    done = subprocess.run(
        [*command, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=110,
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": home, "XDG_DATA_HOME": str(root.parent), **dict(environ)},
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr)


@pytest.fixture
def run_pytest():
    """pytest as a person runs it, with graphmem's plug-in and no other."""
    return _run_pytest


@pytest.fixture
def record():
    """Run tests under the recorder; answers what they were seen doing, and how the run ended."""

    def recorded(root, *arguments, **more):
        path = root.parent / "run.trace"
        path.unlink(missing_ok=True)
        ran = _run_pytest(root, "--graphmem-trace", str(path), *arguments, **more)
        return _seen_in(path) if path.exists() else {}, ran

    return recorded


def _seen_in(path):
    """{(kind, subject): what it led to} of a trace, by qualified name."""
    return {(str(one.kind), one.subject.qualname): {step.end.qualname for step in one.seen} for one in trace.read(path).observations}


@pytest.fixture
def seen_in():
    return _seen_in


@pytest.fixture
def open_memory(tmp_path):
    opened = []

    def make(name="index", **more):
        memory = GraphMem.open(empty_index(tmp_path / name), settings=Settings(embedder="none", workers=1), **more)
        opened.append(memory)
        return memory

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def take(tmp_path):
    """Index a tree with outside files."""

    def taken(memory, root, name="index", **files):
        leave(tmp_path / name, root, **files)
        return memory.index(root)

    return taken


@pytest.fixture
def edges():
    """{(from, to): (rule, line)} of some edges of an index, by reference."""

    def found(memory, source=None, kind=None):
        return {
            (_ref(row["src"]), _ref(row["dst"])): (row["rule"], row["line"])
            for row in memory.export()
            if "src" in row and source in (None, row["source"]) and kind in (None, row["kind"])
        }

    return found


def _ref(end):
    return f"{end['path']}:{end['qualname']}"
