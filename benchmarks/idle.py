"""Memory of an idle server after it has released its caches, and the first answers after that.

    python -m benchmarks idle [--memories 50000] [--symbols 100000] [--at DIR] [--idle SECONDS]

The benchmark makes a project of that size, starts its server as a client does, and asks one question of each kind. Then it waits until the
background tasks of an idle server have run (see `graphmem.server.keeper`). The first table has the memory of the server in RAM at several
times. The second has the milliseconds of the first question of each kind after the wait. --at keeps repository and index for later runs.
"""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import report

from graphmem.server.keeper import TASKS

FUNCTIONS: Final = 50  # in each file
WORDS: Final = re.findall(  # of docstrings and notes
    r"\w+",
    """router session cache token retry schema worker queue header cookie stream lock parser index commit branch merge edge node graph
    memory journal vector search query cursor window buffer socket thread signal handler policy limit budget score rank trace""",
)


def make_repository(root: Path, symbols: int, chance: random.Random) -> None:
    """Write files of functions that call each other, also across files."""
    files = max(1, symbols // (FUNCTIONS + 1))
    for number in range(files):
        folder = root / f"part{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        other = chance.randrange(files)
        lines = [f"from part{other % 40}.m{other} import f{other}_0\n\n"]
        for i in range(FUNCTIONS):
            called = f"f{number}_{chance.randrange(FUNCTIONS)}" if i % 3 else f"f{other}_0"
            lines.append(f"def f{number}_{i}(value):\n    '''{' '.join(chance.sample(WORDS, 5))}.'''\n    return {called}(value) + {i}\n\n")
        (folder / f"m{number}.py").write_text("\n".join(lines), encoding="utf-8")


def rss_mb(pid: int) -> dict[str, float]:
    """Return resident, private and peak memory of a process, in megabytes."""
    fields = {}
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name in ("VmRSS", "RssAnon", "VmHWM"):
            fields[name] = int(value.split()[0]) / 1000
    return fields


def make_index(root: Path, db: Path, symbols: int, memories: int, chance: random.Random) -> None:
    """Make the repository, and its index with memories."""
    from graphmem import GraphMem
    from graphmem.settings import Settings

    make_repository(root, symbols, chance)
    with GraphMem.open(db, settings=Settings(embedder="none"), keep_warm=False) as memory:
        memory.index(root)
        for at in range(0, memories, 10_000):
            notes = (f"{' '.join(chance.choices(WORDS, k=14))}, note {i}" for i in range(at, min(at + 10_000, memories)))
            memory.remember_many({"id": f"m{i}", "content": note} for i, note in enumerate(notes, at))


def main(arguments: list[str]) -> int:
    """Run, print and write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("--memories", type=int, default=50_000)
    parser.add_argument("--symbols", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", type=Path, help="keep repository and index in this folder, and reuse those of an earlier run")
    parser.add_argument("--idle", type=float, default=max(task.quiet_s for task in TASKS) + 30, help="seconds without a question")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="graphmem-idle-") as folder:
        place: Path = given.at or Path(folder)
        root, db = place / "repo", place / "index"
        if not db.exists():
            make_index(root, db, given.symbols, given.memories, random.Random(given.seed))
        moments, said = served(root, db, given.idle)
    rows = [(name, one["VmRSS"], one["RssAnon"]) for name, one in moments.items()]
    report.table(("memory of the server, MB", "resident", "private"), rows)
    last = list(moments.values())[-1]
    result = {
        "symbols": said["symbols"],
        "edges": said["edges"],
        "memories": said["memories"],
        "rss_mb": round(last["VmRSS"], 1),
        "own_mb": round(last["RssAnon"], 1),
        "peak_mb": round(last["VmHWM"], 1),
        "idle_s": given.idle,
        "moments": {name: {key: round(value, 1) for key, value in one.items()} for name, one in moments.items()},
        "woken_ms": said["woken_ms"],
        "projections": json.loads(json.dumps(said["projections"], default=str)),
    }
    report.table(("first question after the wait", "ms"), list(said["woken_ms"].items()))
    report.publish("idle", result, given.out)
    return 0


def served(root: Path, db: Path, idle_s: float) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Start the server, ask questions, and leave it idle.

    Returns its memory at each step, and its own report.
    """
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.server import owner, starting

    command = [sys.executable, "-P", "-m", "graphmem", "serve", str(root), "--db", str(db), "--port", "0", "--quiet"]
    environ = {**starting.environment(), "GRAPHMEM_EMBEDDER": "none"}
    process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        found = owner.read(db / "owner.json")
        assert found is not None
        service = RemoteGraphMem(found.address, token=found.token)
        while not (service.health().ready and service.memories(limit=1).total):
            time.sleep(0.2)
        ask: dict[str, Callable[[], object]] = {
            "impact": lambda: service.impact("f1_0"),
            "search": lambda: service.search("router session cache", limit=5),
            "remember": lambda: service.remember("the router keeps the session of the worker until the window closes"),
        }
        for question in ask.values():
            question()
        moments = {"everything asked once": rss_mb(process.pid)}
        begun = time.monotonic()
        for after in sorted({min(idle_s, 30.0), min(idle_s, 150.0), idle_s}):
            time.sleep(max(0.0, begun + after - time.monotonic()))
            moments[f"left alone for {after:g} s"] = rss_mb(process.pid)
        woken = {}
        for name, question in ask.items():
            asked = time.perf_counter()
            question()
            woken[name] = round((time.perf_counter() - asked) * 1000, 1)
        said = service.doctor()
        counts = said["projections"]["graph"]
        memories = service.memories(limit=1).total
        return moments, {**said, **{name: counts[name] for name in ("symbols", "edges")}, "memories": memories, "woken_ms": woken}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
