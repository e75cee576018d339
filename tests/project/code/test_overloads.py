"""Overloads share a name: a question about one names the calls that may mean it, and the other overloads."""

from __future__ import annotations

import pytest

from graphmem.mcp_server import text
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

FILES = {
    "src/Tree.java": (
        "package shop;\npublic class Tree {\n  void put(String path, A data) {}\n  void put(String path, B data) {}\n"
        "  void put(String path, C data) {}\n  void put(String path, D data) {}\n  void put(String path) {}\n}\n"
    ),
    "src/Uses.java": (
        "package shop;\nclass Uses {\n  void unsure(Tree tree) { tree.put(\"a\", Lib.make()); }\n"
        "  void sure(Tree tree) { tree.put(\"a\"); }\n}\n"
    ),
    "till.py": (
        "class Till:\n    @property\n    def total(self) -> int:\n        return 1\n\n"
        "    @total.setter\n    def total(self, value: int) -> None: ...\n\n\n"
        "def reads(till: Till):\n    return till.total\n\n\ndef writes(till: Till):\n    till.total = 2\n"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("overloads") / "tree"
    for path, source in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(source, encoding="utf-8")
    with GraphMem.open(root.parent / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened


def test_a_call_that_may_mean_any_overload_is_a_sure_dependent_of_the_name(memory):
    report = memory.impact(["Tree.put"])
    assert [(hit.symbol.qualname, hit.confidence) for hit in report.hits] == [
        ("Uses.sure", pytest.approx(0.95, abs=0.01)),
        ("Uses.unsure", pytest.approx(0.95, abs=0.01)),
    ]
    assert [cause.kind for cause in report.causes] == []


def test_the_impact_of_one_overload_names_the_callers_of_the_others(memory):
    report = memory.impact(["src/Tree.java:4"])
    causes = {cause.kind: cause.examples for cause in report.causes}
    assert causes == {"low_confidence": ["src/Uses.java:Uses.unsure"], "overloads": ["src/Uses.java:Uses.sure"]}
    shown = memory.impact(["src/Tree.java:4"], min_confidence=0.1)
    assert [(hit.symbol.qualname, hit.confidence) for hit in shown.hits] == [("Uses.unsure", pytest.approx(0.95 / 4, abs=0.01))]


def test_the_impact_of_a_getter_does_not_call_the_setter_an_overload_of_it(memory):
    (cause,) = [one for one in memory.impact(["till.py:3"]).causes if one.kind == "overloads"]
    assert cause.examples == ["till.py:writes"]
    assert cause.message.startswith("symbol calls another definition of a target's name")


def test_a_symbol_names_its_overloads(memory):
    detail = memory.symbol("Tree.put")
    assert [other.start_line for other in detail.overloads] == [4, 5, 6, 7]
    assert "overloads: line 4 void put(String path, B data), line 5" in text.symbol(detail, 2000)
    assert memory.symbol("Uses.sure").overloads == []
