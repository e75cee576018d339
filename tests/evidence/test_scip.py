"""What a SCIP index adds, and what one that does not fit cannot do."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from graphmem.errors import EvidenceError
from graphmem.evidence import indexers
from graphmem.evidence.scip_format import message_class

A = """\
class Pen:
    @property
    def ink(self):
        return 1

    def draw(self):
        return self.ink


class Brush:
    def draw(self):
        return 2


LIMIT = 3
"""
B = """\
from a import LIMIT, Brush as Tool, Pen


def paint(tool, pen):
    tool.draw(); pen.draw()
    "é" + str(pen.ink)
    return (
        Tool()
        .draw()
    ), LIMIT
"""
PEN, BRUSH = "t py p 0 `a`/Pen#", "t py p 0 `a`/Brush#"
LIMIT = "t py p 0 `a`/LIMIT."
SYMBOLS = {"Pen": PEN, "Brush": BRUSH, "Pen.draw": PEN + "draw().", "Brush.draw": BRUSH + "draw().", "ink": PEN + "ink().", "LIMIT": LIMIT}
PAINT = "t py p 0 `b`/paint()."


def occurrence(text, line, name, symbol, is_definition=False, nth=0):
    """Where the nth `name` stands in a line (1-based), in UTF-16 as indexers count."""
    row = text.split("\n")[line - 1]
    at = [match.start() for match in re.finditer(rf"\b{name}\b", row)][nth]
    start = len(row[:at].encode("utf-16-le")) // 2
    return {"range": [line - 1, start, start + len(name)], "symbol": symbol, "symbol_roles": int(is_definition)}


def index(root="", *, a=A, b=B, paths=("a.py", "b.py")):
    """The bytes a type checker would write for the two files."""
    there = [
        occurrence(a, 1, "Pen", PEN, True),
        occurrence(a, 3, "ink", SYMBOLS["ink"], True),
        occurrence(a, 6, "draw", SYMBOLS["Pen.draw"], True),
        occurrence(a, 10, "Brush", BRUSH, True),
        occurrence(a, 11, "draw", SYMBOLS["Brush.draw"], True),
        occurrence(a, 15, "LIMIT", LIMIT, True),
    ]
    here = [
        occurrence(b, 4, "paint", PAINT, True),
        occurrence(b, 4, "tool", PAINT + "(tool)", True),
        occurrence(b, 5, "draw", SYMBOLS["Brush.draw"]),
        occurrence(b, 5, "draw", SYMBOLS["Pen.draw"], nth=1),
        occurrence(b, 6, "ink", SYMBOLS["ink"]),
        occurrence(b, 8, "Tool", BRUSH),
        occurrence(b, 9, "draw", SYMBOLS["Brush.draw"]),
        occurrence(b, 10, "LIMIT", LIMIT),
        {"range": [4, 4, 8], "symbol": "local 0", "symbol_roles": 0},
    ]
    return message_class("Index")(
        metadata={"tool_info": {"name": "checker", "version": "1"}, "project_root": f"file://{root}"},
        documents=[{"relative_path": paths[0], "occurrences": there}, {"relative_path": paths[1], "occurrences": here}],
    ).SerializeToString()


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text(A, encoding="utf-8")
    (root / "b.py").write_text(B, encoding="utf-8")
    return root


@pytest.fixture
def scip_file(tmp_path):
    def write(data):
        path = tmp_path / "index.scip"
        path.write_bytes(data)
        return str(path)

    return write


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


def test_an_indexer_names_the_targets_of_calls_reads_and_properties(tree, open_memory, take, edges, scip_file):
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(index(tree))])
    assert edges(memory, "scip", "CALLS") == {
        ("b.py:paint", "a.py:Brush.draw"): ("scip", 5),
        ("b.py:paint", "a.py:Pen.draw"): ("scip", 5),
        ("b.py:paint", "a.py:Pen.ink"): ("scip", 6),
        ("b.py:paint", "a.py:Brush"): ("scip", 8),
    }
    assert edges(memory, "scip", "REFERENCES") == {("b.py:paint", "a.py:LIMIT"): ("scip", 10)}
    assert {row["confidence"] for row in memory.export() if row.get("source") == "scip"} == {1.0}


def test_a_site_the_indexer_resolves_is_not_counted_as_unresolved(tree, open_memory, take, scip_file):
    (tree / "c.py").write_text("class Pencil:\n    def draw(self):\n        return 3\n", encoding="utf-8")
    memory = open_memory()
    before = memory.index(tree).unresolved
    after = take(memory, tree, scip_files=[scip_file(index(tree))])
    assert after.unresolved <= before
    state = memory.impact("a.py:Brush.draw")
    assert [hit.symbol.qualname for hit in state.hits] == ["paint"]
    assert state.epistemic == "exact"


def test_an_index_made_in_a_folder_of_the_project_speaks_of_that_folder(tmp_path, open_memory, take, edges, scip_file):
    root = tmp_path / "whole"
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "a.py").write_text(A, encoding="utf-8")
    (root / "lib" / "b.py").write_text(B, encoding="utf-8")
    memory = open_memory()
    take(memory, root, scip_files=[scip_file(index(root / "lib"))])
    assert ("lib/b.py:paint", "lib/a.py:Pen.draw") in edges(memory, "scip", "CALLS")


def test_a_caller_that_is_edited_is_left_to_its_text_until_the_indexer_ran_again(tree, open_memory, take, edges, scip_file):
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(index(tree))])
    (tree / "b.py").write_text(B.replace("), LIMIT", "), LIMIT + 1"), encoding="utf-8")
    memory.index()
    assert edges(memory, "scip") == {}


def test_a_file_that_is_not_what_was_indexed_is_named_and_left_alone(tree, open_memory, take, edges, scip_file):
    (tree / "b.py").write_text("# moved\n" + B, encoding="utf-8")
    memory = open_memory()
    summary = take(memory, tree, scip_files=[scip_file(index(tree))])
    assert edges(memory, "scip") == {}
    assert [(one.path, one.code) for one in summary.diagnostics] == [("b.py", "evidence")]


def test_an_index_of_another_project_is_refused_and_changes_nothing(tree, open_memory, take, scip_file):
    memory = open_memory()
    memory.index(tree)
    before = lines(memory)
    summary = take(memory, tree, scip_files=[scip_file(index("/elsewhere", paths=("x.py", "y.py")))])
    assert ["another project" in one.message for one in summary.diagnostics] == [True]
    assert lines(memory) == before


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_an_index_that_was_cut_gives_an_error_or_true_edges(tree, open_memory, take, edges, scip_file, share):
    data = index(tree)
    memory = open_memory()
    memory.index(tree)
    before = lines(memory)
    refused = ""
    try:
        take(memory, tree, scip_files=[scip_file(data[: int(share * len(data))])])
    except EvidenceError as error:
        refused = error.message
    if refused:
        assert "cut" in refused or "documents" in refused
        assert lines(memory) == before
    else:
        whole = open_memory("whole")
        take(whole, tree, "whole", scip_files=[scip_file(data)])
        assert edges(memory, "scip").items() <= edges(whole, "scip").items()


@pytest.mark.parametrize("data", [b"", b"not protocol buffers", b"\x00" * 64], ids=["empty", "text", "zeros"])
def test_a_file_that_is_no_index_is_refused(tree, open_memory, take, scip_file, data):
    with pytest.raises(EvidenceError):
        take(open_memory(), tree, scip_files=[scip_file(data)])


def test_a_missing_file_is_refused_with_its_name(tree, open_memory, take):
    with pytest.raises(EvidenceError, match=r"gone\.scip"):
        take(open_memory(), tree, scip_files=["gone.scip"])


def test_disagreements_with_what_graphmem_finds_are_listed_by_doctor(tree, open_memory, take, scip_file):
    (tree / "b.py").write_text(B.replace("Tool()", "Pen()"), encoding="utf-8")
    wrong = message_class("Index").FromString(index(tree))
    here = wrong.documents[1].occurrences
    here[5].symbol, here[5].range[2] = PEN, here[5].range[1] + 3
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(wrong.SerializeToString())])
    said = memory.doctor()["evidence"]
    assert said["edges_by_source"]["scip"] >= 4
    assert said["kept"]["scip"]["by"] == "checker 1"
    assert [(one["line"], one["indexer"], one["graphmem"]) for one in said["disagreements"]] == [(8, "a.py:Brush.draw", "a.py:Pen.draw")]


def test_auto_without_an_indexer_says_how_to_get_one(tree, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EvidenceError, match="npm install -g @sourcegraph/scip-python"):
        indexers.run_installed(tree, tmp_path)


def test_an_indexer_that_fails_is_quoted(tree, monkeypatch, tmp_path):
    program = tmp_path / "scip-python"
    program.write_text("#!/bin/sh\necho 'it broke' >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(EvidenceError, match="it broke"):
        indexers.run_installed(tree, tmp_path)


HERE = Path(__file__).parents[2] / "node_modules" / ".bin"


def installed(program):
    path = os.pathsep.join([os.environ.get("PATH", ""), str(HERE)])
    return pytest.mark.skipif(
        shutil.which(program, path=path) is None, reason=f"{program} is not installed: npm install -g @sourcegraph/{program}"
    )


@pytest.fixture
def with_indexers(monkeypatch):
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ.get("PATH", ""), str(HERE)]))


@installed("scip-python")
def test_a_real_index_of_a_real_python_package_fits_and_mostly_agrees(tmp_path, open_memory, take, with_indexers):
    import starlette

    tree = tmp_path / "tree"
    shutil.copytree(Path(starlette.__file__).parent, tree / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    memory = open_memory()
    before = {(row["src"]["path"], row["src"]["qualname"], row["dst"]["qualname"]) for row in memory_calls(memory, tree)}
    summary = take(memory, tree, scip_files=["auto"])
    assert not [one for one in summary.diagnostics if one.code == "evidence"]
    said = memory.doctor()["evidence"]
    assert said["kept"]["scip"]["by"].startswith("scip-python")
    raised = [row for row in memory.export() if row.get("source") == "scip" and row["kind"] == "CALLS"]
    known = sum((row["src"]["path"], row["src"]["qualname"], row["dst"]["qualname"]) in before for row in raised)
    assert len(raised) > 300
    assert known / len(raised) > 0.9, "both mostly see the same"
    assert said["disagreement_count"] < 0.1 * len(raised)


def memory_calls(memory, tree):
    memory.index(tree)
    return [row for row in memory.export() if row["kind"] == "CALLS" and row["dst"]["path"]]


@installed("scip-typescript")
def test_a_real_index_of_typescript_fits(tmp_path, open_memory, take, edges, with_indexers):
    tree = tmp_path / "web"
    tree.mkdir()
    (tree / "shape.ts").write_text(
        "export interface Shape { area(): number }\n\nexport class Square implements Shape {\n  constructor(private side: number) {}\n"
        "  area(): number {\n    return double(this.side)\n  }\n}\n\nexport function double(n: number): number {\n  return n * n\n}\n",
        encoding="utf-8",
    )
    (tree / "main.ts").write_text(
        "import { Square, double as twice } from './shape'\n\nfunction make(): Square {\n  return new Square(twice(2))\n}\n\n"
        "export function run(): number {\n  const é = 1\n  return [make()].map((one) => one.area())[0] + é\n}\n",
        encoding="utf-8",
    )
    (tree / "tsconfig.json").write_text('{"compilerOptions": {"target": "es2020"}}', encoding="utf-8")
    memory = open_memory()
    summary = take(memory, tree, scip_files=["auto"])
    assert not [one for one in summary.diagnostics if one.code == "evidence"], summary.diagnostics
    calls = edges(memory, "scip", "CALLS")
    assert ("main.ts:make", "shape.ts:double") in calls
    assert ("main.ts:run", "shape.ts:Square.area") in calls
    assert ("shape.ts:Square.area", "shape.ts:double") in calls
