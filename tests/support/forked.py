"""Processes of `graphmem` that are forked from one that has imported it: a third of the processor time of a new interpreter.

A forked command is a process of its own: with its own descriptors, limits, environment and end. What differs from `python -m graphmem` is
that imports are done already: those of the entry point, and those that most commands do later, such as the engine's. `index` alone takes a
quarter less processor time for the latter. The engine is not started, because its threads would not be there after a fork.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

ANSWER_BYTES = 65_536
LATER = (
    *(
        "graphmem.cli.rendering",
        "graphmem.cli.commands.index",
        "graphmem.cli.progress",
        "graphmem.client.remote",
        "graphmem.indexing.pipeline",
    ),
    *("markdown_it", "numpy.ma", "pathspec", "pyarrow.compute", "rich.console", "tree_sitter", "tree_sitter_language_pack"),
)
"""What commands import when they run."""


class Forked:
    """A command that was forked: what tests need of `subprocess.Popen`.

    Args:
        args: its arguments.
        out, err: descriptors from which its two streams are read.
        end: a descriptor from which its number is read, and how it ended.
    """

    def __init__(self, args: Sequence[str], out: int, err: int, end: int) -> None:
        self.args = args
        self.stdout, self.stderr = (os.fdopen(one, encoding="utf-8") for one in (out, err))
        self.returncode: int | None = None
        self._end = end
        self._told = os.read(end, ANSWER_BYTES)
        self.pid = int(self._told.split()[0])

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended; minus the signal that ended it."""
        if self.returncode is not None:
            return self.returncode
        deadline = time.monotonic() + (timeout if timeout is not None else float("inf"))
        with selectors.DefaultSelector() as selector:
            selector.register(self._end, selectors.EVENT_READ)
            while self.returncode is None:
                left = deadline - time.monotonic()
                if not selector.select(None if left == float("inf") else max(0.0, left)):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                if more := os.read(self._end, ANSWER_BYTES):
                    self._told += more
                else:
                    self.returncode = int(self._told.split()[1])
        return self.returncode

    def poll(self) -> int | None:
        """Return how it ended, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read the rest of its two streams until it ends.

        Raises:
            subprocess.TimeoutExpired: it did not end.
        """
        try:
            with ThreadPoolExecutor(2) as pool:
                reading = [pool.submit(stream.read) if not stream.closed else None for stream in (self.stdout, self.stderr)]
                try:
                    self.wait(timeout)
                except subprocess.TimeoutExpired:
                    self.kill()  # its streams would be read for ever
                    raise
                out, err = ("" if one is None else one.result() for one in reading)
            return out, err
        finally:
            self.close()

    def close(self) -> None:
        """Close what it was read from."""
        if self._end >= 0:
            self.stdout.close()
            self.stderr.close()
            os.close(self._end)
            self._end = -1


class Forks:
    """The process that forks the commands; `with Forks(environ) as forks: forks.run("search", "ring")`.

    Args:
        environ: the environment of all commands.
        modules: what is imported for them besides the commands themselves.
    """

    def __init__(self, environ: Mapping[str, str], modules: Sequence[str] = ()) -> None:
        self.environ = dict(environ)
        self._modules = modules

    def __enter__(self) -> Self:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-P", __file__, str(theirs.fileno()), *self._modules]
            kinds = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}  # as a command's: Python looks once
            self._process = subprocess.Popen(command, env=self.environ, pass_fds=[theirs.fileno()], **kinds)
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.communicate(timeout=30)

    def start(
        self, *args: str | Path, cwd: Path | None = None, limits: Mapping[int, int] | None = None, environ: Mapping[str, str] | None = None
    ) -> Forked:
        """Start `graphmem ARGS` below soft limits, without input.

        Args:
            cwd: its working directory; None for that of this process.
            limits: number of a limit in `resource` -> the limit.
            environ: more variables of its environment.
        """
        words = [*map(str, args)]
        variables = {**self.environ, **(environ or {})}
        given = {"args": words, "cwd": str(cwd or Path.cwd()), "environ": variables, "limits": [*(limits or {}).items()]}
        with Path(os.devnull).open("rb") as nothing:
            pipes = [os.pipe() for _ in range(3)]  # its two streams, and then its number and its end
            try:
                descriptors = [nothing.fileno(), *(writing for _, writing in pipes)]
                socket.send_fds(self._socket, [json.dumps(given).encode()], descriptors)
            finally:
                for _, writing in pipes:
                    os.close(writing)
        return Forked(words, *(reading for reading, _ in pipes))

    def run(
        self, *args: str | Path, cwd: Path | None = None, limits: Mapping[int, int] | None = None, timeout: float = 200, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `graphmem ARGS`; see `start`.

        Args:
            timeout: seconds, after which it is killed.

        Raises:
            subprocess.TimeoutExpired: the command did not end.
        """
        command = self.start(*args, cwd=cwd, limits=limits, environ=environ)
        out, err = command.communicate(timeout)
        return subprocess.CompletedProcess(args, command.wait(), out, err)


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


def _warm() -> None:
    """Do once what every command would do again: the engine's tables of its query language, the rules that sources are read by.

    The database is closed, which ends its threads.
    """
    from graphmem.parsing.extract import extract
    from graphmem.store import open_store

    with tempfile.TemporaryDirectory() as folder:
        open_store(Path(folder) / "graph.db", max_db_bytes=1 << 30).close()
    extract("a.py", b"def f(x):\n    return x.y()\n", "python", "")
    gc.freeze()  # the collector of a command would write into every page that it shares with this process


if __name__ == "__main__":
    from graphmem.__main__ import run
    from graphmem.store.engine.engine_import import import_engine

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `run` has it
    import graphmem.cli.main
    import graphmem.client.connecting
    import graphmem.project.graphmem  # noqa: F401

    import_engine("kuzu")
    for module in (*LATER, *sys.argv[2:]):
        importlib.import_module(module)
    _warm()
    if _serve(socket.socket(fileno=int(sys.argv[1]))):
        run()
