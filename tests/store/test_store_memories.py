"""Memories, their links, their vectors: what goes in comes out, in one step or not at all."""

from __future__ import annotations

import itertools
import threading
import time
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from graphmem.errors import BadInputError, LimitError
from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, MemoryRow, NamedFile, RelatesRow
from graphmem.store.file import changing, large_knowledge

MANY = 60  # more than go one by one


def everything(store):
    """All of layer 3, but for the counter."""
    return store.knowledge()[1:]


def full_delta(make, world, names):
    """Memories with links of every kind."""
    rows = [make.memory(name) for name in names]
    symbols = sorted(world.symbols.values())
    targets = [symbols[0], sorted(world.files.values())[0], sorted(world.externals.values())[0]]
    return KnowledgeDelta(
        memories=rows,
        anchored=names,
        about=[make.linked(row, targets[at % 3]) for at, row in enumerate(rows)]
        + [make.linked(row, symbols[at % len(symbols)], "target") for at, row in enumerate(rows)],
        relates=[RelatesRow(one, two, "derived_from", 0.5, True) for one, two in itertools.pairwise(names)],
        sessions=[make.session("s1"), make.session("s2", ended_at=make.now)],
        learnt=[LearntRow(name, "s1" if at % 2 else "s2", at, at + 1) for at, name in enumerate(names)],
    )


@pytest.mark.parametrize("count", [3, MANY], ids=["few", "many"])
def test_everything_that_is_written_comes_back(store, world, open_at, path, make, count):
    store.apply(world.full())
    names = [f"m{number:03}" for number in range(count)]
    delta = full_delta(make, world, names)
    memories = [
        row._replace(
            tags=(),
            last_accessed_at=make.now + timedelta(microseconds=at),
            half_life_days=30.5,
            commit_sha="c0ffee",
            work_unit='{"a": 1}',
            details="{}",
            valid_to=make.now,
            disputed=True,
        )
        if at % 2
        else row
        for at, row in enumerate(delta.memories)
    ]
    assert store.apply_knowledge(delta._replace(memories=memories), make.vectors(memories), {"memory.position": "7"}) == 1

    def check(store):
        found = store.knowledge()
        assert found.generation == store.knowledge_generation() == 1
        assert found.memories == memories
        assert found.about == sorted(delta.about, key=lambda row: row[:4])
        assert found.relates == sorted(delta.relates)
        assert found.sessions == sorted(delta.sessions)
        assert found.learnt == sorted(delta.learnt)
        assert store.vectors(make.model).equals(make.vectors(memories))
        assert store.meta() == {"memory.position": "7"}
        assert store.generation() == 1

    check(store)
    store.close()
    again = open_at(path)
    check(again)
    again.compact()
    assert everything(again) == (memories, sorted(delta.about, key=lambda row: row[:4]), *everything(again)[2:])
    assert again.vectors(make.model).equals(make.vectors(memories))


@pytest.mark.parametrize("wanted", [["m001"], [f"m{number:03}" for number in range(0, MANY, 2)], ["nobody"], []])
@pytest.mark.begun
def test_what_belongs_to_some_memories_comes_back_alone(store, world, make, wanted):
    delta = full_delta(make, world, [f"m{number:03}" for number in range(MANY)])
    store.apply_knowledge(delta)
    found = store.knowledge(wanted)
    assert found.memories == [row for row in delta.memories if row.id in wanted]
    assert found.about == sorted((row for row in delta.about if row.memory_id in wanted), key=lambda row: row[:4])
    assert found.relates == sorted(row for row in delta.relates if row.src in wanted or row.dst in wanted)
    assert found.learnt == sorted(row for row in delta.learnt if row.memory_id in wanted)
    assert {row.id for row in found.sessions} == {row.session_id for row in found.learnt}


@pytest.mark.parametrize("count", [3, MANY], ids=["few", "many"])
@pytest.mark.begun
def test_the_same_change_again_changes_nothing(store, world, make, count):
    delta = full_delta(make, world, [f"m{number:03}" for number in range(count)])
    store.apply_knowledge(delta, make.vectors(delta.memories))
    before = everything(store), store.vectors(make.model)
    assert store.apply_knowledge(delta, make.vectors(delta.memories)) == 2
    assert everything(store) == before[0]
    assert store.vectors(make.model).equals(before[1])


@pytest.mark.parametrize("count", [3, MANY], ids=["few", "many"])
@pytest.mark.begun
def test_every_column_can_be_changed_and_the_links_stay(store, world, make, count):
    delta = full_delta(make, world, [f"m{number:03}" for number in range(count)])
    store.apply_knowledge(delta)
    _, *links = everything(store)

    def other(value):
        if value is None:
            return None
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            return value + 1
        if isinstance(value, datetime):
            return value + timedelta(days=1, microseconds=1)
        return ("x", "y") if isinstance(value, tuple) else f"other {value}"

    changed = [MemoryRow(row.id, *map(other, row[1:])) for row in delta.memories]
    kept = [row._replace(valid_to=make.now, half_life_days=1.5, work_unit="{}", commit_sha="c") for row in changed]
    cleared = [row._replace(valid_to=None, half_life_days=None, work_unit=None, commit_sha=None, tags=()) for row in changed]
    for rows in (kept, cleared):
        store.apply_knowledge(KnowledgeDelta(memories=rows))
        assert everything(store)[0] == rows
    ended = [row._replace(ended_at=make.now, title="over", stale_at=make.now) for row in delta.sessions]
    store.apply_knowledge(KnowledgeDelta(sessions=ended))
    links[2] = ended
    assert everything(store)[1:] == tuple(links)


@pytest.mark.begun
def test_links_are_replaced_for_the_anchored_and_kept_for_others(store, world, make):
    delta = full_delta(make, world, ["a", "b"])
    store.apply_knowledge(delta)
    symbol = sorted(world.symbols.values())[-1]
    link = make.linked(delta.memories[0], symbol, "impacts")
    store.apply_knowledge(KnowledgeDelta(anchored=["a"], about=[link]))
    assert store.knowledge().about == [link, *sorted((row for row in delta.about if row.memory_id == "b"), key=lambda row: row[:4])]
    store.apply_knowledge(KnowledgeDelta(anchored=["a", "b"]))
    assert store.knowledge().about == []


def test_links_between_memories_and_to_sessions_are_upserts(store, make):
    rows = [make.memory(name) for name in "abc"]
    one, two = RelatesRow("a", "b", "validates", 0.5, True), RelatesRow("a", "b", "conflicts_with", 0.5, False)
    learnt = LearntRow("a", "s", 1, 2)
    store.apply_knowledge(KnowledgeDelta(memories=rows, relates=[one, two], sessions=[make.session("s")], learnt=[learnt]))
    stronger, later = one._replace(confidence=1.0), learnt._replace(message_to=9)
    store.apply_knowledge(KnowledgeDelta(relates=[stronger], learnt=[later]))
    assert store.knowledge().relates == [two, stronger]
    assert store.knowledge().learnt == [later]
    store.apply_knowledge(KnowledgeDelta(removed_relates=[two[:3], ("b", "a", "validates")]))
    assert store.knowledge().relates == [stronger]


@pytest.mark.parametrize("count", [2, MANY], ids=["few", "many"])
@pytest.mark.local
@pytest.mark.begun
def test_a_removed_memory_takes_its_links_and_its_vector_along(store, world, make, count):
    names = [f"m{number:03}" for number in range(count + 2)]
    delta = full_delta(make, world, names)
    kept, gone = names[:2], names[2:]
    memories = [row._replace(text_hash="shared") if row.id in (names[0], names[-1]) else row for row in delta.memories]
    store.apply_knowledge(delta._replace(memories=memories), make.vectors(memories))
    store.apply_knowledge(KnowledgeDelta(removed_memories=[*gone, "nobody"]))
    found = store.knowledge()
    assert [row.id for row in found.memories] == kept
    assert {row.memory_id for row in (*found.about, *found.learnt)} == set(kept)
    assert [(row.src, row.dst) for row in found.relates] == [(names[0], names[1])]
    assert store.vectors(make.model)["text_hash"].to_pylist() == sorted(row.text_hash for row in memories if row.id in kept)
    store.apply_knowledge(KnowledgeDelta(removed_memories=kept))
    assert store.knowledge()[1:4] == ([], [], [])
    assert len(store.vectors(make.model)) == 0
    for edge in ("ABOUT", "RELATES", "LEARNT_IN"):  # and nothing hangs loose, seen from either side
        assert store._connection.rows(f"MATCH ()-[e:{edge}]->() RETURN count(*)").rows == [[0]]
        assert store._connection.rows(f"MATCH ()<-[e:{edge}]-() RETURN count(*)").rows == [[0]]


@pytest.mark.begun
def test_a_vector_of_a_chunk_stays_when_a_memory_of_the_same_text_goes(store, world, make):
    row = make.memory("m", text_hash=sorted(world.chunks.values())[0].text_hash)
    store.apply_knowledge(KnowledgeDelta(memories=[row]), make.vectors([row]))
    store.apply_knowledge(KnowledgeDelta(removed_memories=["m"]))
    assert len(store.vectors(make.model)) == 1


def test_a_new_text_has_a_new_vector_and_the_old_one_goes(store, make):
    row = make.memory("m")
    store.apply_knowledge(KnowledgeDelta(memories=[row]), make.vectors([row]))
    changed = row._replace(content="other", text_hash="other")
    store.apply_knowledge(KnowledgeDelta(memories=[changed]), make.vectors([changed]))
    assert store.vectors(make.model).equals(make.vectors([changed]))


@pytest.mark.local
@pytest.mark.begun
def test_a_link_to_unknown_code_is_left_out(store, world, make):
    row = make.memory("m")
    nowhere = [AboutRow("m", "nothing", label, "about", 1.0, "", "", "valid") for label in ("Symbol", "File", "External", "Module")]
    unnamed = NamedFile("other", "other.py")
    store.apply_knowledge(KnowledgeDelta(memories=[row], anchored=["m"], about=nowhere, files=[unnamed]))
    assert everything(store)[:2] == ([row], [])
    assert store._connection.rows("MATCH (f:File {id: 'other'}) RETURN f.id").rows == []


_ROW = AboutRow("m", "t", "File", "about", 1.0, "", "", "valid")


@pytest.mark.own
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda make: KnowledgeDelta(memories=[make.memory("m")] * 2), "have the same id; use each id once"),
        (lambda make: KnowledgeDelta(memories=[("m",)]), "has the wrong type"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m")], removed_memories=["m"]), "both removes and writes"),
        (lambda make: KnowledgeDelta(removed_memories=["m", "m"]), "in the change are equal"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m")], about=[_ROW]), "anchored"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m")], anchored=["m"], about=[_ROW] * 2), "in the change are equal"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m")], anchored=["m"], about=[_ROW._replace(label="Chunk")]), "Chunk"),
        (
            lambda make: KnowledgeDelta(memories=[make.memory("m")], relates=[RelatesRow("m", "x", "validates", 1.0, True)]),
            "RELATES m -> x",
        ),
        (lambda make: KnowledgeDelta(memories=[make.memory("m")], learnt=[LearntRow("m", "x", 0, 0)]), "LEARNT_IN m -> x"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m", content="\ud800")]), "surrogate"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m", used_count=1 << 70)]), "64 bits"),
        (lambda make: KnowledgeDelta(memories=[make.memory("m", created_at=datetime(2024, 1, 1))]), "time zone"),  # noqa: DTZ001
        (lambda make: KnowledgeDelta(memories=[make.memory(f"m{at}", content="\ud800") for at in range(MANY)]), "Memory.content"),
        (lambda make: KnowledgeDelta(memories=[make.memory(f"m{at}", created_at=datetime(2024, 1, 1)) for at in range(MANY)]), "time zone"),  # noqa: DTZ001
    ],
)
def test_a_change_that_cannot_be_is_refused_and_nothing_of_it_stays(store, make, change, words):
    before = make.memory("before")
    store.apply_knowledge(KnowledgeDelta(memories=[before]))
    session = make.session("s")
    with pytest.raises(BadInputError, match=words):
        store.apply_knowledge(change(make)._replace(sessions=[session]), meta={"memory.position": "9"})
    assert everything(store) == ([before], [], [], [], [])
    assert store.knowledge_generation() == 1
    assert store.meta() == {}
    store.apply_knowledge(KnowledgeDelta(memories=[make.memory("after")]))
    assert [row.id for row in store.knowledge().memories] == ["after", "before"]


@pytest.mark.own
def test_vectors_are_of_the_one_model_the_memories_name(store, make):
    rows = [make.memory("a"), make.memory("b", embedding_model="another")]
    for memories, vectors, words in (
        (rows, make.vectors(rows), "several embedding models"),
        ([make.memory("a", embedding_model="")], make.vectors(rows), "no memory of the write has an embedding_model"),
        (rows[:1], pa.table({"text_hash": ["a"], "vector": [[1.0]]}), "fixed_size_list"),
        (rows[:1], pa.table({"text_hash": ["a"]}), "fixed_size_list"),
    ):
        with pytest.raises(BadInputError, match=words):
            store.apply_knowledge(KnowledgeDelta(memories=memories), vectors)
    assert store.knowledge_generation() == 0


def test_a_reader_sees_a_change_whole_or_not_at_all(store, make):
    names = [f"m{number:02}" for number in range(30)]
    done, wrong = threading.Event(), []

    def read():
        while not done.is_set():
            found = store.knowledge()
            if {row.strength for row in found.memories} - {found.generation} or len(found.learnt) != len(found.memories):
                wrong.append(found.generation)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for generation in range(1, 8):
            rows = [make.memory(name, strength=generation) for name in names]
            store.apply_knowledge(
                KnowledgeDelta(memories=rows, sessions=[make.session("s")], learnt=[LearntRow(name, "s", 0, generation) for name in names])
            )
    finally:
        done.set()
        reader.join()
    assert not wrong


@pytest.mark.begun
def test_ten_thousand_memories_with_vectors_are_one_change(store, world, make):
    symbols = sorted(world.symbols.values())
    rows = [make.memory(f"m{number:05}", content="A sentence of a memory. " * 20) for number in range(10_000)]
    delta = KnowledgeDelta(
        memories=rows,
        anchored=[row.id for row in rows],
        about=[make.linked(row, symbols[at % len(symbols)]) for at, row in enumerate(rows)],
        sessions=[make.session("s")],
        learnt=[LearntRow(row.id, "s", 0, 0) for row in rows],
    )
    vectors = make.vectors(rows, 384)
    began = time.process_time()
    assert store.apply_knowledge(delta, vectors) == 1
    spent = time.process_time() - began
    assert everything(store)[0] == rows
    assert len(store.knowledge().about) == len(rows)
    assert store.vectors(make.model).equals(vectors)
    assert spent < 6  # 2 to 3 s of processor here; one by one it would take a minute


@pytest.mark.parametrize("count", [3, MANY], ids=["few", "many"])
def test_a_change_too_large_for_one_transaction_is_one_step_all_the_same(store, world, make, equal, open_at, path, monkeypatch, count):
    store.apply(world.full())
    first = full_delta(make, world, ["a", "b", "c"])
    store.apply_knowledge(first, make.vectors(first.memories))
    monkeypatch.setattr(large_knowledge, "PIECE_ROWS", 7)
    real = changing.apply_knowledge

    def too_large(*arguments):
        real(*arguments)
        raise LimitError("the engine ran out of the memory it may use", limit="buffer_pool_bytes", allowed=0, found=0)

    monkeypatch.setattr(changing, "apply_knowledge", too_large)
    names = ["a", *(f"m{number:03}" for number in range(count))]
    delta = full_delta(make, world, names)
    changed = delta.memories[0]._replace(content="other", text_hash="other")
    delta = delta._replace(
        memories=[changed, *delta.memories[1:]],
        removed_memories=["c"],
        anchored=[*names, "b"],
        relates=[*delta.relates, RelatesRow(names[-1], "b", "supersedes", 1.0, False)],
        removed_relates=[("a", "b", "derived_from")],
    )
    with store._snapshot():  # a reader that is still there is waited for
        pass
    assert store.apply_knowledge(delta, make.vectors(delta.memories), {"memory.position": "2"}) == 2
    found = store.knowledge()
    b = first.memories[1]
    assert found.memories == sorted([*delta.memories, b])
    assert found.about == sorted(delta.about, key=lambda row: row[:4])
    assert found.relates == sorted(delta.relates)
    assert {row.memory_id for row in found.learnt} == {*names, "b"}
    assert store.vectors(make.model).equals(make.vectors([*delta.memories, b]))
    assert store.meta() == {"memory.position": "2"}
    equal(store, world)
    store.close()
    assert open_at(path).knowledge() == found


@pytest.mark.own
def test_a_change_too_large_that_cannot_be_is_refused_and_nothing_of_it_stays(store, world, make, monkeypatch):
    first = full_delta(make, world, ["a"])._replace(about=(), anchored=())
    store.apply_knowledge(first)
    before = store.knowledge()

    def too_large(*_):
        raise LimitError("the engine ran out of the memory it may use", limit="buffer_pool_bytes", allowed=0, found=0)

    monkeypatch.setattr(changing, "apply_knowledge", too_large)
    loose = RelatesRow("b", "nobody", "validates", 1.0, True)
    with pytest.raises(BadInputError, match="RELATES b -> nobody"):
        store.apply_knowledge(KnowledgeDelta(memories=[make.memory("b")], relates=[loose]))
    assert store.knowledge() == before
    assert not store._file.with_name("graph.db.next").exists()
