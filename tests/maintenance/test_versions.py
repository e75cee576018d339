"""From an earlier schema to this one and back: a dump is there before anything changes, and both sides read it."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from graphmem import GraphMem
from graphmem.errors import DatabaseDamagedError, DiskFullError, MigrationError, SchemaTooNewError
from graphmem.maintenance import archive as archives
from graphmem.maintenance import backup as backups
from graphmem.store import open_store
from graphmem.store.engine import times
from graphmem.store.engine.engine import Engine
from graphmem.store.file import dump, files, migrate
from graphmem.store.file.building import OpenOptions, build
from graphmem.store.file.dump import META_FILE, read_dump
from graphmem.store.file.files import NEXT, beside
from graphmem.store.tables.catalog import load_catalog

OLDER = 2  # migrations a graphmem had that knew no memories
SIZES = (64 << 20, 1 << 30)


def as_older_graphmem(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if only the first files of queries/schema were there."""
    known = migrate.load_migrations()[:OLDER]
    monkeypatch.setattr(migrate, "load_migrations", lambda: known)
    monkeypatch.setattr(dump, "load_migrations", lambda: known)


@pytest.fixture
def older(index: GraphMem, open_index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index whose database has the code graph in the older schema, with the journal of three memories beside it."""
    folder, place = tmp_path / "dumped", tmp_path / "older"
    folder.mkdir()
    place.mkdir()
    index.parts.book.flush()
    rows = index.parts.store.dump(folder)
    everything = json.loads((folder / META_FILE).read_text())["meta"]
    meta = {name: value for name, value in everything.items() if not name.startswith(("memory", "store.knowledge"))}
    index.close()
    with monkeypatch.context() as patched:
        as_older_graphmem(patched)
        of_code = {
            name: count
            for name, count in rows.items()
            if not name.startswith(("Memory", "ABOUT", "RELATES", "Session", "LEARNT", "Occurrences"))
        }
        assert of_code.keys() < rows.keys()
        path = place / "graph.db"
        content = dump._Dumped(folder, of_code, migrate.load_migrations(), times.now())
        build(path, OpenOptions(Engine("kuzu"), *SIZES, read_only=False), load_catalog(), content, meta, {})
        files.put_in_place(beside(path, NEXT), path)
    shutil.copytree(tmp_path / "index" / "memories", place / "memories")
    return place


def code_of(memory: GraphMem) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in memory.export())


def schema_of(archive: Path) -> str:
    with zipfile.ZipFile(archive) as zipped:
        return str(json.loads(zipped.read(f"{archives.DUMP}/{META_FILE}"))["schema"])


def test_a_dump_is_made_before_an_older_schema_changes_and_brings_the_index_back(older, index, open_index, tmp_path):
    again = open_index("older")
    assert {one.id for one in again.memories().memories} == {"memory-0", "memory-1", "memory-2"}
    assert again.impact("f1").hits
    first = f"{OLDER + 1:04}"
    made = [path for path in backups.listed(older) if f"-before-{first}" in path.name]
    assert [schema_of(path) for path in made] == [f"{OLDER:04}"]
    assert (older / f"graph.db.before-{first}").exists()
    before = code_of(again)
    assert before
    assert again.verify_index().sound
    elsewhere = open_index("elsewhere")
    elsewhere.restore(made[0])
    assert code_of(elsewhere) == before, "what was written in the older schema is read in this one"
    assert {one.id for one in elsewhere.memories().memories} == {"memory-0", "memory-1", "memory-2"}
    assert elsewhere.verify_index().sound


def test_the_earlier_graphmem_reads_the_dump_that_was_made_before_and_refuses_the_later_one(older, open_index, tmp_path, monkeypatch):
    again = open_index("older")
    early = next(path for path in backups.listed(older) if "-before-" in path.name)
    late = Path(again.backup(portable=True).path)
    assert schema_of(late) == migrate.load_migrations()[-1].version
    again.close()
    for archive, name in ((early, "early"), (late, "late")):
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(tmp_path / name)
    as_older_graphmem(monkeypatch)
    monkeypatch.setattr("graphmem.store.file.opening.check_tables", lambda connection, path: None)  # of tables it does not know
    monkeypatch.setattr("graphmem.store.file.resting.count_memories", lambda connection, catalog: 0)  # it has no memories
    read_dump(tmp_path / "early" / archives.DUMP, tmp_path / "back.db", "kuzu", *SIZES)
    with open_store(tmp_path / "back.db", buffer_pool_bytes=SIZES[0], max_db_bytes=SIZES[1]) as store:
        assert len(store.read("file_hashes")) == 6
    with pytest.raises(SchemaTooNewError, match="before the update"):
        read_dump(tmp_path / "late" / archives.DUMP, tmp_path / "late.db", "kuzu", *SIZES)
    assert not (tmp_path / "late.db").exists()


def test_without_room_for_the_dump_nothing_is_changed(older, open_index, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(backups, "write_archive", full)
        with pytest.raises(DiskFullError, match="the incomplete file was removed"):
            open_index("older")
    # Not its bytes: bringing the file up to date may write them again.
    with pytest.raises(MigrationError, match=f"older schema.*{len(migrate.load_migrations()):04}"):
        open_store(older / "graph.db", read_only=True)
    assert not list(older.rglob("*.zip"))
    assert not list(older.glob("graph.db.before-*"))
    again = open_index("older")
    assert again.memories().total == 3
    assert len(again.parts.store.read("file_hashes")) == 6
    assert not again.parts.store.notes


def test_an_opening_that_was_ended_on_the_way_makes_no_second_dump(older, open_index, monkeypatch):
    def ended(source: Path, target: Path) -> None:
        if target.name.endswith(".keeping"):
            raise KeyboardInterrupt
        shutil.copyfile(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(files, "copy", ended)
        with pytest.raises(KeyboardInterrupt):
            open_index("older")
    assert len(backups.listed(older)) == 1
    assert open_index("older").memories().total == 3
    assert len(backups.listed(older)) == 1


def test_what_a_backup_that_was_killed_has_left_is_deleted_when_the_index_is_opened(index, open_index, tmp_path):
    made = index.backup()
    index.close()
    for folder in (tmp_path / "index" / ".restore-abc", tmp_path / "index" / "backups" / ".backup-xyz"):
        folder.mkdir()
        (folder / "graph.db").write_bytes(b"half")
    (tmp_path / "index" / "backups" / ".backup-one.part").write_bytes(b"half")
    open_index()
    assert not [one for one in (tmp_path / "index").rglob("*") if one.name.startswith((".backup-", ".restore-"))]
    assert Path(made.path).exists()


def without_a_column(folder: Path) -> None:
    path = str(next(folder.glob("Symbol.*.arrow")))
    with pa.OSFile(path) as source, pa.ipc.open_file(source) as reader:
        table = reader.read_all()
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, table.schema.remove(3)) as writer:
        writer.write_table(table.remove_column(3))


def with_meta(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        said = json.loads((folder / META_FILE).read_text())
        (folder / META_FILE).write_text(json.dumps({**said, **changes}))

    return change


@pytest.mark.parametrize(
    "change",
    [
        without_a_column,
        lambda folder: next(folder.glob("File.*.arrow")).unlink(),
        lambda folder: next(folder.glob("CALLS*.arrow")).write_bytes(b"ARROW1 and nothing else"),
        with_meta(schema="0000"),
        with_meta(schema="../../etc"),
        with_meta(schema=None),
        with_meta(format=99),
        with_meta(rows={"Symbol": -1}),
    ],
    ids=["column", "table", "bytes", "no schema", "a path", "nothing", "format", "rows"],
)
def test_a_dump_that_is_not_what_it_says_is_refused_and_leaves_nothing(index, tmp_path, change):
    folder = tmp_path / "dumped"
    folder.mkdir()
    index.parts.store.dump(folder)
    change(folder)
    with pytest.raises(DatabaseDamagedError, match="use another backup"):
        read_dump(folder, tmp_path / "new.db", "kuzu", *SIZES)
    assert not list(tmp_path.glob("new.db*"))
