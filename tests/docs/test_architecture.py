"""The picture in docs/architecture.md is the code's own: arrows point down, drivers stay in their room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import graphmem

PACKAGE = Path(graphmem.__file__).parent
WORDS = {
    "model",
    "knowledge",
    "answers",
    "errors",
    "settings",
    "_resources",
    "_faults",
    "_heap",
    "_deflate",
    "_git",
    "_seal",
    "_sidefile",
    "_private",
    "_inert",
    "parsing.facts",
    "store.base",
}

# Room -> rooms it may import, besides the words and itself. The same table as in docs/architecture.md.
MAY_IMPORT = {
    "model": set(),
    "knowledge": set(),
    "answers": set(),
    "injection": {"embedding"},
    "hooks": set(),
    "errors": set(),
    "settings": set(),
    "_resources": set(),
    "_faults": set(),
    "_heap": set(),
    "_deflate": set(),
    "_git": set(),
    "_seal": set(),
    "_sidefile": set(),
    "_private": set(),
    "_inert": set(),
    "language_model": set(),
    "parsing": set(),
    "resolution": {"parsing"},
    "store": set(),
    "projection": set(),
    "embedding": {"projection"},
    "analysis": {"projection"},
    "explorer": {"projection"},
    "search": {"projection", "embedding", "analysis"},
    "indexing": {"parsing", "resolution", "projection", "evidence"},
    "evidence": {"parsing", "resolution"},
    "memory": {"projection", "embedding"},
    "observe": {"memory", "projection", "embedding", "language_model"},
    "service": {
        "injection",
        "hooks",
        "parsing",
        "resolution",
        "store",
        "projection",
        "embedding",
        "analysis",
        "search",
        "indexing",
        "evidence",
        "memory",
        "language_model",
        "observe",
        "explorer",
    },
    "_wire": set(),
    "pytest_plugin": {"evidence"},
    "_remote": {"_wire"},
    "_remote_upkeep": {"_wire"},
    "_remote_semantic": {"_wire"},
    "_remote_context": {"_wire"},
    "_remote_history": {"_wire"},
    "_remote_sessions": {"_wire"},
    "_remote_learning": {"_wire"},
    "client": {
        "service",
        "_wire",
        "_remote",
        "_remote_upkeep",
        "_remote_semantic",
        "_remote_context",
        "_remote_history",
        "_remote_sessions",
        "_remote_learning",
    },
    "api": {"service"},
    "cli": {"hooks", "service", "client", "api", "mcp_server"},
    "mcp_server": {"service", "client"},
}
ONLY_IN = {
    "kuzu": "store",
    "ladybug": "store",
    "tree_sitter": "parsing",
    "tree_sitter_language_pack": "parsing",
    "sentence_transformers": "embedding",
    "networkx": "analysis",
    "strawberry": "api",
    "starlette": "api",
    "uvicorn": "api",
    "mcp": "mcp_server",
    "mcp_types": "mcp_server",
    "typer": "cli",
    "rich": "cli",
    "google": "evidence",
    "pytest": "pytest_plugin",
}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "graphmem":
                yield from (f"graphmem.{alias.name}" for alias in node.names)
            else:
                yield node.module


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_down(path):
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    assert room in MAY_IMPORT, f"a new room {room!r}: give it a row here and in docs/architecture.md"
    for name in imports(path):
        if not name.startswith("graphmem."):
            home = ONLY_IN.get(name.partition(".")[0])
            assert home in (None, room), f"{path.name} imports {name}, which only {home} may"
            continue
        inner = name.removeprefix("graphmem.")
        if inner.startswith("__") or any(inner == word or inner.startswith(word + ".") for word in WORDS):
            continue
        other = inner.partition(".")[0]
        assert other == room or other in MAY_IMPORT[room], f"{room} imports {name}"


def test_the_page_names_every_room():
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in MAY_IMPORT:
        assert f"`{room}`" in page
