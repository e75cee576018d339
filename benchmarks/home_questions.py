"""Processor time of the questions that Home asks at its first visit, by question and by checkout.

    python -m benchmarks home_questions INDEX [--code CHECKOUT …] [--times 3]

INDEX is the directory of an index. Each checkout of --code (default: this one) derives the results for the explorer in its own copy, as an
index run does. Then each visit starts `graphmem serve` on a new copy and asks over HTTP the questions that Home asks, one after the other.
Visits of the checkouts alternate. No browser is needed; `home` measures the page in a browser.

After every 100,000 new objects, Python's garbage collector takes some tens of milliseconds of one question. Any change of the code may move
these to another question, so compare the sums before single questions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import over_http
from report import parser, percentile, publish, table

DERIVE: Final = """
import sys
from graphmem.project.graphmem import GraphMem
with GraphMem.open(sys.argv[1], keep_warm=False) as memory:
    memory.wait_until_ready()
    memory.derive_when_due()
"""
ENTRIES: Final = ["MAIN", "ROUTE", "COMMAND", "EVENT", "TASK"]
QUESTIONS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("State", {}),
    ("Project", {}),
    ("Atlas", {"roles": ["CODE"]}),
    ("ReviewQueue", {"first": 1}),
    ("Health", {}),
    ("Memories", {"sort": "NEWEST", "first": 6}),
    ("CommitList", {"limit": 12}),
    ("Hotspots", {"limit": 8}),
    ("Cycles", {"level": "MODULES", "limit": 200}),
    ("EntryPoints", {"kinds": ENTRIES, "limit": 20}),
    ("Flows", {"limit": 6}),
    ("DeadCode", {"limit": 8}),
    ("ModuleUses", {}),
]


def visit(code: Path, db: Path) -> dict[str, float]:
    """Return the processor milliseconds of each question, and their sum."""
    server = over_http.Measured(code, db, "none")
    try:
        found = {operation: server.ask_timed(operation, variables)[1] for operation, variables in QUESTIONS}
    finally:
        server.close()
    return found | {"all": sum(found.values())}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--code", type=Path, nargs="+", default=[Path(__file__).parents[1]], help="checkouts of graphmem to compare")
    options.add_argument("--times", type=int, default=3, help="visits for each of them")
    given = options.parse_args()
    codes = [code.resolve() for code in given.code]
    visits: list[list[dict[str, float]]] = [[] for _ in codes]
    with tempfile.TemporaryDirectory(prefix="graphmem-home-") as scratch:
        for number, code in enumerate(codes):
            shutil.copytree(given.index, Path(scratch) / f"index{number}")
            environ = os.environ | {"PYTHONPATH": str(code), "GRAPHMEM_EMBEDDER": "none"}
            subprocess.run([sys.executable, "-c", DERIVE, str(Path(scratch) / f"index{number}")], env=environ, cwd=code, check=True)
        for turn in range(given.times):
            for number, code in enumerate(codes):
                db = Path(scratch) / f"visit{number}-{turn}"
                shutil.copytree(Path(scratch) / f"index{number}", db)
                visits[number].append(visit(code, db))
                shutil.rmtree(db)
    names = [*(operation for operation, _ in QUESTIONS), "all"]
    medians = [{name: round(percentile([one[name] for one in of], 0.5), 1) for name in names} for of in visits]
    labels = [f"{code.name}, CPU ms" for code in codes]
    table(["question", *labels], [[name, *(one[name] for one in medians)] for name in names])
    publish("home_questions", {"index": given.index.name, "codes": [code.name for code in codes], "visits": visits}, given.out)


if __name__ == "__main__":
    sys.exit(main())
