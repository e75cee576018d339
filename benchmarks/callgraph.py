"""Recall and precision of call edges, and of impact, against recorded test runs of Python projects.

    python -m benchmarks callgraph --data DIR --work DIR

--data has the truth and its scorer (`score.py`, `adapters/`, `truth/`, `repos.json`). --work has the sources (`subjects/<repository>`),
which `prepare.py` of the data makes. `call_truth` makes the same layout for other projects.

One run scores three edge sets with the same code: name matching (the baseline), the executed edges (the ceiling), and graphmem by its
command line. The table has a row for each repository and the mean. The exit code is 1 if an adapter failed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import report

ADAPTERS = {"naive": "name matching", "oracle": "executed edges", "graphmem_cli": "graphmem"}
COLUMNS = {
    "explicit recall": ("recall", "explicit", "recall"),
    "named": ("recall", "explicit_named", "recall"),
    "test to package": ("recall", "test_to_package_explicit", "recall"),
    "implicit": ("recall", "implicit", "recall"),
    "precision proxy": ("precision", "precision_proxy"),
    "impact F1, depth 3": ("impact", "depth3", "f1_mean"),
    "impact F1, depth 5": ("impact", "depth5", "f1_mean"),
    "impact F1, any": ("impact", "unlimited", "f1_mean"),
    "impact recall": ("impact", "unlimited", "recall_mean"),
    "impact precision": ("impact", "unlimited", "precision_mean"),
    "CPU s": ("cpu_seconds",),
}


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--work", type=Path, required=True)
    arguments = options.parse_args()
    repositories = list(json.loads((arguments.data / "repos.json").read_text(encoding="utf-8")))
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, str(arguments.data / "score.py"), "--work", str(arguments.work), "--out", scratch, "--fresh"]
        for adapter in ADAPTERS:
            command += ["--adapter", adapter]
        bin_dir = Path(sys.executable).parent
        environment = {**os.environ, "CGBENCH_PY_GRAPHMEM": sys.executable, "PATH": f"{bin_dir}:{os.environ['PATH']}"}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        for repository in repositories:
            for adapter in ADAPTERS:
                results.setdefault(repository, {})[adapter] = json.loads(
                    (Path(scratch) / repository / f"{adapter}.json").read_text("utf-8")
                )
    rows = []
    means: dict[str, dict[str, float]] = {}
    for adapter, name in ADAPTERS.items():
        for repository in repositories:
            scores = results[repository][adapter]
            if scores.get("error"):
                print(f"{name} failed on {repository}: {scores['error']}", file=sys.stderr)
                return 1
            rows.append([repository, name, *(_dig(scores, path) for path in COLUMNS.values())])
        means[adapter] = {column: _mean(_dig(results[one][adapter], path) for one in repositories) for column, path in COLUMNS.items()}
        rows.append(["mean", name, *means[adapter].values()])
    report.table(["repository", "edges of", *COLUMNS], rows)
    report.publish("callgraph", {"means": means, "repositories": results}, arguments.out)
    return 0


def _dig(scores: dict[str, Any], path: tuple[str, ...]) -> float | str:
    value: Any = scores
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if value is not None else "–"


def _mean(values: Any) -> float | str:
    numbers = [value for value in values if not isinstance(value, str)]
    return round(statistics.mean(numbers), 4) if numbers else "–"


if __name__ == "__main__":
    raise SystemExit(main())
