"""An index in which memories have vectors and code has none yet opens like any other."""

from __future__ import annotations

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index


def test_memories_with_vectors_beside_code_without_are_opened(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text("def total():\n    return 1\n", encoding="utf-8")
    settings = Settings(embedder="hashed")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=settings) as memory:
        memory.index(tmp_path / "shop")
        memory.remember("Totals are in cents.", "gotcha", files=["cart.py"])
        memory.search("cents", kinds=["memory"])  # waits for the vector of the memory, which is written on closing
    with GraphMem.open(empty_index(tmp_path / "index"), settings=settings) as memory:
        assert memory.state().vectors == 0
        assert memory.search("cents", kinds=["memory"]).hits[0].memory.embedded
