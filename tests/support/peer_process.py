"""A process that is registered as the server of a project, and answers every request in the same way."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.hooks.here import is_stopped
from graphmem.server.owner import process_start

ANSWER = b"HTTP/1.1 200 OK\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\ncontent-length: 2\r\n\r\nok"
_SCRIPT = f"""
import socket, sys, time
from pathlib import Path
from graphmem.location import DATABASE
from graphmem.server.peers import Peers
from graphmem.store.file.lock import DatabaseLock

folder, name, delay = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
lock = DatabaseLock(folder / name / ".graphmem" / DATABASE, "kuzu", shared=False)
lock.write(clean=False, database="", checkpoint=0, log=0)
listener = socket.create_server(("127.0.0.1", 0))
Peers(folder).join("http://127.0.0.1:%d" % listener.getsockname()[1], "secret of the peer")
print(flush=True)
while True:
    connection, _ = listener.accept()
    connection.recv(65536)
    print(flush=True)
    time.sleep(delay)
    connection.sendall({ANSWER!r})
    connection.close()
"""


class PeerProcess:
    """The process of another server."""

    def __init__(self, folder: Path, name: str, delay_s: float) -> None:
        command = [sys.executable, "-c", _SCRIPT, str(folder), name, str(delay_s)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.wait()

    def wait(self) -> None:
        """Wait until it is ready, or has received a request."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "\n"

    def stop(self) -> None:
        """Stop the process, as Ctrl-Z does."""
        self.process.send_signal(signal.SIGSTOP)
        while not is_stopped(self.process.pid, process_start(self.process.pid)):
            time.sleep(0.01)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=30)


@contextmanager
def peer(folder: Path, name: str = "shop", delay_s: float = 0.0) -> Iterator[PeerProcess]:
    """Another server of `folder` that has a project open, which is created without an index."""
    (folder / name / ".graphmem").mkdir(parents=True, exist_ok=True)
    made = PeerProcess(folder, name, delay_s)
    try:
        yield made
    finally:
        made.kill()
