"""No file of the package knows one that knows it back, imports for types alone and inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import graphmem

PACKAGE = Path(graphmem.__file__).parent
FACE = "graphmem"  # `graphmem/__init__.py` re-exports the public names, and holds the version that any file may ask for


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


FILES = {_name(path): path for path in PACKAGE.rglob("*.py")}


def _imported(source: str) -> set[str]:
    """Files of the package that a source names in any of its imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(inner if (inner := f"{node.module}.{alias.name}") in FILES else node.module for alias in node.names)
    return found & (FILES.keys() - {FACE})


def _circles(sources: dict[str, str], whole: Callable[[str], str] = str) -> list[list[str]]:
    """Groups of files that know each other, or of what `whole` makes of their names."""
    import networkx

    edges = ((whole(name), whole(other)) for name, source in sources.items() for other in _imported(source))
    graph = networkx.DiGraph((name, other) for name, other in edges if name != other)
    return sorted(sorted(part) for part in networkx.strongly_connected_components(graph) if len(part) > 1)


def test_files_form_no_circles() -> None:
    found = _circles({name: path.read_text(encoding="utf-8") for name, path in FILES.items() if name != FACE})
    assert found == []


PROJECT = "graphmem.project"
LAYERED = (
    "graphmem.api",
    "graphmem.memory",
    "graphmem.observe",
    PROJECT,
    "graphmem.projection",
    "graphmem.resolution",
    "graphmem.runtime",
    "graphmem.search",
    "graphmem.store",
)


def _package(name: str) -> str:
    """The package of a room that holds a file. A file beside the packages is its own; those that compose the project are one."""
    parts = name.split(".")
    if parts[:2] == PROJECT.split(".") and (len(parts) == 3 or parts[2] == "wiring"):
        return PROJECT
    return ".".join(parts[:3])


def _within(room: str) -> dict[str, str]:
    """Files of a room, with their imports of the same room."""
    sources = {name: path.read_text(encoding="utf-8") for name, path in FILES.items() if name.startswith(room + ".")}
    return {name: "\n".join(f"import {other}" for other in _imported(source) if other in sources) for name, source in sources.items()}


@pytest.mark.parametrize("room", LAYERED)
def test_packages_of_a_room_form_no_circles(room: str) -> None:
    assert _circles(_within(room), _package) == []


def test_a_circle_of_packages_is_found() -> None:
    found = _circles({**_within(PROJECT), f"{PROJECT}.graph.stale": f"import {PROJECT}.care.runs"}, _package)
    assert [PROJECT + ".care" in circle and PROJECT + ".graph" in circle for circle in found] == [True]


def test_a_circle_is_found_whatever_the_way_of_importing() -> None:
    first, second, third = "graphmem.store.base", "graphmem.store.file.files", "graphmem.store.file.opening"
    sources = {
        first: "def build():\n    from graphmem.store.file.files import beside",
        second: "if TYPE_CHECKING:\n    from graphmem.store.file import opening",
        third: "import graphmem.store.base",
    }
    assert _circles(sources) == [[first, second, third]]
    assert _circles({**sources, third: ""}) == []
