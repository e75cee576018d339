"""`edges` says why one symbol depends on another, and in which columns."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

BAG = """class Bag:
    def __len__(self):
        return 0

    def put(self, item):
        return item


def fill(bag: Bag):
    \U0001f600 = "\U0001f600"; bag.put(1); bag.put(len(bag))
    (bag
     .put(2))
    return 1 if bag else 0


fill(Bag())
""".replace("\U0001f600 =", "x =")


@pytest.fixture
def memory(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "bag.py").write_text(BAG, encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        memory.index(tmp_path / "tree")
        yield memory


def test_each_name_that_makes_an_edge_has_its_range_in_three_units(memory):
    (edge,) = memory.edges("fill", "Bag.put").edges
    assert (edge.kind, edge.rule, edge.lines) == ("CALLS", "receiver_type", [10, 11])
    assert "declared" in edge.why
    spans = [(one.line, one.column, one.end_column, one.utf16_column, one.utf8_column) for one in edge.ranges]
    assert spans == [(10, 17, 20, 18, 20), (10, 29, 32, 30, 32), (12, 6, 9, 6, 6)]


def test_a_call_that_no_name_writes_has_a_line_and_no_range(memory):
    (edge,) = memory.edges("fill", "Bag.__len__").edges
    assert (edge.rule, edge.lines) == ("implicit", [10, 13])
    assert [(one.line, one.column) for one in edge.ranges] in ([], [(10, 33)])


def test_a_file_and_a_class_have_the_edges_of_their_members(memory):
    answer = memory.edges("bag.py", "Bag")
    found = {(one.src.qualname, one.kind, one.dst.qualname) for one in answer.edges}
    assert {("fill", "CALLS", "Bag.put"), ("fill", "USES_TYPE", "Bag"), ("<module>", "CALLS", "Bag")} <= found
    assert answer.total == len(answer.edges)
    assert len(memory.edges("bag.py", "Bag", limit=1).edges) == 1
    assert memory.edges("Bag.put", "fill").edges == []


def test_a_file_that_changed_is_named_because_its_columns_may_be_wrong(memory, tmp_path):
    (tmp_path / "tree" / "bag.py").write_text("\n" + BAG, encoding="utf-8")
    assert memory.edges("fill", "Bag.put").stale_files == ["bag.py"]
