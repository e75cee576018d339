"""Latency of advice before an edit, and how often there is any.

    python -m benchmarks before_edit REPOSITORY [--db DIR] [--edits 200] [--seed 1]

A server process gets the event before an edit of the first body line of random functions, each in its own session. The benchmark
measures the request over HTTP. For every fifth edit it also measures the hook process that an agent starts, if it prints advice.
The table has wall time and processor time until the answer. Processor time is that of all threads of the server, from /proc, and other
programs do not change it. The index in DIR is used if there is one, else it is made.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import graphql_latency
import report

SETTLE_S = 0.03  # for the observation that follows an answer
PROCESSES = 5  # the hook's process is measured for every fifth edit


def is_fresh(db: Path) -> bool:
    """Whether the server of an index has finished its index run."""
    owner = json.loads((db / "owner.json").read_text(encoding="utf-8"))
    headers = {"content-type": "application/json"}
    if owner.get("token"):
        headers["authorization"] = f"Bearer {owner['token']}"
    request = urllib.request.Request(f"{owner['address']}/graphql", b'{"query": "{ state { state } }"}', headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bool(json.load(answer)["data"]["state"]["state"] == "FRESH")


def spent(pid: int) -> float:
    """Return the processor milliseconds of all threads of a process."""
    return sum(int(one.read_text(encoding="ascii").split()[0]) for one in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


def processes(root: Path, db: Path, events: list[bytes]) -> list[tuple[float, float]]:
    """Return (wall, processor) milliseconds of hook processes with advice."""
    environ = {**os.environ, "GRAPHMEM_DB": str(db), "GRAPHMEM_EMBEDDER": "none"}
    (db / "owner.json").unlink(missing_ok=True)
    command = [sys.executable, "-P", "-m", "graphmem"]
    server = subprocess.Popen([*command, "serve", str(root), "--port", "0", "--quiet"], env=environ, stdout=subprocess.DEVNULL)
    walls = []
    try:
        deadline = time.monotonic() + 120
        while not (db / "owner.json").exists() and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        while time.monotonic() < deadline and not is_fresh(db):  # the first index run would compete for the processors
            time.sleep(0.5)
        for place, event in enumerate([*events[:3], *events]):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begun = time.perf_counter()
            done = subprocess.run([*command, "hook", "claude-code"], env=environ, input=event, check=True, capture_output=True)
            took = (time.perf_counter() - begun) * 1000
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if place >= 3 and done.stdout:
                walls.append((took, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000))
    finally:
        server.terminate()
        server.wait(60)
    return walls


def shares(times: list[float]) -> dict[str, float]:
    """Return median and 95th percentile."""
    return {"p50": round(report.percentile(times, 0.5), 2), "p95": round(report.percentile(times, 0.95), 2)}


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--db", type=Path, help="directory of an index; made when there is none")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    from graphmem.injection.experiment import FULL, group_of
    from graphmem.injection.tokens import count_tokens
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    root = options.repository.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        db = options.db or Path(scratch) / "index"
        with GraphMem.open(db, settings=Settings(embedder="none")) as memory:
            if not memory.state().generation:
                memory.index(root)
            project = memory.project().name
            found = memory.symbols("", ["function", "method"], limit=10_000)[0]
        chosen = random.Random(options.seed).sample(
            [one for one in found if not one.is_test and one.end_line > one.start_line], options.edits
        )
        names = (f"edit-{n}" for n in range(20 * options.edits))
        sessions = [name for name in names if group_of(name, project) == FULL]
        server = graphql_latency.Server(db, "none")
        times: list[float] = []
        used: list[float] = []
        events: list[bytes] = []
        tokens: list[int] = []
        late = 0
        try:
            for place, one in enumerate([*chosen[: graphql_latency.WARM_UP], *chosen]):
                # The edit changes code, because a comment alone gets no advice.
                line = (root / one.path).read_text(encoding="utf-8").split("\n")[one.start_line]
                edit = {"file_path": str(root / one.path), "old_string": f"{line}\n", "new_string": f"{line}_\n"}
                event = {
                    "session_id": sessions[place],
                    "hook_event_name": "PreToolUse",
                    "tool_name": "Edit",
                    "tool_input": edit,
                    "cwd": str(root),
                }
                before = spent(server.pid)
                begun = time.perf_counter()
                answer = server.ask("Hook", agent="claude-code", payload=json.dumps(event))
                took = (time.perf_counter() - begun) * 1000
                cost = spent(server.pid) - before
                time.sleep(SETTLE_S)
                if place < graphql_latency.WARM_UP:
                    continue
                said: dict[str, Any] = json.loads(answer)["data"]["hook"]
                times.append(took)
                used.append(cost)
                late += said["late"]
                if said["output"]:
                    tokens.append(count_tokens(json.loads(said["output"])["hookSpecificOutput"]["additionalContext"]))
                events.append(json.dumps(event | {"session_id": sessions[-1 - place]}).encode())
        finally:
            server.close()
        walls = processes(root, db, events[::PROCESSES])
    result = {
        "server_ms": shares(times),
        "server_cpu_ms": shares(used),
        "processes": len(walls),
        "process_ms": shares([wall for wall, _ in walls]),
        "process_cpu_ms": shares([cost for _, cost in walls]),
        "edits": len(times),
        "advised": len(tokens),
        "late": late,
        "most_tokens": max(tokens, default=0),
    }
    print(f"{root.name}: {len(times)} edits, {len(tokens)} with advice of at most {result['most_tokens']} tokens, {late} late\n")
    kinds = {"server": "server_ms", "server, processor": "server_cpu_ms", "process": "process_ms", "process, processor": "process_cpu_ms"}
    report.table(["", "p50 ms", "p95 ms"], [[name, *result[key].values()] for name, key in kinds.items()])
    report.publish("before_edit", {"repository": root.name, "seed": options.seed, **result}, options.out)


if __name__ == "__main__":
    main()
