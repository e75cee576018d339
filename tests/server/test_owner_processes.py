"""One server for each index: started by the first, found by all others.

It leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphmem.client.connecting import Turns, connect_or_start
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import StoreBusyError, UnauthenticatedError
from graphmem.location import Location, locate
from graphmem.server import owner
from graphmem.settings import Settings

CLIENT = """
import sys
from pathlib import Path
from graphmem.client.connecting import connect_or_start
from graphmem.server import owner
from graphmem.location import locate
from graphmem.settings import Settings
location = locate(Path(sys.argv[1]), Settings())
sys.stdin.readline()  # until everybody is here
service = connect_or_start(location)
service.remember(f"client {sys.argv[2]} was here", id=f"client-{sys.argv[2]}")
print(owner.read(location.owner_file).pid)
"""


def end(folder: Path, servers_of: Callable[[Path], set[int]]) -> None:
    for pid in servers_of(folder):
        with contextlib.suppress(ProcessLookupError):  # it was on its way out when it was listed
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + 60
    while servers_of(folder) and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.fixture
def location(repo: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, servers_of) -> Iterator[Location]:
    """A project; servers of it are ended with the test."""
    for name in [name for name in os.environ if name not in environ]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    yield locate(repo, Settings())
    end(repo, servers_of)
    for pid in servers_of(repo):
        os.kill(pid, signal.SIGKILL)


def test_twenty_clients_at_once_start_one_owner_and_all_find_it(location, repo, environ, servers_of):
    clients = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", CLIENT, str(repo), str(number)],
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(20)
    ]
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("go\n")
        client.stdin.flush()
    told = [client.communicate(timeout=110) for client in clients]
    assert [err for _, err in told if err] == []
    assert len({out.strip() for out, _ in told}) == 1
    assert servers_of(repo) == {int(told[0][0])}
    found = connect_or_start(location).memories(limit=100)
    assert {one.id for one in found.memories} == {f"client-{number}" for number in range(20)}


def test_twelve_commands_at_once_without_a_server_wait_for_each_other(repo, forks, servers_of):
    def command(*args):
        return forks.run(*args, cwd=repo, timeout=110)

    indexed = command("index", "--quiet")
    assert (indexed.stdout, indexed.stderr) == ("", "")
    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(lambda number: command("remember", f"Ports of service {number} begin at {number}000."), range(12)))
    assert [one.stderr for one in told if one.stderr] == []
    assert [one.returncode for one in told] == [0] * 12
    assert {one["content"] for one in json.loads(command("memory", "list", "--json").stdout)["memories"]} == {
        f"Ports of service {number} begin at {number}000." for number in range(12)
    }
    assert servers_of(repo) == set()


def test_a_command_waits_again_for_each_that_comes_before_it_and_not_for_ever_for_one():
    turns, begun = Turns(0.5), time.monotonic()
    for pid in (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4):
        turns.wait(StoreBusyError("busy", owner={"pid": pid}))
    assert time.monotonic() - begun > 0.5
    busy, refused = StoreBusyError("busy", owner={"pid": 4}), None
    while refused is None and time.monotonic() - begun < 10:
        try:
            turns.wait(busy)
        except StoreBusyError as error:
            refused = error
    assert refused is busy


def test_an_owner_that_is_told_to_end_keeps_everything_and_leaves_nothing_behind(location, repo, servers_of):
    service = connect_or_start(location)
    service.remember("written just before the end", id="last")
    (pid,) = servers_of(repo)
    begun = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    while owner.process_start(pid):
        assert time.monotonic() - begun < 60
        time.sleep(0.01)
    assert not location.owner_file.exists()
    assert not (location.data_dir / "graph.db.wal").exists(), "the last checkpoint has been made"
    record = json.loads((location.data_dir / "graph.db.lock").read_text())
    assert record["clean"]
    assert connect_or_start(location).memory("last").content == "written just before the end"


def test_a_killed_owner_is_replaced_and_has_lost_nothing(location, repo, servers_of):
    service = connect_or_start(location)
    for number in range(5):
        service.remember(f"kept before the crash, number {number}", id=f"kept-{number}")
    (pid,) = servers_of(repo)
    os.kill(pid, signal.SIGKILL)
    assert owner.read(location.owner_file) is not None, "its file is still there"
    again = connect_or_start(location)
    assert {one.id for one in again.memories().memories} == {f"kept-{number}" for number in range(5)}
    assert pid not in servers_of(repo)


def test_the_file_of_a_process_number_that_belongs_to_somebody_else_is_replaced(location):
    location.data_dir.mkdir(parents=True, exist_ok=True)
    stale = owner.Owner("http://127.0.0.1:9", os.getpid(), "another-boot:1", "", "1.0")
    location.owner_file.write_text(json.dumps(stale._asdict()))
    connect_or_start(location).state()
    found = owner.read(location.owner_file)
    assert found is not None
    assert found.pid != os.getpid()


def test_an_old_token_is_refused_and_the_owner_file_has_the_new_one(location, repo, monkeypatch, servers_of):
    monkeypatch.setenv("GRAPHMEM_TOKEN", "first")
    service = connect_or_start(location)
    service.state()
    end(repo, servers_of)
    monkeypatch.setenv("GRAPHMEM_TOKEN", "second")
    renewed = connect_or_start(location)
    renewed.state()
    with pytest.raises(UnauthenticatedError):
        RemoteGraphMem(renewed.address, "first").state()


def test_two_checkouts_of_one_repository_have_an_owner_each(location, repo, tmp_path, servers_of):
    other = tmp_path / "other"
    subprocess.run(["cp", "-r", str(repo), str(other)], check=True)
    elsewhere = locate(other, Settings())
    try:
        mine, theirs = connect_or_start(location), connect_or_start(elsewhere)
        assert mine.address != theirs.address
        mine.remember("only known here", id="mine")
        assert [one.id for one in theirs.memories().memories] == []
    finally:
        end(other, servers_of)


def test_a_long_log_is_renamed_and_a_short_one_is_added_to(location, repo, servers_of):
    location.data_dir.mkdir(parents=True, exist_ok=True)
    log = location.data_dir / "server.log"
    log.write_text("said by an earlier one\n")
    connect_or_start(location)
    end(repo, servers_of)
    assert log.read_text().startswith("said by an earlier one\n")
    log.write_text("x" * (2 << 20))
    connect_or_start(location)
    assert log.stat().st_size < 1 << 20
    assert log.with_name("server.log.1").stat().st_size == 2 << 20


def test_a_large_import_goes_through_a_running_server(location, tmp_path):
    from graphmem import GraphMem

    with GraphMem.open(tmp_path / "source", settings=Settings(embedder="none")) as source:
        source.remember_many([{"id": f"m-{i}", "content": f"memory {i}: " + "long words " * 300} for i in range(600)])
        text = source.export_memories()
    assert len(text) > 2 << 20
    answer = connect_or_start(location).import_memories(text)
    assert sum(answer.counts.values()) == 600
    assert connect_or_start(location).memories().total == 600


def test_nothing_of_the_current_folder_is_run(location, repo, monkeypatch):
    (repo / "types.py").write_text("raise SystemExit('the repository was run')\n")
    (repo / "graphmem.py").write_text("raise SystemExit('the repository was run')\n")
    monkeypatch.chdir(repo)
    assert connect_or_start(location).state()
