"""Time of a review comment on a change, from a cached index without a server.

    python -m benchmarks review ROOT --db DIR [--files 20] [--runs 5] [--seed 1]

ROOT is a Git work tree without changes, and DIR its index, as a CI job restores it. Each run adds a statement to the first function of
random files that are not tests. Then it runs the commands of a job: `graphmem index --quiet` and `graphmem review --write-all`. The files
are restored after each run, and the index is updated.
"""

from __future__ import annotations

import ast
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import report

ENVIRON = {**os.environ, "GRAPHMEM_EMBEDDER": "none"}


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--db", type=Path, required=True, help="directory of an existing index")
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    root = options.root.resolve()
    chance = random.Random(options.seed)
    paths = [path for path in sorted(root.rglob("*.py")) if "test" not in path.relative_to(root).as_posix() and first_body(path)]
    graphmem("index", root, options.db, "--quiet")
    rows = [one_run(root, options.db, chance.sample(paths, options.files)) for _ in range(options.runs)]
    report.table(list(rows[0]), [list(row.values()) for row in rows])
    report.publish("review", {"repository": root.name, "files": options.files, "runs": rows}, options.out)


def first_body(path: Path) -> int:
    """Return the line of the last statement of a file's first function.

    It is 0 without such a function.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return 0
    found = next((one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    return found.body[-1].lineno if found is not None and found.body[-1].lineno > found.lineno else 0


def one_run(root: Path, db: Path, paths: list[Path]) -> dict[str, Any]:
    before = {path: path.read_bytes() for path in paths}
    try:
        for path, data in before.items():
            lines = data.decode().split("\n")
            at = first_body(path) - 1
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            path.write_text("\n".join([*lines[:at], f"{indent}changed = 1", *lines[at:]]))
        with tempfile.TemporaryDirectory() as folder:
            index = graphmem("index", root, db, "--quiet")
            review = graphmem("review", root, db, "--write-all", folder)
            found = json.loads((Path(folder) / "review.json").read_text())
            lines = (Path(folder) / "comment.md").read_text().count("\n")
    finally:
        for path, data in before.items():
            path.write_bytes(data)
        graphmem("index", root, db, "--quiet")
    return {
        "index_s": index[0],
        "index_cpu_s": index[1],
        "review_s": review[0],
        "review_cpu_s": review[1],
        "together_s": round(index[0] + review[0], 2),
        "changed": len(found["changed"]),
        "tests": found["test_count"],
        "comment_lines": lines,
    }


def graphmem(name: str, root: Path, db: Path, *words: str) -> tuple[float, float]:
    """Return seconds and processor seconds of a command."""
    place = [str(root)] if name == "index" else []
    was, begun = cpu(), time.perf_counter()
    command = [sys.executable, "-m", "graphmem", name, *place, *words, "--db", str(db)]
    subprocess.run(command, cwd=root, env=ENVIRON, check=True, stdout=subprocess.DEVNULL)
    return round(time.perf_counter() - begun, 2), round(cpu() - was, 2)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
