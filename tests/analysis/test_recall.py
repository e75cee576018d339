"""What answers tell of languages whose calls are known in part."""

from __future__ import annotations

import pytest

from graphmem.analysis import recall as recall_table
from graphmem.analysis.recall import ENOUGH, Measured, known_calls, measured, sentences
from graphmem.evidence.scip_format import message_class
from graphmem.parsing.language import languages
from graphmem.project.graphmem import GraphMem
from graphmem.project.outside_evidence import leave
from graphmem.settings import Settings

CPP = "int two() { return 2; }\n\nint one() { return two(); }\n"


def test_every_measured_language_is_one_that_is_read():
    assert measured().keys() <= set(languages())
    assert all(0 < row.recall <= 1 and 0 < row.precision <= 1 and row.tree for row in measured().values())
    assert {"c", "cpp", "csharp", "go", "java", "kotlin", "php", "python", "ruby", "rust", "typescript"} <= measured().keys()


@pytest.mark.parametrize(
    ("recall", "words"),
    [(0.2, "less than half"), (0.431, "about half"), (0.651, "about two thirds"), (0.812, "about four fifths"), (0.889, "seven eighths")],
)
def test_a_share_is_told_in_words_and_as_it_was_measured(recall, words):
    said = Measured("C++", "leveldb", recall, 0.9).sentence
    assert words in said
    assert f"{recall:.0%} of those in leveldb" in said


def test_nothing_is_told_where_enough_is_known():
    assert not Measured("Java", "x", ENOUGH, 0.9).sentence
    assert sentences(["text", "", "no such language"]) == []


def test_the_least_known_language_comes_first_and_relatives_count_as_one():
    rows = known_calls(["typescript", "tsx", "javascript", "cpp", "php"])
    assert [row.recall for row in rows] == sorted(row.recall for row in rows)
    assert len(rows) == 3


@pytest.fixture
def cpp(tmp_path, monkeypatch):
    table = {
        **measured(),
        "cpp": Measured("C++", "leveldb", 0.431, 0.98),
        "python": Measured("Python", "click", 0.95, 0.9),
    }  # whatever the last measurement says
    monkeypatch.setattr(recall_table, "measured", lambda: table)
    root = tmp_path / "tree"
    root.mkdir()
    (root / "one.cc").write_text(CPP, encoding="utf-8")
    (root / "three.py").write_text("def four():\n    return 4\n\n\ndef three():\n    return four()\n", encoding="utf-8")
    memory = GraphMem.open(tmp_path / "index", settings=Settings(embedder="none", workers=1))
    yield root, memory, tmp_path / "index"
    memory.close()


def told(memory, name):
    return [cause.message for cause in memory.impact(name).causes if cause.kind == "language"]


def test_impact_tells_it_of_the_languages_it_walks_through_until_an_indexer_told_of_them(cpp, tmp_path):
    root, memory, folder = cpp
    memory.index(root)
    assert told(memory, "two") == sentences(["cpp"]) != []
    assert told(memory, "four") == []
    assert [row["language"] for row in memory.doctor()["known_calls"]] == ["C++", "Python"]
    index = message_class("Index")(
        metadata={"tool_info": {"name": "scip-clang", "version": "1"}},
        documents=[
            {
                "relative_path": "one.cc",
                "occurrences": [
                    {"range": [0, 4, 7], "symbol": "cxx . . $ two(1).", "symbol_roles": 1},
                    {"range": [2, 4, 7], "symbol": "cxx . . $ one(2).", "symbol_roles": 1},
                    {"range": [2, 19, 22], "symbol": "cxx . . $ two(1)."},
                ],
            }
        ],
    )
    file = tmp_path / "index.scip"
    file.write_bytes(index.SerializeToString())
    leave(folder, root, [str(file)])
    memory.index(root)
    assert told(memory, "two") == []
