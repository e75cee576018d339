"""What does the first edit after a server's start cost, from the file's change to the fresh answer?

    python -m benchmarks first_edit TREE --files PATH … [--code CHECKOUT …] [--index DIR …]

For each file and each checkout of graphmem (default this one) a server starts on a copy of an index of TREE, and rests for
two seconds. Then a function is added to the file, three times. Beside the start's processor seconds stand those from each edit until a
question asked through GraphQL finds the new function. Questions are asked twenty times a second and are part of it. An index
of a checkout (`--index`, in the same order) must be made by its code; it is made when none is given. The files are restored.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report
from indexing import append, cpu_of

from graphmem.client.remote import RemoteGraphMem

HERE = Path(__file__).resolve().parent.parent
EDITS = 3


def command(code: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """How a checkout's command line is started, and its environment."""
    environ = os.environ | {"GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_BACKUP_HOURS": "0", "PYTHONPATH": str(code)}
    return [sys.executable, "-P", "-m", "graphmem", *words], environ


def rest(pid: int) -> None:
    """Wait until the process has used no processor time for two seconds."""
    quiet, last = 0, cpu_of(pid)
    while quiet < 2:
        time.sleep(1)
        now = cpu_of(pid)
        quiet, last = (quiet + 1 if now - last < 0.02 else 0), now


def edited(code: Path, tree: Path, db: Path, file: Path) -> list[float]:
    """Processor seconds of the start and of each edit."""
    line, environ = command(code, "serve", str(tree), "--db", str(db), "--port", "0", "--quiet")
    before = file.read_bytes()
    server = subprocess.Popen(line, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while not (db / "owner.json").exists():
            if server.poll() is not None:
                raise SystemExit(f"the server of {code} did not start")
            time.sleep(0.05)
        rest(server.pid)
        spent = [cpu_of(server.pid)]
        remote = RemoteGraphMem(json.loads((db / "owner.json").read_text(encoding="utf-8"))["address"])
        for number in range(EDITS):
            name, begun = f"first_edit_{os.getpid()}_{number}", cpu_of(server.pid)
            append(file, name)
            while not remote.symbols(name)[1]:
                time.sleep(0.05)
            spent.append(cpu_of(server.pid) - begun)
            rest(server.pid)
        return spent
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        file.write_bytes(before)


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", nargs="+", required=True, help="files to edit, from the root of the tree")
    parser.add_argument("--code", type=Path, nargs="+", default=[HERE], help="checkouts of graphmem to compare")
    parser.add_argument("--index", type=Path, nargs="*", default=[], help="an index of the tree for each checkout")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="graphmem-first-edit-") as scratch:
        indexes = given.index
        if not indexes:
            indexes = [Path(scratch) / f"index{number}" for number in range(len(given.code))]
            for code, db in zip(given.code, indexes, strict=True):
                line, environ = command(code.resolve(), "index", str(given.tree), "--db", str(db), "--quiet")
                subprocess.run(line, env=environ, check=True)
        for file in given.files:
            for code, db in zip(given.code, indexes, strict=True):
                used = Path(scratch) / "used"
                shutil.copytree(db, used)
                (used / "owner.json").unlink(missing_ok=True)
                spent = edited(code.resolve(), given.tree.resolve(), used, given.tree.resolve() / file)
                rows.append([file, code.resolve().name, *(round(one, 2) for one in spent)])
                shutil.rmtree(used)
    report.table(["file", "code", "start, CPU s", *(f"edit {number + 1}, CPU s" for number in range(EDITS))], rows)
    report.publish("first_edit", {"tree": given.tree.name, "rows": rows}, given.out)


if __name__ == "__main__":
    sys.exit(main())
