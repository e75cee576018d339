"""What an owner keeps in memory when nobody asks for anything: `python -m benchmarks idle --memories 50000 --symbols 100000`.

Makes a project of that size, starts its server, asks it once of everything, waits until its memory does not change any more, and
reads how much of it is in RAM; then what of it is the code graph, the words and the memories, by the index's own account.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import report

FUNCTIONS: Final = 50  # in one file
WORDS: Final = re.findall(  # of docstrings and notes
    r"\w+",
    """router session cache token retry schema worker queue header cookie stream lock parser index commit branch merge edge node graph
    memory journal vector search query cursor window buffer socket thread signal handler policy limit budget score rank trace""",
)
QUIET_S: Final = 10.0  # without a change of a megabyte
MOST_S: Final = 300.0


def make_repository(root: Path, symbols: int, chance: random.Random) -> None:
    """Files of functions that call each other, within and across files."""
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
    """Memory in RAM, in all and of its own."""
    fields = {}
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name in ("VmRSS", "RssAnon", "VmHWM"):
            fields[name] = int(value.split()[0]) / 1000
    return fields


def main(arguments: list[str]) -> int:
    """Run, print, write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("--memories", type=int, default=50_000)
    parser.add_argument("--symbols", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    from graphmem import GraphMem
    from graphmem.client import RemoteGraphMem
    from graphmem.service import owner
    from graphmem.settings import Settings

    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="graphmem-idle-") as folder:
        root, db = Path(folder) / "repo", Path(folder) / "index"
        make_repository(root, given.symbols, chance)
        with GraphMem.open(db, settings=Settings(embedder="none"), keep_warm=False) as memory:
            run = memory.index(root)
            for at in range(0, given.memories, 10_000):
                memory.remember_many(
                    {"id": f"m{i}", "content": f"{' '.join(chance.choices(WORDS, k=14))}, note {i}"}
                    for i in range(at, min(at + 10_000, given.memories))
                )
        command = [sys.executable, "-P", "-m", "graphmem", "serve", str(root), "--db", str(db), "--port", "0", "--quiet"]
        environ = {**os.environ, "GRAPHMEM_EMBEDDER": "none"}
        process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            process.stdout.readline()
            found = owner.read(db / "owner.json")
            assert found is not None
            service = RemoteGraphMem(found.address)
            service.impact("f1_0")
            service.search("router session cache", k=5)
            states: list[dict[str, Any]] = []
            last, since, begun = 0.0, time.monotonic(), time.monotonic()
            while time.monotonic() - since < QUIET_S and time.monotonic() - begun < MOST_S:
                now = rss_mb(process.pid)
                if abs(now["VmRSS"] - last) > 1:
                    last, since = now["VmRSS"], time.monotonic()
                states.append(now)
                time.sleep(0.5)
            said = service.doctor()
            memories = service.memories(limit=1).total
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    final = states[-1]
    report.table(
        ("what", "MB or number"),
        [
            ("symbols", run.symbols),
            ("memories", memories),
            ("in RAM when idle, MB", final["VmRSS"]),
            ("of it its own, MB", final["RssAnon"]),
            ("most it ever had, MB", final["VmHWM"]),
            ("code graph, MB", said["projections"]["graph"].get("bytes", 0) / 1e6),
        ],
    )
    result = {
        "symbols": run.symbols,
        "edges": sum(run.edges_by_kind.values()),
        "memories": memories,
        "rss_mb": round(final["VmRSS"], 1),
        "own_mb": round(final["RssAnon"], 1),
        "peak_mb": round(final["VmHWM"], 1),
        "projections": json.loads(json.dumps(said["projections"], default=str)),
    }
    report.publish("idle", result, given.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
