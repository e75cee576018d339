"""Recall and precision of calls by codegraph and by graphmem, on the trees of `languages`.

    python -m benchmarks codegraph --data DIR … --trees DIR … --binary PATH [--only NAME …]

--data and --trees take the directories that `languages` describes. The npm package `@colbymchenry/codegraph` has the binary. It indexes a
copy of each tree, and its edges `calls` and `instantiates` are scored. graphmem indexes the same tree in the same run, and its edges at
the confidence that impact shows are scored by the same scorer. CPU is that of the indexing command and its children. With --only, trees
measured before keep their figures.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import languages
import report

CALLS = ("calls", "instantiates")
COLUMNS = ("recall", "precision", "CPU s")


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--data", type=Path, nargs="+", required=True)
    options.add_argument("--trees", type=Path, nargs="+", required=True)
    options.add_argument("--binary", type=Path, required=True)
    options.add_argument("--only", nargs="*", default=[])
    arguments = options.parse_args()
    found: dict[str, dict[str, Any]] = {}
    truths = (file for folder in arguments.data for file in (folder / "truth").glob("*.jsonl.gz"))
    for truth in sorted(truths, key=lambda file: file.name):
        name = truth.name.partition(".")[0]
        clone = next((folder / name for folder in arguments.trees if (folder / name).is_dir()), None)
        if clone is not None and (not arguments.only or name in arguments.only):
            scorer = arguments.data[0] / "score.py"
            found[name] = {"codegraph": _scored(arguments.binary, scorer, truth, clone), "graphmem": _graphmem(scorer, truth, clone)}
            print(name, found[name], flush=True)
    version = subprocess.run([arguments.binary, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    report.table(
        ["tree", *(f"{tool}: {column}" for tool in ("codegraph", "graphmem") for column in COLUMNS)],
        [[name, *(row[tool][column] for tool in row for column in COLUMNS)] for name, row in found.items()],
    )
    results = report.RESULTS / "codegraph.json"
    before = json.loads(results.read_text("utf-8"))["trees"] if arguments.only and results.exists() else {}
    report.publish("codegraph", {"version": version, "trees": before | found}, arguments.out)
    return 0


def _scored(binary: Path, scorer: Path, truth: Path, tree: Path) -> dict[str, float]:
    """Return recall and precision of codegraph's edges of one tree."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "tree"
        shutil.copytree(tree, copy, symlinks=True)
        cpu = _cpu([str(binary.resolve()), "init", "."], cwd=copy, env={**os.environ, "CODEGRAPH_TELEMETRY": "0"})
        edges = Path(scratch) / "edges.jsonl"
        with sqlite3.connect(copy / ".codegraph" / "codegraph.db") as database, edges.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in _rows(database))
        said = subprocess.run(
            [sys.executable, str(scorer), str(truth), str(edges)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    match = re.search(r"recall ([\d.]+) .*? precision ([\d.]+)", said)
    if match is None:
        raise SystemExit(f"the scorer printed no recall of {tree.name}; its output: {said[:300]}")
    return {"recall": float(match[1]), "precision": float(match[2]), "CPU s": cpu}


def _graphmem(scorer: Path, truth: Path, tree: Path) -> dict[str, float]:
    """Return recall and precision of graphmem's edges, and CPU of indexing."""
    with tempfile.TemporaryDirectory() as scratch:
        db = Path(scratch) / "db"
        cpu = _cpu([*languages.GRAPHMEM, "index", str(tree), "--db", str(db), "--embedder", "none", "--quiet"])
        return {**languages.scored(scorer, truth, tree, db), "CPU s": cpu}


def _cpu(command: list[str], **more: Any) -> float:
    """Run a command; return the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)


def _rows(database: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Yield nodes and call edges in the format of `graphmem export`."""
    places: dict[str, dict[str, Any]] = {}
    for identity, kind, name, path, start, end in database.execute("SELECT id, kind, name, file_path, start_line, end_line FROM nodes"):
        places[identity] = {"path": path, "qualname": identity, "line": start}
        yield {
            "kind": "Symbol",
            "path": path,
            "start_line": start,
            "end_line": end,
            "name": name,
            "symbol_kind": kind,
            "qualname": identity,
            "name_line": start,
        }
    for source, target, kind, line in database.execute("SELECT source, target, kind, line FROM edges"):
        if kind in CALLS and source in places and target in places:
            ends = {"src": places[source], "dst": places[target]}
            yield {"kind": "CALLS", **ends, "confidence": 1.0, "rule": kind, "line": line or 0}


if __name__ == "__main__":
    raise SystemExit(main())
