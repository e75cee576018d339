"""The benchmark of embedders runs, and any of them finds functions by their documentation better than chance."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "embedder.py"


def test_the_benchmark_of_embedders_measures_starts_and_quality(tmp_path):
    out = tmp_path / "result.json"
    command = [sys.executable, str(BENCHMARK), "--only", "hashed|numpy", "--starts", "1", "--functions", "60", "--out", str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(out.read_text(encoding="utf-8"))
    [hashed] = result["quality"].values()
    assert hashed["MRR"] > 0.1, "chance finds one in sixty"
    assert all(one["peak_mb"] > 1 and one["cpu_s"] > 0 for one in result["start"].values())
