"""Questions that need no vectors leave the database closed."""

from __future__ import annotations

import pytest

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


@pytest.fixture
def with_vectors(opened, repository):
    """Opens an index whose code has all vectors, without opening its database."""

    def open_():
        gm = opened(patience_s=0)
        gm.parts.vectors._embedder = HashedEmbedder(64)
        return gm

    gm = open_()
    gm.index(repository)
    gm.fill_vectors(background=False)
    gm.close()
    return open_


def test_impact_tells_the_number_of_vectors_without_opening_the_database(with_vectors):
    gm = with_vectors()
    state = gm.impact("Cart").state
    assert state.vectors == state.chunks > 0
    assert (gm.parts.vectors.status()["vectors"], gm.parts.vectors.status()["chunks"]) == (state.vectors, state.chunks)
    assert gm.parts.store._at_rest


def test_the_number_of_vectors_is_counted_again_after_a_change(with_vectors, repository):
    before = with_vectors()
    had = before.state().vectors
    cart = repository / "shop" / "cart.py"
    cart.write_text(cart.read_text() + "\n\ndef emptied(cart):\n    return not cart.items\n")
    before.index(repository)
    assert before.state().chunks > before.state().vectors
    missing = before.state().chunks - before.state().vectors
    before.close()
    after = with_vectors()
    assert after.state().chunks - after.state().vectors == missing
    after.fill_vectors(background=False)
    total = after.state().vectors
    assert total == after.state().chunks >= had
    after.close()
    assert with_vectors().state().vectors == total


def test_the_number_of_vectors_is_not_recorded_for_another_model(with_vectors):
    gm = with_vectors()
    gm.parts.vectors._embedder = HashedEmbedder(96)
    assert gm.state().vectors == gm.state().chunks  # the former model answers
    assert gm.parts.vectors.status()["serving"] == "hashed-words-64"
