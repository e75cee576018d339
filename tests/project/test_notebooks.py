"""Code in notebooks is part of the graph: it calls the project's functions, and its cells use names of earlier cells."""

from __future__ import annotations

import json

import pytest

from graphmem.hooks import agents
from graphmem.injection.experiment import FULL, group_of
from graphmem.observe.commands.tools import call_of
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

SHOP = '''def total(cart):
    """Sum of a cart."""
    return sum(cart)


class Cart:
    def pay(self):
        return total([])
'''
CELLS = (
    ("markdown", "# Sales of carts\n\nWe compare the *bargains* of two weeks.\n"),
    ("code", "%matplotlib inline\nfrom shop import Cart, total\n\ncart = Cart()\n"),
    ("code", "def twice(cart):\n    return 2 * total(cart)\n"),
    ("code", "cart.pay()\nprint(twice([1]))\n"),
)


def notebook(cells=CELLS) -> str:
    rows = [{"cell_type": kind, "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)} for kind, text in cells]
    return json.dumps({"cells": rows, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}, indent=1)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    root = tmp_path_factory.mktemp("project") / "shop"
    (root / "notebooks").mkdir(parents=True)
    (root / "shop.py").write_text(SHOP)
    (root / "use.py").write_text("import shop\n\nshop.total([])\n")
    (root / "shop.ipynb").write_text(notebook((("code", "def total(cart): return 0\n"),)))
    (root / "notebooks" / "sales.ipynb").write_text(notebook())
    with GraphMem.open(empty_index(tmp_path_factory.mktemp("index") / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        yield memory


def sites(memory, ref):
    detail = memory.symbol(ref)
    return {(one.symbol.path, one.symbol.qualname, *one.lines) for one in detail.callers}


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(notebook().split("\n"), 1) if text in line)


def test_a_notebook_calls_the_functions_that_it_imports(opened):
    assert ("notebooks/sales.ipynb", "twice", line_of("2 * total")) in sites(opened, "shop.py:total")


def test_a_cell_uses_names_of_earlier_cells(opened):
    assert sites(opened, "notebooks/sales.ipynb:twice") == {("notebooks/sales.ipynb", "<module>", line_of("print(twice"))}
    assert ("notebooks/sales.ipynb", "<module>", line_of("cart.pay")) in sites(opened, "shop.py:Cart.pay")


def test_no_module_imports_a_notebook(opened):
    assert sites(opened, "shop.ipynb:total") == set()
    assert ("use.py", "<module>", 3) in sites(opened, "shop.py:total")


def test_the_source_of_a_definition_in_a_notebook_is_its_code(opened):
    assert opened.source(opened.resolve("notebooks/sales.ipynb:twice").id) == "def twice(cart):\n    return 2 * total(cart)"


def test_the_documentation_of_a_notebook_is_found(opened):
    (hit,) = [one for one in opened.search("bargains of two weeks").hits if one.path == "notebooks/sales.ipynb"][:1]
    assert (hit.title, hit.start_line) == ("Sales of carts", line_of("# Sales of carts"))


def test_a_notebook_is_not_unused_code(opened):
    assert not [one for one in opened.dead_code().symbols if one.symbol.path == "notebooks/sales.ipynb"]


def test_uses_in_a_notebook_name_their_cell(opened):
    hits = {
        (one.symbol.qualname, one.path[-1].cell) for one in opened.impact("shop.py:total").hits if one.symbol.path.endswith("sales.ipynb")
    }
    assert hits == {("twice", "cell 3"), ("<module>", "cell 4")}
    cells = {(one.symbol.path, one.cell) for one in opened.symbol("shop.py:total").callers}
    assert cells == {("notebooks/sales.ipynb", "cell 3"), ("shop.py", ""), ("use.py", "")}


def test_the_shown_text_of_a_notebook_is_its_code_with_the_numbers_of_cells(opened):
    shown = opened.file_source("notebooks/sales.ipynb").text
    assert "# %% cell 3" in shown
    assert "cell_type" not in shown


SALES = "notebooks/sales.ipynb"


@pytest.fixture
def advice(opened, monkeypatch, request):
    """Return what Claude Code's model reads before it edits a cell of the notebook."""
    monkeypatch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
    every = (f"{request.node.name[:80]}-{n}" for n in range(1_000))
    session = next(one for one in every if group_of(one, opened.project().name) == FULL)
    root = str(opened.parts.graph.root())

    def before(**more):
        given = {"notebook_path": f"{root}/{SALES}", **more}
        payload = {"session_id": session, "hook_event_name": "PreToolUse", "cwd": root, "tool_name": "NotebookEdit", "tool_input": given}
        opened.impact("shop.py:total")  # the graph is open
        return opened.hook("claude-code", json.dumps(payload)).output

    return before


@pytest.mark.parametrize("cell", ["cell-2", "2"])
def test_an_edited_cell_tells_who_uses_the_functions_that_it_changes(advice, cell):
    said = advice(cell_id=cell, new_source="def twice(cart, times):\n    return times * total(cart)\n")
    assert f"Edit of {SALES}:twice: 1 dependent in 1 file (it uses the old signature): {SALES}:{line_of('print(twice')}" in said


@pytest.mark.parametrize(
    "more",
    [
        {"cell_id": "cell-3", "new_source": "cart.pay()\n"},
        {"cell_id": "cell-2", "new_source": "def thrice(cart):\n    return 3 * total(cart)\n", "edit_mode": "insert"},
        {"cell_id": "cell-0", "new_source": "", "edit_mode": "delete"},
        {"cell_id": "missing", "new_source": "def twice(cart, times): ..."},
    ],
    ids=["a cell of statements", "a new cell", "a cell of text", "an unknown cell"],
)
def test_an_edit_of_another_cell_names_no_function(advice, more):
    assert advice(**more) == ""


def test_a_replaced_cell_is_counted_with_the_lines_that_it_had():
    claude = agents.agent_named("claude-code")
    told = {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": SALES, "cell_id": "a1", "new_source": "x = 2\n"}}
    call = agents.read(claude, {"hook_event_name": "PostToolUse", **told, "tool_response": {"old_source": "x = 1\n", "cell_id": "a1"}})
    (change,) = call_of(call.tool, call.args).changes
    assert (change.old, change.new, change.cell) == ("x = 1\n", "x = 2\n", "a1")
