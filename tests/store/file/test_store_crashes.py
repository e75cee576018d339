"""Whatever moment a process dies or the disk is full: the old graph or the new one, whole."""

from __future__ import annotations

import random
import shutil
import time

import pytest

from graphmem.errors import LimitError
from graphmem.store.file import changing
from graphmem.store.file.lock import read_record

BUDGET_S = 6.0  # of killing in each test; every round is a random moment


def _after(world_type, seed, generation):
    """The world a child with this seed has written at some generation."""
    world = world_type(seed, files=6)
    for _ in range(generation - 1):
        world.edit(2)
    return world


@pytest.mark.slow
def test_a_process_killed_at_any_moment_of_a_change_leaves_a_whole_graph(child, path, open_at, new_world, equal):
    moments = random.Random(7)
    code = """
        world = suite.World(5, files=6)
        store = reopen()
        if store.generation() == 0:
            store.apply(world.full())
        else:
            for _ in range(store.generation() - 1):
                world.edit(2)
        say(store.generation())
        for number in range(1000):
            say(store.apply(world.edit(2)))
            if number % 7 == 3:
                store.checkpoint()
    """
    end, rounds, seen = time.monotonic() + BUDGET_S, 0, 1
    while rounds < 2 or time.monotonic() < end:
        process = child(code)
        assert int(process.line()) >= seen
        time.sleep(moments.uniform(0.0, 0.6))
        said = process.kill().split()
        store = open_at(path)
        assert store.generation() >= max([seen, *map(int, said)])  # nothing that was reported is lost
        seen, rounds = store.generation(), rounds + 1
        equal(store, _after(new_world, 5, seen))
        assert store.notes == []
        store.close()


@pytest.mark.slow
def test_a_process_killed_at_any_moment_of_a_new_file_leaves_the_old_or_the_new(child, path, open_at, new_world, equal):
    moments = random.Random(8)
    code = """
        store = reopen()
        one, other = suite.World(1, files=12), suite.World(2, files=12)
        store.set_meta({"kept": "yes"})
        while True:
            say("begin", store.generation())
            store.replace((other if store.generation() % 2 else one).full())
            say("end", store.generation())
    """
    end, rounds, last = time.monotonic() + BUDGET_S, 0, 0
    while rounds < 2 or time.monotonic() < end:
        process = child(code)
        process.line()
        time.sleep(moments.uniform(0.0, 0.7))
        said = [int(line.split()[1]) for line in process.kill().splitlines()]
        store = open_at(path)
        generation = store.generation()
        assert generation >= max([last, *said])
        if generation:
            equal(store, new_world(1 if generation % 2 else 2, files=12))
        assert store.meta() == {"kept": "yes"}
        assert store.notes == []
        assert not path.with_name("graph.db.next").exists()
        last, rounds = generation, rounds + 1
        store.close()


def test_a_handle_left_open_is_noticed_and_the_log_is_replayed(child, path, open_at, new_world, equal):
    process = child("""
        world = suite.World(5)
        store = reopen()
        store.apply(world.full())
        store.apply(world.edit(3))
        say("done")
        sys.stdin.readline()
        import time; time.sleep(60)
    """)
    process.line()
    process.kill()
    record = read_record(path)
    assert record is not None
    assert not record.clean
    assert path.with_name("graph.db.wal").stat().st_size > 0
    store = open_at(path)
    world = new_world(5)
    world.edit(3)
    equal(store, world)
    assert store.notes == []


FULL_DISK = """
    import resource
    files.soft_limit = lambda which: None  # so that the engine itself meets the refusal
    world = suite.World(3, files=6)
    store = reopen()
    store.apply(world.full())
    store.checkpoint()
    before = (store.generation(), world.state())
    grown = suite.World(3, files=6)
    for _ in range(25):
        grown.add_file(12)
    delta = grown.since(before[1])
    limits = [int(size) for size in {limits}]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in limits:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            {action}
        except (DiskFullError, ResourceError) as error:
            say("full")
        else:
            say("fitted")
            break
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        suite.check_equal(store, world)
        assert store.generation() == before[0]
    store.apply(delta)
    suite.check_equal(store, grown)
    store.close()
    say("closed")
"""


@pytest.mark.parametrize(
    ("action", "base"),
    [("store.apply(delta)", 0), ("store.replace(grown.full())", 0)],
    ids=["transaction", "new-file"],
)
def test_a_full_disk_leaves_the_old_graph_and_a_working_store(child, action, base):
    limits = [4_096, 40_000, 200_000, 700_000]
    process = child(FULL_DISK.format(action=action, limits=limits))
    code, out, err = process.end()
    said = out.split()
    assert code == 0, err
    assert said[0] == "full"
    assert said[-1] == "closed"


def test_a_full_disk_while_the_file_is_brought_up_to_date_loses_nothing(child):
    process = child("""
        import resource
        files.soft_limit = lambda which: None  # so that the engine itself meets the refusal
        world = suite.World(3, files=6)
        store = reopen()
        store.apply(world.full())
        for _ in range(25):
            old = world.state()
            world.add_file(12)
            store.apply(world.since(old))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (os_size := __import__("os").path.getsize(path) // 2, hard))
        try:
            store.checkpoint()
        except (DiskFullError, ResourceError):
            say("full")
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        suite.check_equal(store, world)
        store.checkpoint()
        suite.check_equal(store, world)
        store.close()
        suite.check_equal(reopen(), world)
        say("whole")
    """)
    code, out, err = process.end()
    assert code == 0, err
    assert out.split() == ["full", "whole"]


@pytest.mark.own
def test_a_change_too_large_for_the_buffer_pool_is_written_as_a_new_file(store, new_world, equal, monkeypatch):
    world = new_world(4)
    store.apply(world.full())
    real = changing.apply_delta

    def too_large(*arguments):
        real(*arguments)
        raise LimitError("the engine ran out of the memory it may use", limit="buffer_pool_bytes", allowed=0, found=0)

    monkeypatch.setattr(changing, "apply_delta", too_large)
    inode = store._file.stat().st_ino
    store.apply(world.edit(3))
    equal(store, world)
    assert store._file.stat().st_ino != inode


def test_no_room_to_make_a_database_is_one_sentence_and_leaves_nothing(child, path):
    process = child("""
        import resource
        files.soft_limit = lambda which: None  # so that the engine itself meets the refusal
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        try:
            reopen()
        except (DiskFullError, ResourceError) as error:
            say(error)
    """)
    code, out, err = process.end()
    assert code == 0, err
    assert "no room" in out
    assert not path.exists()
    assert shutil.disk_usage(path.parent).free > 0
