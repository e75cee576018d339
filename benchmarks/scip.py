"""Gain by a SCIP index: recall and precision of calls from the text alone and with the index.

    python -m benchmarks scip --data DIR --work DIR [--modules NODE_MODULES]

--data has `languages` (`score.py`, `truth/typescript-hono.jsonl.gz`: every call as the TypeScript compiler resolves it) and `callgraph`
(`score.py`, `truth/jinja`: calls that ran in the tests of a project). --work has a clone `hono` at the revision of the truth, and
`subjects/jinja`, which `prepare.py` of `callgraph` makes. scip-typescript and scip-python must be on PATH, and make the index in this run.
NODE_MODULES has the packages that hono's types need (`typescript`, `@types/node`).

Both scorers judge the edges of a graph without and with the index. Recall and precision are given for all edges and at 0.3, the
confidence from which `graphmem impact` shows an edge. For jinja, recall is that of explicit calls that ran. Its precision is a lower bound,
because a true edge that no test took counts as wrong. CPU is that of `graphmem index` alone, without the indexer.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import report

from graphmem.evidence import indexers

FLOOR = 0.3
COLUMNS = ("recall", "precision", "recall at 0.3", "precision at 0.3", "unresolved", "CALLS by SCIP", "files left out", "CPU s")
GRAPHMEM = [sys.executable, "-m", "graphmem"]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--modules", type=Path)
    arguments = options.parse_args()
    measured: dict[str, dict[str, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, source, judge in (
            ("hono (TypeScript)", arguments.work / "hono", _by_compiler),
            ("jinja (Python)", arguments.work / "subjects" / "jinja", _by_tests),
        ):
            tree = scratch / source.name
            shutil.copytree(source, tree, symlinks=True, ignore=shutil.ignore_patterns("node_modules", ".graphmem"))
            index = _indexed(tree, scratch, arguments.modules)
            for mode, more in (("text alone", []), ("with SCIP", ["--scip", str(index)])):
                measured.setdefault(name, {})[mode] = judge(tree, scratch, arguments, more)
    rows = [[name, mode, *(found[column] for column in COLUMNS)] for name, both in measured.items() for mode, found in both.items()]
    report.table(["project", "edges", *COLUMNS], rows)
    report.publish("scip", {"projects": measured}, arguments.out)
    return 0


def _indexed(tree: Path, scratch: Path, modules: Path | None) -> Path:
    """Return the SCIP index of a tree, by the first indexer that reads it."""
    if modules is not None:
        (tree / "node_modules").symlink_to(modules.resolve())
    made = scratch / f"made-{tree.name}"
    made.mkdir()
    ran = indexers.run_installed(tree, made)
    for note in ran.notes:
        print(note, file=sys.stderr)
    (tree / "node_modules").unlink(missing_ok=True)
    return ran.indexes[0]


def _graph(tree: Path, db: Path, more: list[str]) -> tuple[dict[str, Any], Path]:
    """Index a tree; return the figures of the run, and its edges as a file."""
    shutil.rmtree(db, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [*GRAPHMEM, "index", str(tree), "--db", str(db), "--embedder", "none", "--json", *more], check=True, stdout=subprocess.PIPE
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    edges = db.with_suffix(".jsonl")
    with edges.open("wb") as file:
        subprocess.run([*GRAPHMEM, "export", "--db", str(db), "--format", "jsonl"], check=True, stdout=file, stderr=subprocess.DEVNULL)
    said = json.loads(run.stdout)
    calls = [row for row in map(json.loads, edges.read_text("utf-8").splitlines()) if row["kind"] == "CALLS"]
    left_out = [one for one in said["diagnostics"] if one["code"] == "evidence" and one["path"]]
    found = {
        "unresolved": round(said["unresolved"] / said["call_sites"], 4),
        "CALLS by SCIP": sum(row["source"] == "scip" for row in calls),
        "files left out": len(left_out),
        "CPU s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
    }
    return found, edges


def _by_compiler(tree: Path, scratch: Path, arguments: Any, more: list[str]) -> dict[str, Any]:
    """Return the scores against the compiler's answers."""
    found, edges = _graph(tree, scratch / "db", more)
    folder = arguments.data / "languages"
    for suffix, floor in (("", 0.0), (f" at {FLOOR}", FLOOR)):
        command = [str(folder / "score.py"), str(folder / "truth" / "typescript-hono.jsonl.gz"), str(edges), "--floor", str(floor)]
        said = subprocess.run([sys.executable, *command], check=True, stdout=subprocess.PIPE, text=True).stdout
        match = re.search(r"recall ([\d.]+) .*? precision ([\d.]+)", said)
        if match is None:
            raise SystemExit(f"the scorer printed no recall; its output: {said[:300]}")
        found["recall" + suffix], found["precision" + suffix] = float(match[1]), float(match[2])
    return found


def _by_tests(tree: Path, scratch: Path, arguments: Any, more: list[str]) -> dict[str, Any]:
    """Return the scores against the calls that ran."""
    found, _ = _graph(tree, scratch / "db", more)
    (scratch / "subjects").mkdir(exist_ok=True)
    if not (scratch / "subjects" / tree.name).exists():
        (scratch / "subjects" / tree.name).symlink_to(tree)
    program = scratch / "bin" / "graphmem"
    program.parent.mkdir(exist_ok=True)
    index = " ".join(more)
    program.write_text(f'#!/bin/sh\nif [ "$1" = index ]; then set -- "$@" {index}; fi\nexec {" ".join(GRAPHMEM)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    out = scratch / f"scores-{len(more)}"
    command = [str(arguments.data / "callgraph" / "score.py"), "--work", str(scratch), "--adapter", "graphmem_cli", "--repo", tree.name]
    environment = {**os.environ, "CGBENCH_PY_GRAPHMEM": str(program.with_name("python"))}
    subprocess.run([sys.executable, *command, "--out", str(out), "--fresh"], check=True, env=environment, stdout=subprocess.DEVNULL)
    scores = json.loads((out / tree.name / "graphmem_cli.json").read_text("utf-8"))
    found |= {"recall": scores["recall"]["explicit"]["recall"], "precision": scores["precision"]["precision_proxy"]}
    return found | {f"recall at {FLOOR}": "–", f"precision at {FLOOR}": "–"}


if __name__ == "__main__":
    raise SystemExit(main())
