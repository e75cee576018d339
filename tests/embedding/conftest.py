"""A real database with chunks that want vectors."""

from __future__ import annotations

import pytest

from graphmem.model import ChunkRow, GraphDelta
from graphmem.store import open_store


@pytest.fixture
def chunks():
    """Thirty chunks; the last two have the same text."""
    rows = [
        ChunkRow(
            f"c{i:02}",
            f"f{i % 3}.py",
            "",
            "code",
            f"f{i}",
            i,
            i + 1,
            f"File: f{i % 3}.py | Lines: {i}-{i + 1}",
            f"text {'x ' * (i % 7)}{i}",
            f"h{i:02}",
        )
        for i in range(29)
    ]
    return [*rows, rows[-1]._replace(id="c99", path="g.py")]


@pytest.fixture
def store(tmp_path, chunks):
    """An open database that holds them."""
    opened = open_store(tmp_path / "graph.db", buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
    delta = GraphDelta.empty()
    delta.chunks.extend(chunks)
    opened.apply(delta)
    yield opened
    opened.close()
