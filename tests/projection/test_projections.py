"""The projections of a real database equal what the store itself says, after any edits and after any restart."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest

from graphmem.embedding.fill import vector_table
from graphmem.errors import GraphMemError
from graphmem.knowledge import KnowledgeDelta
from graphmem.model import GraphDelta
from graphmem.projection.graph.view import GraphView
from graphmem.projection.loading import GRAPH_FILE
from graphmem.projection.projections import Projections
from graphmem.projection.words.index import WordIndex
from graphmem.store import open_store

QUERIES = ["load", "get_value cache", "HTTPServer2 run", "größe", "данные x"]


@pytest.fixture
def opened(tmp_path):
    """Opens the database in tmp_path and its projections; both are closed at the end."""
    things = []

    def open_both():
        store = open_store(tmp_path / "graph.db", buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
        projections = Projections(store, tmp_path)
        things.append((store, projections))
        return store, projections

    yield open_both
    for store, projections in things:
        projections.close()
        store.close()


def check(store, projections, folder):
    """Graph and words say what the store says, row by row and query by query."""
    shot = projections.snapshot()
    tables = store.tables()
    assert shot.generation == shot.words.generation == tables.generation == store.generation()
    assert shot.graph.arrays.difference(GraphView.from_tables(tables).arrays) == ""
    fresh = WordIndex.build(folder / f"fresh-{tables.generation}", tables.generation, store.packed_chunks())
    assert shot.words.chunk_keys() == fresh.chunk_keys()
    for query in QUERIES:
        mine, theirs = ([(hit.id, f"{hit.score:.9g}") for hit in index.search(query, 500).hits] for index in (shot.words, fresh))
        assert mine == theirs
    have, total = projections.covered()
    assert total == len(fresh)
    known = projections.vector_hashes()
    assert have == sum(text_hash in known for _, text_hash, _ in fresh.chunk_keys())


@pytest.mark.parametrize("seed", range(4))
def test_projections_equal_the_store_after_random_edits(world, opened, tmp_path, seed):
    w = world(seed, 7)
    store, projections = opened()
    w.generation = store.apply(w.full())
    projections.refresh(w.generation, None)
    check(store, projections, tmp_path)
    words_file = projections.snapshot().words.path
    for _ in range(6):
        delta = w.edit()
        projections.refresh(store.apply(delta), delta)
        check(store, projections, tmp_path)
    assert projections.snapshot().words.path == words_file  # patched, not built again


def test_projections_are_there_again_after_a_restart_without_being_built(world, opened, tmp_path, monkeypatch):
    w = world(21, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    for _ in range(2):
        delta = w.edit()
        projections.refresh(store.apply(delta), delta)
    projections.close()
    store.close()

    def never(*args):
        raise AssertionError("built again")

    monkeypatch.setattr(WordIndex, "build", never)
    monkeypatch.setattr(GraphView, "from_tables", never)
    _, again = opened()
    assert again.wait(30)
    assert again.note() == ""
    monkeypatch.undo()
    check(again._store, again, tmp_path)


def test_the_graph_answers_while_the_words_are_opened_and_a_search_waits_for_them(world, opened, monkeypatch):
    store, projections = opened()
    projections.refresh(store.apply(world(33, 6).full()), None)
    projections.close()
    store.close()
    may_open, open_words = threading.Event(), WordIndex.open

    def slow(*given):
        assert may_open.wait(30)
        return open_words(*given)

    monkeypatch.setattr(WordIndex, "open", slow)
    _, again = opened()
    assert again.graph().n
    shots = []
    searching = threading.Thread(target=lambda: shots.append(again.snapshot()))
    searching.start()
    assert not shots
    may_open.set()
    searching.join(30)
    assert shots[0].words is not None
    assert shots[0].covered == again.covered() == (0, len(shots[0].words))


def test_a_commit_the_projections_missed_makes_them_again(world, opened, tmp_path):
    w = world(22, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    projections.close()
    store.apply(w.edit())
    store.close()
    store, again = opened()
    again.wait(30)
    check(store, again, tmp_path)
    delta = w.edit()
    store.apply(delta)
    delta = w.edit()
    again.refresh(store.apply(delta), delta)  # one generation was left out: the delta alone would not do
    check(store, again, tmp_path)


@pytest.mark.parametrize("target", [GRAPH_FILE, "words"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_damaged_files_are_made_again(world, opened, tmp_path, target, damage):
    w = world(23, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    projections.close()
    store.close()
    file = tmp_path / GRAPH_FILE if target == GRAPH_FILE else next(tmp_path.glob("words-*.sqlite"))
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:60] + b"\xff" * 2000 + whole[2060:])
    store, again = opened()
    again.wait(30)
    check(store, again, tmp_path)
    assert len(list(tmp_path.glob("words-*.sqlite"))) == 1


def test_damage_that_a_reader_meets_is_repaired_in_the_background(world, opened, tmp_path):
    w = world(24, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    shot = projections.snapshot()
    assert shot.report_damage(shot.words, 0.0).words is not shot.words
    renewed = shot.report_damage(shot.words, 30.0)
    assert renewed.words is not None
    assert any("damaged" in note for note in projections.notes)
    check(store, projections, tmp_path)
    assert projections.note() == ""


def test_a_snapshot_stays_of_one_generation_while_commits_go_on(world, opened):
    w = world(25, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            shot = projections.snapshot()
            if not shot.generation == shot.graph.generation == shot.words.generation:
                wrong.append(shot)
            for hit in shot.words.search("load cache run", 50).hits:
                symbol = shot.words.entries([hit.id])[hit.id].symbol
                if symbol and symbol not in shot.graph.index_of:
                    wrong.append(symbol)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        delta = w.edit()
        projections.refresh(store.apply(delta), delta)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_empty_database_has_empty_projections(opened):
    _, projections = opened()
    assert projections.wait(30)
    shot = projections.snapshot()
    assert (shot.generation, shot.graph.n, shot.words.search("x", 5).hits, shot.covered) == (0, 0, [], (0, 0))
    assert projections.fill_order() == []


def test_vectors_are_those_of_the_store_and_cover_what_is_there(world, opened, tmp_path):
    w = world(26, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    order = projections.fill_order()
    assert sorted(order) == sorted((row.id, row.text_hash) for row in w.chunks.values())
    view = projections.graph()
    nodes = [view.index_of.get(w.chunks[chunk].symbol_id) for chunk, _ in order]
    degrees = np.diff(view.in_ptr)
    ranks = [(1, 0) if node is None else (2 if view.is_test[node] else 0, -degrees[node]) for node in nodes]
    assert ranks == sorted(ranks)
    assert {part for part, _ in ranks} == {0, 1, 2}
    hashes = sorted({text_hash for _, text_hash in order})
    vectors = np.random.default_rng(1).normal(size=(len(hashes), 8)).astype(np.float32)
    half = len(hashes) // 2
    store.put_vectors("m", 8, vector_table(hashes[:half], vectors[:half]))
    projections.use_model("m", 8)
    check(store, projections, tmp_path)
    assert projections.vector_hashes() == frozenset(hashes[:half])
    store.put_vectors("m", 8, vector_table(hashes[half:], vectors[half:]))
    projections.add_vectors(hashes[half:], vectors[half:])
    assert projections.covered() == (len(order), len(order))
    delta = w.edit()
    projections.refresh(store.apply(delta), delta)
    check(store, projections, tmp_path)
    projections.close()
    store.close()
    store, again = opened()
    again.use_model("m", 8)
    assert again.snapshot().vectors.search(vectors[3], 1)[0][1] == pytest.approx(1.0, abs=1e-6)
    assert again.vector_hashes() == frozenset(hashes)


def test_vectors_of_another_model_take_the_place_of_the_first(world, opened):
    w = world(27, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    key = projections.fill_order()[0][1]
    store.put_vectors("one", 4, vector_table([key], np.ones((1, 4), np.float32)))
    projections.use_model("one", 4)
    assert projections.covered()[0] >= 1
    projections.use_model("two", 6)
    assert projections.covered()[0] == 0
    assert projections.snapshot().vectors.model_id == "two"


def test_what_cannot_be_read_is_said_and_not_swallowed(world, tmp_path, caplog):
    class Broken:
        def generation(self):
            return 3

        def tables(self):
            raise GraphMemError("the disk is on fire")

        def knowledge_generation(self):
            return 2

        def meta(self):
            return {}

        def knowledge(self):
            raise GraphMemError("the memories are ashes")

    projections = Projections(Broken(), tmp_path)
    assert projections.wait(30)
    assert "the disk is on fire" in projections.note()
    assert "the disk is on fire" in caplog.text
    with pytest.raises(GraphMemError, match="the disk is on fire"):
        projections.graph()
    with pytest.raises(GraphMemError, match="the memories are ashes"):
        projections.memories()
    projections.close()


def test_status_tells_what_there_is(world, opened):
    w = world(28, 8)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    status = projections.status()
    assert status["graph"]["symbols"] == len(w.symbols)
    assert status["words"]["generation"] == store.generation()
    assert status["vectors"] == {"note": "no vectors yet"}


def test_closing_while_words_are_built_does_not_wait_for_the_end(world, opened, monkeypatch):
    w = world(29, 9)
    store, projections = opened()
    projections.wait(30)
    store.apply(w.full())
    projections.close()
    started = threading.Event()
    build = WordIndex.build

    def slow(folder, generation, chunks, progress):
        def tell(rows):
            started.set()
            threading.Event().wait(0.3)
            progress(rows)

        return build(folder, generation, chunks, tell)

    monkeypatch.setattr(WordIndex, "build", slow)
    again = Projections(store, projections._dir)
    assert started.wait(30)
    assert "word index is being built" in again.note() or again.graph_if_ready() is None
    again.close()
    assert not list(projections._dir.glob("*.part"))


def test_deltas_that_change_nothing_move_the_generation_on(world, opened, tmp_path):
    w = world(30, 6)
    store, projections = opened()
    projections.refresh(store.apply(w.full()), None)
    projections.refresh(store.apply(GraphDelta.empty(), {"indexed_at": "now"}), GraphDelta.empty())
    check(store, projections, tmp_path)


def test_vector_tables_have_the_type_of_the_store():
    table = vector_table(["a"], np.ones((1, 3), np.float32))
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 3)


def test_memories_follow_the_store_and_are_read_again_when_a_write_was_missed(opened, memory):
    store, projections = opened()
    rows = [memory(f"m{n}", f"the cache number {n} is flushed hourly") for n in range(3)]
    for n, row in enumerate(rows):
        delta = KnowledgeDelta(memories=[row], anchored=[row.id])
        generation = store.apply_knowledge(delta)
        if n != 1:  # the second write is not told
            projections.refresh_knowledge(generation, delta)
    index = projections.memories()
    assert [row.id for row in index.all_rows()] == ["m0", "m1", "m2"]
    assert index.generation == store.knowledge_generation() == 3
    assert projections.status()["memories"] == {"generation": 3, "rows": 3, "with_vector": 0}


def test_vectors_of_memories_and_of_code_go_where_each_is_searched(opened, memory):
    store, projections = opened()
    row = memory("m", "the cache is flushed hourly")
    store.put_vectors("model", 4, vector_table(["code", row.text_hash], np.eye(2, 4, dtype=np.float32)))
    delta = KnowledgeDelta(memories=[row], anchored=["m"])
    projections.refresh_knowledge(store.apply_knowledge(delta), delta)
    assert projections.use_model("model")
    assert projections.vector_hashes() == {"code"}
    assert projections.memories().near(np.eye(2, 4, dtype=np.float32)[1], 5) == [("m", 1.0)]
