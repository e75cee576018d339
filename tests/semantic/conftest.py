"""One indexed copy of networkx, shared by the tests of the semantic layer."""

from __future__ import annotations

import shutil
from pathlib import Path

import networkx
import pytest

from graphmem.service.graphmem import GraphMem

SOURCE = Path(networkx.__file__).parent


@pytest.fixture(scope="session")
def networkx_tree(tmp_path_factory) -> Path:
    """The source of networkx in a folder of its own. Not to be changed."""
    root = tmp_path_factory.mktemp("tree")
    shutil.copytree(SOURCE, root / "networkx", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="session")
def indexed(networkx_tree, tmp_path_factory):
    """networkx, indexed and open."""
    with GraphMem.open(tmp_path_factory.mktemp("index") / "db") as service:
        service.index(networkx_tree)
        yield service


@pytest.fixture
def project(tmp_path):
    """Make and index a small project: project({"a.py": "…"})."""
    opened = []

    def make(files: dict[str, str]) -> GraphMem:
        root = tmp_path / "project"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        service = GraphMem.open(tmp_path / "db")
        opened.append(service)
        service.index(root)
        return service

    yield make
    for service in opened:
        service.close()
