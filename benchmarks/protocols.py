"""Precision of the rule `satisfies` (a class satisfies a protocol) against mypy.

    python -m benchmarks protocols ROOT … [--source DIR]

Each ROOT is indexed; its packages are imported from its folder --source. For each class with a method that overrides one of a protocol,
mypy checks a function that takes the class and returns the protocol. Classes inside functions and classes are left out. mypy treats imports
that it cannot find as `Any` and would accept every pair, so such pairs are left out: mypy must reject the same function for `object`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import report

GRAPHMEM = [sys.executable, "-m", "graphmem"]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("roots", type=Path, nargs="+")
    options.add_argument("--source", default=".", help="folder of a ROOT from which its packages are imported")
    arguments = options.parse_args()
    rows = []
    for root in arguments.roots:
        found = pairs(root)
        bad = rejected(root / arguments.source, found)
        judged = [pair for pair in found if pair not in bad[1]]
        wrong = [pair for pair in judged if pair in bad[0]]
        rows.append({"tree": root.resolve().name, "pairs": len(judged), "true": len(judged) - len(wrong), "wrong": sorted(map(str, wrong))})
    report.table(["tree", "class and protocol", "mypy agrees"], [[row["tree"], row["pairs"], row["true"]] for row in rows])
    report.publish("protocols", {"trees": rows}, arguments.out)
    return 0


def pairs(root: Path) -> list[tuple[str, str]]:
    """Return pairs of a class and a protocol, as `path:name`."""
    with tempfile.TemporaryDirectory() as folder:
        db = str(Path(folder) / "index")
        subprocess.run([*GRAPHMEM, "index", str(root), "--db", db, "--embedder", "none", "--quiet"], check=True)
        said = subprocess.run([*GRAPHMEM, "export", "--db", db, "--format", "jsonl"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = set()
    for line in said.splitlines():
        row = json.loads(line)
        if row.get("kind") == "OVERRIDES" and row.get("rule") == "satisfies":
            found.add((owner(row["src"]), owner(row["dst"])))
    return sorted(pair for pair in found if all(one and "." not in one.partition(":")[2] for one in pair))


def owner(method: dict[str, str]) -> str:
    """Return the class of a method, as `path:name`."""
    return f"{method['path']}:{method['qualname'].rpartition('.')[0]}"


def rejected(source: Path, found: list[tuple[str, str]]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return pairs that mypy rejects, and pairs that it cannot judge."""
    lines, places = ["from typing import Any", ""], {}
    for number, pair in enumerate(found):
        (one, name), (other, protocol) = (side.rsplit(":", 1) for side in pair)
        lines += [f"from {module(source, one)} import {name} as C{number}", f"from {module(source, other)} import {protocol} as P{number}"]
    for number, pair in enumerate(found):
        lines.append(f"def given{number}(x: C{number}) -> P{number}: return x")
        places[len(lines)] = (pair, True)
        lines.append(f"def nothing{number}(x: object) -> P{number}: return x")
        places[len(lines)] = (pair, False)
    with tempfile.TemporaryDirectory() as folder:
        check = Path(folder) / "graphmem_protocol_check.py"
        check.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", folder, str(check)]
        said = subprocess.run(command, cwd=source, check=False, stdout=subprocess.PIPE, text=True).stdout
    wrong = {int(line.split(":")[1]) for line in said.splitlines() if line.startswith(str(check)) and ": error:" in line}
    if not wrong and found:
        raise SystemExit(f"mypy judged no pair; its output: {said[-300:]}")
    unjudged = {pair for line, (pair, is_given) in places.items() if not is_given and line not in wrong}
    return {pair for line, (pair, is_given) in places.items() if is_given and line in wrong}, unjudged


def module(source: Path, path: str) -> str:
    """Return the dotted name of a file, imported from a folder of its tree."""
    inner = path.removeprefix(f"{source.name}/") if source.name and not (source / path).exists() else path
    return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


if __name__ == "__main__":
    raise SystemExit(main())
