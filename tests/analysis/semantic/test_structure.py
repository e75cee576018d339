"""Layers, cycles, entry points, flows and hot spots."""

from __future__ import annotations

import itertools
import random
import typing

import pytest

from graphmem.analysis.semantic.cycles import Arc, cycles
from graphmem.analysis.semantic.entries import ENTRY_KINDS
from graphmem.analysis.semantic.files import FileGraph
from graphmem.analysis.semantic.layering import components, feedback, layers
from graphmem.analysis.semantic.layout import layered
from graphmem.answers.vocabulary import EntryKind
from graphmem.errors import BadInputError, GitError
from graphmem.model import ENTRY_RULES
from graphmem.parsing.language import language_spec, languages
from graphmem.project.graphmem import GraphMem
from graphmem.project.reviews import changes


@pytest.mark.parametrize("seed", range(20))
def test_without_the_cut_edges_no_cycle_is_left_and_none_is_cut_in_vain(seed):
    import networkx as nx

    rng = random.Random(seed)
    weights = {pair: float(rng.randint(1, 9)) for pair in itertools.permutations(range(9), 2) if rng.random() < 0.3}
    cut = feedback(weights)
    graph = nx.DiGraph(pair for pair in weights if pair not in cut)
    assert nx.is_directed_acyclic_graph(graph)
    for a, b in cut:
        assert nx.has_path(graph, b, a), "putting it back would close no cycle"
    found = layers(range(9), weights, cut)
    assert all(found[a] > found[b] for a, b in weights if (a, b) not in cut)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_cut_is_close_to_the_least_there_is_to_cut(seed):
    rng = random.Random(seed)
    weights = {pair: float(rng.randint(1, 9)) for pair in itertools.permutations(range(6), 2) if rng.random() < 0.5}
    found = sum(weights[pair] for pair in feedback(weights))
    orders = itertools.permutations(range(6))
    least = min(sum(w for (a, b), w in weights.items() if order.index(a) > order.index(b)) for order in orders)
    assert least <= found <= 1.25 * least + 1


def test_the_heaviest_of_a_ring_is_not_the_one_to_cut():
    weights = {("a", "b"): 9.0, ("b", "c"): 1.0, ("c", "a"): 5.0}
    assert components(weights) == [["a", "b", "c"]]
    assert feedback(weights) == [("b", "c")]


def test_a_layered_picture_has_the_top_layer_on_top_and_no_two_boxes_in_one_place():
    layer = {f"m{i}": i % 4 for i in range(40)}
    places = layered(layer, {("m0", "m1"): 1.0})
    assert len(set(places.values())) == 40
    for a, b in itertools.permutations(layer, 2):
        assert layer[a] <= layer[b] or places[a][1] < places[b][1]


def test_an_import_cycle_says_where_to_cut_and_which_lines_that_is(project):
    service = project(
        {
            "shop/__init__.py": "",
            "shop/orders.py": "from shop import prices\n\n\ndef total():\n    return prices.of()\n",
            "shop/prices.py": "from shop import stock\n\n\ndef of():\n    return stock.left()\n",
            "shop/stock.py": "from shop import orders\n\n\ndef left():\n    return orders.total()\n",
        }
    )
    found = service.cycles()
    assert found.total == 1
    cycle = found.cycles[0]
    assert cycle.members == ["shop/orders.py", "shop/prices.py", "shop/stock.py"]
    assert len(cycle.example) == 3
    assert not cycle.deferred
    assert cycle.cheapest.frees == 3
    assert cycle.cheapest.weight == 1
    assert [(site.src.path, site.line, site.kind) for site in cycle.cheapest.sites] == [(cycle.cheapest.src, 1, "IMPORTS")]


def test_of_equal_dependencies_a_cycle_names_the_first_as_the_list_of_those_worth_cutting_does(project):
    leaves = ("email", "phone", "post")
    users = "".join(f"\n\ndef f{i}():\n    return core.run()\n" for i in range(3))
    files = {f"shop/{one}.py": f"from shop import core\n{users}" for one in leaves}
    calls = "".join(f"    {one}.f0()\n" for one in leaves)
    files["shop/core.py"] = f"from shop import {', '.join(leaves)}\n\n\ndef run():\n{calls}"
    [cycle] = project({"shop/__init__.py": "", **files}).cycles().cycles
    assert [(cut.src, cut.weight) for cut in cycle.cuts] == [(f"shop/{one}.py", cycle.cheapest.weight) for one in leaves]
    assert cycle.cheapest.src == "shop/email.py"


def test_an_import_inside_a_function_does_not_stop_loading_and_is_said(project):
    service = project(
        {
            "a.py": "import b\n\n\ndef f():\n    return b.g()\n",
            "b.py": "def g():\n    import a\n\n    return a.f()\n",
        }
    )
    assert [cycle.deferred for cycle in service.cycles().cycles] == [True]


def test_a_cycle_without_imports_is_not_said_to_come_from_imports_in_functions(project):
    files = {
        "Shop/Orders/Order.cs": "namespace Shop.Orders { class Order { int Total() { return new Shop.Stock.Item().Left(); } } }",
        "Shop/Stock/Item.cs": "namespace Shop.Stock { class Item { int Left() { return new Shop.Orders.Order().Total(); } } }",
    }
    graph = FileGraph(project(files).parts.projections.graph())
    ends = zip(graph.src.tolist(), graph.dst.tolist(), strict=True)
    arcs = {
        (graph.paths[src], graph.paths[dst]): Arc(graph.rows[graph.ptr[link] : graph.ptr[link + 1]], bool(graph.deferred[link]))
        for link, (src, dst) in enumerate(ends)
    }
    [cycle] = cycles("modules", graph, arcs)
    assert len(cycle.members) == 2
    assert not cycle.deferred


def test_entry_points_are_found_by_kind(project):
    service = project(
        {
            "lib/__init__.py": "from lib.core import run\n",
            "lib/core.py": "def run():\n    return _inner()\n\n\ndef _inner():\n    return 1\n",
            "main.py": "from lib import run\n\nif __name__ == '__main__':\n    run()\n",
            "test_core.py": "from lib import run\n\n\ndef test_run():\n    assert run() == 1\n",
        }
    )
    found = service.entry_points()
    assert set(found.by_kind) == {"main", "export", "test"}
    assert [one.kind for one in found.entry_points] == ["main", "export"]
    assert [one.kind for one in service.entry_points(["test"]).entry_points] == ["test"]
    exported = service.entry_points(["export"])
    assert [(one.symbol.qualname, one.reach) for one in exported.entry_points] == [("run", 1)]
    assert exported.total == 1


def test_flows_and_entry_points_leave_tests_out(project):
    """A route that a test file defines is its own, and so is what a patched test calls."""
    service = project(
        {
            "shop.py": (
                "import app\n\n\n@app.route('/buy')\ndef buy():\n    return pay()\n\n\n"
                "def pay():\n    return book()\n\n\ndef book():\n    return 1\n"
            ),
            "test_shop.py": (
                "from unittest import mock\nfrom shop import app, pay\n\n\n@mock.patch('shop.book')\n"
                "def test_pay(m):\n    assert pay()\n\n\n"
                "@app.route('/in-a-test')\ndef helper():\n    return pay()\n"
            ),
        }
    )
    assert [(one.symbol.qualname, one.kind) for one in service.entry_points().entry_points] == [("buy", "route")]
    assert [one.entry.qualname for one in service.flows().flows] == ["buy"]
    assert service.entry_points(["route"]).total == 1


def test_every_kind_of_entry_point_a_language_knows_can_be_asked_for_through_every_door(project, serving):
    known = {rule.kind for name in languages() for rule in language_spec(name).entry_points} | {*ENTRY_RULES, "export"}
    assert known <= set(ENTRY_KINDS)
    by_operation = list(typing.get_args(typing.get_args(EntryKind)[0]))
    assert by_operation == list(ENTRY_KINDS)
    tasks = (
        "from celery import shared_task\n\n\n@shared_task\ndef mail():\n    return render()\n\n\n"
        "def render():\n    return fill()\n\n\ndef fill():\n    return 1\n"
    )
    events = "from flask_socketio import SocketIO\n\nio = SocketIO()\n\n\n@io.event\ndef joined():\n    return 1\n"
    service = project({"tasks.py": tasks, "events.py": events})
    found = service.entry_points()
    assert {"event", "task"} <= set(found.by_kind)
    with serving(service) as client:
        assert client.entry_points() == found
        assert client.flows() == service.flows()
    assert [one.symbol.qualname for one in service.entry_points(["task"]).entry_points] == ["mail"]
    assert [one.kind for one in service.flows().flows] == ["task"]


def test_flows_are_ways_along_calls_that_are_there_and_no_two_are_one(indexed):
    found = indexed.flows(limit=1000)
    assert found.total > 100
    assert (
        len({one.id for one in found.flows}) == len({tuple(step.dst.id for step in one.steps) for one in found.flows}) == len(found.flows)
    )
    for one in found.flows:
        assert 2 <= len(one.steps) <= 8
        assert one.steps[0].src == one.entry
        assert all(a.dst == b.src for a, b in itertools.pairwise(one.steps))
        assert all(step.kind == "CALLS" and step.confidence >= 0.85 for step in one.steps)
        names = [one.path if one.qualname in ("<module>", "main") else one.qualname for one in (one.entry, one.steps[-1].dst)]
        assert one.name == " → ".join(names)
    through = indexed.flows(module="drawing", limit=1000)
    assert 0 < through.total < found.total
    assert all("drawing" in one.modules for one in through.flows)


def test_the_reach_of_a_symbol_is_what_a_walk_along_its_calls_meets(indexed):
    here = indexed.parts.semantics.newest()
    calls, dst = here.calls, here.view.dst
    for start in range(here.view.n):
        seen = front = {start}
        for _ in range(3):
            front = {int(dst[row]) for node in front for row in calls.rows.get(node, ())} - seen
            seen = seen | front
        assert calls.reach(start, 3) == len(seen) - 1
    assert any(calls.reach(start, 3) > 1 for start in range(here.view.n))


def test_hot_spots_are_what_one_would_not_like_to_change(indexed):
    found = indexed.hotspots()
    assert not found.churn_known
    assert found.notes
    assert "classes/graph.py" in [one.symbol.path for one in found.hotspots[:5]]
    scores = [one.score for one in found.hotspots]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] <= 100
    symbols = indexed.hotspots("symbols", limit=3).hotspots
    assert all(one.complexity > 1 and one.symbol.kind in ("function", "method") for one in symbols)


def test_what_commits_say_changes_the_order(tmp_path, repository):
    body = "def f(a):\n    if a:\n        return 1\n    return 2\n"
    tree = repository({"calm.py": body, "busy.py": body, "use.py": "import busy\nimport calm\n\ncalm.f(1)\nbusy.f(1)\n"})
    for change in range(5):
        repository({"busy.py": body + f"\n\nN = {change}\n"})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(tree)
        found = service.hotspots()
    assert found.churn_known
    assert not found.notes
    assert [one.symbol.path for one in found.hotspots[:2]] == ["busy.py", "calm.py"]
    assert found.hotspots[0].churn > found.hotspots[1].churn > 0


def test_hot_spots_of_the_past_are_those_of_the_commits_until_then(repository, tmp_path):
    code = "def {0}(n):\n    if n > {1}:\n        return 1\n    return 2\n"
    for number in range(3):
        root = repository({"early.py": code.format("early", number)})
    for number in range(5):
        root = repository({"late.py": code.format("late", number)})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        told = service.heat_history(2).columns
        assert told["commits"][-1] == 8
        assert told["paths"] == ["early.py", "late.py"]
        assert [len(row) for row in told["scores"]] == [2, 2]
        files = {one.symbol.path: round(one.score, 1) for one in service.hotspots().hotspots}
        assert dict(zip(told["paths"], told["scores"][-1], strict=True)) == pytest.approx(files, abs=0.1)
        for steps in (1, 101):
            with pytest.raises(BadInputError):
                service.heat_history(steps)


def test_commits_are_newest_first_with_the_modules_they_touched(repository, tmp_path, serving):
    repository({"a/one.py": "def one():\n    return 1\n", "b/two.py": "def two():\n    return 2\n"})
    root = repository({"a/one.py": "def one():\n    return 3\n"})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.commits()
        assert [(one.subject, one.files, one.paths) for one in found.commits] == [
            ("a change", 1, ["a/one.py"]),
            ("a change", 2, ["a/one.py", "b/two.py"]),
        ]
        assert found.commits[0].modules == [service.module("a/one.py").module.name]
        assert service.commits(1).commits == found.commits[:1]
        assert service.commits(5, "HEAD~1").commits == found.commits[1:]
        assert all(one.author and one.body == "" for one in found.commits)
        with pytest.raises(GitError):
            service.commits(1, "no-such-branch")
        with serving(service) as client:
            assert client.commits() == found
            assert client.heat_history(3) == service.heat_history(3)
        with pytest.raises(BadInputError):
            service.commits(0)


def test_commits_of_one_path_follow_a_renamed_file_and_a_directory(repository, tmp_path):
    body = "def one():\n    return 1\n\n\ndef three():\n    return 3\n"
    repository({"a/old.py": body, "b/two.py": "def two():\n    return 2\n"})
    root = repository({"b/two.py": "def two():\n    return 22\n"})
    (root / "a/old.py").rename(root / "a/one.py")
    repository({})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        newest, middle, oldest = service.commits().commits
        assert service.commits(path="a/one.py").commits == [newest, oldest]
        assert service.commits(path=str(root / "a/one.py")).commits == [newest, oldest]
        assert service.commits(1, path="a/one.py").commits == [newest]
        assert service.commits(path="b").commits == [middle, oldest]
        assert service.commits(path="b", revision="HEAD~2").commits == [oldest]
        unknown = service.commits(path="no/such.py")
        assert (unknown.commits, unknown.notes) == ([], ["no commit changed no/such.py"])
        with pytest.raises(BadInputError):
            service.commits(path="../outside.py")


def test_commits_of_programs_that_update_versions_are_counted_and_not_listed(repository, tmp_path, monkeypatch):
    repository({"a.py": "def a():\n    return 1\n"})
    root = repository({"a.py": "def a():\n    return 2\n"})
    for number in range(9):
        repository({"pins.txt": f"a=={number}\n"}, author=f"{'renovate' if number % 3 else 'dependabot'}[bot]")
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.commits(2)
        assert [one.paths for one in found.commits] == [["a.py"]] * 2
        assert found.notes == ["left out: 9 commits (renovate[bot], dependabot[bot]) by programs that update versions"]
        every = service.commits(20, programs=True)
        assert [one.routine for one in every.commits] == [True] * 9 + [False] * 2
        assert every.notes == []
        assert service.commits(1, "HEAD~9").notes == []
        monkeypatch.setattr(changes, "MOST_SEARCHED", 5)
        cut = service.commits(2)
        assert cut.commits == []
        assert cut.notes[1] == "only the newest 5 commits were searched for commits of people; older ones are not listed"


def test_without_git_the_answer_has_no_commits_and_says_so(project):
    service = project({"a.py": "def a():\n    return 1\n"})
    assert service.commits().commits == []
    assert service.commits().notes == ["the project is not under git"]
    assert service.heat_history().columns["scores"] == []


def test_functions_and_classes_are_central_before_types(project):
    uses = "".join(f"export function use{i}(a: Shape): Shape {{\n  return draw(a)\n}}\n" for i in range(3))
    service = project(
        {"shape.ts": f"export interface Shape {{ x: number }}\nexport function draw(a: Shape): Shape {{\n  return a\n}}\n{uses}"}
    )
    found = [one.symbol.qualname for one in service.central_symbols().symbols]
    assert found[0] == "draw"
    assert found[-1] == "Shape"


def test_a_module_that_each_file_opens_again_is_not_a_place_to_begin(project):
    files = {
        f"lib/shop/part{i}.rb": f"module Shop\n  class Part{i}\n    def sell\n      Shop::Price.new\n    end\n  end\nend\n"
        for i in range(4)
    }
    price = "module Shop\n  class Price\n    def amount\n      1\n    end\n  end\nend\n"
    found = [one.symbol.qualname for one in project(files | {"lib/shop/price.rb": price}).central_symbols().symbols]
    assert "Shop" in found
    assert found.index("Shop") > found.index("Shop.Price")
    assert set(found[found.index("Shop") :]) == {"Shop"}


def test_central_symbols_are_those_the_rest_leans_on(indexed):
    names = [one.symbol.qualname for one in indexed.central_symbols(20).symbols]
    assert "NetworkXError" in names
    assert "Graph" in " ".join(names)


def test_reading_begins_in_the_product_and_not_in_scripts_or_inner_functions(project):
    body = "def {0}():\n    return 1\n\n\n" + "".join(f"def use{i}():\n    return {{0}}()\n\n\n" for i in range(4))
    nested = "def outer():\n    def inner():\n        return 1\n\n    return [inner(), inner()]\n"
    service = project({"scripts/release.py": body.format("bump"), "shop/price.py": "def price():\n    return 1\n\n\nprice()\n" + nested})
    found = [one.symbol.qualname for one in service.central_symbols().symbols]
    assert found[:2] == ["price", "outer"]
    assert set(found[2:]) > {"bump", "outer.inner"}


def test_a_person_who_commits_under_two_names_has_one_name_in_the_list_of_commits(repository, tmp_path):
    for number, author in enumerate(("ann lee", "Ann Lee", "Ann Lee")):
        root = repository({"a.py": f"A = {number}\n"}, author=author)
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        assert [one.author for one in service.commits().commits] == ["Ann Lee"] * 3
