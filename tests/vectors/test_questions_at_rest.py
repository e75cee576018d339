"""Questions about an index without vectors leave its database closed."""

from __future__ import annotations

from graphmem.embedding.hashed import HashedEmbedder


def test_impact_and_search_without_vectors_open_no_database(opened, repository):
    gm = opened()
    gm.index(repository)
    gm.close()
    gm = opened(patience_s=0)
    gm.parts.vectors._embedder = HashedEmbedder(64)
    assert gm.search("Cart").hits
    gm.impact("Cart")
    assert gm.state().vectors == 0
    assert gm.parts.store._at_rest
