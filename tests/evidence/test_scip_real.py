"""Indexes that scip-typescript and scip-python make here and now, of small trees and of a real package."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSIONS = {"scip-typescript": "0.4.0", "scip-python": "0.6.6"}
INSTALL_S = 240

SHAPE = """\
export interface Shape { area(): number }

export class Square implements Shape {
  #scale = 1
  constructor(private side: number) {}
  get double() { return this.side * 2 }
  area(): number {
    return double(this.side) * this.#scale
  }
}

export function double(n: number): number
export function double(n: string): number
export function double(n: any): number {
  return n * n
}

export const options = { serverName: 'x', 'Content-Type': 'text', run: () => double(1), make() { return new Square(1) } }
"""
MAIN = """\
import { Shape, Square, double as twice, options } from './shape'

function make(): Square {
  return new Square(twice(2))
}

export function run(shape: Shape): number {
  const é = 1
  const inner = () => make().double
  return [make()].map((one) => one.area())[0] + é + shape.area() + inner() + options.run()
}
"""
TEST = """\
import { run } from './main'

declare function describe(name: string, body: () => void): void

describe('run', () => {
  const headers = { host: 'a', path: 'b', agent: 'c' }
  run({ area: () => headers.host.length })
})
"""
SHOP = """\
import functools


class Cart:
    limit = 3

    def __init__(self, prices):
        self.prices = prices

    @property
    def total(self):
        return added(self.prices)

    def each(self):
        yield from self.prices


class Bigger(Cart):
    def each(self):
        yield from super().each()


@functools.cache
def added(prices):
    return sum(prices)
"""
USER = """\
from shop import Bigger as Large, Cart, added


def buy(cart: Cart):
    "é"; cart.total
    return [one for one in cart.each()]


def start():
    def inner(n):
        return added((n,))

    return buy(Large([])), inner(Cart.limit)
"""


@pytest.fixture(scope="session")
def programs():
    """The folder of the indexers, which npm installs at the first need; skipped where it cannot."""
    if all(shutil.which(name) for name in VERSIONS):
        return None
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so scip-typescript and scip-python cannot be")
    folder = Path(sys.prefix) / f"scip-indexers-{'-'.join(VERSIONS.values())}"  # beside the other tools, for later runs
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all((folder / "node_modules" / ".bin" / name).exists() for name in VERSIONS):
            packages = [f"@sourcegraph/{name}@{version}" for name, version in VERSIONS.items()]
            command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
            try:
                subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=True)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"npm cannot install scip-typescript and scip-python here: {error}; {str(error.stderr)[-300:]}")
    return folder / "node_modules" / ".bin"


@pytest.fixture(autouse=True)
def with_indexers(programs, monkeypatch):
    if programs is not None:
        monkeypatch.setenv("PATH", os.pathsep.join([str(programs), os.environ.get("PATH", "")]))


@pytest.fixture
def tree(tmp_path):
    """Writes files below a folder."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "tree"

    return write


def refused(summary):
    return [(one.path, one.message) for one in summary.diagnostics if one.code == "evidence" and one.path]


def test_a_real_index_of_typescript_is_taken_in_whole(tree, open_memory, take, edges):
    root = tree({"shape.ts": SHAPE, "main.ts": MAIN, "main.test.ts": TEST, "tsconfig.json": '{"compilerOptions": {"target": "es2022"}}'})
    memory = open_memory()
    assert not refused(take(memory, root, scip_files=["auto"]))
    assert edges(memory, "scip", "CALLS").keys() >= {
        ("main.ts:make", "shape.ts:double"),
        ("main.ts:make", "shape.ts:Square"),
        ("main.ts:make", "shape.ts:Square.constructor"),
        ("main.ts:run", "main.ts:make"),
        ("main.ts:run", "shape.ts:Square.area"),
        ("main.ts:run", "shape.ts:Shape.area"),
        ("main.ts:run", "main.ts:run.inner"),
        ("main.ts:run.inner", "shape.ts:Square.double"),
        ("shape.ts:Square.area", "shape.ts:double"),
    }
    assert ("shape.ts:Square", "shape.ts:Shape") in edges(memory, "scip", "INHERITS")
    assert ("shape.ts:Square.area", "shape.ts:Shape.area") in edges(memory, "scip", "OVERRIDES")
    assert ("main.test.ts", "main.ts:run") in {(src.partition(":")[0], dst) for src, dst in edges(memory, "scip", "CALLS")}
    implementation = {row["dst"]["line"] for row in memory.export() if row["kind"] == "CALLS" and row["dst"]["qualname"] == "double"}
    assert implementation == {14}, "overloads stand before the function that runs"


def test_auto_leaves_no_file_behind(tree, open_memory, take, edges):
    root = tree({"shape.ts": SHAPE, "main.ts": MAIN})
    memory = open_memory()
    take(memory, root, scip_files=["auto"])
    assert ("main.ts:run", "shape.ts:Shape.area") in edges(memory, "scip", "CALLS")
    assert sorted(one.name for one in root.iterdir()) == ["main.ts", "shape.ts"]


def test_a_real_index_of_python_is_taken_in_whole(tree, open_memory, take, edges):
    root = tree({"shop.py": SHOP, "user.py": USER, "empty.py": ""})
    memory = open_memory()
    assert not refused(take(memory, root, scip_files=["auto"]))
    assert edges(memory, "scip", "CALLS").keys() >= {
        ("user.py:buy", "shop.py:Cart.total"),
        ("user.py:buy", "shop.py:Cart.each"),
        ("user.py:start", "shop.py:Bigger"),
        ("user.py:start", "user.py:start.inner"),
        ("user.py:start.inner", "shop.py:added"),
        ("shop.py:Cart.total", "shop.py:added"),
    }
    assert ("user.py:start", "shop.py:Cart.limit") in edges(memory, "scip", "REFERENCES")
    assert ("shop.py:Bigger", "shop.py:Cart") in edges(memory, "scip", "INHERITS")


def test_an_edit_of_one_body_lets_its_edges_go_and_keeps_the_others(tree, open_memory, take, edges):
    root = tree({"shop.py": SHOP, "user.py": USER})
    memory = open_memory()
    take(memory, root, scip_files=["auto"])
    whole = edges(memory, "scip", "CALLS")
    tree({"shop.py": SHOP.replace("return sum(prices)", "return sum(prices, 0)")})
    memory.index()
    left = edges(memory, "scip", "CALLS")
    assert left.keys() == {edge for edge in whole if "shop.py:added" not in edge}
    assert left.keys() != whole.keys()
    tree({"shop.py": SHOP})
    memory.index()
    assert edges(memory, "scip", "CALLS") == whole


def test_a_real_index_of_a_real_package_fits_and_mostly_agrees(tmp_path, open_memory, take):
    import starlette

    tree = tmp_path / "tree"
    shutil.copytree(Path(starlette.__file__).parent, tree / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    memory = open_memory()
    memory.index(tree)
    before = {(row["src"]["path"], row["src"]["qualname"], row["dst"]["qualname"]) for row in calls(memory)}
    assert not refused(take(memory, tree, scip_files=["auto"]))
    said = memory.doctor()["evidence"]
    assert said["kept"]["scip"]["by"].startswith("scip-python")
    raised = [row for row in calls(memory) if row.get("source") == "scip"]
    known = sum((row["src"]["path"], row["src"]["qualname"], row["dst"]["qualname"]) in before for row in raised)
    assert len(raised) > 300
    assert known / len(raised) > 0.9, "both mostly see the same"
    assert said["disagreement_count"] < 0.1 * len(raised)


def calls(memory):
    return [row for row in memory.export() if row["kind"] == "CALLS" and row["dst"]["path"]]
