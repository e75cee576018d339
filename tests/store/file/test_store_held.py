"""Changes of the code hold memory in the engine until a checkpoint; the writer makes one by itself, and nobody waits for it."""

from __future__ import annotations

import random

import pytest

from graphmem.store.file.files import beside
from graphmem.store.file.live_file import HELD_CHANGES


def change(store, world, times):
    for _ in range(times):
        store.apply(world.edit(1), {})


def settled(store):
    """Background work of the writer is done before later requests."""
    store.set_meta({"asked": "later"})
    return store.held_changes()


@pytest.mark.begun
def test_changes_of_the_code_are_merged_before_they_hold_much(store, world, equal):
    change(store, world, HELD_CHANGES - 1)
    assert settled(store) == HELD_CHANGES - 1
    log = beside(store._file, ".wal")
    before = log.stat().st_size
    change(store, world, 1)
    assert settled(store) == 0
    assert log.stat().st_size < before  # it holds what was asked later, and no more
    equal(store, world)
    store.rest(0)
    equal(store, world)


@pytest.mark.own
@pytest.mark.begun
def test_memories_alone_bring_no_checkpoint(store, world):
    for number in range(HELD_CHANGES + 1):
        store.set_meta({"number": str(number)})
    assert store.held_changes() == 0
    assert beside(store._file, ".wal").stat().st_size


@pytest.mark.own
@pytest.mark.begun
def test_a_read_that_takes_long_keeps_no_change_waiting(store, world, equal):
    with store._gate.shared(1):
        change(store, world, HELD_CHANGES + 1)
        assert settled(store) == HELD_CHANGES + 1
    change(store, world, 1)
    assert settled(store) == 0
    equal(store, world)


def test_a_process_killed_at_any_moment_of_checkpoints_of_its_own_loses_no_change(child, path, open_at, new_world, equal):
    moments, seen = random.Random(9), 1
    code = """
        from graphmem.store.file import live_file
        live_file.HELD_CHANGES = 3
        world = suite.World(5, files=6)
        store = reopen()
        if store.generation() == 0:
            store.apply(world.full())
        else:
            for _ in range(store.generation() - 1):
                world.edit(2)
        say(store.generation())
        while True:
            say(store.apply(world.edit(2)))
    """
    for _ in range(4):
        process = child(code)
        assert int(process.line()) >= seen
        for _ in range(moments.randint(2, 9)):
            process.line()
        said = process.kill().split()
        store = open_at(path)
        assert store.generation() >= max([seen, *map(int, said)])
        seen = store.generation()
        world = new_world(5, files=6)
        for _ in range(seen - 1):
            world.edit(2)
        equal(store, world)
        assert store.notes == []
        store.close()
