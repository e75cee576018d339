"""A backup holds everything that cannot be made again, and is opened before anybody is told that there is one."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zipfile
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.errors import BadInputError, DatabaseDamagedError, SettingsError
from graphmem.maintenance import archive as archives
from graphmem.maintenance import backup as backups
from graphmem.server.keeper import TASKS, Keeper

NUMBERS = {"format": 1, "generation": 1, "memories": 0, "entries": 0}


def graph_of(memory):
    return list(memory.export())


def contents(memory):
    return {one.id: (one.content, one.status) for one in memory.memories(limit=1000).memories}


@pytest.mark.parametrize("portable", [False, True])
def test_a_restore_brings_back_code_and_memories_as_they_were(index, repo, portable):
    graph, known = graph_of(index), contents(index)
    made = index.backup(portable=portable)
    assert made.engine == ("any" if portable else "kuzu")
    assert (made.memories, made.generation) == (3, index.state().generation)
    index.remember("written after the backup", id="later")
    index.forget("memory-1", hard=True)
    (repo / "m0.py").write_text("def f0(value):\n    return value\n")
    index.index(repo)
    assert graph_of(index) != graph
    answer = index.restore(made.path)
    assert answer.memories == 3
    assert contents(index) == known
    assert graph_of(index) == graph
    assert index.verify_index().sound
    assert {one.symbol.name for one in index.impact("f0").hits} >= {"f5"}


def test_what_was_there_before_a_restore_is_kept(index):
    made = index.backup()
    index.remember("written after the backup", id="later")
    answer = index.restore(made.path)
    assert "later" not in contents(index)
    index.restore(answer.before)
    assert "later" in contents(index)


def test_what_sessions_counted_is_restored_and_counted_on(index, open_index):
    """The open file of the counts is another one after a restore; what is written to the old one would be lost."""
    now = datetime.now(UTC)
    index.parts.ledger().bar(["kept"], now)
    made = index.backup()
    index.parts.ledger().bar(["newer"], now)
    index.restore(made.path)
    ledger = index.parts.ledger()
    assert (ledger.is_barred("kept"), ledger.is_barred("newer")) == (True, False)
    ledger.bar(["after"], now)
    index.close()
    assert open_index().parts.ledger().is_barred("after")


def test_a_restore_goes_on_after_the_index_was_closed(index, open_index):
    made = index.backup()
    index.forget("memory-0", hard=True)
    index.restore(made.path)
    index.remember("written after the restore", id="after")
    index.close()
    again = open_index()
    assert contents(again).keys() == {"memory-0", "memory-1", "memory-2", "after"}
    assert again.verify_index().sound


def test_a_backup_is_restored_into_a_new_place(index, open_index):
    made = index.backup(portable=True)
    other = open_index("elsewhere")
    other.restore(made.path)
    assert contents(other) == contents(index)
    assert graph_of(other) == graph_of(index)


def test_everything_that_is_not_derived_is_in_it(index, tmp_path):
    (tmp_path / "index" / "notes.txt").write_text("kept beside the database")
    made = index.backup()
    (tmp_path / "index" / "notes.txt").write_text("changed")
    names = archives.read_manifest(Path(made.path)).files.keys()
    assert {"graph.db", "notes.txt"} <= names
    assert any(name.startswith("memories/journal-") for name in names)
    assert not any(name.startswith(("words-", "graph.projection", "facts.sqlite", "inputs.sqlite")) for name in names)
    index.restore(made.path)
    assert (tmp_path / "index" / "notes.txt").read_text() == "kept beside the database"


def _inflated(archive: Path) -> bytes | None:
    """The database in a backup, whatever its checksum says; None when there is nothing to be read."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            return zipped.read("graph.db")
    except (zipfile.BadZipFile, zlib.error, OSError):
        return None


@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
def test_a_flipped_byte_is_found_and_nothing_is_changed(index, at):
    made = Path(index.backup().path)
    whole = made.read_bytes()
    with zipfile.ZipFile(made) as zipped:  # the first bytes of a file in it hold its name and time, which nothing depends on
        member, content = zipped.getinfo("graph.db"), zipped.read("graph.db")
    place = member.header_offset + 100 + int((member.compress_size - 200) * at)
    while _inflated(made) == content:  # a distance into a run of zeros may be another and lead to the same zeros
        made.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        place += 1
    known = contents(index)
    with pytest.raises((DatabaseDamagedError, BadInputError)):
        index.restore(made)
    assert contents(index) == known
    assert not list(made.parent.glob("*before-restore*"))


def test_a_backup_that_was_cut_short_is_not_a_backup(index):
    made = Path(index.backup().path)
    os.truncate(made, made.stat().st_size // 2)
    with pytest.raises(BadInputError):
        index.restore(made)


def test_names_that_lead_out_of_the_folder_are_refused(index, tmp_path):
    made = Path(index.backup().path)
    with zipfile.ZipFile(made) as zipped:
        manifest = json.loads(zipped.read("manifest.json"))
    manifest["files"]["../outside"] = [4, "0" * 64]
    evil = tmp_path / "evil.zip"
    with zipfile.ZipFile(evil, "w") as zipped:
        zipped.writestr("manifest.json", json.dumps(manifest))
        zipped.writestr("../outside", "evil")
    with pytest.raises(BadInputError, match="leads out of the index"):
        index.restore(evil)
    assert not (tmp_path / "outside").exists()


def test_a_file_that_is_larger_than_it_says_is_not_unpacked(index, tmp_path):
    made = Path(index.backup().path)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) if name != "graph.db" else bytes(1 << 27))
    with pytest.raises(DatabaseDamagedError, match=r"graph\.db"):
        index.restore(bomb)


def test_the_copy_of_another_engine_is_refused_with_the_way_out(index, tmp_path):
    made = Path(index.backup().path)
    manifest = archives.read_manifest(made)
    with pytest.raises(SettingsError, match="--portable"):
        archives.expect_engine(manifest, made, "ladybug")
    archives.expect_engine(manifest._replace(engine=archives.PORTABLE), made, "ladybug")


def test_a_backup_of_another_project_is_refused(index, open_index, tmp_path):
    other = open_index("other")
    (tmp_path / "strangers").mkdir()
    (tmp_path / "strangers" / "a.py").write_text("x = 1\n")
    other.index(tmp_path / "strangers")
    with pytest.raises(BadInputError, match="another directory"):
        index.restore(other.backup().path)


def test_what_is_not_a_backup_is_said_to_be_none(index, tmp_path):
    (tmp_path / "text.zip").write_text("no zip")
    os.mkfifo(tmp_path / "pipe.zip")
    for path in (tmp_path / "text.zip", tmp_path / "nothing.zip", tmp_path / "pipe.zip", Path("/dev/zero"), tmp_path):
        with pytest.raises(BadInputError, match="is not a graphmem backup"):
            index.restore(path)


def test_a_file_that_is_there_is_not_written_over(index, tmp_path):
    (tmp_path / "taken.zip").write_text("mine")
    with pytest.raises(BadInputError, match="already exists"):
        index.backup(tmp_path / "taken.zip")
    assert (tmp_path / "taken.zip").read_text() == "mine"


def test_automatic_backups_are_made_when_due_and_the_oldest_go(open_index, repo, tmp_path):
    memory = open_index(backup_hours=1, backup_keep=2)
    assert memory.backup_when_due() is None  # nothing to lose yet
    memory.index(repo)
    made = []
    for number in range(4):
        memory.remember(f"something new, number {number}")
        made.append(memory.backup_when_due())
        assert memory.backup_when_due() is None  # it was made just now
        os.utime(made[-1].path, (0, number))  # as if it had been made long ago
    assert all(made)
    assert [str(path) for path in backups.listed(tmp_path / "index")] == [made[2].path, made[3].path]
    assert memory.backup_when_due() is None  # nothing has changed since


def test_a_damaged_backup_does_not_end_the_automatic_ones(open_index, repo):
    memory = open_index(backup_hours=1)
    memory.index(repo)
    first = Path(memory.backup_when_due().path)
    first.write_bytes(first.read_bytes()[:100])
    os.utime(first, (0, 0))
    second = memory.backup_when_due()
    assert second is not None
    os.utime(second.path, (1, 1))
    assert memory.backup_when_due() is None, "the intact backup has everything"


def test_the_first_automatic_backup_leaves_the_first_moments_of_a_server_alone(index, tmp_path):
    (backup,) = (task for task in TASKS if task.name == "backup")
    assert backup.first_s == 60
    began = time.monotonic()
    keeper = Keeper(index, lambda: 0.0, (backup._replace(first_s=0.5),), look_s=0.01)
    keeper.start()
    try:
        while not backups.listed(tmp_path / "index"):
            assert time.monotonic() < began + 60
            time.sleep(0.01)
        assert time.monotonic() >= began + 0.5
    finally:
        keeper.stop()


def test_nothing_is_left_behind(index, tmp_path):
    made = index.backup()
    index.restore(made.path)
    assert not [path.name for path in (tmp_path / "index").rglob("*") if path.name.startswith((".restore-", ".backup-"))]


def test_a_folder_with_odd_signs_is_backed_up_like_any_other(tmp_path):
    folder = tmp_path / "50%41 or?mode=rwc#all"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "history.sqlite")) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE known (word TEXT)")
        db.execute("INSERT INTO known VALUES ('kept')")
        db.commit()
        backups.copy_file(folder / "history.sqlite", tmp_path / "copy")  # while it is open: the row is in the log beside it
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("SELECT word FROM known").fetchall() == [("kept",)]


@pytest.mark.parametrize(
    "manifest",
    [
        *(
            json.dumps({"files": {name: [1, "0"]}, **dict.fromkeys(("made_at", "graphmem", "project", "engine"), ""), **NUMBERS})
            for name in (
                *("../up", "/etc/cron.d/one", "a/../../up", "..\\up", "owner.json", "backups/old.zip", "graph.db.wal"),
                "/".join(["deep"] * 9),
                "/".join(["deep"] * 2_000),
                "l" * 201,
                "memories/" + "ö" * 101,
                "",
            )
        ),
        "[" * 200_000,
    ],
    ids=lambda text: text[:40],
)
def test_an_archive_of_a_stranger_names_nothing_but_what_a_backup_holds(tmp_path, manifest):
    archive = tmp_path / "stranger.graphmem.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(archives.MANIFEST, manifest)
    with pytest.raises(BadInputError):
        archives.read_manifest(archive)


@pytest.mark.parametrize(("parts", "is_taken"), [(8, True), (9, False)])
def test_names_of_a_backup_have_at_most_eight_parts(tmp_path, parts, is_taken):
    archive = tmp_path / "deep.graphmem.zip"
    files = {"/".join(["sessions", *["a" * 200] * (parts - 1)]): [1, "0"]}
    said = {"files": files, **dict.fromkeys(("made_at", "graphmem", "project", "engine"), ""), **NUMBERS}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(archives.MANIFEST, json.dumps(said))
    if is_taken:
        assert set(archives.read_manifest(archive).files) == set(files)
    else:
        with pytest.raises(BadInputError, match="whose path is too deep or too long"):
            archives.read_manifest(archive)
