"""Edges from coverage reports of single tests, in formats of other tools."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from graphmem.errors import EvidenceError
from graphmem.evidence import reports
from graphmem.evidence.report_formats import tests_of as read_report

CART = """\
const rounded = (value) => Math.round(value * 100) / 100;
class Cart {
  constructor() { this.prices = ["é"]; }
  total() {
    return rounded(this.prices.length);
  }
}
function late() {
  return 1;
}
module.exports = { Cart, rounded, late };
"""
TOTAL = """\
const test = require("node:test");
const { Cart } = require("../src/cart.js");
test("total", () => { new Cart().total(); });
"""
LATE = 'const test = require("node:test");\nconst { late } = require("../src/cart.js");\ntest("late", () => { late(); });\n'
GO = "package shop\n\nfunc Add(a int) int {\n\treturn a\n}\n\nfunc Never() int { return 1 }\n"
GO_TEST = 'package shop\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tAdd(1)\n}\n'
TOTAL_IN_JAVA = "    public int total() {\n        return 1;\n    }\n"
JAVA = f"package shop;\n\npublic class Cart {{\n{TOTAL_IN_JAVA}\n    public int never() {{\n        return 2;\n    }}\n}}\n"
JAVA_TEST = "package shop;\n\nclass TotalTest {\n    @Test\n    void total() {\n        new Cart().total();\n    }\n}\n"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "project"

    def written(**files):
        for path, text in files["files"].items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return root

    return written


def ran(memory, edges):
    """{test: functions that it ran}, by reference."""
    found = {}
    for source, target in edges(memory, "runtime", "TESTS"):
        found.setdefault(source, set()).add(target)
    return found


@needs_node
def test_the_processes_of_node_name_their_test_file_and_functions(tree, open_memory, take, edges, tmp_path):
    root = tree(files={"src/cart.js": CART, "test/cart.test.js": TOTAL, "test/late.test.js": LATE})
    kept = {name: value for name, value in os.environ.items() if name not in ("NODE_OPTIONS", "NODE_TEST_CONTEXT")}
    done = subprocess.run(
        ["node", "--test"], cwd=root, env={**kept, "NODE_V8_COVERAGE": str(tmp_path / "cov")}, capture_output=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout
    memory = open_memory()
    summary = take(memory, root, measured=[tmp_path / "cov"])
    found = ran(memory, edges)
    assert {one for one in found["test/cart.test.js:<module>"] if one.startswith("src")} == {
        f"src/cart.js:{name}" for name in ("rounded", "Cart.constructor", "Cart.total")
    }
    assert {one for one in found["test/late.test.js:<module>"] if one.startswith("src")} == {"src/cart.js:late"}, "also after a wide letter"
    assert not [one for one in summary.diagnostics if one.code == "evidence"]


def test_lcov_is_of_the_test_it_names_or_of_its_path(tree, open_memory, take, edges, tmp_path):
    root = tree(files={"src/cart.js": CART, "test/cart.test.js": TOTAL, "test/late.test.js": LATE})
    functions = "FN:1,rounded\nFN:4,total\nFN:8,late\n"
    of_late = (
        f"SF:src/cart.js\n{functions}FNDA:0,rounded\nFNDA:0,total\nFNDA:1,late\nDA:1,1\nDA:4,1\nDA:5,0\nDA:8,1\nDA:9,1\nend_of_record\n"
    )
    counts = "FNDA:1,rounded\nFNDA:1,total\nFNDA:0,late\n"
    of_cart = f"TN:test/cart.test.js\nSF:{root}/src/cart.js\n{functions}{counts}DA:1,1\nDA:5,2\nDA:9,0\nend_of_record\n"
    (tmp_path / "cov" / "test" / "late.test.js").mkdir(parents=True)
    (tmp_path / "cov" / "test" / "late.test.js" / "lcov.info").write_text(of_late, encoding="utf-8")
    (tmp_path / "cov" / "all.info").write_text(of_cart, encoding="utf-8")
    memory = open_memory()
    take(memory, root, measured=[tmp_path / "cov"])
    assert ran(memory, edges) == {
        "test/late.test.js:<module>": {"src/cart.js:late"},
        "test/cart.test.js:<module>": {"src/cart.js:rounded", "src/cart.js:Cart.total"},
    }


def test_a_cover_profile_of_go_is_of_the_test_it_is_named_after(tree, open_memory, take, edges, tmp_path):
    root = tree(files={"go.mod": "module example.com/m\n\ngo 1.19\n", "shop/cart.go": GO, "shop/cart_test.go": GO_TEST})
    profile = tmp_path / "cov" / "shop" / "TestAdd.out"
    profile.parent.mkdir(parents=True)
    profile.write_text("mode: set\nexample.com/m/shop/cart.go:3.21,5.2 1 1\nexample.com/m/shop/cart.go:7.18,7.29 1 0\n", encoding="utf-8")
    memory = open_memory()
    take(memory, root, measured=[tmp_path / "cov"])
    assert ran(memory, edges) == {"shop/cart_test.go:TestAdd": {"shop/cart.go:Add"}}


def test_jacoco_is_of_the_session_it_was_recorded_in(tree, open_memory, take, edges, tmp_path):
    root = tree(files={"src/main/java/shop/Cart.java": JAVA, "src/test/java/shop/TotalTest.java": JAVA_TEST})
    (tmp_path / "jacoco.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">'
        '<report name="shop"><sessioninfo id="TotalTest" start="1" dump="2"/><package name="shop"><sourcefile name="Cart.java">'
        '<line nr="5" mi="0" ci="2" mb="0" cb="0"/><line nr="9" mi="2" ci="0" mb="0" cb="0"/></sourcefile></package></report>',
        encoding="utf-8",
    )
    memory = open_memory()
    take(memory, root, measured=[tmp_path / "jacoco.xml"])
    assert ran(memory, edges) == {"src/test/java/shop/TotalTest.java:TotalTest": {"src/main/java/shop/Cart.java:Cart.total"}}


def test_a_file_that_changed_after_its_report_is_left_out_and_named(tree, open_memory, take, edges, tmp_path):
    root = tree(files={"shop/cart.go": GO, "shop/cart_test.go": GO_TEST})
    profile = tmp_path / "TestAdd.out"
    profile.write_text("mode: set\nm/shop/cart.go:3.21,5.2 1 1\n", encoding="utf-8")
    os.utime(profile, (1, 1))
    memory = open_memory()
    summary = take(memory, root, measured=[profile])
    assert ran(memory, edges) == {}
    assert [one.path for one in summary.diagnostics if "changed after" in one.message] == ["shop/cart.go"]


def test_a_report_of_an_unknown_test_is_named(tree, open_memory, take, tmp_path):
    root = tree(files={"shop/cart.go": GO, "shop/cart_test.go": GO_TEST})
    (tmp_path / "cov").mkdir()
    for name in ("TestAdd", "TestGone"):
        (tmp_path / "cov" / f"{name}.out").write_text("mode: set\nm/shop/cart.go:3.21,5.2 1 1\n", encoding="utf-8")
    summary = take(open_memory(), root, measured=[tmp_path / "cov"])
    assert any("1 coverage reports are of no test in the index: TestGone" in one.message for one in summary.diagnostics)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "SF:a.js\nDA:1,1\n",
        "SF:a.js\nDA:x,1\nend_of_record\n",
        "mode: set\na.go:3.1,2.1 1 1\n",
        "mode: set\nnonsense\n",
        "<report><unclosed>",
        '<!DOCTYPE a [<!ENTITY x "y">]><report/>',
        "{}",
        '{"result": [1]}',
        json.dumps({"result": [{"url": "file:///a.js", "scriptId": "x", "functions": []}]}),
    ],
)
def test_a_damaged_report_is_refused_with_what_is_wrong(tmp_path, text):
    path = tmp_path / "report.info"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvidenceError, match=r"report\.info"):
        reports.pack(path)


def test_a_folder_without_reports_is_refused(tmp_path):
    with pytest.raises(EvidenceError, match="no coverage reports"):
        reports.pack(tmp_path)


def test_a_packed_file_that_was_cut_is_refused(tmp_path):
    (tmp_path / "a.info").write_text("SF:a.js\nDA:1,1\nend_of_record\n", encoding="utf-8")
    packed = tmp_path / "a.reports"
    packed.write_bytes(reports.pack(tmp_path / "a.info")[:-5])
    with pytest.raises(EvidenceError, match="damaged"):
        reports.unpacked(packed)
    assert read_report(b"SF:a.js\nDA:1,1\nend_of_record\n")[0].ran[0].lines == (1,)
