"""A store that is opened at rest: closed until somebody needs it, and never when it is not what was left."""

from __future__ import annotations

import json
import os
import resource
import shutil

import pyarrow as pa
import pytest

from graphmem.errors import DatabaseDamagedError, DiskFullError, ResourceError, StoreClosedError
from graphmem.knowledge import KnowledgeDelta
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.store.file import live_file
from graphmem.store.file.files import checksum
from graphmem.store.file.lock import read_record

pytestmark = pytest.mark.own


@pytest.fixture
def left(open_at, path, world):
    """Path of a database with `world` in it that was closed properly."""
    store = open_at(path)
    store.replace(world.full())
    store.close()
    return path


def awake(store) -> bool:
    return not store._at_rest


def test_what_is_known_is_answered_without_opening_it(left, open_at):
    before = open_at(left)
    said = before.meta(), before.generation(), before.knowledge_generation()
    before.close()
    store = open_at(left, at_rest=True)
    assert (store.meta(), store.generation(), store.knowledge_generation()) == said
    assert not awake(store)
    store.close()
    assert read_record(left).clean


def test_the_first_who_needs_it_opens_it_and_finds_everything(left, open_at, world, equal):
    store = open_at(left, at_rest=True)
    equal(store, world)
    assert awake(store)
    store.set_meta({"a": "b"})
    store.close()
    again = open_at(left, at_rest=True)
    assert not awake(again)
    assert again.meta()["a"] == "b"
    again.set_meta({"a": "c"})
    assert awake(again)
    assert again.meta()["a"] == "c"


def test_the_number_of_memories_is_known_without_opening_it(left, open_at, make):
    store = open_at(left)
    store.apply_knowledge(KnowledgeDelta(memories=[make.memory("first"), make.memory("second")]))
    store.close()
    again = open_at(left, at_rest=True)
    assert again.memory_count() == 2
    assert not awake(again)
    again.apply_knowledge(KnowledgeDelta(removed_memories=["first"]))
    assert awake(again)
    assert again.memory_count() == 1
    assert again.rest(0.0)
    assert again.memory_count() == 1
    assert not awake(again)


def test_the_numbers_of_vectors_are_known_without_opening_it(left, open_at):
    store = open_at(left, at_rest=True)
    assert store.vector_models() == {}
    assert not awake(store)
    vectors = pa.array([[1.0, 0.0], [0.0, 1.0]], pa.list_(pa.float32(), 2))
    store.put_vectors("small", 2, pa.table({"text_hash": ["a", "b"], "vector": vectors}))
    assert awake(store)
    store.close()
    again = open_at(left, at_rest=True)
    assert again.vector_models() == {"small": 2}
    assert not awake(again)
    assert again.forget_vectors("small") == 2
    assert again.rest(0.0)
    assert again.vector_models() == {}
    assert not awake(again)


def test_a_store_that_rests_can_be_opened_by_nobody_else(left, open_at, child):
    store = open_at(left, at_rest=True)
    process = child("""
        try:
            reopen()
        except StoreBusyError as error:
            say("busy")
    """)
    assert process.line() == "busy"
    assert not awake(store)


def test_bytes_that_are_not_those_that_were_left_are_found_at_once(left, open_at):
    with left.open("r+b") as file:
        file.seek(left.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 0xFF]))
    with pytest.raises(DatabaseDamagedError):
        open_at(left, at_rest=True)


@pytest.mark.parametrize("change", ["form", "nothing", "no meta", "no count", "other", "half"])
def test_a_record_of_another_form_is_not_believed(left, open_at, world, equal, change):
    lock = left.with_name(left.name + ".lock")
    record = read_sealed_json(lock.read_bytes().rstrip(b" "))
    known = json.loads(record["known"])
    changed = {
        "form": json.dumps({**known, "form": "of another graphmem"}),
        "nothing": "",
        "no meta": json.dumps({name: value for name, value in known.items() if name != "meta"}),
        "no count": json.dumps({name: value for name, value in known.items() if name != "memories"}),
        "other": "[]",
        "half": record["known"][:-5],
    }
    lock.write_bytes(sealed_json({**record, "known": changed[change]}))
    store = open_at(left, at_rest=True)
    assert awake(store)
    equal(store, world)


def test_a_log_beside_it_opens_it(left, open_at, tmp_path):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "graph.db"
    shutil.copy(left, other)
    shutil.copy(left.with_name(left.name + ".lock"), other.with_name(other.name + ".lock"))
    other.with_name(other.name + ".wal").write_bytes(b"a log of somebody else")
    store = open_at(other, at_rest=True)
    assert awake(store)
    assert any("quarantined" in note for note in store.notes)


def test_it_is_killed_at_rest_and_nothing_has_to_be_examined(left, open_at, child, world, equal):
    process = child("""
        store = reopen(at_rest=True)
        say("resting")
        import time
        time.sleep(60)
    """)
    assert process.line() == "resting"
    process.kill()
    assert read_record(left).clean
    store = open_at(left, at_rest=True)
    assert not awake(store)
    equal(store, world)


def test_a_file_that_the_engine_refuses_is_found_by_its_first_user_and_by_the_next_opener(left, open_at):
    os.truncate(left, left.stat().st_size // 2)
    lock = left.with_name(left.name + ".lock")
    record = read_sealed_json(lock.read_bytes().rstrip(b" "))
    lock.write_bytes(sealed_json({**record, "size": left.stat().st_size, "checksum": checksum(left)}))
    store = open_at(left, at_rest=True)
    assert not awake(store)
    for _ in range(2):
        with pytest.raises((DatabaseDamagedError, StoreClosedError)):
            store.read("files")
    store.close()
    assert not read_record(left).clean
    with pytest.raises(DatabaseDamagedError):
        open_at(left, at_rest=True)


@pytest.mark.parametrize("is_changed", [True, False])
def test_an_attempt_to_open_it_that_failed_does_not_leave_a_checksum_of_other_bytes(left, open_at, monkeypatch, is_changed):
    def fails(path, *_):
        if is_changed:
            with path.open("ab") as file:
                file.write(bytes(4096))
        raise DiskFullError("no room", path=str(path))

    with monkeypatch.context() as patched:
        patched.setattr(live_file, "open_current", fails)
        with pytest.raises(DiskFullError):
            open_at(left)
    assert read_record(left).clean == (not is_changed)
    assert len(open_at(left).read("files")) > 0


def test_a_transient_refusal_to_open_it_again_is_over_at_the_next_request(left, open_at, world, equal):
    store = open_at(left, at_rest=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    store.generation()  # what is needed to refuse is loaded by now
    lowest = os.open(os.devnull, os.O_RDONLY)  # the number that the next file would get
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        with pytest.raises(ResourceError, match="ulimit -n"):
            store.read("files")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    equal(store, world)
    assert awake(store)
    assert not list(left.parent.glob("*.quarantine"))
