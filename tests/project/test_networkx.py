"""Operations on a real package."""

from __future__ import annotations

import random

import pytest

from graphmem.analysis.weights import STAND_INS
from graphmem.errors import AmbiguousSymbolError, BadInputError, NotIndexedError, StaleFileError, SymbolNotFoundError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index


def test_the_package_is_there(memory):
    project = memory.project()
    assert project.name == "networkx"
    assert project.state.state == "fresh"
    assert project.state.files > 500
    assert project.state.symbols > 5_000


def test_impact_names_direct_callers_and_tests_apart(memory):
    report = memory.impact("algorithms/shortest_paths/weighted.py:dijkstra_path")
    assert report.tests
    assert all(hit.symbol.is_test for hit in report.tests)
    assert not any(hit.symbol.is_test for hit in report.hits)
    assert any(hit.symbol.name == "test_dijkstra" for hit in report.tests)
    assert report.total == sum(report.by_depth)
    inner = memory.impact("weighted.py:_dijkstra_multisource", max_depth=1)
    assert {"_dijkstra", "multi_source_dijkstra"} <= {hit.symbol.name for hit in inner.hits}


def test_every_path_of_an_impact_report_is_made_of_edges_of_the_graph(memory):
    report = memory.impact("convert.py:to_networkx_graph", max_depth=3)
    for hit in report.hits[:200]:
        assert hit.path[0].dst.id == hit.target
        assert hit.path[-1].src.id == hit.symbol.id
        for step in hit.path:
            callees = memory.sites([step.src.id], "callees")[step.src.id] if step.kind == "CALLS" else []
            if step.kind == "CALLS":
                assert any(site.symbol.id == step.dst.id and site.rule == step.rule for site in callees)


def test_dependents_and_dependencies_are_each_others_mirror(memory):
    ids = [row["id"] for row in memory.export() if row["kind"] == "Symbol" and row["symbol_kind"] == "function"]
    chooser = random.Random(7)
    for one in chooser.sample(sorted(ids), 25):
        report = memory.impact(one, max_depth=2, min_confidence=0.4)
        for hit in [hit for hit in report.hits + report.tests if hit.depth <= 2][:5]:  # tests are sought at any depth
            back = memory.impact(hit.symbol.id, direction="dependencies", max_depth=2, min_confidence=0.4, limit=100_000)
            assert one in {other.symbol.id for other in back.hits + back.tests}


def test_impact_by_the_projection_is_the_engines_own_answer(memory):
    functions = [row for row in memory.export() if row["kind"] == "Symbol" and row["symbol_kind"] in ("function", "method")]
    ids = sorted(row["id"] for row in functions)
    tests = {(row["path"], row["qualname"]): row["id"] for row in functions if row["is_test"]}
    # What is written inside a test is answered as that test.
    inside = {row["id"]: tests.get((row["path"], row["qualname"].rpartition(".")[0])) for row in functions if row["is_test"]}
    (rule,) = STAND_INS  # its edges only end a path
    last = memory.parts.store.read("edges_of_rule", rule=rule)
    for one in random.Random(3).sample(ids, 30):
        rows = memory.parts.store.read("impact_reference", symbol_id=one, min_confidence=0.0, without_rule=rule, depth=3)
        depths = {one: 0} | {row["id"]: row["depth"] for row in rows}
        ended = [(row["source_id"], depths[row["target_id"]] + 1) for row in last if depths.get(row["target_id"], 3) < 3]
        reached = [*((row["id"], row["depth"]) for row in rows), *ended]
        engine: dict[str, int] = {}
        for node, depth in reached:
            answered = inside.get(node) or node
            engine[answered] = min(depth, engine.get(answered, depth))
        report = memory.impact(one, max_depth=3, min_confidence=1e-6, limit=100_000)
        ours = {hit.symbol.id: hit.depth for hit in report.hits + report.tests if hit.symbol.kind != "file" and hit.depth <= 3}
        assert ours == engine, one


def test_a_path_between_two_symbols_is_shown_step_by_step(memory):
    answer = memory.path("weighted.py:dijkstra_path", "weighted.py:_dijkstra_multisource")
    assert answer.steps[0].src.name == "dijkstra_path"
    assert answer.steps[-1].dst.name == "_dijkstra_multisource"
    assert all(a.dst.id == b.src.id for a, b in zip(answer.steps, answer.steps[1:], strict=False))


def test_symbol_shows_what_stands_around_it(memory):
    detail = memory.symbol("classes/graph.py:Graph", source=True)
    assert detail.symbol.kind == "class"
    assert "add_edge" in {member.name for member in detail.members}
    assert any(site.symbol.name == "DiGraph" for site in detail.subclasses)
    assert detail.source.startswith("class Graph")


def test_search_finds_a_function_by_what_it_does_and_says_who_answered(memory):
    answer = memory.search("shortest path dijkstra weighted", limit=10)
    assert "words" in answer.answered
    assert "dense" in answer.missing
    assert any("dijkstra" in hit.qualname for hit in answer.hits)
    for hit in answer.hits:
        assert hit.parts or hit.facet in ("modules", "flows")  # these are found by the words of their names alone
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    again = memory.search("shortest path dijkstra weighted", limit=10)
    assert again.hits == answer.hits


def test_search_keeps_to_its_filters(memory):
    answer = memory.search("add edge", within=["classes"], kinds=["code"], limit=20)
    assert answer.hits
    assert all(hit.path.startswith("classes/") and hit.kind in ("code", "symbol") for hit in answer.hits)


def test_a_name_that_is_not_there_is_an_error_never_an_empty_list(memory):
    with pytest.raises(SymbolNotFoundError) as caught:
        memory.impact("dijkstra_pth")
    assert any("dijkstra_path" in one for one in caught.value.suggestions)


def test_a_name_that_is_there_often_answers_with_candidates(memory):
    with pytest.raises(AmbiguousSymbolError) as caught:
        memory.impact("add_edge")
    assert len(caught.value.candidates) > 1


def test_a_diff_of_a_body_reaches_callers_and_one_of_a_signature_more(memory):
    path = "algorithms/shortest_paths/weighted.py"
    root = memory.project().root
    lines = (memory.parts.graph.root() / path).read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("def dijkstra_path("))
    body = next(i for i in range(at, len(lines)) if lines[i].strip().startswith("(length, path)"))
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -{body + 1} +{body + 1} @@\n-{lines[body]}\n+{lines[body]} or None\n"
    answer = memory.impact_of_diff(diff=diff)
    assert [(one.symbol.qualname, one.change) for one in answer.changed] == [("dijkstra_path", "body")]
    assert answer.impact.tests
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -{at + 1} +{at + 1} @@\n-{lines[at]}\n+{lines[at].replace('(G,', '(graph,')}\n"
    answer = memory.impact_of_diff(diff=diff)
    assert [(one.symbol.qualname, one.change) for one in answer.changed] == [("dijkstra_path", "signature")]
    assert root


@pytest.mark.parametrize("text", ["nonsense", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-no such line\n+x\n"])
def test_a_diff_that_does_not_fit_is_refused(memory, text):
    with pytest.raises(BadInputError):
        memory.impact_of_diff(diff=text)


def test_subgraph_is_what_lies_around(memory):
    graph = memory.subgraph(["weighted.py:dijkstra_path"], depth=1, limit=50)
    assert graph.nodes[0].name == "dijkstra_path"
    assert all(0 <= src < len(graph.nodes) and 0 <= dst < len(graph.nodes) for src, dst, *_ in graph.edges)


def test_files_and_symbols_are_paged(memory):
    first, total = memory.files("algorithms/", limit=5)
    second, _ = memory.files("algorithms/", limit=5, offset=5)
    assert total > 200
    assert [file.path for file in first + second] == sorted(file.path for file in first + second)
    found, count = memory.symbols("dijkstra_path", limit=3)
    assert found[0].name == "dijkstra_path"
    assert count >= 3


def test_an_empty_index_says_what_to_do(tmp_path):
    with GraphMem.open(tmp_path / "empty", settings=Settings(embedder="none")) as empty:
        assert empty.state().state == "empty"
        with pytest.raises(NotIndexedError, match="graphmem index"):
            empty.impact("x")


def test_source_of_a_changed_file_is_refused(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        memory.index(tree)
        assert memory.symbol("f", source=True).source == "def f():\n    return 1"
        (tree / "a.py").write_text("x = 1\n\ndef f():\n    return 1\n", encoding="utf-8")
        with pytest.raises(StaleFileError):
            memory.symbol("f", source=True)
