"""Warnings in answers about languages of which some calls are missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphmem.analysis import recall as recall_table
from graphmem.analysis.recall import Measured, known_calls, measured
from graphmem.answers.code import FEW, KnownCalls, calls_told
from graphmem.cli.output import Output
from graphmem.cli.render.code import path as path_text
from graphmem.cli.render.impact import impact as impact_lines
from graphmem.cli.render.review import review as review_text
from graphmem.evidence.scip_format import message_class
from graphmem.mcp_server import impact_text, text
from graphmem.parsing.language import languages
from graphmem.project.graph.outside_evidence import leave
from graphmem.project.graphmem import GraphMem
from graphmem.reports.review_formats import markdown
from graphmem.settings import Settings
from made_once import empty_index

ROOT = Path(__file__).parents[2]
RATES = {"recall": "explicit recall", "precision": "precision proxy"}
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
    assert not Measured("Java", "x", FEW, 0.9).sentence
    assert known_calls(["text", "", "no such language"]) == []
    assert calls_told([]) == ""


def test_the_line_warns_of_a_low_share_and_of_a_language_that_nobody_measured():
    rows = [KnownCalls("C++", 0.86, "jsoncpp", True), KnownCalls("Java", 0.99, "x", False), KnownCalls("Lua", None, "", False)]
    assert calls_told(rows) == "calls known, measured on other projects: C++ only about seven eighths (86%), Java 99%, Lua not measured"


def test_the_lower_mean_is_told_that_of_all_projects_or_of_those_without_a_part_in_the_rules():
    results = json.loads((ROOT / "benchmarks" / "results" / "languages.json").read_text(encoding="utf-8"))["languages"]
    table = measured()
    assert results.keys() == table.keys()
    for language, row in table.items():
        trees = results[language].get("trees", {results[language]["tree"]: results[language]})
        shares = [trees[tree]["recall"] for tree in row.tree.split(", ")]
        assert row.recall == pytest.approx(sum(shares) / len(shares), abs=0.001), language
        assert row.unseen == (row.tree != results[language]["tree"]), language
        assert row.recall <= results[language]["recall"] + 0.001, "two easy trees that nobody looked at say more than all trees"
    assert (table["csharp"].tree, table["csharp"].unseen) == ("autofac, newtonsoft, yamldotnet, nancy", True)
    assert not table["kotlin"].unseen


def test_the_readme_tells_the_same_shares():
    line = next(line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("Recall by language"))
    told = dict(re.findall(r"(\S+) (\d?\.\d\d)[,.]", line))
    assert {row.language: f"{row.recall:.2f}".lstrip("0") for row in measured().values()} == told


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ("callgraph", "six Python projects of development: recall {recall}, precision {precision}."),
        ("callgraph_unseen", "Three other projects: {recall} and {precision}."),
    ],
)
def test_the_readme_tells_what_was_measured_on_projects_of_development_and_on_others(results, words):
    found = json.loads((ROOT / "benchmarks" / "results" / f"{results}.json").read_text(encoding="utf-8"))
    told = {name: f"{found['means']['graphmem_cli'][key]:.2f}".lstrip("0") for name, key in RATES.items()}
    assert words.format(**told) in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(found["repositories"]) == {"callgraph": 6, "callgraph_unseen": 3}[results]


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
    memory = GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none", workers=1))
    yield root, memory, tmp_path / "index"
    memory.close()


def told(memory, name):
    return [(row.language, row.recall) for row in memory.impact(name).known_calls]


def test_impact_tells_it_of_the_languages_it_walks_through_until_an_indexer_told_of_them(cpp, tmp_path):
    root, memory, folder = cpp
    memory.index(root)
    assert told(memory, "two") == [("C++", 0.431)]
    assert told(memory, "four") == [("Python", 0.95)]
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


def test_every_answer_that_follows_calls_tells_it_once_in_every_interface(cpp, capsys):
    root, memory, _ = cpp
    (root / "test_three.py").write_text("from three import three\n\n\ndef test_three():\n    assert three() == 4\n", encoding="utf-8")
    (root / "way.lua").write_text("function far()\n  return 1\nend\n\nfunction near()\n  return far()\nend\n", encoding="utf-8")
    memory.index(root)
    python = [KnownCalls("Python", 0.95, "click", False)]
    diff = "--- a/three.py\n+++ b/three.py\n@@ -2,1 +2,1 @@\n-    return 5\n+    return 4\n"
    answers = [
        memory.impact("four"),
        memory.impact_of_diff(diff).impact,
        memory.path("three", "four"),
        memory.path("four", "three"),
        memory.tests_to_run("four"),
        memory.review(diff),
    ]
    assert [one.known_calls for one in answers] == [python] * len(answers)
    line = calls_told(python)
    output = Output()
    impact_lines(output, answers[0], 0)
    path_text(output, answers[2])
    path_text(output, answers[3])
    review_text(output, answers[5], 0)
    assert capsys.readouterr().out.count(line) == 4
    for said in (impact_text.impact(answers[0], 500), text.path(answers[2], 500), text.path(answers[3], 500), markdown(answers[5])):
        assert said.count(line) == 1
    assert calls_told(memory.impact("far").known_calls).endswith(": Lua not measured")
