"""Processes of `graphmem` that are forked from one that has imported it: a third of the processor time of a new interpreter.

A forked command is a process of its own: with its own descriptors, limits, environment and end. What differs from `python -m graphmem` is
that imports are done already. The engine is not imported, because commands load it when they need it.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

ANSWER_BYTES = 65_536


class Forks:
    """The process that forks the commands; `with Forks(environ) as forks: forks.run("search", "ring")`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)

    def __enter__(self) -> Self:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-P", __file__, str(theirs.fileno())]
            kinds = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}  # as a command's: Python looks once
            self._process = subprocess.Popen(command, env=self.environ, pass_fds=[theirs.fileno()], **kinds)
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.communicate(timeout=30)

    def run(
        self, *args: str | Path, cwd: Path, limits: Mapping[int, int] | None = None, timeout: float = 200
    ) -> subprocess.CompletedProcess[str]:
        """Run `graphmem ARGS` below soft limits, without input.

        Args:
            cwd: its working directory.
            limits: number of a limit in `resource` -> the limit.
            timeout: seconds, after which it is killed.

        Raises:
            subprocess.TimeoutExpired: the command did not end.
        """
        given = {"args": [*map(str, args)], "cwd": str(cwd), "environ": self.environ, "limits": [*(limits or {}).items()]}
        with Path(os.devnull).open("rb") as nothing:
            pipes = [os.pipe() for _ in range(3)]  # its two streams, and then its number and its end
            try:
                descriptors = [nothing.fileno(), *(writing for _, writing in pipes)]
                socket.send_fds(self._socket, [json.dumps(given).encode()], descriptors)
            finally:
                for _, writing in pipes:
                    os.close(writing)
        try:
            out, err, end = _read_all([reading for reading, _ in pipes], time.monotonic() + timeout, [*map(str, args)])
        finally:
            for reading, _ in pipes:
                os.close(reading)
        return subprocess.CompletedProcess(args, int(end.split()[1]), out.decode(), err.decode())


def _read_all(readings: Sequence[int], deadline: float, command: list[str]) -> list[bytes]:
    """Everything that comes through these pipes until they are closed."""
    read = dict.fromkeys(readings, b"")
    with selectors.DefaultSelector() as selector:
        for one in readings:
            selector.register(one, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                if number := read[readings[2]].split()[:1]:
                    os.kill(int(number[0]), signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, 0, read[readings[0]], read[readings[1]])
            for key, _ in ready:
                if more := os.read(key.fd, ANSWER_BYTES):
                    read[key.fd] += more
                else:
                    selector.unregister(key.fd)
    return [read[one] for one in readings]


def _become(given: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Turn this process into the one that was asked for."""
    for stream, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, stream)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    os.chdir(given["cwd"])
    os.environ.clear()
    os.environ.update(given["environ"])
    for limit, most in given["limits"]:
        resource.setrlimit(limit, (most, resource.getrlimit(limit)[1]))
    sys.argv = ["graphmem", *given["args"]]


def _serve(asked: socket.socket) -> bool:
    """Fork a command for every request; True in the command's process, False at the end of the requests."""
    with selectors.DefaultSelector() as selector:
        selector.register(asked, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not asked:  # a command has ended
                    number, telling = key.data
                    selector.unregister(key.fileobj)
                    os.close(int(key.fd))
                    os.write(telling, f" {os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])}".encode())
                    os.close(telling)
                    continue
                message, descriptors, _, _ = socket.recv_fds(asked, ANSWER_BYTES, 4)
                if not message:
                    return False
                if not (number := os.fork()):
                    selector.close()
                    asked.detach()
                    _become(json.loads(message), descriptors)
                    return True
                os.write(descriptors[3], str(number).encode())
                for descriptor in descriptors[:3]:
                    os.close(descriptor)
                selector.register(os.pidfd_open(number), selectors.EVENT_READ, (number, descriptors[3]))


if __name__ == "__main__":
    from graphmem.__main__ import run

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `run` has it
    import graphmem.cli.main
    import graphmem.client.connecting
    import graphmem.project.graphmem  # noqa: F401

    if _serve(socket.socket(fileno=int(sys.argv[1]))):
        run()
