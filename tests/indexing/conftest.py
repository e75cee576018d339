"""Real source trees that are installed anyway, copied so that they can be edited."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from small_index import open_memory as open_memory


def copy_package(name, target):
    source = Path(importlib.import_module(name).__file__).parent
    shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return target


@pytest.fixture
def starlette_tree(tmp_path):
    return copy_package("starlette", tmp_path / "tree")
