"""The vector index is exact, takes any mask, grows under readers, and breaks ties by row."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.projection.vectors import VectorIndex


def made(n, dim=16, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)
    return VectorIndex("model", dim, [f"h{i}" for i in range(n)], vectors), vectors


@settings(max_examples=60)
@given(n=st.integers(0, 60), k=st.integers(1, 70), seed=st.integers(0, 999), share=st.sampled_from([0.0, 0.1, 0.6, 1.0]))
def test_the_nearest_rows_are_those_of_a_plain_scan(n, k, seed, share):
    index, vectors = made(n, seed=seed)
    r = np.random.default_rng(seed + 1)
    query = r.normal(size=16).astype(np.float32)
    mask = None if share == 1.0 else r.random(n) < share
    cosine = (vectors @ query) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    rows = [i for i in range(n) if mask is None or mask[i]]
    expected = sorted(rows, key=lambda i: (-cosine[i], i))[:k]
    hits = index.search(query, k, mask)
    assert [row for row, _ in hits] == expected
    assert [score for _, score in hits] == pytest.approx([cosine[i] for i in expected], abs=1e-5)


def test_equal_vectors_come_in_the_order_of_their_rows():
    index = VectorIndex("model", 4, [f"h{i}" for i in range(50)], np.ones((50, 4), np.float32))
    assert [row for row, _ in index.search(np.ones(4, np.float32), 7)] == list(range(7))


def test_a_text_that_is_there_is_not_added_again():
    index, vectors = made(5)
    assert index.add(["h1", "new", "new", "h4"], np.ones((4, 16), np.float32)) == 1
    assert index.hashes() == ["h0", "h1", "h2", "h3", "h4", "new"]
    assert index.search(vectors[1], 1)[0][0] == 1
    assert "new" in index
    assert index.rows(["new", "h0", "unknown"]).tolist() == [0, 5]


def test_any_length_of_vector_counts_the_same_and_zero_is_far_from_everything():
    index = VectorIndex("model", 2, ["a", "b", "c"], np.array([[3, 0], [0.1, 0], [0, 0]], np.float32))
    assert index.search(np.array([5, 0], np.float32), 3) == [(0, pytest.approx(1.0)), (1, pytest.approx(1.0)), (2, 0.0)]


def test_cosines_are_given_for_texts_that_have_a_vector():
    index, vectors = made(5)
    cosines = index.cosines(vectors[3], ["h3", "nothing", "h0"])
    assert cosines.keys() == {"h3", "h0"}
    assert cosines["h3"] == pytest.approx(1.0, abs=1e-6)


def test_cosines_of_all_texts_go_to_their_texts_in_any_order():
    index, vectors = made(5)
    cosines = index.cosines(vectors[3], ["h3", "h0", "h4", "h2", "h1"])
    assert max(cosines, key=cosines.__getitem__) == "h3"
    assert list(cosines) == ["h3", "h0", "h4", "h2", "h1"]


def test_readers_see_whole_rows_while_a_writer_adds():
    index, vectors = made(50)
    more = np.random.default_rng(9).normal(size=(5000, 16)).astype(np.float32)
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            hits = index.search(vectors[7], 5)
            if not hits or hits[0][1] < 0.999 or any(not np.isfinite(score) for _, score in hits):
                wrong.append(hits)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for at in range(0, 5000, 100):
        index.add([f"n{i}" for i in range(at, at + 100)], more[at : at + 100])
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(index) == 5050
    assert index.search(more[4321], 1)[0][0] == 50 + 4321


def test_a_table_of_vectors_is_added_as_its_wanted_rows_would_be():
    matrix = np.random.default_rng(3).normal(size=(10_000, 8)).astype(np.float32)  # several pieces
    hashes = [f"t{i % 9_000}" for i in range(10_000)]
    flat = pa.array(matrix.reshape(-1))
    table = pa.table({"text_hash": hashes, "vector": pa.FixedSizeListArray.from_arrays(flat, 8)})
    wanted = [i for i, key in enumerate(hashes) if not key.endswith("5")]
    whole = VectorIndex("m", 8, [hashes[i] for i in wanted], matrix[wanted])
    made = VectorIndex("m", 8)
    made.add_table(table, lambda key: not key.endswith("5"))
    assert made.hashes() == whole.hashes()
    query = matrix[17]
    assert made.search(query, 50) == whole.search(query, 50)
