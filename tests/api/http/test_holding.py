"""Clients that never finish: a server with few descriptors goes on answering others, and ends who keeps it waiting."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from graphmem.api.requests.limits import ServerLimits

NOFILE = 160  # of the server; 128 are its own, so 32 connections
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PROJECT = b'{"operationName":"Project"}'
UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n"
)
FOLLOW = b'{"operationName":"IndexProgress","variables":{"follow":true}}'
KINDS = {
    "nothing": b"",
    "half headers": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
    "half bodies": POST + b'Content-Length: 1000\r\n\r\n{"query": "',
    "idle": GET,
    "half handshakes": UPGRADE,
    "silent WebSockets": UPGRADE + b"\r\n",
    "streams": POST + b"Accept: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(FOLLOW) + FOLLOW,
}
PROGRAM = """
import json, sys
from starlette.responses import Response
from starlette.routing import Route
from graphmem.api import serve
from graphmem.api.app import ServerOptions, build_app
from graphmem.api.requests.limits import ServerLimits
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

with GraphMem.open(sys.argv[1], settings=Settings(embedder="none")) as memory:
    options = ServerOptions(limits=ServerLimits(**json.loads(sys.argv[2])))
    app = build_app(memory, options)
    app.router.routes.append(Route("/large", lambda request: Response(bytes(16 << 20))))
    serve.run(app, "127.0.0.1", 0, lambda host, port: print(port, flush=True))
"""


class Held:
    """A server process that may open few files."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.port = int(process.stdout.readline())

    def connect(self, sent: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.port), timeout=60, source_address=(source, 0))
        if sent:
            made.sendall(sent)
        return made

    def answers(self) -> bool:
        """Whether a client gets an answer; one whose connection is taken away tries again, as clients do."""
        for _ in range(5):
            connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
            with contextlib.closing(connection), contextlib.suppress(ConnectionError):
                connection.request("POST", "/graphql", PROJECT, {"Content-Type": "application/json"})
                return "data" in json.loads(connection.getresponse().read())
        return False

    def descriptors(self) -> list[str]:
        """Descriptions of the open files and connections of the process."""
        found = []
        for one in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                found.append(str(one.readlink()))
        return found

    def sockets(self) -> int:
        return sum(one.startswith("socket:") for one in self.descriptors())

    def idle_sockets(self) -> int:
        """The sockets that are left when those of earlier questions are closed."""
        found, since = self.sockets(), time.monotonic()
        while time.monotonic() - since < 0.5:
            time.sleep(0.02)
            if (now := self.sockets()) != found:
                found, since = now, time.monotonic()
        return found


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Held]]:
    """held(**limits): the server with these limits, one for all tests. Each ends properly after all they did to it."""
    started: dict[str, Held] = {}
    said = tmp_path_factory.mktemp("said")

    def start(**limits: float) -> Held:
        key = json.dumps(limits, sort_keys=True)
        if key not in started:
            with (said / f"{len(started)}").open("w") as stderr:
                process = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, str(tmp_path_factory.mktemp("held") / "index"), key],
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (NOFILE, NOFILE)),
                )
            started[key] = Held(process)
        return started[key]

    yield start
    for one in started.values():
        one.process.send_signal(signal.SIGTERM)
    try:
        assert [one.process.wait(60) for one in started.values()] == [0] * len(started)
    finally:
        for one in started.values():
            one.process.kill()
            one.process.communicate()
    assert not [text for path in sorted(said.iterdir()) if "Traceback" in (text := path.read_text())]


def all_of(connection: socket.socket) -> bytes:
    """Bytes that arrive until the other side closes or cuts the connection."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65_536):
            said += piece
    return said


def status(said: bytes) -> int:
    return int(said.split(b" ", 2)[1])


@pytest.mark.parametrize("kind", [*KINDS, "all of them"])
def test_more_connections_than_descriptors_leave_the_server_to_others(held, kind):
    server = held()
    assert server.answers()
    before = server.sockets()
    sent = [KINDS[kind]] if kind in KINDS else list(KINDS.values())
    with contextlib.ExitStack() as stack:
        for number in range(2 * NOFILE):
            with contextlib.suppress(ConnectionError):
                stack.enter_context(contextlib.closing(server.connect(sent[number % len(sent)])))
            if number % NOFILE == NOFILE - 1:
                assert server.answers(), number
        assert len(server.descriptors()) < NOFILE - 64, "there are some left for files of its own"
        assert server.answers()
    until = time.monotonic() + 60
    while server.sockets() > before and time.monotonic() < until:
        time.sleep(0.02)
    assert server.sockets() <= before
    assert server.answers()


@pytest.mark.parametrize(
    ("sent", "status_code"),
    [
        (b"", 408),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Lo", 408),
        (GET + b"GET /", 408),
        (POST + b"Content-Length: 100\r\n\r\n{", 408),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", 408),
        (UPGRADE, 408),
    ],
)
def test_who_does_not_send_the_rest_in_time_is_ended_and_told(held, sent, status_code):
    server = held(header_seconds=0.5, body_seconds=0.5)
    with contextlib.closing(server.connect(sent)) as connection:
        said = all_of(connection)
        last = said[said.rindex(b"HTTP/1.1 ") :]
        assert status(last) == status_code
        assert json.loads(last.partition(b"\r\n\r\n")[2])["errors"][0]["extensions"]["code"] == "TIMEOUT"
    assert server.answers()


def test_a_websocket_that_says_nothing_is_closed_in_the_time_for_headers(held):
    server = held(header_seconds=0.5, body_seconds=0.5)
    with contextlib.closing(server.connect(UPGRADE + b"\r\n")) as connection:
        said = connection.recv(65_536)
        assert status(said) == 101
        while b"initialisation timeout" not in said:  # in the frame that closes it, which is not answered here
            piece = connection.recv(65_536)
            assert piece, said
            said += piece


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 40_000,
        b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Long: " + b"x" * 40_000,
        POST + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 40_000,
        UPGRADE + b"X-Long: " + b"x" * 40_000 + b"\r\n\r\n",
    ],
    ids=["one long", "one without end", "address", "many", "after a body", "of a chunk", "of a handshake"],
)
def test_headers_larger_than_they_may_be_are_refused(held, sent):
    server = held()
    with contextlib.closing(server.connect()) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        said = all_of(connection)
        assert not said or status(said) == 431  # a client that goes on sending may not hear why
        if len(sent) < 8_000:
            assert said
    assert server.answers()


def test_a_large_body_in_small_chunks_and_a_slow_one_with_progress_are_taken(held):
    server = held(body_seconds=1.0)
    text = json.dumps({"operationName": "Project", "variables": {}, "extensions": {"x": "y" * 20_000}}).encode()
    with contextlib.closing(server.connect(POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")) as connection:
        connection.sendall(b"".join(b"1\r\n%c\r\n" % one for one in text) + b"0\r\n\r\n")
        assert status(all_of(connection)) == 200
    with contextlib.closing(server.connect(POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(text))) as connection:
        half = len(text) // 2
        connection.sendall(text[:half])
        time.sleep(1.2)  # more than the second a body has, less than that and what came
        connection.sendall(text[half:])
        assert status(all_of(connection)) == 200


def test_requests_that_follow_each_other_on_one_connection_are_answered_in_order(held):
    server = held()
    request = POST + b"Content-Length: %d\r\n\r\n" % len(PROJECT) + PROJECT
    with contextlib.closing(server.connect((request + GET) * 5 + GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))) as connection:
        said = all_of(connection)
    assert said.count(b"HTTP/1.1 200 ") == 11
    assert said.index(b'"project"') < said.index(b'"status":"ok"')


def test_too_many_requests_at_once_on_one_connection_are_refused(held):
    server = held()
    request = POST + b"Content-Length: %d\r\n\r\n" % len(PROJECT) + PROJECT
    with contextlib.closing(server.connect(request * 60)) as connection:
        assert b"HTTP/1.1 503 " in all_of(connection)
    assert server.answers()


def test_one_address_cannot_have_the_places_of_others(held):
    server = held(connections_per_address=4)
    with contextlib.ExitStack() as stack:
        mine = stack.enter_context(contextlib.closing(server.connect(b"GET /health HTTP/1.1\r\nHost:", source="127.0.0.2")))
        for _ in range(40):
            stack.enter_context(contextlib.closing(server.connect(KINDS["half headers"])))
        mine.sendall(b" localhost\r\nConnection: close\r\n\r\n")
        assert status(all_of(mine)) == 200, "the first connection, from another address, was not closed"


def test_a_client_that_takes_nothing_of_its_answer_is_cut_off(held):
    server = held(write_seconds=0.5)
    with contextlib.closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(60)
        assert server.answers()
        before = server.idle_sockets()
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1)
        until = time.monotonic() + 60
        while server.sockets() > before and time.monotonic() < until:
            time.sleep(0.02)
        assert server.sockets() <= before
        assert len(all_of(connection)) < 16 << 20
    assert server.answers()


def test_streams_leave_room_for_questions_and_one_more_is_refused_in_a_sentence(held):
    server = held()
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(contextlib.closing(server.connect(KINDS["streams"]))) for _ in range(8)]
        for stream in streams:
            assert status(stream.recv(12 + 4)) == 200
        one_more = stack.enter_context(
            contextlib.closing(server.connect(KINDS["streams"].replace(b"\r\n", b"\r\nConnection: close\r\n", 1)))
        )
        said = all_of(one_more)
        assert status(said) == 503
        assert json.loads(said.partition(b"\r\n\r\n")[2])["errors"][0]["extensions"]["limit"] == "streams"
        assert server.answers()


def test_who_goes_away_in_the_middle_of_a_body_leaves_no_traceback(held):
    server = held()
    for _ in range(5):
        server.connect(KINDS["half bodies"]).close()
    assert server.answers()  # what it wrote to standard error is looked at when it ends


def test_the_limits_are_what_the_documentation_says():
    limits = ServerLimits()
    assert (limits.connections, limits.connections_per_address, limits.header_bytes) == (512, 256, 32_768)
    assert (limits.header_seconds, limits.body_seconds, limits.write_seconds, limits.idle_seconds) == (10, 30, 30, 30)
