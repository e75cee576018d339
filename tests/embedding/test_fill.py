"""The filler computes what is missing, most wanted first, can be stopped anywhere, and goes on where it stopped."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from graphmem.embedding import fill as filling
from graphmem.embedding.fill import Pace, embedded_text, fill
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.errors import EmbedderError


class Watched(HashedEmbedder):
    """Hashed features that remember what they were asked."""

    def __init__(self):
        super().__init__(8)
        self.batches = []

    def encode(self, texts):
        self.batches.append(list(texts))
        return super().encode(texts)


class Run:
    """One call of fill and what it told."""

    def __init__(self, store, embedder, chunks, *, have=frozenset(), stop_after=10_000):
        self.told, self.progress = {}, []
        self.result = fill(
            store,
            embedder,
            [(row.id, row.text_hash) for row in chunks],
            have,
            on_vectors=lambda keys, vectors: self.told.update(zip(keys, vectors, strict=True)),
            on_progress=lambda done, wanted: self.progress.append((done, wanted)),
            pace=Pace(stopped=lambda: len(embedder.batches) >= stop_after),
        )


def stored(store, embedder):
    table = store.vectors(embedder.model_id)
    return dict(zip(table["text_hash"].to_pylist(), (np.array(v, np.float32) for v in table["vector"].to_pylist()), strict=True))


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(filling, "WINDOW", 10)


def test_every_text_gets_its_vector_once(store, chunks, small_windows):
    embedder = Watched()
    run = Run(store, embedder, chunks)
    assert run.result == (29, 29, False)
    assert sum(map(len, embedder.batches)) == 29
    kept = stored(store, embedder)
    assert kept.keys() == run.told.keys() == {row.text_hash for row in chunks}
    for row in chunks:
        expected = HashedEmbedder(8).encode([embedded_text(row.prefix, row.text)])[0]
        assert np.allclose(kept[row.text_hash], expected)
        assert np.allclose(run.told[row.text_hash], expected)
    assert run.progress == [(0, 29), (10, 29), (20, 29), (29, 29)]


def test_batches_are_small_and_of_like_length(store, chunks):
    embedder = Watched()
    Run(store, embedder, chunks)
    assert max(map(len, embedder.batches)) == filling.BATCH
    lengths = [len(text) for batch in embedder.batches for text in batch]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize(("count", "thread"), [(1, threading.current_thread().name), (3, "graphmem-encode")])
def test_threads_encode_single_texts_into_the_same_vectors_and_step_back_before_each(store, chunks, small_windows, count, thread):
    class Parallel(Watched):
        is_parallel = True

    embedder, told, names = Parallel(), {}, []
    result = fill(
        store,
        embedder,
        [(row.id, row.text_hash) for row in chunks],
        frozenset(),
        on_vectors=lambda keys, vectors: told.update(zip(keys, vectors, strict=True)),
        on_progress=lambda *_: None,
        pace=Pace(lambda: False, lambda: count, lambda: names.append(threading.current_thread().name)),
    )
    assert result == (29, 29, False)
    assert {len(batch) for batch in embedder.batches} == {1}
    assert len(names) == 29
    assert all(name.startswith(thread) for name in names)
    for row in chunks:
        assert np.allclose(told[row.text_hash], HashedEmbedder(8).encode([embedded_text(row.prefix, row.text)])[0])


def test_the_most_wanted_come_first(store, chunks, small_windows):
    embedder = Watched()
    wanted = chunks[::-1]
    run = Run(store, embedder, wanted, stop_after=2)
    assert run.result.stopped
    assert run.told.keys() == {row.text_hash for row in wanted[:11]}


def test_a_stopped_run_is_continued_and_nothing_is_computed_twice(store, chunks, small_windows):
    first = Watched()
    run = Run(store, first, chunks, stop_after=3)
    assert run.result.stopped
    assert 0 < run.result.done < 29
    second = Watched()
    rest = Run(store, second, chunks, have=frozenset(stored(store, first)))
    assert rest.result == (29 - run.result.done, 29 - run.result.done, False)
    assert len(stored(store, second)) == 29
    seen = [text for batch in first.batches + second.batches for text in batch]
    assert len(seen) == len(set(seen)) == 29


def test_a_model_that_fails_loses_only_what_was_not_finished(store, chunks, small_windows):
    class Fails(Watched):
        def encode(self, texts):
            if len(self.batches) == 3:
                raise EmbedderError("out of memory", model="x")
            return super().encode(texts)

    embedder = Fails()
    with pytest.raises(EmbedderError, match="out of memory"):
        Run(store, embedder, chunks)
    assert len(stored(store, embedder)) == sum(map(len, embedder.batches)) > 10


def test_vectors_of_a_wrong_shape_are_refused(store, chunks):
    class Wrong(Watched):
        def encode(self, texts):
            return super().encode(texts)[:, :5]

    with pytest.raises(EmbedderError, match="of shape"):
        Run(store, Wrong(), chunks)


def test_a_chunk_that_changed_meanwhile_is_left_for_the_next_run(store, chunks):
    embedder = Watched()
    old = [chunks[0]._replace(text_hash="of before"), *chunks[1:3], chunks[3]._replace(id="gone")]
    run = Run(store, embedder, old)
    assert run.told.keys() == {chunks[1].text_hash, chunks[2].text_hash}


def test_line_numbers_are_not_part_of_what_is_embedded():
    assert embedded_text("File: a.py | function: f | Lines: 10-20 | Does it", "x") == "File: a.py | function: f | Does it\nx"
