"""An index of another account, of another disk, and of another version: handled, said in a sentence, nothing taken over."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.client.connecting import connect, connect_or_start
from graphmem.errors import GraphMemError
from graphmem.location import locate
from graphmem.server import owner
from graphmem.settings import Settings

NOBODY = 65_534
ENGINE_VERSION = slice(4, 12)  # of a database file: the storage format, little endian


def as_another_account(asked: Callable[[], object]) -> str:
    """The answer to a process of another account, or the error's class.

    It is forked, because that account need not be able to read the interpreter's files, which are imported by now.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = ""
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            said = repr(asked())
        except BaseException as error:  # noqa: BLE001 -- told to the parent, whatever it is
            said = f"{type(error).__name__}: {error}"
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return said


@pytest.fixture
def shared(tmp_path_factory, repo, settings):
    """A project that every account may read, with an index of ours beside it."""
    if os.geteuid() != 0:
        pytest.skip("a second account is only at hand for root")
    for folder in (tmp_path_factory.getbasetemp(), *repo.relative_to(tmp_path_factory.getbasetemp()).parents, repo.parent):
        place = tmp_path_factory.getbasetemp() / folder
        place.chmod(0o755)
    for place in tmp_path_factory.getbasetemp().parents:  # a worker's folder lies in that of the run
        if place == Path(tempfile.gettempdir()):
            break
        place.chmod(0o755)
    with GraphMem.open(repo=repo, settings=settings) as memory:
        memory.index(repo)
        memory.remember("the ring is ours alone", id="ours")
    return locate(repo, Settings())


@pytest.mark.parametrize("come", ["connect", "connect_or_start", "open"])
def test_another_account_is_told_in_a_sentence_and_changes_nothing(shared, settings, come):
    ways = {
        "connect": lambda: connect(shared, settings).project(),
        "connect_or_start": lambda: connect_or_start(shared).project(),
        "open": lambda: GraphMem.open(shared.data_dir, settings=settings).project(),
    }
    before = {path.name: path.stat().st_mtime_ns for path in shared.data_dir.iterdir()}
    said = as_another_account(ways[come])
    assert said.startswith("BadInputError: ")
    assert f"{shared.data_dir} cannot be " in said
    assert "(Permission denied)" in said
    assert "--db" in said
    assert {path.name: path.stat().st_mtime_ns for path in shared.data_dir.iterdir()} == before
    with GraphMem.open(shared.data_dir, settings=settings) as memory:
        assert memory.memory("ours").content == "the ring is ours alone"


def test_another_account_cannot_read_the_token_or_the_journal(shared):
    mine = owner.publish(shared.owner_file, "http://127.0.0.1:1", "a secret", "0")
    try:
        assert as_another_account(lambda: owner.read(shared.owner_file)) == "None"
        journal = next((shared.data_dir / "memories").glob("journal-*"))
        assert as_another_account(journal.read_bytes).startswith("PermissionError")
    finally:
        owner.withdraw(shared.owner_file, mine)


def test_another_account_has_an_index_of_its_own_of_the_same_files(shared, repo, tmp_path, settings):
    place = tmp_path / "theirs"
    place.mkdir()
    os.chown(place, NOBODY, NOBODY)

    def index() -> int:
        with GraphMem.open(place / "index", settings=settings) as memory:
            return memory.index(repo).files

    assert as_another_account(index) == "6"


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="the machine has only one disk")
def test_an_index_may_lie_on_another_disk_than_the_project(here, repo, tmp_path_factory):
    disk = next(place for place in ("/dev/shm", "/var/tmp") if Path(place).stat().st_dev != repo.stat().st_dev)
    elsewhere = Path(subprocess.run(["mktemp", "-d", "-p", disk], capture_output=True, text=True, check=True).stdout.strip())
    try:
        for command in (
            ["index", repo, "--db", elsewhere / "index"],
            ["remember", "the ring lies on two disks", "--db", elsewhere / "index"],
            ["backup", tmp_path_factory.mktemp("backups"), "--db", elsewhere / "index"],
            ["compact", "--db", elsewhere / "index"],
            ["verify", "--db", elsewhere / "index"],
        ):
            done = here(*command)
            assert done.returncode == 0, done.stderr
        archive = next(tmp_path_factory.getbasetemp().glob("backups*/*.zip"))
        assert here("restore", archive, "--db", elsewhere / "index").returncode == 0
        assert "two disks" in here("search", "ring on two disks", "--db", elsewhere / "index").stdout
    finally:
        subprocess.run(["rm", "-rf", str(elsewhere)], check=True)


def test_a_database_in_an_older_storage_format_is_kept_and_made_again(index, open_index, repo, tmp_path):
    index.close()
    file = tmp_path / "index" / "graph.db"
    data = bytearray(file.read_bytes())
    form = int.from_bytes(data[ENGINE_VERSION], "little")
    data[ENGINE_VERSION] = (form - 1).to_bytes(8, "little")
    file.write_bytes(data)
    again = open_index()
    assert {one.id for one in again.memories().memories} == {"memory-0", "memory-1", "memory-2"}
    assert any(f"storage format {form - 1}" in note for note in again.parts.store.notes)
    kept = list((tmp_path / "index").glob("graph.db.*.quarantine"))
    assert [one.read_bytes() == data for one in kept] == [True]
    again.index(repo)
    assert again.verify_index(deep=True).sound


def as_an_older_engine_left_it(file: Path) -> int:
    """Let a database say that it is in the storage format before this one; the number of that format."""
    data = bytearray(file.read_bytes())
    form = int.from_bytes(data[ENGINE_VERSION], "little") - 1
    data[ENGINE_VERSION] = form.to_bytes(8, "little")
    file.write_bytes(data)
    return form


def test_after_a_change_of_the_storage_format_the_newest_dump_and_the_journal_bring_everything_back(index, open_index, repo, tmp_path):
    index.set_alias("circle", ["ring"])
    index.backup(portable=True)
    broken = Path(index.backup(portable=True).path)
    os.truncate(broken, broken.stat().st_size - 40)  # a newer one that cannot be used is passed over
    index.remember("remembered after the dump", id="later")
    index.forget("memory-0", hard=True)
    known, generation = list(index.export()), index.state().generation
    index.close()
    file = tmp_path / "index" / "graph.db"
    form = as_an_older_engine_left_it(file)
    again = open_index()
    assert {one.id for one in again.memories().memories} == {"memory-1", "memory-2", "later"}
    assert again.state().generation == generation, "the code is there before the next index run"
    assert list(again.export()) == known
    assert again.impact("f1").hits
    assert any(f"storage format {form}" in note for note in again.parts.store.notes)
    assert any("rebuilt from" in note for note in again.parts.store.notes)
    assert len(list((tmp_path / "index").glob("graph.db.*.quarantine"))) == 1
    assert again.index(repo).mode in ("unchanged", "incremental")
    again.remember("and on it goes", id="new")
    broken.unlink()
    assert again.verify_index(deep=True).sound
    again.close()
    assert open_index().memories().total == 4


def test_a_database_in_an_older_format_without_a_journal_comes_back_from_its_dump(index, open_index, tmp_path):
    index.backup(portable=True)
    index.close()
    (tmp_path / "index" / "memories").rename(tmp_path / "elsewhere")
    as_an_older_engine_left_it(tmp_path / "index" / "graph.db")
    again = open_index()
    assert {one.id for one in again.memories().memories} == {"memory-0", "memory-1", "memory-2"}
    assert again.verify_index().sound


def test_a_database_in_a_newer_storage_format_is_refused_and_left_alone(index, tmp_path, settings):
    index.close()
    file = tmp_path / "index" / "graph.db"
    data = bytearray(file.read_bytes())
    data[ENGINE_VERSION] = (int.from_bytes(data[ENGINE_VERSION], "little") + 1).to_bytes(8, "little")
    file.write_bytes(data)
    with pytest.raises(GraphMemError, match="use the graphmem that wrote the file"):
        GraphMem.open(tmp_path / "index", settings=settings)
    assert file.read_bytes() == data
