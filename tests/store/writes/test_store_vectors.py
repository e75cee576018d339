"""Vectors at rest: by model and text, checked on the way in."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from graphmem.errors import BadInputError


def rows(hashes, dim=4, seed=0, vectors=None):
    values = (
        np.random.default_rng(seed).normal(size=(len(hashes), dim)).astype(np.float32)
        if vectors is None
        else np.asarray(vectors, np.float32)
    )
    flat = pa.array(values.reshape(-1), pa.float32())
    return pa.table({"text_hash": pa.array(hashes, pa.string()), "vector": pa.FixedSizeListArray.from_arrays(flat, dim)})


def test_vectors_come_back_exactly_and_sorted(store, open_at, path):
    table = rows(["b", "a", "c"])
    store.put_vectors("model/one", 4, table)
    expected = table.sort_by("text_hash")
    assert store.vectors("model/one").equals(expected)
    assert store.generation() == 0
    store.close()
    assert open_at(path).vectors("model/one").equals(expected)


def test_vectors_that_are_there_stay_as_they_are(store):
    store.put_vectors("m", 4, rows(["a", "b"], seed=1))
    store.put_vectors("m", 4, rows(["b", "c"], seed=2))
    first, second = rows(["a", "b"], seed=1), rows(["b", "c"], seed=2)
    assert store.vectors("m").equals(pa.concat_tables([first, second.slice(1)]).combine_chunks())


def test_models_and_dimensions_are_kept_apart(store):
    store.put_vectors("m", 4, rows(["a"], 4))
    store.put_vectors("n", 4, rows(["a"], 4, seed=5))
    store.put_vectors("o", 384, rows(["a"], 384))
    assert store.vectors("m").equals(rows(["a"], 4))
    assert store.vectors("n").equals(rows(["a"], 4, seed=5))
    assert store.vectors("o").schema.field("vector").type == pa.list_(pa.float32(), 384)
    assert len(store.vectors("unknown")) == 0


def test_vectors_of_two_models_in_many_pieces_come_back_complete(store):
    hashes = [f"{number * 7919 % 5_003:04x}" for number in range(5_000)]  # the first piece has 2,000 rows
    for at in range(0, 5_000, 1_000):  # rows of both models alternate in the file
        store.put_vectors("m", 4, rows(hashes[at : at + 1_000], seed=at))
        store.put_vectors("n", 4, rows(hashes[at : at + 1_000], seed=at + 1))
    for model, seed in (("m", 0), ("n", 1)):
        written = pa.concat_tables([rows(hashes[at : at + 1_000], seed=at + seed) for at in range(0, 5_000, 1_000)])
        assert store.vectors(model).equals(written.sort_by("text_hash").combine_chunks())


@pytest.mark.local
def test_vectors_survive_a_new_file(store, world):
    store.put_vectors("m", 4, rows(["a", "b"]))
    store.apply(world.full())
    store.replace(world.full())
    store.compact()
    assert store.vectors("m").equals(rows(["a", "b"]))


@pytest.mark.local
def test_no_rows_are_not_work(store):
    store.put_vectors("m", 4, rows([]))
    assert len(store.vectors("m")) == 0
    assert not store._file.with_name("graph.db.wal").exists()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (rows(["a"], vectors=[[1, np.nan, 0, 0]]), "NaN or infinite"),
        (rows(["a"], vectors=[[1, np.inf, 0, 0]]), "NaN or infinite"),
        (rows(["a"], vectors=[[0, 0, 0, 0]]), "zero"),
        (rows(["a"], 3), "fixed_size_list"),
        (rows(["a", "a"]), "the same text_hash"),
        (rows(["a"]).set_column(0, "text_hash", pa.array([None], pa.string())), "no text_hash"),
        (rows(["a"]).rename_columns(["hash", "vector"]), "text_hash"),
        (rows(["a"]).set_column(1, "vector", pa.array([None], pa.list_(pa.float32(), 4))), "missing"),
    ],
)
def test_vectors_that_could_not_be_compared_are_refused(store, table, words):
    with pytest.raises(BadInputError, match=words):
        store.put_vectors("m", 4, table)
    assert len(store.vectors("m")) == 0


@pytest.mark.parametrize(("model", "dim"), [("", 4), ("m", 0), ("m", 5000), ("m", -1)])
def test_a_model_has_a_name_and_sane_dimensions(store, model, dim):
    with pytest.raises(BadInputError):
        store.put_vectors(model, dim, rows(["a"]))


def test_the_vectors_of_one_model_can_be_deleted(store, open_at, path):
    store.put_vectors("m", 4, rows(["a", "b"]))
    store.put_vectors("n", 4, rows(["a"], seed=5))
    store.put_vectors("o", 8, rows(["a", "b", "c"], 8))
    assert store.vector_models() == {"m": 2, "n": 1, "o": 3}
    assert store.forget_vectors("o") == 3
    assert store.forget_vectors("m") == 2
    assert store.forget_vectors("m") == store.forget_vectors("unknown") == 0
    store.close()
    again = open_at(path)
    assert again.vector_models() == {"n": 1}
    assert again.vectors("n").equals(rows(["a"], seed=5))
    again.put_vectors("m", 4, rows(["a"], seed=7))
    assert again.vectors("m").equals(rows(["a"], seed=7))


def test_many_vectors_are_deleted_a_piece_at_a_time(store, monkeypatch):
    monkeypatch.setattr("graphmem.store.writes.embeddings.DELETED", 7)
    store.put_vectors("m", 4, rows([f"{i:03}" for i in range(50)]))
    assert store.forget_vectors("m") == 50
    assert len(store.vectors("m")) == 0


READ = """
import sys
import pyarrow as pa
from graphmem.projection.vectors import VectorIndex
from graphmem.store.tables.tables import EmbeddingTable
from graphmem.store.writes.embeddings import of_model
vectors = pa.array([[0.0, 2.0], [1.0, 0.0], [3.0, 0.0]], pa.list_(pa.float32(), 2))
rows = pa.table({"id": ["1", "2", "3"], "model": ["m", "n", "m"], "text_hash": ["b", "c", "a"], "vec": vectors})
index = VectorIndex("m", 2)
index.add_table(of_model(lambda table: [rows], [EmbeddingTable(2)], "m"), lambda key: True)
print(index.hashes(), index.cosines([1.0, 0.0], ["a", "b"]), "pyarrow.compute" in sys.modules)
"""


def test_vectors_are_read_without_the_compute_functions_that_a_command_would_wait_for():
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    assert done.stdout == "['a', 'b'] {'a': 1.0, 'b': 0.0} False\n"
