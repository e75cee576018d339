"""`impact(as_of=…)` answers from the graph that the index had then, or says that it is not kept."""

from __future__ import annotations

import dataclasses
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from graphmem.errors import BadInputError
from graphmem.indexing.past import FILE, Past, joined
from tests.indexing.test_equality import change, git, mixed_tree  # noqa: F401 - a fixture

TARGETS = ["starlette/routing.py:Route", "starlette/requests.py:Request", "starlette/_utils.py:is_async_callable"]


def columns(arrays):
    """Every column of a graph, by name, in a form that `==` compares."""
    found = {"rules": list(arrays.rules)}
    for part in ("nodes", "paths", "edges", "unresolved"):
        table = getattr(arrays, part)
        for one in dataclasses.fields(table):
            column = getattr(table, one.name)
            found[f"{part}.{one.name}"] = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return found


def answer(memory, target, **when):
    try:
        report = memory.impact(target, limit=100_000, **when)
    except LookupError as error:
        return type(error)
    return report.hits, report.tests, report.total, report.by_depth, report.possible, report.risk


@pytest.mark.parametrize("seed", range(2))
def test_undone_runs_give_every_earlier_graph_to_the_last_column(mixed_tree, open_memory, seed):  # noqa: F811
    chooser = random.Random(seed)
    memory = open_memory()
    memory.index(mixed_tree)
    seen = []
    for step in range(6):
        seen.append(columns(memory.parts.graph.view().arrays))
        for _ in range(chooser.randrange(1, 4)):
            change(mixed_tree, chooser)
        if step == 3:
            memory.close()
            memory = open_memory()
        memory.index()
        if columns(memory.parts.graph.view().arrays) == seen[-1]:
            seen.pop()  # the run found nothing to change, or only what the graph does not show
    past = Past(memory.parts.data_dir / FILE, 1 << 20)
    states = past.states(memory.parts.store.meta()["run"])
    view = memory.parts.graph.view()
    made = [
        columns(view.patched(joined(past.undo(one) for one in states[: at + 1]), states[at].generation).arrays) for at in range(len(states))
    ]
    assert [one for at, one in enumerate(made) if at == 0 or one != made[at - 1]][::-1] == seen
    assert len(states) >= len(seen) > 3


def test_a_commit_is_answered_from_the_graph_that_had_exactly_its_files(mixed_tree, open_memory):  # noqa: F811
    memory = open_memory()
    memory.index(mixed_tree)
    routing = mixed_tree / "starlette" / "routing.py"
    before = {target: answer(memory, target) for target in TARGETS}
    git(mixed_tree, "tag", "then")
    git(mixed_tree, "tag", "2026-05-04.1")
    routing.write_text(routing.read_text() + "\n\ndef more():\n    return Route('/', is_async_callable)\n")
    memory.index()
    now = {target: answer(memory, target) for target in TARGETS}
    git(mixed_tree, "commit", "-am", "more")
    assert before != now
    assert {target: answer(memory, target, as_of="then") for target in TARGETS} == before
    assert answer(memory, TARGETS[0], as_of="2026-05-04.1") == before[TARGETS[0]]  # a tag, although it begins like a time
    assert {target: answer(memory, target, as_of="HEAD") for target in TARGETS} == now
    earlier = memory.impact(TARGETS[0], as_of="then").earlier
    assert (earlier.as_of, earlier.generation, bool(earlier.until)) == ("then", 1, True)
    assert memory.impact(TARGETS[0]).earlier is None
    with pytest.raises(BadInputError, match="the graph was never indexed with exactly the files of revision other"):
        memory.impact(TARGETS[0], as_of="other")


def test_a_commit_is_not_answered_from_a_graph_with_other_edits(mixed_tree, open_memory):  # noqa: F811
    memory = open_memory()
    routing = mixed_tree / "starlette" / "routing.py"
    whole = routing.read_text()
    routing.write_text(whole + "\n\ndef draft():\n    pass\n")
    memory.index(mixed_tree)
    routing.write_text(whole)
    with pytest.raises(BadInputError, match="exactly the files of revision HEAD"):  # restored, and not indexed yet
        memory.impact(TARGETS[0], as_of="HEAD")
    memory.index()
    assert memory.impact(TARGETS[0], as_of="HEAD").earlier.until == ""


def test_a_time_is_answered_from_the_graph_of_that_time(tmp_path, open_memory):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def f():\n    pass\n\n\ndef g():\n    f()\n")
    memory = open_memory()
    memory.index(tree)
    first = datetime.fromisoformat(memory.parts.store.meta()["indexed_at"])
    (tree / "a.py").write_text("def f():\n    pass\n")
    while datetime.now(UTC) < first + timedelta(seconds=1.1):
        pass
    memory.index()
    assert memory.impact("a.py:f").hits == []
    for time in (first, first + timedelta(seconds=0.5)):
        assert [hit.symbol.qualname for hit in memory.impact("a.py:f", as_of=time.isoformat()).hits] == ["g"]
    assert [hit.symbol.qualname for hit in memory.impact("a.py:g", direction="dependencies", as_of=first.isoformat()).hits] == ["f"]
    with pytest.raises(BadInputError, match=r"graphmem no longer has the graph of .*; states since"):
        memory.impact("a.py:f", as_of=(first - timedelta(days=1)).isoformat())
    with pytest.raises(BadInputError, match="unknown time or revision"):
        memory.impact("a.py:f", as_of="yesterday")


def test_a_whole_new_index_and_a_setting_of_zero_keep_no_past_and_say_so(tmp_path, open_memory):
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, settings in (("kept", {}), ("off", {"past_mb": 0})):
        (tree / "a.py").write_text("def f():\n    pass\n")
        memory = open_memory(name, **settings)
        memory.index(tree)
        (tree / "a.py").write_text("def g():\n    pass\n")
        memory.index()
        if name == "kept":
            memory.index(full=True)
        with pytest.raises(BadInputError, match="no earlier state is kept yet"):
            memory.impact("a.py:f", as_of="2020-01-01")


def test_the_oldest_states_go_when_the_space_is_full(tmp_path, open_memory):
    tree = tmp_path / "tree"
    tree.mkdir()
    chooser = random.Random(7)
    memory = open_memory(past_mb=1)
    most = 0
    for step in range(8):
        names = [f"f{chooser.getrandbits(64)}" for _ in range(3_000)]
        (tree / "a.py").write_text("".join(f"def {name}(): pass\n" for name in names))
        memory.index(tree)
        states = Past(memory.parts.data_dir / FILE, 1).states(memory.parts.store.meta()["run"])
        assert [one.generation for one in states] == list(range(step, max(0, step - len(states)), -1))
        most = max(most, len(states))
    assert 0 < len(states) <= most < 7
