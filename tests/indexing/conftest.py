"""Real source trees that are installed anyway, copied so that they can be edited."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index


def copy_package(name, target):
    source = Path(importlib.import_module(name).__file__).parent
    shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return target


@pytest.fixture
def starlette_tree(tmp_path):
    return copy_package("starlette", tmp_path / "tree")


@pytest.fixture
def open_memory(tmp_path):
    opened = []

    def make(name="index", **settings):
        memory = GraphMem.open(empty_index(tmp_path / name), settings=Settings(embedder="none", **settings))
        opened.append(memory)
        return memory

    yield make
    for memory in opened:
        memory.close()
