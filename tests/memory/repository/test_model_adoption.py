"""After a switch of models memories get vectors of the new one at once, as code does."""

from __future__ import annotations

import time

import pytest

from graphmem.embedding.hashed import HashedEmbedder

NOTES = ("Deployments happen on Tuesday mornings.", "The cart keeps its items for a month.", "Prices are in cents everywhere.")


@pytest.fixture
def switched(opened):
    """An index whose memories have vectors of one model, opened with another."""
    gm = opened()
    gm.parts.vectors._embedder = HashedEmbedder(96)
    for note in NOTES:
        gm.remember(note)
    gm.parts.book.embed_now()
    assert gm.parts.book.index().covered() == (len(NOTES), len(NOTES))
    gm.close()
    gm = opened()
    gm.parts.vectors._embedder = HashedEmbedder(64)
    return gm


def models(gm):
    """The model of each memory's vector."""
    return {row.embedding_model for row in gm.parts.book.index().all_rows()}


def test_memories_are_embedded_again_as_soon_as_vectors_are_filled(switched):
    assert models(switched) == {"hashed-words-96"}
    switched.fill_vectors()
    end = time.monotonic() + 60
    while models(switched) != {"hashed-words-64"}:
        assert time.monotonic() < end, "memories kept the vectors of the model before"
        time.sleep(0.01)
    assert switched.parts.book.index().covered() == (len(NOTES), len(NOTES))


def test_filling_in_this_thread_fills_the_memories_too(switched):
    switched.fill_vectors(background=False)
    assert switched.parts.book.index().covered() == (len(NOTES), len(NOTES))
    assert models(switched) == {"hashed-words-64"}
