"""Cost of the first edit after a server's start and of later edits, by checkout of graphmem.

    python -m benchmarks first_edit TREE --files PATH … [--code CHECKOUT …] [--index DIR …] [--edits N]

For each file, one server of each checkout (default: this one) runs on a copy of an index of TREE. A signal stops the servers that are not
being measured. After its start a server must be idle for two seconds. The first edit adds a function to the file and restores it.
Then the servers take turns with later edits, so the machine's load is the same for all.

Seconds and processor seconds are counted from the write until a question over GraphQL finds the new function. Questions are asked fifty
times a second and are part of it. An index of --index (same order as --code) must be made by the code of its checkout; without the option
the benchmark makes the indexes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import report
from indexing import append, cpu_of

from graphmem.client.remote import RemoteGraphMem

HERE = Path(__file__).resolve().parent.parent
STEP_S = 0.02  # between two questions
QUIET_LOOKS = 20
PATIENCE_S = 300.0


def command(code: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line of a checkout, and its environment."""
    environ = os.environ | {"GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_BACKUP_HOURS": "0", "PYTHONPATH": str(code)}
    return [sys.executable, "-P", "-m", "graphmem", *words], environ


def rest(pid: int) -> None:
    """Wait until the process has used no processor time for two seconds."""
    quiet, last = 0, cpu_of(pid)
    while quiet < QUIET_LOOKS:
        time.sleep(2 / QUIET_LOOKS)
        now = cpu_of(pid)
        quiet, last = (quiet + 1 if now - last < 0.01 and not is_waiting(pid) else 0), now


def is_waiting(pid: int) -> bool:
    """Whether a thread of the process runs or waits for processor or disk.

    On a loaded machine such a wait can take seconds.
    """
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # the thread has ended
            if stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "RD":
                return True
    return False


class Server:
    """A server of one checkout; it is stopped while another is measured."""

    def __init__(self, code: Path, tree: Path, db: Path) -> None:
        line, environ = command(code, "serve", str(tree), "--db", str(db), "--port", "0", "--quiet")
        self.process = subprocess.Popen(line, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            until(lambda: (db / "owner.json").exists() or self.process.poll() is not None)
            if self.process.poll() is not None:
                raise SystemExit(f"the server of {code} did not start; run `graphmem serve` there to see why")
            rest(self.process.pid)
        except BaseException:
            self.end()
            raise
        self.start = cpu_of(self.process.pid)
        self.remote = RemoteGraphMem(json.loads((db / "owner.json").read_text(encoding="utf-8"))["address"])

    def edit(self, file: Path, name: str) -> tuple[float, float]:
        """Add a function and restore the file.

        Returns the processor seconds and seconds until the function is found.
        """
        before, cpu, begun = file.read_bytes(), cpu_of(self.process.pid), time.perf_counter()
        try:
            append(file, name)
            until(lambda: bool(self.remote.symbols(name)[1]))
            spent = cpu_of(self.process.pid) - cpu, time.perf_counter() - begun
        finally:
            file.write_bytes(before)
        until(lambda: not self.remote.symbols(name)[1])
        rest(self.process.pid)
        return spent

    def send(self, number: int) -> None:
        """Send the server a signal."""
        self.process.send_signal(number)

    def end(self) -> None:
        """Continue the server, and end it."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        self.process.wait(60)


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    begun = time.perf_counter()
    while not condition():
        if time.perf_counter() - begun > PATIENCE_S:
            raise SystemExit(f"the condition did not hold within {PATIENCE_S:g} s; look at the log of the server")
        time.sleep(STEP_S)


def edited(codes: list[Path], tree: Path, indexes: list[Path], file: Path, edits: int) -> list[dict[str, Any]]:
    """Return the cost of edits of one file, by checkout in order."""
    servers: list[Server] = []
    found: list[list[tuple[float, float]]] = []
    try:
        for at, (code, db) in enumerate(zip(codes, indexes, strict=True)):
            servers.append(Server(code, tree, db))
            found.append([servers[at].edit(file, f"first_edit_{os.getpid()}_{at}")])
            servers[at].send(signal.SIGSTOP)
        for number in range(edits):
            for at in sorted(range(len(servers)), reverse=bool(number % 2)):
                servers[at].send(signal.SIGCONT)
                rest(servers[at].process.pid)
                found[at].append(servers[at].edit(file, f"later_edit_{os.getpid()}_{number}_{at}"))
                servers[at].send(signal.SIGSTOP)
    finally:
        for server in servers:
            server.end()
    return [
        {
            "start_cpu": server.start,
            "first_cpu": values[0][0],
            "first_s": values[0][1],
            "later_cpu": statistics.median(value[0] for value in values[1:]),
            "later_s": statistics.median(value[1] for value in values[1:]),
            "later": values[1:],
        }
        for server, values in zip(servers, found, strict=True)
    ]


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", nargs="+", required=True, help="files to edit, from the root of the tree")
    parser.add_argument("--code", type=Path, nargs="+", default=[HERE], help="checkouts of graphmem to compare")
    parser.add_argument("--index", type=Path, nargs="*", default=[], help="an index of the tree for each checkout")
    parser.add_argument("--edits", type=int, default=5, help="later edits of each file and checkout")
    given = parser.parse_args()
    codes, tree, rows = [code.resolve() for code in given.code], given.tree.resolve(), []
    with tempfile.TemporaryDirectory(prefix="graphmem-first-edit-") as scratch:
        indexes = given.index
        if not indexes:
            indexes = [Path(scratch) / f"index{number}" for number in range(len(codes))]
            for code, db in zip(codes, indexes, strict=True):
                line, environ = command(code, "index", str(tree), "--db", str(db), "--quiet")
                subprocess.run(line, env=environ, check=True)
        for file in given.files:
            used = [Path(scratch) / f"used{number}" for number in range(len(codes))]
            for db, copy in zip(indexes, used, strict=True):
                shutil.copytree(db, copy)
                (copy / "owner.json").unlink(missing_ok=True)
            for code, one in zip(codes, edited(codes, tree, used, tree / file, given.edits), strict=True):
                rows.append({"file": file, "code": code.name, **one})
            for copy in used:
                shutil.rmtree(copy)
    names = {
        "start_cpu": "start, CPU s",
        "first_cpu": "first edit, CPU s",
        "first_s": "s",
        "later_cpu": "later edits, CPU s",
        "later_s": "s",
    }
    report.table(["file", "code", *names.values()], [[row["file"], row["code"], *(round(row[name], 2) for name in names)] for row in rows])
    report.publish("first_edit", {"tree": tree.name, "edits": given.edits, "rows": rows}, given.out)


if __name__ == "__main__":
    sys.exit(main())
