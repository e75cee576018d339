"""Memories that an index run writes get vectors only where vectors are computed anyway."""

from __future__ import annotations

import threading
import time

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings


@pytest.fixture
def shop(tmp_path):
    """A project with one seed, indexed with a model that needs no files."""
    (tmp_path / "README.md").write_text("# Shop\n\nShop keeps every order in one append-only ledger file.\n")
    settings = Settings(embedder="hashed", git_history=False)
    with GraphMem.open(tmp_path / ".graphmem", tmp_path, settings=settings, keep_warm=False) as memory:
        memory.index(tmp_path)
        yield tmp_path, memory


def until_embedded(memory: GraphMem, count: int) -> None:
    end = time.monotonic() + 60
    while memory.parts.book.index().covered() != (count, count):
        assert time.monotonic() < end, f"vectors of memories: {memory.parts.book.index().covered()}, expected all {count}"
        time.sleep(0.01)


def test_an_index_run_alone_loads_no_model_for_its_seeds(shop) -> None:
    _, memory = shop
    assert memory.parts.book.index().covered() == (0, 1)
    assert "graphmem-memory-vectors" not in {thread.name for thread in threading.enumerate()}


def test_seeds_of_a_later_run_get_vectors_where_vectors_are_computed(shop) -> None:
    root, memory = shop
    memory.fill_vectors()
    until_embedded(memory, 1)
    (root / "AGENTS.md").write_text("## Rules\n\n- Never log the card number of a customer.\n")
    memory.index(root)
    until_embedded(memory, 2)
    assert memory.parts.book.index().covered() == (2, 2)
