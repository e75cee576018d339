"""A server with few file descriptors under 1,000 held connections: answers for other clients.

    python -m benchmarks hold [--count 1000] [--nofile 256] [--seconds 12]

One server process on loopback may open --nofile descriptors. For each kind in `KINDS`, --count connections send the start of a request, or
nothing, and never finish. A connection that the server closes is opened again. Another client asks questions before, during and after. A
command writes a memory and another one indexes while the server is held.

The table has answered questions, median and slowest answer, open descriptors, connections that the server closed, and the seconds until
the descriptors are released.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from typing import Any

import report

MODULES = 40
ANSWER_S = 15.0  # time limit of the asking client; later counts as no answer
PAUSE_S = 0.1  # between two questions of that client
OPENED_AT_ONCE = 64  # connections opened between two checks for closed ones
LAST_RESORT_S = 60.0  # time limit for a command, and for the server to end
QUESTION = json.dumps({"operationName": "Project"}).encode()
POST = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n"
)
# The bytes that a connection of each kind sends before it stops; none of them reads.
KINDS: dict[str, bytes] = {
    "nothing sent": b"",
    "half headers": b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
    "half bodies": POST + b"Content-Length: 100000\r\n\r\n" + b'{"query": "',
    "idle keep-alive": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "answers not read": b"GET /graphql/assets/graphiql.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4,
    "exports not read": b"GET /export.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "half WebSocket handshakes": UPGRADE,
    "WebSockets that say nothing": UPGRADE + b"\r\n",
    "streams not read": POST + b"Accept: text/event-stream\r\nContent-Length: 33\r\n\r\n" + b'{"operationName":"IndexProgress"}',
}


class Holder:
    """Opens connections of some kinds, and reopens those the server closes."""

    def __init__(self, port: int, kinds: list[str], count: int) -> None:
        self._port, self._kinds, self._count = port, kinds, count
        self._stop = threading.Event()
        self._open: dict[int, socket.socket] = {}
        self._poll = select.poll()
        self.opened = self.ended = 0
        self.full = threading.Event()
        self._thread = threading.Thread(target=self._hold, name="holder", daemon=True)

    def __enter__(self) -> Holder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        for one in self._open.values():
            one.close()

    def _hold(self) -> None:
        while not self._stop.is_set():
            for _ in range(min(OPENED_AT_ONCE, self._count - len(self._open))):
                self._begin()
            if self.opened >= self._count:
                self.full.set()
            for descriptor, _ in self._poll.poll(20):
                self._poll.unregister(descriptor)
                self._open.pop(descriptor).close()
                self.ended += 1

    def _begin(self) -> None:
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(0.2)
        with contextlib.suppress(OSError):
            one.connect(("127.0.0.1", self._port))
            one.setblocking(False)
            one.send(KINDS[self._kinds[self.opened % len(self._kinds)]])
        self.opened += 1
        self._open[one.fileno()] = one
        self._poll.register(one, select.POLLHUP | select.POLLERR | select.POLLRDHUP)


def answer_seconds(port: int) -> float | None:
    """Return the seconds for one answer over a new connection, or None."""
    begun = time.perf_counter()
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
    with contextlib.closing(connection):
        try:
            connection.request("POST", "/graphql", QUESTION, {"Content-Type": "application/json"})
            said = json.loads(connection.getresponse().read())
        except (OSError, HTTPException, ValueError):
            return None
    return time.perf_counter() - begun if said.get("data") else None


def descriptors(pid: int) -> int:
    """Return the number of open descriptors of a process."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 -- names alone


def followed(port: int, pid: int, until: Callable[[], bool]) -> dict[str, Any]:
    """Return the figures of one client that asks repeatedly."""
    times: list[float] = []
    asks = most = 0
    begun = time.perf_counter()
    first: float | None = None
    while not until():
        asks += 1
        most = max(most, descriptors(pid))
        found = answer_seconds(port)
        if found is not None:
            times.append(found)
            first = first if first is not None else time.perf_counter() - begun
        time.sleep(PAUSE_S)
    return {
        "asked": asks,
        "answered": len(times),
        "first_answer_s": first,
        "median_ms": 1e3 * median(times) if times else None,
        "slowest_ms": 1e3 * max(times) if times else None,
        "most_descriptors": most,
    }


def command(project: Path, *arguments: str) -> int | None:
    """Return the exit code of a `graphmem` command; None after a time limit."""
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", "graphmem", *arguments], cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return started.wait(LAST_RESORT_S)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()
        return None


def held(project: Path, port: int, pid: int, kinds: list[str], count: int, seconds: float) -> dict[str, Any]:
    """Return the figures before, while and after a server is held."""
    enough = iter(range(10))
    before = followed(port, pid, lambda: next(enough, None) is None)
    before_descriptors = descriptors(pid)
    with Holder(port, kinds, count) as holder:
        holder.full.wait(LAST_RESORT_S)
        until = time.monotonic() + seconds
        meanwhile = followed(port, pid, lambda: time.monotonic() >= until)
        codes = {
            "remember": command(project, "remember", f"The server was held by {' and '.join(kinds)}."),
            "index": command(project, "index"),
        }
    begun = time.perf_counter()
    while descriptors(pid) > before_descriptors + 4 and time.perf_counter() - begun < LAST_RESORT_S:
        time.sleep(0.05)
    settled = time.perf_counter() - begun
    enough = iter(range(10))
    after = followed(port, pid, lambda: next(enough, None) is None)
    return {
        "connections_opened": holder.opened,
        "ended_by_server": holder.ended,
        "descriptors_before": before_descriptors,
        "before": before,
        "held": meanwhile,
        "exit_codes_held": codes,
        "settled_after_s": settled,
        "after": after,
    }


@contextlib.contextmanager
def serving(project: Path, nofile: int) -> Iterator[subprocess.Popen[str]]:
    """Run a server process with a limit of open files."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))

    log = (project.parent / "server.log").open("w")
    with log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "graphmem", "serve", "--port", "0", "--quiet"],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=limit,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def make_project(root: Path) -> None:
    """Write a package whose modules call each other."""
    root.mkdir(parents=True)
    for number in range(MODULES):
        calls = f"from m{(number + 1) % MODULES} import f{(number + 1) % MODULES}_0\n\n\n"
        (root / f"m{number}.py").write_text(
            calls + "".join(f"def f{number}_{i}(value):\n    return f{(number + 1) % MODULES}_0(value) + {i}\n\n\n" for i in range(40))
        )


def main() -> None:
    """Hold a server in every way, print the table and write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("--count", type=int, default=1_000, help="connections at a time, at most 4,000")
    parser.add_argument("--nofile", type=int, default=256, help="descriptors the server may have")
    parser.add_argument("--seconds", type=float, default=12.0, help="seconds of each kind, at most 120")
    arguments = parser.parse_args()
    count, seconds = min(arguments.count, 4_000), min(arguments.seconds, 120.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 200
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    os.environ.update({"GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"})
    folder = Path(tempfile.mkdtemp(prefix="graphmem-hold-"))
    results: dict[str, Any] = {}
    try:
        project = folder / "project"
        make_project(project)
        if command(project, "index") != 0:
            raise SystemExit("the project could not be indexed; run `graphmem index` to see why")
        with serving(project, arguments.nofile) as process:
            assert process.stdout is not None
            port = int(process.stdout.readline().strip().rpartition(":")[2])
            ways = {**{kind: [kind] for kind in KINDS}, "all of them": list(KINDS)}
            for name, kinds in ways.items():
                results[name] = held(project, port, process.pid, kinds, count, seconds)
                print(f"  {name}: {results[name]['held']}", flush=True)
            process.send_signal(signal.SIGTERM)
            ended = process.wait(LAST_RESORT_S)
        verified = command(project, "verify")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.table(
        ("held by", "answered", "median ms", "slowest ms", "before ms", "after ms", "descriptors", "closed by server", "settled s"),
        [
            (
                name,
                f"{one['held']['answered']} of {one['held']['asked']}",
                one["held"]["median_ms"],
                one["held"]["slowest_ms"],
                one["before"]["median_ms"],
                one["after"]["median_ms"],
                f"{one['descriptors_before']} to {one['held']['most_descriptors']}",
                f"{one['ended_by_server']} of {one['connections_opened']}",
                one["settled_after_s"],
            )
            for name, one in results.items()
        ],
    )
    report.publish(
        "hold",
        {"count": count, "nofile": arguments.nofile, "seconds": seconds, "ways": results, "exit_code": ended, "verify": verified},
        arguments.out,
    )


if __name__ == "__main__":
    main()
