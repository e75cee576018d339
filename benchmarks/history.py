"""Cost of reading a project's Git history: CPU beside `git log` alone, memory, and latency of answers.

    python -m benchmarks history [REPOSITORY] [--commits 30000]

Without a repository, `git fast-import` makes one of that many commits. Both sides run in the same process; CPU seconds are those of the
process and of the git that it starts. The goal is at most twice the CPU of `git log` with the same arguments.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import report

from graphmem.history import coaccess, git_history, git_log
from graphmem.history.change_log import AGENT, Change, HistoryLog
from graphmem.history.co_edits import History


def made(folder: Path, commits: int) -> Path:
    """Make a repository of `commits` commits over 2,000 files."""
    random_ = random.Random(7)
    paths = [f"pkg{i % 40}/module_{i}.py" for i in range(2_000)]
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=folder, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for number in range(commits):
            message = f"change {number}".encode()
            lines = [
                b"commit refs/heads/main",
                b"committer C%d <c%d@example.org> %d +0000" % (number % 50, number % 50, 10**9 + 3600 * number),
            ]
            lines += [b"data %d" % len(message), message]
            for path in {random_.choice(paths) for _ in range(min(12, int(random_.expovariate(0.4)) + 1))}:
                body = f"# {path}\nvalue = {number}\n".encode()
                lines += [b"M 644 inline %s" % path.encode(), b"data %d" % len(body), body]
            process.stdin.write(b"\n".join(lines) + b"\n")
    return folder


def used() -> tuple[float, float]:
    """Return the CPU seconds of this process, and of ended children."""
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime, theirs.ru_utime + theirs.ru_stime


def one(root: Path) -> dict[str, Any]:
    """Read, load and ask, in a process of its own."""
    here = git_log.repository(root)
    assert here is not None
    with tempfile.TemporaryDirectory() as folder:
        log = HistoryLog(Path(folder) / "history.sqlite")
        before = used()
        reading = git_history.read(root, log)
        after = used()
        read = (after[0] - before[0], after[1] - before[1])
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        before = used()
        history = History().follow(log)
        load = used()[0] - before[0]
        before = used()
        git_history.read(root, log)
        again = sum(b - a for a, b in zip(before, used(), strict=True))
        command = [
            "git",
            "log",
            "--no-merges",
            "--reverse",
            "-M",
            "-l1000",
            "--name-status",
            "-z",
            "--format=%x01%H%x00%ct%x00%aE%x00%s%x00",
        ]
        before = used()
        subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=True)
        alone = used()[1] - before[1]
        asked = []
        paths = sorted(history.by_path, key=lambda path: -len(history.nodes[history.by_path[path]].changes))[:200]
        for path in paths:
            began = time.process_time()
            found = coaccess.rank(history, [path])[:10]
            coaccess.evidence(history, [path], [hit.node for hit in found])
            asked.append(time.process_time() - began)
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(2_000):
            log.append([Change(AGENT, history.now + number, tuple(paths[number % 100 : number % 100 + 4]))])
        recorded = (time.process_time() - cpu) / 2_000
        wall = (time.perf_counter() - began) / 2_000
        size = (Path(folder) / "history.sqlite").stat().st_size
        log.close()
    return {
        "commits": reading.commits,
        "git log alone, CPU s": alone,
        "reading, CPU s": sum(read),
        "of it git, CPU s": read[1],
        "times git log": sum(read) / alone,
        "memory while reading, MiB": rss,
        "log, MiB": size / 2**20,
        "loading, CPU s": load,
        "nothing new, CPU s": again,
        "asking of the 200 most changed, median ms": 1e3 * report.percentile(asked, 0.5),
        "p95 ms": 1e3 * report.percentile(asked, 0.95),
        "recording one session, CPU ms": 1e3 * recorded,
        "wall ms": 1e3 * wall,
    }


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--commits", type=int, default=30_000)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.repository)))
        return
    with tempfile.TemporaryDirectory() as folder:
        root = given.repository or made(Path(folder) / "made", given.commits)
        done = subprocess.run([sys.executable, __file__, str(root), "--one"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    report.table(("measure", given.repository.name if given.repository else "made"), found.items())
    report.publish("history", {"repository": given.repository.name if given.repository else "made", "found": found}, given.out)


if __name__ == "__main__":
    main()
