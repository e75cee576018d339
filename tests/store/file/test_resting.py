"""A store that nobody needs closes its file, and nobody can tell but by the memory of the process."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphmem.errors import DatabaseDamagedError, StoreBusyError, StoreClosedError
from graphmem.store import open_store
from graphmem.store.file import changing
from graphmem.store.file.building import build
from graphmem.store.file.lock import read_record

pytestmark = pytest.mark.own


@pytest.fixture
def resting(store, world):
    store.apply(world.full())
    assert store.rest(0)
    return store


def test_the_next_reader_or_writer_finds_everything(resting, world, equal):
    generation = resting.generation()
    equal(resting, world)
    assert resting.rest(0)
    assert resting.apply(world.edit(2)) == generation + 1
    equal(resting, world)


def test_small_facts_are_known_without_opening_it(resting, path):
    resting.set_meta({"colour": "red"})
    assert resting.rest(0)
    assert (resting.generation(), resting.knowledge_generation(), resting.meta()) == (1, 0, {"colour": "red"})
    assert resting.waste() >= 0
    assert read_record(path).clean


@pytest.mark.begun
def test_it_stays_open_while_it_was_used_recently(store, world):
    assert not store.rest(60)
    store.read("files")
    assert not store.rest(60)
    assert store.rest(0)
    assert not store.rest(0)  # it rests already


def test_nobody_else_gets_in_meanwhile(resting, path, engine):
    with pytest.raises(StoreBusyError):
        open_store(path, engine=engine, max_db_bytes=1 << 30)


def test_many_who_come_at_once_wake_it_once(resting, world, equal):
    def come(number):
        return len(resting.read("files")) if number % 3 else resting.set_meta({str(number): "was here"})

    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(come, range(24))) == {None, len(world.files)}
        assert len(resting.meta()) == 8
        assert resting.rest(0)
    equal(resting, world)


@pytest.mark.begun
def test_readers_and_rest_do_not_meet(store, world):
    ended = threading.Event()

    def resting():
        rested = 0
        while not ended.is_set():
            rested += store.rest(0)
        return rested

    with ThreadPoolExecutor(4) as pool:
        sleeper = pool.submit(resting)
        readers = [pool.submit(lambda: [len(store.read("files")) for _ in range(15)]) for _ in range(3)]
        assert {count for one in readers for count in one.result()} == {len(world.files)}
        ended.set()
        assert sleeper.result() >= 1


def test_a_process_killed_at_rest_leaves_a_database_that_was_closed(child, path, open_at, new_world, equal):
    process = child("""
        world = suite.World(5)
        store = reopen()
        store.apply(world.full())
        store.apply(world.edit(3))
        store.rest(0)
        say("at rest")
        import time; time.sleep(60)
    """)
    assert process.line() == "at rest"
    process.kill()
    assert read_record(path).clean
    world = new_world(5)
    world.edit(3)
    equal(open_at(path), world)


def test_a_process_killed_after_it_woke_is_known_to_have_crashed(child, path, open_at, new_world, equal):
    process = child("""
        world = suite.World(5)
        store = reopen()
        store.apply(world.full())
        store.rest(0)
        store.apply(world.edit(3))
        say("awake")
        import time; time.sleep(60)
    """)
    assert process.line() == "awake"
    process.kill()
    assert not read_record(path).clean
    world = new_world(5)
    world.edit(3)
    equal(open_at(path), world)


def test_a_byte_that_flips_while_it_rests_is_found(resting, path):
    whole = path.read_bytes()
    torn = bytearray(whole)
    torn[len(torn) // 2] ^= 0xFF
    path.write_bytes(torn)
    with pytest.raises(DatabaseDamagedError, match="changed by another program"):
        resting.read("files")
    path.write_bytes(whole)
    assert resting.read("files")


def test_a_file_that_is_taken_away_while_it_rests_is_not_made_again(resting, path):
    moved = path.rename(path.with_name("moved"))
    with pytest.raises(DatabaseDamagedError, match="moved or deleted"):
        resting.read("files")
    assert not path.exists()
    moved.rename(path)
    assert resting.read("files")


@pytest.mark.parametrize("rests", [False, True])
def test_nothing_is_written_where_its_folder_was(store, world, path, rests):
    store.apply(world.full())
    assert not rests or store.rest(0)
    there = path.parent.rename(path.parent.with_name(f"{path.parent.name}-moved"))
    path.parent.mkdir()  # of another project by now
    for change in (lambda: store.apply(world.edit(2)), lambda: store.set_meta({"colour": "red"}), store.checkpoint):
        with pytest.raises(StoreClosedError, match="was moved or deleted"):
            change()
    assert list(path.parent.iterdir()) == []
    path.parent.rmdir()
    there.rename(path.parent)
    store.set_meta({"colour": "red"})
    assert store.meta() == {"colour": "red"}


@pytest.mark.parametrize("when", ["resting", "written"])
def test_closing_it_writes_nothing_where_its_folder_was(store, world, path, open_at, when):
    store.apply(world.full())
    store.set_meta({"colour": "red"})
    assert when == "written" or store.rest(0)
    there = path.parent.rename(path.parent.with_name(f"{path.parent.name}-moved"))
    path.parent.mkdir()
    store.close()
    assert list(path.parent.iterdir()) == []
    assert open_at(there / path.name).meta() == {"colour": "red"}


@pytest.mark.parametrize("rebuild", ["first", "full"])
def test_a_rebuild_during_which_its_folder_is_moved_takes_no_place_there(store, world, path, open_at, monkeypatch, rebuild):
    if rebuild == "full":
        store.apply(world.full())
    there = path.parent.with_name(f"{path.parent.name}-moved")

    def built(*arguments, **options):
        build(*arguments, **options)
        path.parent.rename(there)
        path.parent.mkdir()  # of another project by now, which is being rebuilt, too
        (path.parent / "graph.db.next").write_text("of another")

    monkeypatch.setattr(changing, "build", built)
    with pytest.raises(StoreClosedError, match="was moved or deleted"):
        store.replace(world.full()) if rebuild == "full" else store.apply(world.full())
    store.close()
    assert [one.name for one in path.parent.iterdir()] == ["graph.db.next"]
    assert (path.parent / "graph.db.next").read_text() == "of another"
    assert open_at(there / path.name).generation() == (1 if rebuild == "full" else 0)


def test_memory_is_returned_after_a_large_index_and_kept_after_a_small_one(store, world, monkeypatch):
    asked = []
    monkeypatch.setattr(changing, "give_back", lambda *, between=False: asked.append(between))
    store.replace(world.full())
    monkeypatch.setattr(changing, "SMALL_FILE", 1)
    store.replace(world.full())
    assert asked == [True, False]
