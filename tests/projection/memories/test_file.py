"""The saved projection of memories is the one that was saved, and nothing else is taken for it."""

import random

import pytest

from graphmem import GraphMem
from graphmem.projection.memories.file import FILE, load_memories, save_memories
from graphmem.settings import Settings
from made_once import empty_index

WORDS = "router session cache token retry schema worker queue header cookie stream lock parser index commit branch".split()  # noqa: SIM905


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    for name in "abc":
        (root / f"{name}.py").write_text(f"def {name}_one():\n    return 1\n", encoding="utf-8")
    return root


def opened(tmp_path):
    return GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none"))


def fill(memory, count=60):
    chance = random.Random(3)
    memory.remember_many(
        {
            "id": f"m{i}",
            "content": f"{' '.join(chance.choices(WORDS, k=9))}, note {i}{'?' if i % 7 == 0 else ''}",
            "files": [f"{'abc'[i % 3]}.py"],
            "session": f"s{i % 5}",
            "tags": [f"tag{i % 4}"],
            "visibility": "personal" if i % 11 == 0 else "project",
        }
        for i in range(count)
    )
    memory.remember("the router keeps its session in the cache", id="new", required_with=["m3"])


def told(index):
    ids = sorted(index.ids())
    return (
        index.generation,
        list(index.all_rows()),
        ids,
        [(index.about(one), index.relates(one), index.learnt(one), index.moments(one, 2), index.targets(one)) for one in ids],
        [index.session(f"s{i}") for i in range(5)],
        [index.of_session(f"s{i}") for i in range(5)],
        [index.about_target(target) for one in ids for target in index.targets(one)],
        [index.by_fingerprint(row.fingerprint) for row in index.all_rows()],
        [index.by_short_id(row.short_id) for row in index.all_rows()],
        [index.find(query.split(), None, 20)[:7] for query in ("router session", "cookie", "nothing")],
        index.missing_vectors(),
    )


def test_what_is_read_back_answers_like_what_was_saved_and_follows_writes_like_it(root, tmp_path):
    with opened(tmp_path) as memory:
        memory.index(root)
        fill(memory)
        index = memory.parts.projections.memories()
        save_memories(index, tmp_path / "saved", "a key")
        again = load_memories(tmp_path / "saved", index.generation, "a key")
        assert again is not None
        assert told(again) == told(index)
        rows = {row.id: row for row in index.all_rows()}
        from graphmem.knowledge import KnowledgeDelta

        delta = KnowledgeDelta(removed_memories=["m1", "m2"], memories=[rows["m5"]._replace(content="a parser that was changed")])
        for one in (index, again):
            one.patch(delta)
        assert told(again) == told(index)


def test_a_file_of_another_state_or_a_damaged_one_is_not_taken(root, tmp_path):
    with opened(tmp_path) as memory:
        memory.index(root)
        fill(memory)
        index = memory.parts.projections.memories()
        path = tmp_path / "saved"
        assert load_memories(path, index.generation, "a key") is None
        save_memories(index, path, "a key")
        assert load_memories(path, index.generation + 1, "a key") is None
        assert load_memories(path, index.generation, "another key") is None
        whole = path.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            torn = bytearray(whole)
            torn[at] ^= 0xFF
            path.write_bytes(torn)
            found = load_memories(path, index.generation, "a key")
            assert found is None or told(found) == told(index)  # the room between sections says nothing
        path.write_bytes(whole[: len(whole) // 2])
        assert load_memories(path, index.generation, "a key") is None


def test_unloaded_memories_come_back_with_the_next_query(root, tmp_path, monkeypatch):
    with opened(tmp_path) as memory:
        memory.index(root)
        fill(memory)
        before = told(memory.parts.projections.memories())
        assert memory.cool()
        assert (tmp_path / "index" / FILE).exists()
        monkeypatch.setattr(memory.parts.store, "knowledge", lambda *_: pytest.fail("they are read from the file"))
        assert told(memory.parts.projections.memories()) == before
        memory.cool()
        assert memory.search("router session cache", limit=3).hits
        memory.cool()
        memory.remember("the lock of the worker is taken before the queue is read", id="late")
        assert memory.memory("late").content.startswith("the lock")
        assert memory.search("lock of the worker before the queue", limit=1).hits[0].id
        memory.cool()
        memory.forget("m8")
        assert "m8" not in memory.parts.projections.memories().ids()


def test_an_index_that_is_opened_again_reads_them_from_the_file_and_a_write_makes_the_file_old(root, tmp_path, monkeypatch):
    with opened(tmp_path) as memory:
        memory.index(root)
        fill(memory)
        before = told(memory.parts.projections.memories())
    with opened(tmp_path) as memory:
        assert memory.parts.projections._memories._saved == "" or memory.parts.projections.wait()
        assert told(memory.parts.projections.memories()) == before
        assert memory.parts.projections._memories._saved
        first = (tmp_path / "index" / FILE).read_bytes()
        memory.remember("one more about the cookie of the header", id="more")
    assert (tmp_path / "index" / FILE).read_bytes() != first
    with opened(tmp_path) as memory:
        assert memory.memory("more").content.startswith("one more")
