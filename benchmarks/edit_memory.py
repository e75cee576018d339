"""Resident memory of a server after 10, 100, 200, … 1,000 edits, and after a rest.

    python -m benchmarks edit_memory TREE [--edits 1000] [--idle 60] [--bound 1.3]

The tree is copied, indexed and served on loopback. Each edit appends a function to a Python file of the tree, or removes it again. Then the
server indexes and answers questions about the symbol, the impact of the file, and a search. Resident memory is read from /proc after the
questions, and once more after --idle seconds. The exit code is 1 if the largest value from 100 edits on is above the bound times the
value after ten.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import report
from idle import rss_mb
from indexing import served

from graphmem.client.remote import RemoteGraphMem

FIRST: Final = 10  # edits before the reference value is read
STEP: Final = 100


def marks(edits: int) -> list[int]:
    """Return the numbers of edits after which memory is read."""
    return [0, FIRST, *range(STEP, edits + 1, STEP)]


def edit_and_ask(remote: RemoteGraphMem, tree: Path, file: Path, number: int) -> dict[str, float]:
    """Edit a file, index and ask questions.

    Returns the seconds of the index run, and until the first answer that contains the edit.
    """
    is_in = number % 2 == 1
    name = f"edited_{number if is_in else number - 1}"
    text = file.read_text(encoding="utf-8")
    added = f"\n\ndef {name}(value):\n    return str(value)\n"
    file.write_text(text + added if is_in else text.removesuffix(added), encoding="utf-8")
    begun = time.perf_counter()
    remote.index()
    indexed = time.perf_counter() - begun
    if bool(remote.symbols(name)[1]) != is_in:
        raise SystemExit(f"edit {number} of {file} is not in the index; look at the log of the server")
    visible = time.perf_counter() - begun
    remote.search(f"where is the session of a request kept {number}", k=5)
    remote.impact(file.relative_to(tree).as_posix())
    return {"index": indexed, "visible": visible}


def run(tree: Path, scratch: Path, edits: int, idle_s: float) -> dict[str, Any]:
    """Return memory after each mark, and times of edits."""
    copy, data = scratch / tree.name, scratch / "index"
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".graphmem"))
    files = sorted(path for path in copy.rglob("*.py") if path.stat().st_size > 1_000)
    spent: list[dict[str, float]] = []
    memory: dict[str, float] = {}
    with served(copy, data, "--no-watch") as pid:
        remote = RemoteGraphMem(json.loads((data / "owner.json").read_text(encoding="utf-8"))["address"])
        remote.index()
        wanted = marks(edits)
        for number in range(edits + 1):
            if number:
                spent.append(edit_and_ask(remote, copy, files[(number - 1) // 2 % len(files)], number))
            if number in wanted:
                memory[str(number)] = round(rss_mb(pid)["VmRSS"], 1)
                print(f"after {number} edits: {memory[str(number)]:,.1f} MB", flush=True)
        time.sleep(idle_s)
        memory["idle"] = round(rss_mb(pid)["VmRSS"], 1)
        database = (data / "graph.db").stat().st_size
    times = {
        name: {
            "p50": round(statistics.median(one[name] for one in spent), 3),
            "p95": round(report.percentile([one[name] for one in spent], 0.95), 3),
        }
        for name in ("index", "visible")
    }
    first = memory[str(FIRST)]
    later = [value for mark, value in memory.items() if mark != "idle" and int(mark) >= STEP]
    return {
        "tree": tree.name,
        "python_files": len(files),
        "edits": edits,
        "rss_mb": memory,
        "ratio": round(max(later) / first, 3),
        "idle_s": idle_s,
        "idle_ratio": round(memory["idle"] / first, 3),
        "database_mb": round(database / 1e6, 1),
        "seconds": times,
    }


def main() -> int:
    """Run, print and write the result."""
    options = report.parser(__doc__)
    options.add_argument("tree", type=Path)
    options.add_argument("--edits", type=int, default=1000)
    options.add_argument("--idle", type=float, default=60.0, help="seconds without a question at the end")
    options.add_argument("--bound", type=float, default=1.3)
    given = options.parse_args()
    if given.edits < STEP:
        options.error(f"--edits must be {STEP} or more")
    with tempfile.TemporaryDirectory(prefix="graphmem-edits-") as scratch:
        result = run(given.tree.resolve(), Path(scratch), given.edits, given.idle)
    report.table(("edits", "MB"), list(result["rss_mb"].items()))
    report.table(("an edit", "p50 s", "p95 s"), [(name, one["p50"], one["p95"]) for name, one in result["seconds"].items()])
    result["bound"] = given.bound
    report.publish("edit_memory", result, given.out)
    return 0 if result["ratio"] <= given.bound else 1


if __name__ == "__main__":
    raise SystemExit(main())
