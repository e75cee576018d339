"""A push to a server that is half dead ends in time, and says what happened and what to do."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from graphmem.errors import OwnerUnreachableError
from graphmem.project.hosted import pushing
from hosted import SHOP, indexed

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"


def silent(connection: socket.socket, ended: threading.Event) -> None:
    ended.wait()


def half(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(HEAD + b'{"files": {')


def dripping(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(HEAD)
    while not ended.wait(0.1):
        connection.sendall(b" ")


@contextmanager
def failing(answer):
    """A server on loopback that answers each request in the given way; yields its address."""
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            answer(connection, ended)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/p/shop"
        ended.set()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (silent, "did not answer completely in 1 s; check its load and its log, then push again"),
        (dripping, "did not answer completely in 1 s; check its load and its log, then push again"),
        (half, "closed the connection before the end of its answer; check its log, then push again"),
    ],
)
def test_a_push_to_a_half_dead_server_ends_in_time_and_says_what_to_do(tmp_path, monkeypatch, answer, told):
    monkeypatch.setattr(pushing, "READ_S", 1.0)
    with failing(answer) as address, indexed(tmp_path / "shop", SHOP) as own:
        begun = time.monotonic()
        with pytest.raises(OwnerUnreachableError) as raised:
            own.push_index(address)
        assert str(raised.value).endswith(told)
        assert time.monotonic() - begun < 30.0
