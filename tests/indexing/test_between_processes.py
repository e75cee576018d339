"""A new process continues where the last one stopped.

If it cannot, it indexes everything.
"""

from __future__ import annotations

import json
import sqlite3

import pytest

from graphmem.errors import DiskFullError
from graphmem.indexing import kept_resolver
from graphmem.indexing.inputs import Inputs, pack
from graphmem.model import HandlesRow
from graphmem.resolution.files import shelf
from graphmem.resolution.resolver import Dependencies, Resolver


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


def append(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.fixture
def starlette_tree(starlette_tree):
    """A third of it is enough here."""
    kept = {
        "__init__",
        "_utils",
        "background",
        "concurrency",
        "datastructures",
        "formparsers",
        "requests",
        "responses",
        "types",
        "websockets",
    }
    for path in starlette_tree.rglob("*.py"):
        if path.stem not in kept or path.parent.name != "starlette":
            path.unlink()
    return starlette_tree


@pytest.fixture
def resolved(monkeypatch):
    """The files that are resolved from now on."""
    paths = []
    real = Resolver.resolve
    monkeypatch.setattr(Resolver, "resolve", lambda self, path: paths.append(path) or real(self, path))
    return paths


def test_a_new_process_resolves_what_a_change_can_have_affected_and_nothing_else(starlette_tree, open_memory, resolved):
    memory = open_memory()
    memory.index(starlette_tree)
    everything = len(resolved)
    memory.close()
    append(starlette_tree / "starlette" / "responses.py", "\n\ndef added():\n    return Response()\n")
    resolved.clear()
    memory = open_memory()
    assert memory.index().mode == "incremental"
    assert 0 < len(resolved) < everything / 2
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)


def test_after_a_warm_up_the_first_edit_is_like_any_other(starlette_tree, open_memory, resolved):
    memory = open_memory()
    memory.index(starlette_tree)
    memory.close()
    memory = open_memory()
    assert memory.index().mode == "unchanged"
    memory.warm()
    resolved.clear()
    target = starlette_tree / "starlette" / "responses.py"
    before = target.read_text(encoding="utf-8")
    rounds = []
    for _ in range(2):
        append(target, "\n\ndef added():\n    return Response()\n")
        assert memory.parts.runs.run(paths=["starlette/responses.py"]).mode == "incremental"
        rounds.append(list(resolved))
        target.write_text(before, encoding="utf-8")
        memory.parts.runs.run(paths=["starlette/responses.py"])
        resolved.clear()
    assert rounds[0] == rounds[1]
    assert "starlette/responses.py" in rounds[0]


def test_a_warm_up_answers_what_most_first_edits_ask(starlette_tree, open_memory):
    memory = open_memory()
    memory.index(starlette_tree)
    memory.close()
    target = starlette_tree / "starlette" / "requests.py"
    before = target.read_text(encoding="utf-8")
    asked = {}
    for is_ahead in (False, True):
        memory = open_memory()
        memory.index()
        indexer = memory.parts.runs.indexers.newest
        indexer.warm(lambda: False)
        if is_ahead:
            memory.warm()
        solver = indexer._kept._resolver._project.solver
        begun = solver._asked
        append(target, "\n\ndef added():\n    return Request\n")
        memory.parts.runs.run(paths=["starlette/requests.py"])
        asked[is_ahead] = solver._asked - begun
        edited = lines(memory)
        target.write_text(before, encoding="utf-8")
        memory.parts.runs.run(paths=["starlette/requests.py"])
        memory.close()
    assert 0 < asked[True] < asked[False] * 0.85
    append(target, "\n\ndef added():\n    return Request\n")
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert edited == lines(fresh)


@pytest.mark.parametrize("harm", ["lost", "damaged", "cut", "of another run", "facts lost"])
def test_what_was_kept_for_it_can_be_lost(starlette_tree, open_memory, tmp_path, harm):
    memory = open_memory()
    memory.index(starlette_tree)
    memory.close()
    kept = tmp_path / "index" / "inputs.sqlite"
    if harm == "lost":
        kept.unlink()
    elif harm == "damaged":
        kept.write_bytes(b"\0" * 8192)
    elif harm == "cut":
        with sqlite3.connect(kept) as connection:
            connection.execute("UPDATE inputs SET data = substr(data, 1, 10)")
    elif harm == "of another run":
        with sqlite3.connect(kept) as connection:
            connection.execute("UPDATE state SET run = 'another'")
            connection.execute("DELETE FROM inputs")
    else:
        (tmp_path / "index" / "facts.sqlite").unlink()
    append(starlette_tree / "starlette" / "responses.py", "\n\nclass Added(Response):\n    pass\n")
    memory = open_memory()
    memory.index()
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)


@pytest.fixture
def small_shelf(monkeypatch):
    """Memory for the facts of few files."""
    monkeypatch.setattr(shelf, "BUDGET_BYTES", 100_000)


def test_facts_that_rest_are_read_again_from_the_cache(starlette_tree, open_memory, small_shelf):
    memory = open_memory()
    memory.index(starlette_tree)
    append(starlette_tree / "starlette" / "responses.py", "\n\nclass Added(Response):\n    pass\n")
    memory.index()
    assert memory.parts.runs.indexers.newest._kept._resolver._shelf.reads > 0
    shelf.BUDGET_BYTES = 1 << 30  # the fixture puts it back
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)


def test_a_cache_that_loses_facts_in_between_costs_time_only(starlette_tree, open_memory, small_shelf):
    memory = open_memory()
    memory.index(starlette_tree)
    for path in ("requests", "responses"):  # files with old facts that nothing can bring back
        append(starlette_tree / "starlette" / f"{path}.py", "\n\nclass Added:\n    pass\n")
    memory.parts.runs.indexers._cache._execute_many("DELETE FROM facts WHERE path <> ?", [("",)])
    assert memory.index().mode == "incremental"
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_checkout_of_many_files_resolves_everything_at_once(starlette_tree, open_memory, resolved, monkeypatch, is_open):
    monkeypatch.setattr(kept_resolver, "MANY_CHANGES", 2)
    memory = open_memory()
    memory.index(starlette_tree)
    everything = sorted(resolved)
    for path in ("_utils", "websockets", "concurrency"):  # three of ten
        append(starlette_tree / "starlette" / f"{path}.py", "\n\ndef added():\n    return 1\n")
    if not is_open:
        memory.close()
        memory = open_memory()
    resolved.clear()
    forget = Resolver._forget

    def only_at_first(resolver, stale):
        assert not resolver._started, "answers are forgotten one by one"
        forget(resolver, stale)

    monkeypatch.setattr(Resolver, "_forget", only_at_first)
    assert memory.index().mode == "incremental"
    assert sorted(resolved) == everything
    monkeypatch.undo()
    append(starlette_tree / "starlette" / "types.py", "\n\ndef more():\n    return 1\n")
    memory.index()  # goes on from there
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)


def test_a_write_that_fails_leaves_a_next_run_that_is_right(starlette_tree, open_memory, monkeypatch):
    memory = open_memory()
    memory.index(starlette_tree)
    before = lines(memory)
    append(starlette_tree / "starlette" / "responses.py", "\n\nclass Added(Response):\n    pass\n")

    def full(delta, meta=None):
        raise DiskFullError("no space left", path="here")

    with monkeypatch.context() as patch:
        patch.setattr(memory.parts.store, "apply", full)
        with pytest.raises(DiskFullError):
            memory.index()
    assert lines(memory) == before
    assert memory.state().stale == ["starlette/responses.py"]
    append(starlette_tree / "starlette" / "requests.py", "\n\nfrom starlette.responses import Added\n")
    memory.parts.runs.run(paths=["starlette/requests.py", "starlette/responses.py"])
    assert memory.state().stale == []
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)


def test_readers_that_could_not_be_given_the_new_graph_get_it_with_the_next_run(starlette_tree, open_memory, monkeypatch):
    memory = open_memory()
    memory.index(starlette_tree)

    def refused(generation, delta):
        raise OSError("the disk refused")

    append(starlette_tree / "starlette" / "responses.py", "\n\nclass Added(Response):\n    pass\n")
    with monkeypatch.context() as patch:
        patch.setattr(memory.parts.projections, "refresh", refused)
        with pytest.raises(OSError, match="refused"):
            memory.index()
    append(starlette_tree / "starlette" / "responses.py", "\n\nclass Again(Added):\n    pass\n")
    memory.index()
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert lines(memory) == lines(fresh)
    assert memory.symbol("Added").subclasses[0].symbol.name == "Again"


def test_inputs_come_back_as_they_were_kept(tmp_path):
    inputs = Inputs(tmp_path / "inputs.sqlite")
    assert inputs.load("r1", "l") is None
    routes = [HandlesRow("route", path, "flask", f"{at:020x}", 0.9, "framework", at) for at, path in enumerate(("/a", "/b", "/c"), 1)]
    first = Dependencies([("top", "a", "é"), ("file", "b")], [(), (0, 1)], {"a": frozenset({1, -2}), "b": frozenset()})
    inputs.save("r1", "l", pack(first), {"a": routes[:1], "b": routes[1:2]})
    then = Dependencies([("named", "c")], [None, (2, -2)], {"a": frozenset({2, -4})})
    inputs.follow("r2", "l", (2, 2), pack(then), {"a": routes[2:]}, ["b"])
    inputs.close()
    inputs = Inputs(tmp_path / "inputs.sqlite")
    assert inputs.load("r1", "l") is None
    assert inputs.load("r2", "other") is None
    keys, groups = [*first.keys, *then.keys], [*first.groups, *then.groups]
    assert inputs.load("r2", "l") == (keys, groups, {"a": frozenset({2, -4})})
    assert inputs.handles() == routes[2:]
    assert inputs.handling(["a"])
    assert not inputs.handling(["b"])
    assert inputs.notes == []
    inputs.close()
