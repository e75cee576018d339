"""Delay and processor time until servers that follow a graph in PostgreSQL show a change.

    python -m benchmarks followers [--files 300] [--changes 40] [--followers 3]

The benchmark starts PostgreSQL and indexes a generated project into it. Each follower is a process that opens the graph with `follow`. Then
one file after the other is changed and indexed. A change is visible when the graph of a follower has its generation. The delay is counted
from the end of the writer's index run; a follower may be earlier. The processor time of a follower for a change is compared with that of
the writer. At the end the graph of every follower must equal one that is read again. The exit code is 1 if one differs.
"""

from __future__ import annotations

import multiprocessing
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import report

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.sharing.local_postgres import LocalPostgres

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Event

FUNCTIONS = 25  # in each file
SETTINGS = Settings(embedder="none", workers=1, git_history=False, seeds=False)
PATIENCE_S = 120


def text_of(number: int, files: int, version: int) -> str:
    """Return the source of a file; its functions call those of five others."""
    others = [(number * 7 + step * step * 31) % files for step in range(1, 6)]
    lines = [f"from app.m{one} import f{one % FUNCTIONS} as g{at}" for at, one in enumerate(others) if one != number]
    known = [at for at, one in enumerate(others) if one != number]
    for at in range(FUNCTIONS):
        calls = " + ".join(f"g{one}(value)" for one in known) if at % 5 == 0 else f"f{(at + 1) % FUNCTIONS}(value)"
        lines += ["", "", f"def f{at}(value):", f"    return {calls}"]
    return "\n".join([*lines, "", "", f"def changed_{version}():", f"    return f{version % FUNCTIONS}(1)", ""])


def follow(data_dir: str, root: str, url: str, seen: Queue[Any], ready: Event, ending: Event) -> None:
    """Follow the graph; report generation, time and CPU of each change."""
    with GraphMem.open(db=Path(data_dir), repo=Path(root), settings=replace(SETTINGS, store=url, follow=True)) as follower:
        graphs = follower.parts.projections
        last = graphs.graph().generation
        ready.set()
        while not ending.is_set():
            now = graphs.graph().generation
            if now != last:
                last = now
                seen.put((now, time.time(), time.process_time()))
            time.sleep(0.002)
        again = GraphMem.open(db=Path(data_dir + "-again"), repo=Path(root), settings=replace(SETTINGS, store=url, follow=True))
        with again:
            seen.put(graphs.graph().arrays.difference(again.parts.projections.graph().arrays))


def measured(folder: Path, url: str, files: int, changes: int, followers: int) -> dict[str, Any]:
    """Index the project, start followers, make changes; return the figures."""
    root = folder / "app"
    (root / "app").mkdir(parents=True)
    for number in range(files):
        (root / "app" / f"m{number}.py").write_text(text_of(number, files, 0), encoding="utf-8")
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):  # the first commit is the key of the project
        subprocess.run([*git, *words], cwd=root, check=True)
    spawn = multiprocessing.get_context("spawn")
    ending, seen = spawn.Event(), [spawn.Queue() for _ in range(followers)]
    delays: list[float] = []
    shares: list[float] = []
    costs: list[float] = []
    with GraphMem.open(db=folder / "writer", repo=root, settings=replace(SETTINGS, store=url)) as writer:
        writer.index(root)
        started = [spawn.Event() for _ in range(followers)]
        each = [
            spawn.Process(target=follow, args=(str(folder / f"follower-{n}"), str(root), url, seen[n], started[n], ending), daemon=True)
            for n in range(followers)
        ]
        for one in each:
            one.start()
        for one in started:
            if not one.wait(PATIENCE_S):
                raise SystemExit("a follower did not start; its traceback is above")
        known = dict.fromkeys(range(followers), 0.0)
        for version in range(1, changes + 1):
            number = version * 37 % files
            (root / "app" / f"m{number}.py").write_text(text_of(number, files, version), encoding="utf-8")
            before = time.process_time()
            writer.index(root, full=False)
            done, spent = time.time(), time.process_time() - before
            generation = writer.parts.projections.graph().generation
            for n in range(followers):
                found, at, used = seen[n].get(timeout=PATIENCE_S)
                while found < generation:
                    found, at, used = seen[n].get(timeout=PATIENCE_S)
                if version > 1:  # the first change includes the start of the follower
                    delays.append(at - done)
                    costs.append(used - known[n])
                    shares.append((used - known[n]) / spent)
                known[n] = used
        counts = writer.parts.projections.graph().counts
        ending.set()
        different = [one.get(timeout=PATIENCE_S) for one in seen]
        for one in each:
            one.join(PATIENCE_S)
    return {
        "files": files,
        "symbols": counts.get("symbols", 0),
        "changes": changes,
        "followers": followers,
        "equal": different.count(""),
        "visible_ms": report_of([one * 1_000 for one in delays]),
        "follower_cpu_ms": report_of([one * 1_000 for one in costs]),
        "follower_cpu_over_writers": report_of(shares),
    }


def report_of(values: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and maximum."""
    ranked = sorted(values)
    return {
        "p50": round(statistics.median(ranked), 3),
        "p99": round(ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))], 3),
        "max": round(ranked[-1], 3),
    }


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--changes", type=int, default=40)
    parser.add_argument("--followers", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gm-bench-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    folder.chmod(0o711)
    server = LocalPostgres(folder / "pg", durable=False)
    try:
        server.start()
        result = measured(folder, server.make("graphs"), given.files, given.changes, given.followers)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    report.table(["", ""], list(result.items()))
    report.publish("followers", result, given.out)
    return 0 if result["equal"] == given.followers else 1


if __name__ == "__main__":
    sys.exit(main())
