"""Cost of indexing a checkout that changes many files, compared with a full index of the same tree.

    python -m benchmarks checkout TREE [--shares 0.01 0.1 0.33 0.6] [--bound 0.8]

The tree is copied and indexed in one process that keeps its data, as a server does. For each share, a function is added to that share of
the Python files, evenly spread. One run indexes them, and a full run of the same tree follows. CPU is that of the process and its workers,
from the summary of the run. The exit code is 1 if a share of a third or more costs more than the bound times the full run.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

import report

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

SHARES: Final = (0.01, 0.1, 0.33, 0.6)
THIRD: Final = 0.33


def change(files: list[Path], number: int) -> None:
    """Add a function to each file."""
    for file in files:
        with file.open("a", encoding="utf-8") as out:
            out.write(f"\n\ndef checked_out_{number}(value):\n    return str(value)\n")


def run(tree: Path, scratch: Path, shares: list[float]) -> dict[str, Any]:
    """Return the CPU of the incremental and the full run for each share."""
    copy = scratch / tree.name
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".graphmem"))
    sources = sorted(copy.rglob("*.py"))
    rounds = []
    with GraphMem.open(scratch / "index", copy, settings=Settings(embedder="none")) as memory:
        memory.index(copy)
        for number, share in enumerate(shares):
            count = max(1, round(len(sources) * share))
            change([sources[at * len(sources) // count] for at in range(count)], number)
            made = memory.index()
            whole = memory.index(full=True)
            rounds.append(
                {
                    "share": share,
                    "changed": made.changed,
                    "files": made.files,
                    "cpu_s": made.cpu_seconds,
                    "full_cpu_s": whole.cpu_seconds,
                    "ratio": round(made.cpu_seconds / whole.cpu_seconds, 2),
                    "stages": made.seconds,
                    "full_stages": whole.seconds,
                }
            )
            report.table(("share", str(share)), [(key, str(value)) for key, value in rounds[-1].items() if "stages" not in key])
    return {"tree": tree.name, "python_files": len(sources), "rounds": rounds}


def main() -> int:
    """Run, print and write the result."""
    options = report.parser(__doc__)
    options.add_argument("tree", type=Path)
    options.add_argument("--shares", nargs="+", type=float, default=list(SHARES))
    options.add_argument("--bound", type=float, default=0.8)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-checkout-") as scratch:
        results = run(given.tree.resolve(), Path(scratch), given.shares)
    report.publish("checkout", {**results, "bound": given.bound}, given.out)
    return 1 if any(one["ratio"] > given.bound for one in results["rounds"] if one["share"] >= THIRD) else 0


if __name__ == "__main__":
    raise SystemExit(main())
