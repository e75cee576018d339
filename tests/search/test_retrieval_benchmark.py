"""The benchmark of memory retrieval runs, and on data made for it neighbours find what words and vectors cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "retrieval.py"


def test_the_benchmark_runs_on_generated_data_and_neighbours_pay(tmp_path):
    out = tmp_path / "result.json"
    command = [sys.executable, str(BENCHMARK), "--generated", "--ways", "^$", "--out", str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert ran.returncode == 0, ran.stderr
    kinds = json.loads(out.read_text(encoding="utf-8"))["kinds"]
    for kind, metric in (("dialogue", "R@5"), ("notes", "nDCG@10")):
        found = {name: way[metric] for name, way in kinds[kind]["ways"].items()}
        exchanged = next(value for name, value in found.items() if "exchanged" in name)
        assert found["ours"] > found["ours without neighbours"], found
        assert found["ours"] > exchanged, found
