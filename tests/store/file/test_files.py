"""Files that are not what they should be: one sentence each, and nothing is lost or deleted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from graphmem.errors import (
    BadInputError,
    DatabaseDamagedError,
    MigrationError,
    NotIndexedError,
    SchemaTooNewError,
    SettingsError,
    StoreBusyError,
)
from graphmem.store import open_store
from graphmem.store.engine.engine import ENGINES
from graphmem.store.file.files import check_header
from graphmem.store.file.lock import read_record


@pytest.fixture
def closed(open_at, path, world):
    """A closed database with `world` in it."""
    store = open_at(path)
    store.apply(world.full())
    store.close()
    return path


@pytest.mark.parametrize("size", [0, 1, 23, 100, 4_096, 8_192, 500_000, -8_192, -4_096, -1])
def test_a_truncated_file_is_refused_in_words(closed, open_at, size):
    whole = closed.stat().st_size
    os.truncate(closed, size if size >= 0 else whole + size)
    with pytest.raises(DatabaseDamagedError) as caught:
        open_at(closed)
    assert caught.value.path == str(closed)
    assert "index again" in caught.value.message
    assert closed.exists()


@pytest.mark.parametrize("known", [True, False], ids=["with-lock-file", "without"])
def test_something_else_than_a_database_is_refused_in_words(path, open_at, known):
    path.write_bytes(b"# A letter to my mother\n" * 1000)
    if known:
        path.with_name("graph.db.lock").write_bytes(b"not json")
    with pytest.raises(DatabaseDamagedError, match="does not begin with the header of a database"):
        open_at(path)
    assert path.read_bytes().startswith(b"# A letter")


def test_a_file_of_the_other_engine_says_which(closed, engine):
    other = next(name for name in ENGINES if name != engine)
    with pytest.raises(SettingsError, match=f"written by the database engine {engine}"):
        check_header(closed, ENGINES[other], other)


@pytest.mark.parametrize(("step", "kind"), [(1, SchemaTooNewError), (-1, MigrationError)])
def test_a_file_of_another_format_version_says_so(closed, open_at, engine, step, kind):
    with closed.open("r+b") as file:
        file.seek(4)
        file.write((ENGINES[engine].storage_version + step).to_bytes(8, "little"))
    with pytest.raises(kind) as caught:
        open_at(closed)
    assert caught.value.found == ENGINES[engine].storage_version + step


@pytest.mark.own
def test_a_log_beside_no_file_is_quarantined(path, engine):
    log = path.with_name("graph.db.wal")
    log.write_bytes(b"rows of another life")
    store = open_store(path, engine=engine, max_db_bytes=1 << 30)
    assert store.read("files") == []
    aside = [file for file in path.parent.iterdir() if file.name.endswith(".quarantine")]
    assert [file.read_bytes() for file in aside] == [b"rows of another life"]
    assert "quarantined" in store.notes[0]
    store.close()


def _crashed(child, extra=""):
    process = child(f"""
        world = suite.World(5)
        store = reopen()
        store.apply(world.full())
        store.checkpoint()
        store.apply(world.edit(3))
        {extra}
        say("done")
        import time; time.sleep(60)
    """)
    process.line()
    process.kill()


def test_the_log_of_another_database_is_quarantined_not_replayed(child, engine, path, open_at, new_world, equal, tmp_path):
    _crashed(child)
    elsewhere = tmp_path / "other" / "graph.db"
    elsewhere.parent.mkdir()
    other = open_store(elsewhere, engine=engine, max_db_bytes=1 << 30)  # not a copy: with an identity of its own
    world = new_world(77)
    other.apply(world.full())
    other.close()
    shutil.copy(elsewhere, path)  # a backup is put back, the log is forgotten
    store = open_at(path)
    equal(store, world)
    assert len(store.notes) >= 1
    assert all("a database other than" in note for note in store.notes)
    assert list(path.parent.glob("graph.db.wal.*.quarantine"))


def test_an_older_copy_put_back_beside_a_newer_log_is_noticed(child, path, open_at, new_world, equal):
    _crashed(child)
    old = path.with_name("backup")
    shutil.copy(path, old)
    store = open_at(path)
    store.checkpoint()
    store.checkpoint()
    world = new_world(5)
    world.edit(3)
    for _ in range(2):
        store.apply(world.edit(1))
        store.checkpoint()
    store.apply(world.edit(1))
    log = path.with_name("graph.db.wal").read_bytes()
    store.close()
    shutil.copy(old, path)
    path.with_name("graph.db.wal").write_bytes(log)
    again = open_at(path)
    equal(again, new_world(5))
    assert again.notes


def test_a_log_that_kills_the_engine_is_quarantined_and_said(child, path, open_at, new_world):
    _crashed(child)
    log = path.with_name("graph.db.wal")
    data = bytearray(log.read_bytes())
    for at in range(200, len(data), 97):
        data[at] ^= 0xFF
    log.write_bytes(data)
    store = open_at(path)
    world = new_world(5)
    states = [len(world.files)]
    world.edit(3)
    states.append(len(world.files))
    assert len(store.read("files")) in states  # what was in the file, or that and a whole part of the log
    store.close()


def test_a_torn_end_of_the_log_loses_only_what_was_not_finished(child, path, open_at, new_world, equal):
    _crashed(child, extra='store.set_meta({"last": "x" * 5000})')
    log = path.with_name("graph.db.wal")
    os.truncate(log, log.stat().st_size - 100)
    store = open_at(path)
    world = new_world(5)
    world.edit(3)
    equal(store, world)
    assert store.meta() == {}


@pytest.mark.own
def test_a_half_built_new_file_is_swept_away(closed, open_at, world, equal):
    closed.with_name("graph.db.next").write_bytes(b"half")
    closed.with_name("graph.db.next.wal").write_bytes(b"half")
    store = open_at(closed)
    equal(store, world)
    assert sorted(file.name for file in closed.parent.glob("graph.db.next*")) == []


@pytest.mark.own
def test_a_database_of_a_newer_graphmem_is_refused_with_both_versions(closed, open_at):
    store = open_at(closed)
    store._connection.rows("CREATE (:SchemaVersion {version: '0099', name: 'future', sha256: 'x'})")
    store.close()
    with pytest.raises(SchemaTooNewError) as caught:
        open_at(closed)
    assert (caught.value.found, caught.value.known) == (99, 4)
    assert "update graphmem" in caught.value.message


@pytest.mark.own
def test_a_second_handle_in_this_process_is_refused_by_whatever_name(store, open_at, path, tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(path)
    hard = tmp_path / "hard.db"
    hard.hardlink_to(path)
    for name in (path, link, hard, path.parent / "." / path.name):
        with pytest.raises(StoreBusyError, match="this process") as caught:
            open_at(name)
        assert caught.value.owner["pid"] == os.getpid()


@pytest.mark.own
@pytest.mark.begun
def test_the_register_follows_the_file_when_it_is_exchanged(store, open_at, world, tmp_path):
    hard = tmp_path / "hard.db"
    hard.hardlink_to(store._file)
    with pytest.raises(StoreBusyError):
        open_at(hard)


@pytest.mark.own
def test_another_process_is_told_who_has_it(store, child):
    process = child("""
        try:
            reopen()
        except StoreBusyError as error:
            say(error.owner["pid"], error.code)
    """)
    assert process.line() == f"{os.getpid()} CONFLICT"
    assert process.end()[0] == 0


def test_many_may_read_together_and_nobody_may_write_meanwhile(closed, open_at, child, world, equal):
    store = open_at(closed, read_only=True)
    equal(store, world)
    with pytest.raises(BadInputError, match="reading only"):
        store.set_meta({"a": "b"})
    process = child("""
        say(len(reopen(read_only=True).read("files")))
        try:
            reopen()
        except StoreBusyError as error:
            say("busy")
    """)
    assert int(process.line()) == len(world.files)
    assert process.line() == "busy"
    assert process.end()[0] == 0


@pytest.mark.own
def test_reading_only_makes_nothing(path, open_at):
    with pytest.raises(NotIndexedError):
        open_at(path, read_only=True)
    assert not path.exists()


@pytest.mark.own
def test_places_that_cannot_be_are_named(open_at, tmp_path):
    with pytest.raises(BadInputError, match="is a directory"):
        open_at(tmp_path, read_only=True)
    with pytest.raises(BadInputError, match="not found; create the directory first"):
        open_at(tmp_path / "missing" / "graph.db", read_only=True)
    for sizes, rule in (({"buffer_pool_bytes": 1}, "at least 67,108,864"), ({"max_db_bytes": (1 << 30) + 1}, "power of two")):
        with pytest.raises(BadInputError, match=rule):
            open_at(tmp_path / "graph.db", read_only=True, **sizes)


@pytest.mark.parametrize("shared", [True, False])
def test_a_folder_that_cannot_be_written_to_answers_reads_and_a_file_of_somebody_else_is_named(child, path, closed, shared):
    code = f"""
        import os
        reopen(read_only=True).close()  # what has to be imported may lie where the other user cannot read
        if {shared}:
            os.chmod(path, 0o644)
        folder = os.path.dirname(path)
        os.chmod(folder, 0o555)
        if os.getuid() == 0:
            parent = folder
            while parent not in ("/tmp", "/"):
                os.chmod(parent, 0o555)
                parent = os.path.dirname(parent)
            os.setuid(65534)
        for options in ({{}}, {{"read_only": True}}):
            try:
                store = reopen(**options)
                say(len(store.read("files")))
                store.close()
            except BadInputError as error:
                say(error)
    """
    before = {parent: parent.stat().st_mode for parent in path.parents if str(parent) not in ("/tmp", "/")}
    try:
        process = child(code)
        as_it_may, reading_only = process.line(), process.line()
        if shared or os.getuid():
            assert (as_it_may, reading_only) == ("4", "4")
        else:
            assert "cannot be written to" in as_it_may
            assert "may read it; connect to its server" in reading_only
    finally:
        for parent, mode in before.items():
            parent.chmod(mode)


@pytest.mark.own
def test_an_older_smaller_copy_may_be_put_back(closed, open_at, world, new_world, equal):
    backup = closed.with_name("backup")
    shutil.copy(closed, backup)
    store = open_at(closed)
    grown = new_world(9, files=20)
    store.replace(grown.full())
    store.close()
    assert backup.stat().st_size < closed.stat().st_size
    shutil.copy(backup, closed)
    equal(open_at(closed), world)


@pytest.mark.own
def test_the_lock_file_says_how_it_was_left(closed, open_at):
    record = read_record(closed)
    assert record is not None
    assert record.clean
    assert record.size == closed.stat().st_size
    store = open_at(closed)
    assert not read_record(closed).clean
    assert read_record(closed).pid == os.getpid()
    store.close()
    assert read_record(closed.parent / "nothing.db") is None


def test_names_may_hold_anything(open_at, tmp_path, world, equal):
    folder = tmp_path / "a b 'q' é*[x]"
    folder.mkdir()
    store = open_at(Path(folder) / "g$(x) .db")
    store.apply(world.full())
    store.replace(world.full())
    equal(store, world)


def test_a_piece_of_a_page_at_the_end_of_a_file_whose_log_is_there_is_not_damage(child, path, open_at, new_world, equal):
    """Return the file that a checkpoint leaves if it is killed while growing."""
    process = child("""
        import os
        world = suite.World(5)
        store = reopen()
        store.apply(world.full())
        store.apply(world.edit(3))
        os._exit(0)
    """)
    assert process.end()[0] == 0
    with path.open("ab") as file:
        file.write(b"\xa5" * 5000)
    world = new_world(5)
    world.edit(3)
    store = open_at(path)
    equal(store, world)
    assert store.notes == []
    store.apply(world.edit(3))
    store.checkpoint()
    store.close()
    equal(open_at(path), world)


def test_the_other_engine_is_refused_in_a_process_that_uses_one(store, engine, tmp_path):
    (other,) = set(ENGINES) - {engine}
    with pytest.raises(SettingsError, match="cannot run two engines"):
        open_store(tmp_path / "other.db", engine=other)
