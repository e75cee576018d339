"""One owner: the file that says who serves an index, and what happens to it when that process is gone."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from graphmem.api.serve import listen
from graphmem.errors import OwnerUnreachableError
from graphmem.hooks.here import is_here, is_stopped
from graphmem.runtime.identity import INDEX_HEADER, index_id
from graphmem.server import owner


class _Health(BaseHTTPRequestHandler):
    pid = os.getpid()
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = json.dumps({"status": "ok", "pid": self.pid}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header(INDEX_HEADER, self.server.index)  # type: ignore[attr-defined]
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def health(tmp_path: Path) -> Iterator[str]:
    """An HTTP server that answers like a graphmem of this process that serves the index of the test."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Health)
    server.index = index_id(tmp_path)  # type: ignore[attr-defined]
    _Health.asked.clear()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_file_is_for_its_user_only_and_says_who_serves(tmp_path: Path, health: str) -> None:
    path = tmp_path / "owner.json"
    published = owner.publish(path, health, "secret", "1.0")
    assert path.stat().st_mode & 0o777 == 0o600
    assert owner.find(path) == published
    assert published.pid == os.getpid()
    assert [entry.name for entry in tmp_path.iterdir()] == ["owner.json"]


def test_an_owner_whose_process_ended_is_nobody(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = owner.process_start(ended.pid)
    path.write_text(json.dumps(owner.Owner("http://127.0.0.1:1", ended.pid, started, "", "1.0", index_id(tmp_path))._asdict()))
    ended.communicate(b"\n")
    assert started
    assert owner.find(path) is None


def test_a_process_number_given_to_somebody_else_is_not_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    path.write_text(json.dumps(owner.Owner("http://127.0.0.1:1", os.getpid(), "another-boot:1", "", "1.0", index_id(tmp_path))._asdict()))
    assert owner.find(path) is None


def test_another_program_on_the_port_is_not_the_owner(tmp_path: Path, health: str) -> None:
    path = tmp_path / "owner.json"
    path.write_text(json.dumps(owner.Owner(health, 2**22 - 1, "", "", "1.0", index_id(tmp_path))._asdict()))
    assert owner.find(path) is None


def test_an_owner_that_lives_and_does_not_answer_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    owner.publish(path, "http://127.0.0.1:1", "", "1.0")
    with pytest.raises(OwnerUnreachableError) as failure:
        owner.find(path, patience_s=0.3)
    assert failure.value.pid == os.getpid()


def test_the_file_of_a_copy_is_passed_over_and_nobody_is_asked(tmp_path: Path, health: str) -> None:
    (tmp_path / "copy").mkdir()
    owner.publish(tmp_path / "owner.json", health, "secret", "1.0")
    shutil.copy2(tmp_path / "owner.json", tmp_path / "copy" / "owner.json")
    assert owner.find(tmp_path / "copy" / "owner.json") is None
    assert _Health.asked == []


def test_the_file_of_a_folder_that_was_moved_holds(tmp_path: Path, health: str) -> None:
    (tmp_path / "before").mkdir()
    published = owner.publish(tmp_path / "before" / "owner.json", "http://127.0.0.1:1", "", "1.0")
    (tmp_path / "before").rename(tmp_path / "after")
    assert published.index_id == index_id(tmp_path / "after")
    with pytest.raises(OwnerUnreachableError):  # it is looked for, and does not answer
        owner.find(tmp_path / "after" / "owner.json", patience_s=0)


def test_a_server_of_the_same_number_that_serves_another_index_is_not_the_owner(tmp_path: Path, health: str) -> None:
    (tmp_path / "index").mkdir()  # process numbers are not unique: each container counts its own
    path = tmp_path / "index" / "owner.json"
    path.write_text(json.dumps(owner.Owner(health, os.getpid(), "another-boot:1", "", "1.0", index_id(path.parent))._asdict()))
    assert owner.find(path) is None
    assert _Health.asked == [owner.HEALTH_PATH]


def test_an_owner_that_is_stopped_is_said_at_once_with_the_way_on(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    stopped = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        started = owner.process_start(stopped.pid)
        path.write_text(json.dumps(owner.Owner("http://127.0.0.1:1", stopped.pid, started, "", "1.0", index_id(tmp_path))._asdict()))
        stopped.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED)
        assert is_stopped(stopped.pid, started)
        assert not is_stopped(stopped.pid, "another-boot:1")
        with pytest.raises(OwnerUnreachableError, match=rf"kill -CONT {stopped.pid}.*kill -KILL {stopped.pid}"):
            owner.find(path, patience_s=1e9)
    finally:
        stopped.kill()
        stopped.communicate()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "null"])
def test_a_broken_file_names_nobody(tmp_path: Path, text: str) -> None:
    path = tmp_path / "owner.json"
    path.write_text(text)
    assert owner.find(path) is None


def test_withdrawing_leaves_a_successor_alone(tmp_path: Path, health: str) -> None:
    path = tmp_path / "owner.json"
    first = owner.publish(path, health, "", "1.0")
    second = owner.publish(path, health, "", "2.0")
    owner.withdraw(path, first)
    assert owner.read(path) == second
    owner.withdraw(path, second)
    assert not path.exists()


def test_the_proxies_of_the_environment_are_not_asked(tmp_path: Path, health: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    path = tmp_path / "owner.json"
    published = owner.publish(path, health, "", "1.0")
    assert owner.find(path) == published


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8"),
        ("0.0.0.0", "http://127.0.0.1:8"),
        ("::1", "http://[::1]:8"),
        ("::", "http://[::1]:8"),
        ("box", "http://box:8"),
    ],
)
def test_the_address_is_one_this_machine_can_reach(host: str, address: str) -> None:
    assert owner.local_address(host, 8) == address


@pytest.mark.parametrize(
    "address",
    [
        "http://192.0.2.1:8420",
        "http://example.org:8420",
        "http://[2001:db8::1]:8420",
        "http://127.0.0.1@192.0.2.1:8420",
        "http://127.0.0.1:8420\\@192.0.2.1:80",
        "https://127.0.0.1:8420",
        "http://127.0.0.1:8420/elsewhere",
    ],
)
def test_a_file_that_names_another_machine_is_passed_over(tmp_path: Path, address: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "owner.json"
    owner.publish(path, address, "", "1.0")  # of a process that runs, so that only the address speaks against it
    assert owner.find(path, patience_s=0) is None
    assert "not on this machine" in caplog.text


@pytest.mark.parametrize("address", ["http://127.0.0.1:8", "http://127.8.9.1:8", "http://localhost:8"])
def test_addresses_of_this_machine_are_known(address: str) -> None:
    assert is_here(address)


def test_a_server_is_published_by_address_and_not_by_name() -> None:
    name = socket.gethostname()
    try:
        known = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)[0][4][0]
    except OSError:
        pytest.skip("this machine does not know its own name")
    with contextlib.closing(listen(name, 0)) as listener:
        assert listener.getsockname()[0] == known
        assert is_here(owner.local_address(known, listener.getsockname()[1]))


def test_a_held_server_is_waited_for_on_one_connection(tmp_path: Path) -> None:
    path = tmp_path / "owner.json"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        published = owner.publish(path, f"http://127.0.0.1:{listener.getsockname()[1]}", "", "1.0")
        found: list[owner.Owner | None] = []
        asking = threading.Thread(target=lambda: found.append(owner.find(path, patience_s=60)))
        asking.start()
        first, _ = listener.accept()
        with first:
            while first.recv(65_536):  # it gives up and comes once more
                pass
        second, _ = listener.accept()
        with second:
            second.recv(65_536)
            second.settimeout(2 * owner.HEALTH_SECONDS)
            with pytest.raises(TimeoutError):  # this time it stays
                second.recv(1)
            body = json.dumps({"pid": os.getpid()}).encode()
            head = f"HTTP/1.1 200 OK\r\n{INDEX_HEADER}: {published.index_id}\r\nContent-Length: {len(body)}\r\n\r\n"
            second.sendall(head.encode() + body)
            asking.join(30)
    assert found == [published]
