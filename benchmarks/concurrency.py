"""Many client processes on one server: lost and doubled writes; latency during a full index run.

    python -m benchmarks concurrency ROOT [--processes 8] [--operations 1000] [--seed 1]

First one client asks questions of an idle server of ROOT, then the same questions while the server indexes ROOT in full. The ratio of the
99th percentiles is the cost of an index run for readers.

Then each of --processes clients makes --operations mixed reads and writes. A client repeats a call that the server refuses as busy. At the
end, acknowledged writes are compared with the index. The exit code is 1 if a write was lost or doubled, an answer was wrong, or `verify`
found a fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import report

SHARES: Final = {"search": 35, "remember": 35, "memory": 15, "symbols": 15}
WORDS: Final = ("router", "session", "cache", "token", "retry", "schema", "worker", "queue", "header", "cookie", "stream", "lock")
QUESTIONS: Final = ("symbols", "impact", "search")


def client(number: int, address: str, operations: int, seed: int) -> None:
    """Make the operations; print the counts and times as one line of JSON."""
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.errors import GraphMemError, LimitError, StoreBusyError

    chance = random.Random(seed * 100 + number)
    service = RemoteGraphMem(address)
    kept: list[str] = []
    times: dict[str, list[float]] = {}
    refused = 0
    faults: list[str] = []
    for step in range(operations):
        call = chance.choices(list(SHARES), list(SHARES.values()))[0]
        name = f"p{number}-{step}"
        words = " ".join(chance.sample(WORDS, 3))
        while True:
            begun = time.perf_counter()
            try:
                if call == "remember":
                    service.remember(f"{words}: note {name} of a process", id=name)
                    kept.append(name)
                elif call == "memory" and kept:
                    one = chance.choice(kept)
                    if one not in service.memory(one).content:
                        faults.append(f"{one} has another content")
                elif call == "symbols":
                    service.symbols(chance.choice(WORDS), limit=10)
                else:
                    service.search(words, limit=5, kinds=["memory"])
                times.setdefault(call, []).append((time.perf_counter() - begun) * 1000)
                break
            except (StoreBusyError, LimitError) as error:
                refused += 1
                time.sleep(float(error.facts.get("retry_after", 0.2)))
            except GraphMemError as error:
                faults.append(f"{call}: {type(error).__name__}: {error.message}")
                break
    print(json.dumps({"kept": kept, "times": times, "refused": refused, "faults": faults}))


def serve(root: Path, db: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a server of the repository; return it and its address."""
    from graphmem.server import owner

    command = [sys.executable, "-P", "-m", "graphmem", "serve", str(root), "--db", str(db), "--port", "0", "--quiet", "--no-watch"]
    process = subprocess.Popen(command, env={**os.environ, "GRAPHMEM_EMBEDDER": "none"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # printed when the server can answer
    found = owner.read(db / "owner.json")
    assert found is not None
    return process, found.address


def many(address: str, processes: int, operations: int, seed: int) -> dict[str, Any]:
    """Run several clients at once; return their writes, faults and times."""
    begun = time.monotonic()
    command = [sys.executable, __file__, "--address", address, "--operations", str(operations), "--seed", str(seed)]
    running = [subprocess.Popen([*command, "--client", str(number), "."], stdout=subprocess.PIPE) for number in range(processes)]
    told = [json.loads(process.communicate()[0]) for process in running]
    times: dict[str, list[float]] = {}
    for one in told:
        for call, values in one["times"].items():
            times.setdefault(call, []).extend(values)
    return {
        "kept": [name for one in told for name in one["kept"]],
        "refused": sum(one["refused"] for one in told),
        "faults": [fault for one in told for fault in one["faults"]],
        "seconds": round(time.monotonic() - begun, 2),
        "times_ms": {call: timing(values) for call, values in sorted(times.items())},
    }


def ask_until(address: str, names: list[str], over: threading.Event, seconds: float) -> dict[str, list[float]]:
    """Ask questions with pauses until `over` is set or the time is up.

    Returns the milliseconds by question.
    """
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.errors import GraphMemError

    service = RemoteGraphMem(address)
    found: dict[str, list[float]] = {name: [] for name in QUESTIONS}
    until, at = time.monotonic() + seconds, 0
    while not over.is_set() and time.monotonic() < until:
        question, name = QUESTIONS[at % len(QUESTIONS)], names[at % len(names)]
        begun = time.perf_counter()
        with contextlib.suppress(GraphMemError):  # an error about an ambiguous name is also an answer
            if question == "symbols":
                service.symbols(name, limit=10)
            elif question == "impact":
                service.impact(name, max_depth=3, limit=100)
            else:
                service.search(name, limit=10)
        found[question].append((time.perf_counter() - begun) * 1000)
        at += 1
        time.sleep(0.01)
    return found


def timing(values: list[float]) -> dict[str, float]:
    """Return count, percentiles and maximum of some milliseconds."""
    shares = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    return {
        "count": len(values),
        **{name: round(report.percentile(values, share), 2) for name, share in shares},
        "max": round(max(values), 2),
    }


def main(arguments: list[str]) -> int:
    """Run, print and write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("root", type=Path, help="the repository that is indexed during the questions")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--operations", type=int, default=1000, help="of each process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--client", type=int, help="be this client (the benchmark starts them itself)")
    parser.add_argument("--address", default="")
    given = parser.parse_args(arguments)
    if given.client is not None:
        client(given.client, given.address, given.operations, given.seed)
        return 0
    from graphmem import GraphMem
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.settings import Settings

    with tempfile.TemporaryDirectory(prefix="graphmem-concurrency-") as folder:
        db = Path(folder) / "index"
        process, address = serve(given.root.resolve(), db)
        try:
            service = RemoteGraphMem(address)
            names = [one.name for one in service.symbols("get", limit=40)[0]] or ["get"]
            ask_until(address, names, threading.Event(), 3.0)  # warm-up
            idle = ask_until(address, names, threading.Event(), 15.0)
            over = threading.Event()
            busy: dict[str, list[float]] = {}
            asker = threading.Thread(target=lambda: busy.update(ask_until(address, names, over, 3600.0)))
            asker.start()
            begun = time.monotonic()
            service.index(full=True)
            index_s = time.monotonic() - begun
            over.set()
            asker.join()
            told = many(address, given.processes, given.operations, given.seed)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        with GraphMem.open(db, settings=Settings(embedder="none")) as memory:
            rows = {row.id: row for row in memory.parts.book.index().all_rows()}
            sound = [one.said for one in memory.verify_index().checks if one.level == "bad"]
    kept = told.pop("kept")
    lost = [name for name in kept if name not in rows]
    doubled = sum(count - 1 for count in Counter(row.content for row in rows.values()).values())
    report.table(
        ("call", "count", "p50 ms", "p95 ms", "p99 ms", "longest ms"),
        [(call, one["count"], one["p50"], one["p95"], one["p99"], one["max"]) for call, one in told["times_ms"].items()],
    )
    print(
        f"\n{given.processes} processes x {given.operations}: {len(kept)} writes acknowledged, lost {len(lost)}, doubled {doubled}, "
        f"refused and repeated {told['refused']}, faults {len(told['faults']) + len(sound)}, {told['seconds']} s\n"
    )
    ratios = []
    rows_of = []
    for question in QUESTIONS:
        one, other = timing(idle[question]), timing(busy[question])
        ratios.append(round(other["p99"] / one["p99"], 2))
        rows_of.append((question, one["count"], one["p50"], one["p99"], other["count"], other["p50"], other["p99"], ratios[-1]))
    report.table(
        ("question", "idle", "p50 ms", "p99 ms", f"during a full index ({index_s:.0f} s)", "p50 ms", "p99 ms", "p99 ratio"), rows_of
    )
    result = {
        "processes": given.processes,
        "operations": given.operations,
        "acknowledged": len(kept),
        "lost": len(lost),
        "doubled": doubled,
        "not_sound": sound,
        **told,
        "root": given.root.name,
        "index_seconds": round(index_s, 1),
        "idle_ms": {question: timing(values) for question, values in idle.items()},
        "during_index_ms": {question: timing(values) for question, values in busy.items()},
        "p99_ratio": dict(zip(QUESTIONS, ratios, strict=True)),
    }
    report.publish("concurrency", result, given.out)
    return 1 if lost or doubled or told["faults"] or sound else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
