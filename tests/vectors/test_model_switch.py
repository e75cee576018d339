"""Another embedding model: the old vectors answer until the new ones are complete, then all change places at once."""

from __future__ import annotations

import threading

import pytest

from graphmem.embedding.hashed import HashedEmbedder

NOTES = ("Deployments happen on Tuesday mornings.", "The cart keeps its items for a month.", "Prices are in cents everywhere.")
OLD, NEW = "hashed-words-96", "hashed-words-64"


class Held(HashedEmbedder):
    """The new model; who fills with it stops before a batch until let on."""

    def __init__(self, dim=64, after=0):
        super().__init__(dim)
        self.waits, self.go = threading.Event(), threading.Event()
        self.after = after

    def encode(self, texts):
        if threading.current_thread().name == "graphmem-vectors":
            if self.after <= 0:
                self.waits.set()
                assert self.go.wait(60)
            self.after -= len(texts)
        return super().encode(texts)


@pytest.fixture
def filled(opened, repository):
    """Opens an index whose code and memories have all vectors of the old model; another one is configured."""
    gm = opened()
    gm.parts.vectors._embedder = HashedEmbedder(96)
    gm.index(repository)
    for note in NOTES:
        gm.remember(note)
    gm.fill_vectors(background=False)
    gm.parts.book.flush()
    assert gm.parts.store.vector_models() == {OLD: gm.state().chunks + len(NOTES)}
    gm.close()

    used = []

    def open_(embedder):
        gm = opened(patience_s=0)  # a search would wait for the vectors that a test holds back
        gm.parts.vectors._embedder = embedder
        used.append(embedder)
        return gm

    yield open_
    for embedder in used:
        if isinstance(embedder, Held):
            embedder.go.set()


def ways(gm, query="what is put into the cart"):
    """The ways that answered a search of code and one of memories."""
    answers = (gm.search(query, kinds=["code"]), gm.search(query, kinds=["memory"]))
    assert all(answer.hits for answer in answers)
    return ["dense" in answer.answered for answer in answers]


def rows(gm):
    return {row.embedding_model for row in gm.parts.book.index().all_rows()}


def test_the_old_vectors_answer_until_the_new_ones_are_complete(filled):
    new = Held(after=len(NOTES))
    gm = filled(new)
    assert ways(gm) == [True, True]
    gm.fill_vectors()
    assert new.waits.wait(60)  # memories are done, code is not
    assert ways(gm) == [True, True]
    assert gm.search("cart").missing.keys() <= {"modules", "flows"}
    state = gm.state()
    assert state.vectors == state.chunks
    total = state.chunks + len(NOTES)
    assert f"search uses the vectors of {OLD} until those of {NEW} are complete ({len(NOTES)} of {total} texts)" in state.note
    assert gm.doctor()["embedder"]["serving"] == OLD
    assert gm.doctor()["embedder"]["switch"] == {"done": len(NOTES), "of": total}
    assert rows(gm) == {OLD}
    new.go.set()
    gm.parts.vectors._thread.join(60)
    assert ways(gm) == [True, True]
    assert gm.parts.projections.snapshot().vectors.model_id == gm.parts.book.index().model_id == NEW
    gm.parts.book.flush()
    assert rows(gm) == {NEW}
    assert gm.parts.store.vector_models() == {NEW: total}
    assert "search uses" not in gm.state().note
    assert "serving" not in gm.doctor()["embedder"]


def test_a_switch_goes_on_where_it_stopped(filled, monkeypatch):
    monkeypatch.setattr("graphmem.embedding.fill.BATCH", 1)
    new = Held(after=len(NOTES) + 1)
    gm = filled(new)
    gm.fill_vectors()
    assert new.waits.wait(60)
    gm.parts.vectors._stopping.set()
    new.go.set()
    gm.close()
    gm = filled(Held())
    counts = gm.parts.store.vector_models()
    gm.close()
    assert len(NOTES) < counts[NEW] < counts[OLD]
    gm = filled(HashedEmbedder(64))
    assert ways(gm) == [True, True]
    gm.fill_vectors(background=False)
    assert gm.parts.store.vector_models() == {NEW: counts[OLD]}
    assert ways(gm) == [True, True]


def test_what_is_written_during_a_switch_is_found_by_meaning_before_and_after(filled):
    new = Held(after=len(NOTES))
    gm = filled(new)
    gm.fill_vectors()
    assert new.waits.wait(60)
    gm.remember("Refunds take five working days.")
    gm.parts.book.embed_now()  # by the model that answers
    assert gm.parts.book.index().covered() == (len(NOTES) + 1, len(NOTES) + 1)
    assert gm.parts.book.index().model_id == OLD
    new.go.set()
    gm.parts.vectors._thread.join(60)
    gm.fill_vectors(background=False)
    assert gm.parts.book.index().covered() == (len(NOTES) + 1, len(NOTES) + 1)
    assert gm.parts.book.index().model_id == NEW
    gm.parts.book.flush()
    assert gm.parts.store.vector_models() == {NEW: gm.state().chunks + len(NOTES) + 1}


def test_a_model_that_cannot_be_loaded_any_more_leaves_words_and_says_so(filled, monkeypatch):
    monkeypatch.setattr("graphmem.vectors.filler.for_model", lambda *_, **__: None)
    new = Held()
    gm = filled(new)
    assert ways(gm) == [False, False]
    assert gm.search("cart").missing["dense"] == f"the vectors are of {OLD}, which cannot be loaded, and {NEW} has none yet"
    new.go.set()
    gm.fill_vectors(background=False)
    assert ways(gm) == [True, True]
    assert set(gm.parts.store.vector_models()) == {NEW}


def test_vectors_that_somebody_handed_in_are_not_deleted(filled):
    gm = filled(HashedEmbedder(96))
    gm.remember("Invoices are numbered by year.", vector=[1.0, 0.0, 0.5], embedding_model="theirs")
    gm.parts.book.flush()
    gm.close()
    gm = filled(HashedEmbedder(64))
    gm.fill_vectors(background=False)
    assert gm.parts.store.vector_models()["theirs"] == 1
    assert OLD not in gm.parts.store.vector_models()
