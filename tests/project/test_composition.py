"""A part of a project is made with what it needs: it declares nothing that another class has to bring."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

import graphmem
from graphmem.errors import BadInputError, NotIndexedError
from graphmem.history.co_edits import History
from graphmem.location import DATABASE
from graphmem.maintenance.recovery import open_or_mend
from graphmem.project.code.cells import NotebookCells
from graphmem.project.code.lookups import Lookups
from graphmem.project.graph.graph_source import GraphSource
from graphmem.project.graphmem import GraphMem
from graphmem.project.memories.known import KnownCode
from graphmem.project.structure.exploring import Pictures
from graphmem.project.structure.semantic_source import SemanticSource
from graphmem.project.wiring import connecting, context, stored
from graphmem.projection.projections import Projections
from graphmem.settings import Settings

ROOM = Path(graphmem.__file__).parent / "project"
FILES = sorted(ROOM.glob("*.py"))
DATA = {"dataclass", "NamedTuple", "Protocol", "TypedDict"}


def borrowed(source: str) -> list[str]:
    """Attributes that classes declare without a value, which only another class can give them; those of plain data do not count."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef) or DATA & {word.id for part in (*node.bases, *node.decorator_list) for word in _names(part)}:
            continue
        blocks = [node.body, *(one.body for one in node.body if isinstance(one, ast.If))]
        found += [
            f"{node.name}.{ast.unparse(one.target)}"
            for body in blocks
            for one in body
            if isinstance(one, ast.AnnAssign) and one.value is None
        ]
    return found


def _names(node: ast.AST) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name)]


@cache
def _classes(path: Path) -> list[ast.ClassDef]:
    return [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_class_declares_what_another_has(path):
    assert borrowed(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_parts_are_not_put_together_by_inheritance(path):
    classes = {node.name for file in FILES for node in _classes(file)}
    for node in _classes(path):
        assert not classes & {word.id for base in node.bases for word in _names(base)}, node.name


def test_a_borrowed_attribute_is_found():
    assert borrowed("class A:\n    _store: Store\n    x: int = 0\n") == ["A._store"]
    assert borrowed("class A:\n    if TYPE_CHECKING:\n        _store: Store\n") == ["A._store"]
    assert borrowed("@dataclass(eq=False)\nclass A:\n    store: Store\n\nclass B(Protocol):\n    y: int\n") == []


def test_a_part_answers_without_the_others(tmp_path):
    """A store and its projections are all that looking up and drawing need."""
    settings, index, root = Settings(embedder="none", workers=1), tmp_path / "index", tmp_path / "shop"
    root.mkdir()
    (root / "price.py").write_text("def rounded(value):\n    return round(value, 2)\n\n\ndef total(value):\n    return rounded(value)\n")
    with GraphMem.open(index, settings=settings) as memory:
        memory.index(root)
        state = memory.state()
        symbol, picture = memory.symbol("rounded"), memory.neighbourhood(["rounded"])
    store = open_or_mend(index / DATABASE, settings)
    projections = Projections(store, index)
    try:
        graph = GraphSource(store, projections, index, lambda: state)
        assert (
            Lookups(graph, KnownCode(graph, projections.memories, lambda: datetime.now(UTC), lambda _: []), NotebookCells(graph)).symbol(
                "rounded"
            )
            == symbol
        )
        assert Pictures(graph, SemanticSource(graph, store, History)).neighbourhood(["rounded"]) == picture
    finally:
        projections.close()
        store.close()


def test_a_graph_without_a_run_is_refused(tmp_path):
    with GraphMem.open(tmp_path, settings=Settings(embedder="none")) as memory, pytest.raises(NotIndexedError):
        memory.parts.graph.view()


@pytest.mark.parametrize(
    ("step", "part"), [(stored, "configured"), (stored, "VectorFiller"), (context, "Injector"), (connecting, "Doctor")]
)
def test_an_open_that_fails_leaves_the_database_to_the_next(tmp_path, monkeypatch, step, part):
    settings = Settings(embedder="none")
    with monkeypatch.context() as patch:
        patch.setattr(step, part, mock.Mock(side_effect=BadInputError("no such setting")))
        with pytest.raises(BadInputError, match="no such setting"):
            GraphMem.open(tmp_path, settings=settings)
    with GraphMem.open(tmp_path, settings=settings) as memory:
        assert memory.state().state == "empty"
