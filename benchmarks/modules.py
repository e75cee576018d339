"""Stability of the detected modules under a change of 1 % of the files: adjusted Rand index.

    python -m benchmarks modules [--tree NAME=PATH ...] [--seeds 3]

A tree is copied, indexed and changed as people change code: a third of the chosen files is deleted, a third renamed, and a third begins to
import another file. Then it is indexed again, and the modules of the files that both have are compared.

warm: the old index is updated, as in use.
cold: a new index of the changed tree, without knowledge of the earlier modules.
equal: whether two processes with different hash seeds make the same map.

Source:
    L. Hubert, P. Arabie, Comparing partitions, Journal of Classification 2 (1985) 193-218, for the adjusted Rand index.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import networkx
import report

from graphmem.project.graphmem import GraphMem

SHARE = 0.01
LEAST_FILES = 4  # changed files, even if the share is smaller


def main() -> None:
    """Measure and publish."""
    parser = report.parser(__doc__)
    parser.add_argument("--tree", action="append", default=[], metavar="NAME=PATH", help="trees; default networkx as installed")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    trees = dict(one.split("=", 1) for one in options.tree) or {"networkx": str(Path(networkx.__file__).parent)}
    results: dict[str, Any] = {}
    rows = []
    for name, path in trees.items():
        measured = measure(Path(path), options.seeds)
        results[name] = measured
        rows.append(
            (
                name,
                measured["files"],
                measured["modules"],
                measured["modularity"],
                f"{min(measured['warm']):.3f}",
                f"{min(measured['cold']):.3f}",
                min(measured["names_kept"]),
                measured["same_in_two_processes"],
                measured["cpu_seconds"],
            )
        )
    head = (
        "tree",
        "files",
        "modules",
        "modularity",
        "ARI warm, worst",
        "ARI cold, worst",
        "names kept, worst",
        "equal",
        "CPU s of the map",
    )
    report.table(head, rows)
    report.publish("modules", {"share": SHARE, "seeds": options.seeds, "trees": results}, options.out)


def measure(source: Path, seeds: int) -> dict[str, Any]:
    """Return the stability of the modules of one tree."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(source, tree / source.name, ignore=shutil.ignore_patterns("__pycache__", ".git"))
        start = Path(folder) / "start"
        with GraphMem.open(start) as service:
            service.index(tree)
            begun = time.process_time()
            found = service.modules()
            seconds = time.process_time() - begun
            before = assignment(service)
            names = {one.id: one.name for one in found.modules}
        warm, cold, kept = [], [], []
        for seed in range(seeds):
            changed = Path(folder) / f"changed{seed}" / "tree"
            shutil.copytree(tree, changed)
            moved = change(changed, random.Random(seed))
            old = {moved.get(path, path): one for path, one in before.items()}
            index = Path(folder) / f"warm{seed}"
            shutil.copytree(start, index, ignore=shutil.ignore_patterns("*.lock", "owner.json"))
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(changed, tree)  # the index identifies its tree by the path
            with GraphMem.open(index) as service:
                service.index(tree)
                after = assignment(service)
                kept.append(share_kept(names, service))
            warm.append(adjusted_rand(old, after))
            with GraphMem.open(Path(folder) / f"cold{seed}") as service:
                service.index(tree)
                cold.append(adjusted_rand(old, assignment(service)))
        return {
            "files": len(before),
            "modules": len(found.modules),
            "modularity": found.modularity,
            "warm": warm,
            "cold": cold,
            "names_kept": kept,
            "same_in_two_processes": in_another_process(tree, Path(folder) / "a", "1") == in_another_process(tree, Path(folder) / "b", "2"),
            "cpu_seconds": round(seconds, 3),
        }


def assignment(service: GraphMem) -> dict[str, str]:
    """Return the module id of each path."""
    return {file.path: one.id for one in service.modules().modules for file in service.module(one.id).files}


def share_kept(names: dict[str, str], service: GraphMem) -> float:
    """Return the share of earlier modules that keep id and name."""
    now = {one.id: one.name for one in service.modules().modules}
    return round(sum(now.get(key) == name for key, name in names.items()) / len(names), 4)


def change(tree: Path, rng: random.Random) -> dict[str, str]:
    """Change 1 % of the Python files; return the renamed paths, old to new."""
    files = sorted(path for path in tree.rglob("*.py") if path.name != "__init__.py")
    chosen = rng.sample(files, max(LEAST_FILES, round(SHARE * len(files))))
    moved = {}
    for number, path in enumerate(chosen):
        if number % 3 == 0:
            path.unlink()
        elif number % 3 == 1:
            new = path.with_name(f"renamed_{path.name}")
            path.rename(new)
            moved[path.relative_to(tree).as_posix()] = new.relative_to(tree).as_posix()
        else:
            other = rng.choice([one for one in files if one.exists() and one != path])
            module = ".".join(other.relative_to(tree).with_suffix("").parts)
            text = path.read_text(encoding="utf-8", errors="replace")
            path.write_text(f"{text}\n\ndef added_here():\n    import {module} as other\n\n    return other\n", encoding="utf-8")
    return moved


def adjusted_rand(one: dict[str, str], other: dict[str, str]) -> float:
    """Return the agreement of two partitions on shared items.

    It is 1 for equal partitions and about 0 by chance.
    """
    both = sorted(one.keys() & other.keys())
    pairs = sum(comb(count, 2) for count in Counter((one[path], other[path]) for path in both).values())
    a = sum(comb(count, 2) for count in Counter(one[path] for path in both).values())
    b = sum(comb(count, 2) for count in Counter(other[path] for path in both).values())
    expected = a * b / comb(len(both), 2)
    most = (a + b) / 2
    return 1.0 if most == expected else round((pairs - expected) / (most - expected), 4)


def in_another_process(tree: Path, index: Path, seed: str) -> Any:
    """Return the map that a new process with its own hash seed makes."""
    program = (
        "import json, sys\nfrom graphmem.answers import to_json\nfrom graphmem.project.graphmem import GraphMem\n"
        "with GraphMem.open(sys.argv[1]) as service:\n    service.index(sys.argv[2])\n    found = to_json(service.modules())\n"
        "found.pop('state')\nprint(json.dumps(found))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(index), str(tree)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
