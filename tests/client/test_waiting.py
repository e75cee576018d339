"""Commands that find an index open in another process wait for it, and cost little meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.client import connecting
from graphmem.client.connecting import Turns, connect
from graphmem.errors import StoreBusyError
from graphmem.location import locate
from graphmem.maintenance.place import prepare_data_dir
from graphmem.settings import Settings
from graphmem.store.file.lock import DatabaseLock

HOLDER = """
import sys
from pathlib import Path
from graphmem.store.file.lock import DatabaseLock
lock = DatabaseLock(Path(sys.argv[1]), "kuzu", shared=False)
lock.write(clean=False, database="d", checkpoint=0, log=0)
print("open", flush=True)
sys.stdin.read()
lock.write(clean=True, database="d", checkpoint=0, log=0)
lock.release()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the index of `tmp_path` open until its input ends."""
    prepare_data_dir(tmp_path / ".graphmem")
    command = [sys.executable, "-c", HOLDER, str(tmp_path / ".graphmem" / "graph.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process


@pytest.fixture
def git_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that gets a line for each process of Git."""
    log, folder = tmp_path / "runs", tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def test_a_command_that_waits_for_an_index_asks_git_about_it_once_a_second(tmp_path, holder, git_runs):
    begun = time.monotonic()
    with pytest.raises(StoreBusyError) as busy:
        connect(locate(None, Settings(db=str(tmp_path / ".graphmem")), {}), Settings(embedder="none"), create=True, patience_s=1.5)
    waited = time.monotonic() - begun
    assert busy.value.facts["owner"]["pid"] == holder.pid
    assert waited >= 1.5
    assert 2 <= len(git_runs.read_text().splitlines()) <= 2 + waited, "one for each attempt"


def test_the_wait_ends_when_the_other_process_closes_the_index(tmp_path, holder, monkeypatch):
    monkeypatch.setattr(connecting, "LOOK_AGAIN_S", 600.0)
    database = tmp_path / ".graphmem" / "graph.db"
    with pytest.raises(StoreBusyError) as busy:
        DatabaseLock(database, "kuzu", shared=False)
    turns = Turns(600.0)
    holder.stdin.close()
    turns.wait(busy.value)
    DatabaseLock(database, "kuzu", shared=False).release()


def test_the_wait_ends_when_the_other_process_becomes_a_server(tmp_path, holder, monkeypatch):
    monkeypatch.setattr(connecting, "LOOK_AGAIN_S", 600.0)
    with pytest.raises(StoreBusyError) as busy:
        DatabaseLock(tmp_path / ".graphmem" / "graph.db", "kuzu", shared=False)
    (tmp_path / ".graphmem" / "owner.json").write_text(
        f'{{"address": "http://127.0.0.1:1", "pid": {holder.pid}, "started": "", "token": "", "version": "1"}}'
    )
    Turns(600.0).wait(busy.value)
