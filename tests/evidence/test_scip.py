"""Edges that a SCIP index adds, and indexes that do not fit the project."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from contextlib import closing

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
    """Return the column of the nth `name` in a line (1-based), in UTF-16."""
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


EDITS = (("", ""), ("return 1", "return 7"), ("return 2", "return 8"), ("def draw", "def drawn"), ("\n\n\n", "\n\n\n\n"))


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
    assert not [cause for cause in state.causes if cause.kind == "unresolved_calls"]


def test_an_index_made_in_a_folder_of_the_project_speaks_of_that_folder(tmp_path, open_memory, take, edges, scip_file):
    root = tmp_path / "whole"
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "a.py").write_text(A, encoding="utf-8")
    (root / "lib" / "b.py").write_text(B, encoding="utf-8")
    memory = open_memory()
    take(memory, root, scip_files=[scip_file(index(root / "lib"))])
    assert ("lib/b.py:paint", "lib/a.py:Pen.draw") in edges(memory, "scip", "CALLS")


def test_an_index_made_elsewhere_in_a_folder_of_the_project_speaks_of_that_folder(tmp_path, open_memory, take, edges, scip_file):
    root = tmp_path / "whole"
    (root / "lib").mkdir(parents=True)
    (root / "other").mkdir()
    (root / "lib" / "a.py").write_text(A, encoding="utf-8")
    (root / "lib" / "b.py").write_text(B, encoding="utf-8")
    (root / "other" / "a.py").write_text("", encoding="utf-8")
    memory = open_memory()
    take(memory, root, scip_files=[scip_file(index("/builds/lib"))])
    assert ("lib/b.py:paint", "lib/a.py:Pen.draw") in edges(memory, "scip", "CALLS")


def test_a_caller_that_is_edited_is_left_to_its_text_until_the_indexer_ran_again(tree, open_memory, take, edges, scip_file):
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(index(tree))])
    (tree / "b.py").write_text(B.replace("), LIMIT", "), LIMIT + 1"), encoding="utf-8")
    memory.index()
    assert edges(memory, "scip") == {}


def test_an_edge_goes_with_either_body_and_the_others_stay(tree, open_memory, take, edges, scip_file):
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(index(tree))])
    whole = edges(memory, "scip")
    assert memory.doctor()["evidence"]["kept"]["scip"]["holding"] == len(whole)
    (tree / "a.py").write_text(A.replace("return self.ink", "return self.ink + 1"), encoding="utf-8")
    memory.index()
    left = edges(memory, "scip")
    gone = {edge for edge in whole if edge[1] == "a.py:Pen.draw"}
    assert gone
    assert left.keys() == whole.keys() - gone, "only what led to the edited body"
    assert memory.doctor()["evidence"]["kept"]["scip"]["holding"] == len(left)
    (tree / "a.py").write_text(A, encoding="utf-8")
    memory.index()
    assert edges(memory, "scip") == whole, "an edit that is taken back brings its edges back"
    (tree / "b.py").write_text(B.replace("), LIMIT", "), LIMIT + 1"), encoding="utf-8")
    memory.index()
    assert edges(memory, "scip") == {}


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_edits_equals_a_fresh_index_with_the_same_evidence(tree, open_memory, take, scip_file, tmp_path, seed):
    chooser = random.Random(seed)
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(index(tree))])
    done = []
    for _ in range(6):
        name, text = chooser.choice((("a.py", A), ("b.py", B)))
        before, after = chooser.choice(
            (("", ""), ("return 1", "return 7"), ("return 2", "return 8"), ("def draw", "def drawn"), ("\n\n\n", "\n\n\n\n"))
        )
        (tree / name).write_text(text.replace(before, after) if before else text, encoding="utf-8")
        memory.index()
        done.append((name, before))
        fresh_dir = tmp_path / f"fresh{len(done)}"
        fresh_dir.mkdir()
        with (
            closing(sqlite3.connect(tmp_path / "index" / "evidence.sqlite")) as source,
            closing(sqlite3.connect(fresh_dir / "evidence.sqlite")) as target,
        ):
            source.backup(target)
        fresh = open_memory(fresh_dir.name)
        fresh.index(tree)
        assert lines(memory) == lines(fresh), done


def test_two_indexes_of_one_name_are_both_taken_in(tmp_path, open_memory, take, edges):
    root, given = tmp_path / "whole", []
    for part in ("one", "two"):
        (root / part).mkdir(parents=True)
        (root / part / "a.py").write_text(A, encoding="utf-8")
        (root / part / "b.py").write_text(B, encoding="utf-8")
        (tmp_path / part).mkdir()
        given.append(tmp_path / part / "index.scip")
        given[-1].write_bytes(index(root / part))
    memory = open_memory()
    take(memory, root, scip_files=[str(one) for one in given])
    assert {src.partition("/")[0] for src, _ in edges(memory, "scip")} == {"one", "two"}


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
def test_a_file_that_is_not_an_index_is_refused(tree, open_memory, take, scip_file, data):
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


@pytest.mark.parametrize(
    ("package", "module", "is_meant"),
    [("p 9", "`a`/", True), ("installed 2", "`a`/", True), ("installed 2", "`b`/", False), ("installed 2", "`x.a`/", False)],
    ids=["another version", "an installed copy", "another module", "a module of another package"],
)
def test_the_trees_own_code_is_known_under_the_names_it_has_elsewhere(tree, open_memory, take, edges, scip_file, package, module, is_meant):
    made = message_class("Index").FromString(index(tree))
    for one in made.documents[1].occurrences:
        if one.symbol == SYMBOLS["Pen.draw"]:
            one.symbol = f"t py {package} {module}Pen#draw()."
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(made.SerializeToString())])
    assert (("b.py:paint", "a.py:Pen.draw") in edges(memory, "scip", "CALLS")) is is_meant


def test_names_that_two_packages_have_mean_neither(tmp_path, open_memory, take, edges, scip_file):
    root, whole = tmp_path / "whole", message_class("Index")()
    for part in ("one", "two"):
        (root / part).mkdir(parents=True)
        (root / part / "a.py").write_text(A, encoding="utf-8")
        (root / part / "b.py").write_text(B, encoding="utf-8")
        made = message_class("Index").FromString(index(root, paths=(f"{part}/a.py", f"{part}/b.py")))
        for symbol in (one for document in made.documents for one in document.occurrences):
            version = "0" if symbol.symbol_roles or part == "one" else "9"
            symbol.symbol = symbol.symbol.replace("t py p 0", f"t py p {'0' if part == 'one' else '1'}" if version == "0" else "t py p 9")
        whole.MergeFrom(made)
    memory = open_memory()
    take(memory, root, scip_files=[scip_file(whole.SerializeToString())])
    assert {src.partition("/")[0] for src, _ in edges(memory, "scip", "CALLS")} == {"one"}


def test_doctor_names_every_tool_and_how_many_files_it_told_of(tree, open_memory, take, scip_file):
    memory = open_memory()
    take(memory, tree, scip_files=[scip_file(index(tree))])
    other = message_class("Index").FromString(index(tree))
    other.metadata.tool_info.name = "second"
    del other.documents[1]
    take(memory, tree, scip_files=[scip_file(other.SerializeToString())])
    said = memory.doctor()["evidence"]["kept"]["scip"]
    assert said["by"] == "checker 1, second 1"
    assert [(one["tool"], one["files"], one["left_out"]) for one in said["indexes"]] == [("checker", 2, 0), ("second", 1, 0)]


def test_auto_without_an_indexer_says_how_to_get_one(tree, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EvidenceError, match="npm install -g @sourcegraph/scip-python"):
        indexers.run_installed(tree, tmp_path)


MANIFESTS = ("pom.xml", "go.mod", "Cargo.toml", "compile_commands.json", "Gemfile", "shop.sln")


def test_every_program_of_the_table_is_named_for_the_files_it_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    names = [f"one{program.endings[0]}" for program in indexers.indexers()]
    assert [one.indexer.program for one in indexers.fitting(tmp_path, names)] == [one.program for one in indexers.indexers()]
    assert {one.indexer.program for one in indexers.fitting(tmp_path, names) if one.missing} == {
        *("scip-java", "scip-go", "rust-analyzer", "scip-clang", "scip-ruby", "scip-dotnet")
    }
    for name in (*names, *MANIFESTS):
        (tmp_path / name).touch()
    assert not [one for one in indexers.fitting(tmp_path, names) if one.missing]
    with pytest.raises(EvidenceError) as refused:
        indexers.run_installed(tmp_path, tmp_path)
    for program in indexers.indexers():
        assert program.install in refused.value.message


def stand_in(folder, name, script):
    """A program on PATH that does what an indexer does, or fails like one."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_one_that_fails_and_one_that_is_missing_leave_the_others(tree, tmp_path, monkeypatch):
    (tree / "main.go").touch()
    (tree / "go.mod").touch()
    (tree / "lib.rs").touch()
    (tree / "Cargo.toml").touch()
    stand_in(tmp_path, "scip-go", "echo 'loading'; echo 'error: cannot load packages' >&2; exit 1")
    stand_in(tmp_path, "scip-python", 'for last; do :; done; echo made > "$last"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    ran = indexers.run_installed(tree, tmp_path)
    assert [one.name for one in ran.indexes] == ["scip-python.scip"]
    assert any("scip-go failed: error: cannot load packages" in note for note in ran.notes)
    assert any("rustup component add rust-analyzer" in note for note in ran.notes)


def test_no_indexer_runs_for_folders_that_an_index_run_skips_or_a_build_writes(tree, tmp_path, monkeypatch):
    for name in ("third_party/a.go", "venv/b.rb", "node_modules/c.ts", "target/d.rs"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).touch()
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    with pytest.raises(EvidenceError) as refused:
        indexers.run_installed(tree, tmp_path)
    assert [one.program for one in indexers.indexers() if one.program in refused.value.message] == ["scip-python"]


def test_each_program_gets_the_arguments_of_its_table(tmp_path, monkeypatch):
    root, said = tmp_path / "shop", tmp_path / "said"
    (root / "packages" / "web").mkdir(parents=True)
    for program in indexers.indexers():
        (root / f"one{program.endings[0]}").touch()
        stand_in(tmp_path, program.program, f'echo "{program.program} $*" >> {said}; exit 1')
    for name in (*MANIFESTS, "packages/web/tsconfig.json"):
        (root / name).touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(EvidenceError):
        indexers.run_installed(root, tmp_path)
    lines = {line.partition(" ")[0]: line for line in said.read_text("utf-8").splitlines()}
    assert lines.keys() == {one.program for one in indexers.indexers()}
    assert lines["scip-typescript"].endswith(" packages/web")
    assert "--compdb-path=compile_commands.json" in lines["scip-clang"]
    assert lines["scip-ruby"].endswith("--gem-metadata shop@0 .")
    assert "{" not in "".join(lines.values())


def test_an_indexer_that_fails_is_quoted(tree, monkeypatch, tmp_path):
    program = tmp_path / "scip-python"
    program.write_text("#!/bin/sh\necho 'it broke' >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(EvidenceError, match="it broke"):
        indexers.run_installed(tree, tmp_path)
