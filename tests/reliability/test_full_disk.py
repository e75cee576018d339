"""A disk that fills up, or may only be read from, under a running server: said in a sentence, nothing lost, and on it goes afterwards."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import GraphMemError
from graphmem.server import owner

DISK_MB = 64
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
LONG = "and so on, " * 400  # a page of a disk is filled by it


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=0755", "tmpfs", str(place)]
    if os.geteuid() != 0 or shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount: it fills a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def served(repo: Path, db: Path, environ: Mapping[str, str], before: list[str] | None = None) -> Iterator[tuple[RemoteGraphMem, int]]:
    """A server of a repository, and its process number; it does not follow files by itself."""
    command = [*(before or []), sys.executable, "-P", "-m", "graphmem", "serve", str(repo), "--db", str(db), "--port", "0", "--quiet"]
    process = subprocess.Popen([*command, "--no-watch"], env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # printed when it can answer
        found = owner.read(db / "owner.json")
        assert found is not None
        yield RemoteGraphMem(found.address, token=found.token), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def fill(place: Path) -> Path:
    """Leave no byte free."""
    filler = place / "filler"
    descriptor = os.open(filler, os.O_CREAT | os.O_WRONLY)
    for size in (1 << 20, 4096, 1):
        try:
            while True:
                os.write(descriptor, b"1" * size)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    os.close(descriptor)
    return filler


def tried(work: Callable[[], object]) -> str:
    """Code and sentence of a refusal; "" when it was done."""
    try:
        work()
    except GraphMemError as error:
        return f"{error.code}: {error.message}"
    return ""


def every_write(service: RemoteGraphMem, repo: Path, names: Iterator[str], kept: set[str]) -> dict[str, str]:
    """Try everything that writes; what was refused, by name. What was acknowledged is added to `kept`."""

    def remember() -> None:
        name = next(names)
        service.remember(f"{name} {LONG}", id=name)
        kept.add(name)

    def edit_and_index() -> None:
        text = f"from m1 import f1\n\n\ndef f0(value):\n    return f1(value)\n\n\ndef {next(names)}(value):\n    return f0(value)\n"
        (repo / "m0.py").write_text(text)
        service.index()

    everything: dict[str, Callable[[], object]] = {
        **{f"remember {number}": remember for number in range(3)},
        "index": edit_and_index,
        "full index": lambda: service.index(full=True),
        "backup": service.backup,
        "portable backup": lambda: service.backup(portable=True),
        "compact": service.compact,
    }
    return {name: said for name, work in everything.items() if (said := tried(work))}


def answered(service: RemoteGraphMem, kept: set[str]) -> None:
    """Questions are answered, with all that was acknowledged."""
    assert kept <= {one.id for one in service.memories(limit=500).memories}
    assert service.search("the ring", limit=3).hits
    assert service.impact("f1").hits
    assert service.health().ready


def test_a_server_on_a_full_disk_refuses_in_sentences_loses_nothing_and_goes_on_when_there_is_room(small_disk, repo, environ, settings):
    db, kept, names = small_disk / "index", set[str](), (f"note{number}" for number in range(1000))
    with served(repo, db, environ) as (service, pid):
        service.index(full=True)
        assert not [said for said in [tried(lambda: service.remember("the ring begins here", id="first"))] if said]
        kept.add("first")
        filler = fill(small_disk)
        refused = every_write(service, repo, names, kept)
        assert {"full index", "backup", "portable backup", "compact", "remember 2"} <= refused.keys()
        for said in refused.values():
            assert said.startswith("LIMIT: "), said
            assert "make room" in said
        answered(service, kept)
        filler.unlink()
        assert every_write(service, repo, names, kept) == {}
        answered(service, kept)
        assert service.verify_index(deep=True).sound
        filler = fill(small_disk)
        refused = every_write(service, repo, names, kept)
        os.kill(pid, signal.SIGKILL)  # while the disk is full, and much is only in the journal
    filler.unlink()
    with GraphMem.open(db, settings=settings) as memory:
        assert kept <= {one.id for one in memory.memories(limit=500).memories}
        memory.index(repo)
        assert memory.verify_index(deep=True).sound


def test_commands_on_a_full_disk_answer_without_log_lines_and_name_no_damage(small_disk, repo, environ):
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        given = [sys.executable, "-P", "-m", "graphmem", *command, "--db", str(small_disk / "index")]
        return subprocess.run(given, cwd=repo, env=dict(environ), capture_output=True, text=True, check=False)

    assert run("index", "-q").returncode == 0
    fill(small_disk)
    verified = run("verify")
    assert (verified.returncode, verified.stderr) == (0, "")
    assert f"the disk of {small_disk / 'index'} is full; questions are answered" in verified.stdout
    assert "mended" not in verified.stdout
    found = run("search", "f1")
    assert found.returncode == 0, found.stderr
    assert "f1" in found.stdout
    assert "delete it" not in found.stdout + found.stderr, "the history is intact"


@pytest.mark.skipif(
    shutil.which("setpriv") is None and os.geteuid() == 0, reason="root may write everywhere, and nothing here takes that away"
)
def test_a_folder_that_may_not_be_written_to_any_more_is_said_and_costs_nothing(tmp_path, repo, environ, settings):
    db, kept, names = tmp_path / "index", set[str](), (f"note{number}" for number in range(1000))
    with served(repo, db, environ, WITHOUT_RIGHTS if os.geteuid() == 0 else None) as (service, _):
        service.index(full=True)
        service.remember("the ring begins here", id="first")
        kept.add("first")
        rights = {one: one.stat().st_mode & 0o777 for one in (db, *db.rglob("*"))}
        for one in rights:
            one.chmod(0o500 if one.is_dir() else 0o400)
        refused = every_write(service, repo, names, kept)
        assert {"index", "full index", "backup", "portable backup", "compact"} <= refused.keys()
        for said in refused.values():
            assert "INTERNAL" not in said, said
            assert str(db) in said
        answered(service, kept)
        for one, mode in rights.items():
            if one.exists():
                one.chmod(mode)
        assert tried(service.index) == "", "nothing has changed since, and the graph is brought level"
        assert not [one.said for one in service.verify_index().checks if one.level == "bad"]
        assert every_write(service, repo, names, kept) == {}
        answered(service, kept)
    with GraphMem.open(db, settings=settings) as memory:
        assert kept <= {one.id for one in memory.memories(limit=500).memories}
        assert memory.verify_index().sound
