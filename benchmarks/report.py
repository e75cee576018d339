"""Helpers of all benchmarks: facts about the run, tables for people, JSON for programs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "graphmem",
    "kuzu",
    "tree-sitter",
    "tree-sitter-language-pack",
    "numpy",
    "pyarrow",
    "sentence-transformers",
    "strawberry-graphql",
)


def facts() -> dict[str, Any]:
    """Return the revision, versions and machine of a result."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": _revision(),
        "python": platform.python_version(),
        "cpu": _cpu(),
        "processors": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()],
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return an argument parser with the options of every benchmark."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, help="where the JSON goes; default benchmarks/results/<name>.json")
    return made


def publish(name: str, result: dict[str, Any], out: Path | None = None) -> Path:
    """Write `{facts, **result}` as JSON and print the path."""
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"benchmark": name, "facts": facts(), **result}, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten to {path}")
    return path


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a Markdown table, numbers to three significant places."""
    shown = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *shown]) for i in range(len(head))]
    for row in [list(head), ["-" * width for width in widths], *shown]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile; share in [0, 1]."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) and abs(value) < 1000 else f"{value:,.0f}" if isinstance(value, float) else str(value)


def _revision() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, cwd=Path(__file__).parent, check=False).stdout
    return done.stdout.strip() + ("+changes" if dirty.strip() else "")


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
