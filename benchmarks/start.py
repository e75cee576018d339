"""Start of `graphmem serve` on an existing index: seconds and processor seconds to the first answer.

    python -m benchmarks start ROOT [--db DIR] [--times 5] [--against CHECKOUT]

The benchmark indexes ROOT, or uses the index in --db. Each start is a new process: it asks one question as soon as the owner file exists,
and ends the server with SIGTERM. The server runs with --no-index, so the search for changed files is not part of the figures.

--against CHECKOUT starts another checkout of graphmem in turn, on a copy of the index. All modules are compiled before, as an installer
leaves them. The row "bare imports" shows the speed of the machine: an interpreter that imports the engine and the web framework, and ends.
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
from typing import Any
from urllib.request import Request, urlopen

import report

QUESTION = {"query": '{ symbols(query: "get", first: 5) { totalCount } }'}
# Both use compiled modules. With PYTHONDONTWRITEBYTECODE each process compiles every module, which takes half as long again.
ENVIRON = {**{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}, "GRAPHMEM_EMBEDDER": "none"}
HERE = Path(__file__).resolve().parent.parent
BARE = "import kuzu, pyarrow, numpy, strawberry, starlette, uvicorn"


def one_start(root: Path, db: Path, checkout: Path = HERE) -> dict[str, float]:
    """Start a server, ask one question and end it; return the times."""
    from graphmem.server import owner

    command = [sys.executable, "-P", "-m", "graphmem", "serve", str(root), "--db", str(db), "--port", "0", "--quiet", "--no-index"]
    begun = time.monotonic()
    process = subprocess.Popen(command, env={**ENVIRON, "PYTHONPATH": str(checkout)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while (found := owner.read(db / "owner.json")) is None or found.pid != process.pid:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with exit code {process.returncode}; its message is above")
        time.sleep(0.005)
    listening = time.monotonic() - begun
    while True:
        request = Request(f"{found.address}/graphql", json.dumps(QUESTION).encode(), {"Content-Type": "application/json"})
        answer = json.load(urlopen(request, timeout=30))
        if not answer.get("errors"):
            break
        time.sleep(0.005)
    answered = time.monotonic() - begun
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    process.wait(30)
    return {"listening_s": listening, "answered_s": answered, "cpu_s": cpu, "ended_s": time.monotonic() - begun}


def bare() -> dict[str, float]:
    """Return the times of an interpreter that only imports the dependencies."""
    before, begun = os.times(), time.monotonic()
    subprocess.run([sys.executable, "-P", "-c", BARE], env=ENVIRON, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"answered_s": time.monotonic() - begun, "cpu_s": cpu}


def main(arguments: list[str]) -> int:
    """Run, print and write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("root", type=Path, help="the repository")
    parser.add_argument("--db", type=Path, help="an existing index of it; default a new one")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--against", type=Path, help="another checkout of graphmem")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="graphmem-start-") as folder:
        db = given.db or Path(folder) / "index"
        if given.db is None:
            command = [sys.executable, "-P", "-m", "graphmem", "index", str(given.root), "--db", str(db), "--quiet"]
            subprocess.run(command, env=ENVIRON, check=True)
        size = (db / "graph.db").stat().st_size
        ENVIRON.setdefault("PYTHONPYCACHEPREFIX", str(Path(folder) / "compiled"))
        places = {"server": (db, HERE)}
        if given.against:
            places["other checkout"] = (Path(shutil.copytree(db, Path(folder) / "other")), given.against.resolve())
        for place in places.values():
            one_start(given.root.resolve(), *place)  # compiles
        bare()
        starts: dict[str, list[dict[str, float]]] = {name: [] for name in places}
        for _ in range(given.times):
            for name, place in places.items():
                starts[name].append(one_start(given.root.resolve(), *place))
        starts["bare imports"] = [bare() for _ in range(given.times)]
    rows: list[tuple[Any, ...]] = []
    for name, found in starts.items():
        for measure in found[0]:
            values = sorted(one[measure] for one in found)
            rows.append((f"{name}, {measure.removesuffix('_s')}, s", values[0], values[len(values) // 2], values[-1]))
    report.table(("measure", "fastest", "median", "slowest"), rows)
    report.publish("start", {"root": given.root.name, "database_bytes": size, "starts": starts}, given.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
