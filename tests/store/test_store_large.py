"""More than the buffer pool holds: the smallest pool there can be, and rows that fill it several times."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.errors import LimitError
from graphmem.model import EdgeRow, FileRow, GraphDelta, PackedChunkRow, SymbolRow, chunk_id, file_id, stable_id, symbol_id
from graphmem.store.kuzu_store import KuzuStore

POOL = 64 << 20
PATH = "src/a.py"


def graph(*, chunks: int = 2, chunk_bytes: int = 10, symbols: int = 3, edges: int = 2) -> GraphDelta:
    """One file with so much in it; texts that cannot be packed any more."""
    chance = random.Random(1)
    file = file_id("p", PATH)
    rows = [FileRow(file, PATH, "python", "src.a", stable_id("bytes"), 1, 9, False, 0, "", 1)]
    ids = [symbol_id("p", PATH, f"f{i}", "function", 0) for i in range(symbols)]
    functions = [
        SymbolRow(one, PATH, "function", f"f{i}", f"f{i}", "", "def f()", "", 5, 6, 0, 9, 5, 4, "h", "", "", 1, False)
        for i, one in enumerate(ids)
    ]
    texts = [
        PackedChunkRow(chunk_id("p", PATH, f"c{i}", 0), PATH, "", "code", f"c{i}", 1, 2, chance.randbytes(chunk_bytes), stable_id(str(i)))
        for i in range(chunks)
    ]
    ends = sorted({(chance.choice(ids), chance.choice(ids)) for _ in range(edges)})
    calls = [EdgeRow("CALLS", src, dst, 0.9, "resolved", "local", 3, "3") for src, dst in ends]
    return GraphDelta([], [], [], [], [], [], rows, functions, [], texts, calls, [])


MUCH = {"texts": {"chunks": 30_000, "chunk_bytes": 3_000}, "edges": {"symbols": 6000, "edges": 310_000}}


def counts(store: KuzuStore) -> tuple[int, int]:
    """Texts and edges in it."""
    return store.read("chunk_count")[0]["chunks"], sum(row["edges"] for row in store.read("edge_counts"))


@pytest.mark.parametrize("what", sorted(MUCH))
def test_a_first_load_needs_no_larger_buffer_pool(what: str, engine: str, open_at: Callable[..., KuzuStore], path: Path) -> None:
    delta = graph(**MUCH[what])
    store = open_at(path, buffer_pool_bytes=POOL, max_db_bytes=1 << 32)
    store.replace(delta, {})
    assert counts(store) == (len(delta.chunks), len(delta.edges))
    if what == "texts" and engine == "kuzu":  # Ladybug compacts so many texts with a larger pool only
        store.compact()
        assert counts(store) == (len(delta.chunks), len(delta.edges))


def test_a_load_that_does_run_out_leaves_the_old_graph_and_names_the_setting(open_at: Callable[..., KuzuStore], path: Path) -> None:
    store = open_at(path, buffer_pool_bytes=POOL, max_db_bytes=POOL)
    store.replace(graph(), {})
    before = counts(store)
    with pytest.raises(LimitError, match="raise the setting max_db_gb"):
        store.replace(graph(**MUCH["texts"]), {})
    assert (store.generation(), counts(store)) == (1, before)
    store.close()
    assert counts(open_at(path, buffer_pool_bytes=POOL, max_db_bytes=POOL)) == before
