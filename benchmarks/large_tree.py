"""First index of large trees with default settings: success, time, memory and disk.

    python -m benchmarks large_tree [--wheels DIR] [--sets first small large]

The trees are made from wheels that pip downloads, one folder each: about 900 Python files (django), 7,000 (with kubernetes, sympy,
transformers), and 25,000 (with ansible, pandas, scipy and scikit-learn). Each is indexed by the command line with default settings, except
that the embedder is off. Then a search, the impact of a method, and a server start run in a new process each, the last until it is idle.

`together_mb` is the largest sum of proportional set sizes of all processes. A failed run is a result, and its last line is kept. The exit
code is 1 if a command failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Any, Final

import report
from indexing import GRAPHMEM, SAMPLE_S, cpu_of, served, together_mb

FIRST: Final = ("django==5.2.19",)
SMALL: Final = ("django==5.2.19", "kubernetes==37.0.2", "sympy==1.14.0", "transformers==5.23.0")
LARGE: Final = (*SMALL, "ansible==12.3.0", "pandas==3.1.1", "scipy==1.17.1", "scikit-learn==1.9.1")
SETS: Final = {"first": FIRST, "small": SMALL, "large": LARGE}
TARGET: Final = "django/django/db/models/query.py:QuerySet.filter"


def download(packages: tuple[str, ...], folder: Path) -> None:
    """Download the wheels that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    subprocess.run([*command, *packages], check=True)


def make_tree(packages: tuple[str, ...], wheels: Path, tree: Path) -> int:
    """Unpack the wheels, one folder each; return the number of Python files."""
    for package in packages:
        name, _, version = package.partition("==")
        (wheel,) = wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tree / name)
    return sum(1 for _ in tree.rglob("*.py"))


def timed(command: list[str]) -> dict[str, Any]:
    """Run a command; return exit code, times, memory and output."""
    sums, ended = [0.0], threading.Event()
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        environ = {**os.environ, "GRAPHMEM_EMBEDDER": "none"}
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=environ)

        def sample() -> None:
            while not ended.wait(SAMPLE_S):
                sums.append(together_mb(process.pid))

        sampler = threading.Thread(target=sample)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        ended.set()
        sampler.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    lines = texts[1].strip().splitlines()
    return {
        "exit_code": process.returncode,
        "wall_s": round(time.perf_counter() - begun, 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
        "together_mb": round(max(sums)),
        "error": lines[-1] if process.returncode and lines else "",
        "out": texts[0],
    }


def index(name: str, wheels: Path, scratch: Path) -> dict[str, Any]:
    """Make one tree, index it and ask questions."""
    tree, data = scratch / name, scratch / f"{name}-index"
    files = make_tree(SETS[name], wheels, tree)
    run = timed([*GRAPHMEM, "index", str(tree), "--db", str(data), "--json"])
    said = json.loads(run.pop("out")) if not run["exit_code"] else {}
    questions = {"search": "read a configuration file", "impact": TARGET} if said else {}
    asked = {one: timed([*GRAPHMEM, one, about, "--db", str(data), "--json"]) for one, about in questions.items()}
    begun = time.perf_counter()
    if said:
        with served(tree, data) as pid:
            start = {"rested_wall_s": round(time.perf_counter() - begun, 1), "cpu_s": round(cpu_of(pid), 2), "mb": round(together_mb(pid))}
    return {
        "python_files": files,
        "packages": list(SETS[name]),
        **run,
        **{key: said[key] for key in ("files", "symbols", "seconds", "stages") if key in said},
        "disk_mb": round(sum(one.stat().st_size for one in data.rglob("*") if one.is_file()) / 1e6) if data.exists() else 0,
        **{one: {key: run[key] for key in ("exit_code", "wall_s", "cpu_s", "peak_mb", "error")} for one, run in asked.items()},
        "serve": start if said else None,
    }


def main() -> int:
    """Run, print and write the result."""
    options = report.parser(__doc__)
    options.add_argument("--wheels", type=Path, help="folder of the wheels, also for downloads; default a temporary one")
    options.add_argument("--sets", nargs="+", choices=sorted(SETS), default=sorted(SETS, reverse=True))
    given = options.parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="graphmem-large-") as scratch:
        wheels = given.wheels or Path(scratch) / "wheels"
        for name in given.sets:
            download(SETS[name], wheels)
            results[name] = index(name, wheels, Path(scratch))
            report.table(("tree", name), [(key, str(value)) for key, value in results[name].items() if key not in ("packages", "stages")])
    report.publish("large_tree", {"trees": results}, given.out)
    failed = any(one[what]["exit_code"] for one in results.values() for what in ("search", "impact") if what in one)
    return 1 if failed or any(one["exit_code"] for one in results.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
