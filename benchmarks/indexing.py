"""Cost of index runs: full, unchanged and after one edit, by command and in a running server.

    python -m benchmarks indexing REPOSITORY [REPOSITORY …] [--runs 3] [--only "*.py"]

For each repository the command line makes a full index, a run without changes, and a run after one edit; process starts are included. A
running server does the last two on request and by following the files; there the CPU is that of the server. The row "parse and extract
alone" is one process that only reads the sources, the floor of any such tool.

CPU seconds are user and system time of the process and its workers. "Peak MB" is the resident size of the largest process; `together`
is the largest sum over all processes, in which shared pages count once. --only leaves out all other files: graphmem also indexes
documentation and templates, and tools for one language do not.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import report

from graphmem.client.remote import RemoteGraphMem

GRAPHMEM = [sys.executable, "-m", "graphmem"]
SAMPLE_S = 0.3  # between two samples of the memory of all processes
FLOOR = """
import sys, time
from pathlib import Path
from graphmem.parsing.discovery import discover
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.extract import extract
from graphmem.parsing.language import languages
for file in discover(Path(sys.argv[1])).files:
    if file.language in languages():
        extract(file.path, to_utf8(Path(file.absolute).read_bytes(), file.language).source, file.language, file.content_hash)
"""


def together_mb(pid: int) -> float:
    """Return the proportional set size of a process and its descendants."""
    total, pending = 0, [pid]
    while pending:
        one = Path(f"/proc/{pending.pop()}")
        with contextlib.suppress(OSError):  # it ended
            pending += [int(child) for task in (one / "task").iterdir() for child in (task / "children").read_text().split()]
            lines = (one / "smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def run(command: list[str]) -> dict[str, Any]:
    """Run a command; return times, peak memory and standard output."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    sums, ended = [0.0], threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_S):
            sums.append(together_mb(process.pid))

    sampler = threading.Thread(target=sample)
    sampler.start()
    out, err = process.stdout.read(), process.stderr.read()  # type: ignore[union-attr]
    ended.set()
    sampler.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {err.decode(errors='replace')[-800:]}")
    return {
        "wall": time.perf_counter() - begun,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "together_mb": max(sums),
        "out": out.decode(),
    }


def median(runs: list[dict[str, Any]], key: str) -> float:
    return round(statistics.median(one[key] for one in runs), 3)


def cpu_of(pid: int) -> float:
    """Return the processor seconds of a process and its ended children.

    Its own are exact; those of children are from /proc, in hundredths.
    """
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    own = time.clock_gettime((~pid << 3) | 2)  # the kernel's number for the clock of another process (clock_getcpuclockid)
    return own + sum(int(fields[at]) for at in (13, 14)) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(tree: Path, data: Path, *options: str) -> Iterator[int]:
    """Run a server and yield its process id as soon as it is idle."""
    owner = data / "owner.json"
    owner.unlink(missing_ok=True)
    server = subprocess.Popen(
        [*GRAPHMEM, "serve", str(tree), "--db", str(data), "--port", "0", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "GRAPHMEM_EMBEDDER": "none"},
    )
    try:
        deadline = time.monotonic() + 600
        while not owner.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the server did not start; run `graphmem serve` to see why")
            time.sleep(0.1)
        settle(server.pid)
        yield server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def append(edited: Path, name: str) -> None:
    with edited.open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef {name}():\n    return {name!r}\n")


def through_server(tree: Path, data: Path, edited: Path, runs: int) -> dict[str, Any]:
    """Return the CPU of a server for index requests, unchanged and edited."""
    figures: dict[str, list[float]] = {"unchanged": [], "edit": []}
    with served(tree, data, "--no-watch") as pid:
        for kind in figures:
            for number in range(runs + 1):
                if kind == "edit":
                    append(edited, f"requested_{number}")
                before = cpu_of(pid)
                subprocess.run([*GRAPHMEM, "index", str(tree), "--db", str(data), "--json"], check=True, stdout=subprocess.DEVNULL)
                settle(pid)
                figures[kind].append(cpu_of(pid) - before)
    # The first request of each kind fills caches and is reported separately.
    return {kind: {"first": values[0], "median": statistics.median(values[1:])} for kind, values in figures.items()}


def watched(tree: Path, data: Path, edited: Path, runs: int) -> dict[str, Any]:
    """Return the cost of start, edits and idling of a following server.

    `cpu` is the server's from the edit until it rests. `wall` is the time from the edit until a question gets the new answer, including
    the wait for quiet.
    """
    with served(tree, data) as pid:
        start = cpu_of(pid)
        time.sleep(10)
        idle = (cpu_of(pid) - start) / 10
        cpu, wall = [], []
        for number in range(runs + 1):
            before = cpu_of(pid)
            append(edited, f"followed_{number}")
            time.sleep(2)
            settle(pid)
            cpu.append(cpu_of(pid) - before)
        remote = RemoteGraphMem(json.loads((data / "owner.json").read_text(encoding="utf-8"))["address"])
        for number in range(runs):
            begun = time.perf_counter()
            append(edited, f"timed_{number}")
            while not remote.symbols(f"timed_{number}")[1]:
                time.sleep(0.02)
            wall.append(time.perf_counter() - begun)
        return {
            "start": {"cpu": start},
            "idle": {"cpu_share": round(idle, 4)},
            "edit": {"first": cpu[0], "median": statistics.median(cpu[1:]), "wall": round(statistics.median(wall), 3)},
        }


def settle(pid: int) -> None:
    """Wait until the process has been idle for half a second."""
    last = -1.0
    while cpu_of(pid) - last > 0.02:
        last = cpu_of(pid)
        time.sleep(0.5)


def copied(source: Path, tree: Path, only: str) -> None:
    """Copy the sources without history, caches, and files of other names."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        others = [name for name in names if not fnmatch(name, only) and not (Path(folder) / name).is_dir()]
        return [*others, *shutil.ignore_patterns(".git", "__pycache__", ".graphmem")(folder, names)]

    shutil.copytree(source, tree, ignore=left_out)


def measure(source: Path, runs: int, only: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        tree, data = Path(scratch) / source.name, Path(scratch) / "index"
        copied(source, tree, only)
        edited = max(
            (path for path in tree.rglob("*.py") if path.stat().st_size < 60_000), key=lambda path: (path.stat().st_size, str(path))
        )
        index = [*GRAPHMEM, "index", str(tree), "--db", str(data), "--json"]
        floor, full, again, edit = [], [], [], []
        for number in range(runs):
            shutil.rmtree(data, ignore_errors=True)
            floor.append(run([sys.executable, "-c", FLOOR, str(tree)]))
            full.append(run(index))
            again.append(run(index))
            append(edited, f"added_{number}")
            edit.append(run(index))
        summary = json.loads(full[-1]["out"])
        size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
        lines = sum(len(path.read_bytes().splitlines()) for path in tree.rglob("*.py"))
        return {
            "files": summary["files"],
            "kloc": lines / 1000,
            "floor": {"cpu": median(floor, "cpu"), "peak_mb": median(floor, "peak_mb")},
            "full": {key: median(full, key) for key in ("cpu", "wall", "peak_mb", "together_mb")},
            "unchanged": {"cpu": median(again, "cpu"), "wall": median(again, "wall")},
            "edit": {"cpu": median(edit, "cpu"), "wall": median(edit, "wall")},
            "server": through_server(tree, data, edited, runs),
            "watched": watched(tree, data, edited, runs),
            "index_mb": size / 1e6,
            "summary": summary,
        }


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("repositories", type=Path, nargs="+")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="*", help="names of the files to read")
    arguments = options.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    results = {path.name: measure(path.resolve(), arguments.runs, arguments.only) for path in arguments.repositories}
    rows = []
    for name, one in results.items():
        full = one["full"]
        rows += [
            [name, "parse and extract alone", one["floor"]["cpu"], "–", 1.0, one["floor"]["peak_mb"]],
            [name, "full index", full["cpu"], full["wall"], full["cpu"] / one["floor"]["cpu"], full["peak_mb"]],
            [name, "all processes of it together", "–", "–", "–", full["together_mb"]],
            [
                name,
                "nothing changed, own process",
                one["unchanged"]["cpu"],
                one["unchanged"]["wall"],
                one["unchanged"]["cpu"] / full["cpu"],
                "–",
            ],
            [name, "one file changed, own process", one["edit"]["cpu"], one["edit"]["wall"], one["edit"]["cpu"] / full["cpu"], "–"],
            *(
                [name, what, cpu, wall, cpu / full["cpu"], "–"]
                for what, cpu, wall in (
                    ("nothing changed, request to the server", one["server"]["unchanged"]["median"], "–"),
                    ("one file changed, request to the server", one["server"]["edit"]["median"], "–"),
                    ("server started on the index, and warmed", one["watched"]["start"]["cpu"], "–"),
                    ("first edit after that, followed", one["watched"]["edit"]["first"], "–"),
                    ("later edits, followed", one["watched"]["edit"]["median"], one["watched"]["edit"]["wall"]),
                    ("one second of watching", one["watched"]["idle"]["cpu_share"], 1.0),
                )
            ),
        ]
    report.table(["repository", "run", "CPU s", "wall s", "ratio", "peak MB"], rows)
    for name, one in results.items():
        seconds = one["summary"]["seconds"]
        print(f"\n{name}: {one['files']} files, {one['kloc']:.0f} KLOC of Python, index {one['index_mb']:.0f} MB, ", end="")
        print(f"{one['files'] / one['full']['wall']:.0f} files/s, {one['kloc'] / one['full']['wall']:.1f} KLOC/s; wall by stage: ", end="")
        print(", ".join(f"{stage} {value:.2f}" for stage, value in seconds.items()))
    report.publish("indexing", {"only": arguments.only, "repositories": results}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
