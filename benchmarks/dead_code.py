"""Precision of `dead-code` by confidence, on candidates that a person judged in the whole tree.

    python -m benchmarks dead_code --tree networkx=PATH --tree django=PATH
    python -m benchmarks dead_code --judged benchmarks/dead_code_services.json --tree redash=PATH …
    python -m benchmarks dead_code --draw SEED --tree networkx=PATH …

The first two forms show the confidence that the current rules give to judged candidates. --draw prints new candidates for a person to
judge: all symbols that are listed by default, and a few at random of each band of lower confidence. Judged candidates are not drawn again.
The verdicts, with reasons, are in `dead_code_judged.json`:

    dead    nothing in the tree uses it (code, templates, configuration, tests), and it is not documented for others
    api     nothing in the tree uses it, and it is meant for others: documented, in an `__all__`, or a public part of a documented class
    used    something uses it, most often in a way that only shows when the program runs

Precision is the share of `dead`. The share of `dead` and `api` is how often "nothing here uses it" is true. A tree is indexed as given; the
judged file has the revisions and versions, so use the same ones.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from report import parser, publish, table

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

JUDGED = Path(__file__).parent / "dead_code_judged.json"
BANDS = ((0.6, 1.01, 1_000), (0.3, 0.6, 12), (0.0, 0.3, 8))  # from, below, candidates drawn from each tree


def main() -> None:
    """Draw candidates, or print how the current rules rank judged ones."""
    options = parser(__doc__)
    options.add_argument("--tree", action="append", default=[], metavar="NAME=PATH", help="the trees of the candidates")
    options.add_argument("--draw", type=int, metavar="SEED", help="print new candidates as JSON, to be judged")
    options.add_argument("--judged", type=Path, default=JUDGED, help="the verdicts; dead_code_services.json has those on services")
    options.add_argument("--index", type=Path, help="keep the indexes in this folder")
    given = options.parse_args()
    trees = dict(one.split("=", 1) for one in given.tree)
    judged = json.loads(given.judged.read_text(encoding="utf-8"))["candidates"] if given.judged.exists() else []
    with tempfile.TemporaryDirectory() as scratch:
        found = {name: candidates(Path(path), (given.index or Path(scratch)) / name) for name, path in trees.items()}
    if given.draw is not None:
        known = {(one["tree"], one["ref"], one["line"]) for one in judged}
        drawn = [row for name in found for row in draw(name, found[name], given.draw, known)]
        print(json.dumps(drawn, indent=1))
        return
    unknown = {one["tree"] for one in judged} - set(trees)
    if unknown:
        sys.exit(f"give --tree NAME=PATH for {', '.join(sorted(unknown))}: {given.judged.name} has candidates of it")
    now = {(name, row["ref"], row["line"]): row["confidence"] for name, rows in found.items() for row in rows}
    placed = [{**one, "now": now.get((one["tree"], one["ref"], one["line"]), 0.0)} for one in judged]
    rows = [*bands(placed, "confidence", "when drawn"), *bands(placed, "now", "now")]
    table(["rules", "confidence", "judged", "dead", "api", "used", "precision", "nothing here uses it"], rows)
    wrong = [one for one in placed if one["now"] >= BANDS[0][0] and one["verdict"] != "dead"]
    for one in wrong:
        print(f"listed, and {one['verdict']}: {one['tree']} {one['ref']}: {one['reason']}")
    listed = {name: sum(row["confidence"] >= BANDS[0][0] for row in rows) for name, rows in found.items()}
    print("listed by default:", ", ".join(f"{name} {count}" for name, count in sorted(listed.items())))
    publish("dead_code", {"judged": len(placed), "bands": [list(map(str, row)) for row in rows], "listed": listed}, given.out)


def candidates(tree: Path, index: Path) -> list[dict[str, Any]]:
    """Return every symbol that may be dead, by reference and line."""
    with GraphMem.open(index, repo=tree, settings=Settings(embedder="none")) as memory:
        memory.index(tree)
        rows = [
            {
                "ref": one.symbol.ref,
                "line": one.symbol.start_line,
                "kind": one.symbol.kind,
                "given": one.reason,
                "confidence": one.confidence,
                "why": one.why,
            }
            for one in memory.dead_code(0.0, limit=10_000).symbols
        ]
    return sorted(rows, key=lambda row: (row["ref"], row["line"]))


def draw(name: str, rows: list[dict[str, Any]], seed: int, known: set[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """Return candidates of a tree for a person to judge."""
    chosen = []
    for low, high, most in BANDS:
        band = [row for row in rows if low <= row["confidence"] < high and (name, row["ref"], row["line"]) not in known]
        chosen += random.Random(f"{seed} {name} {low}").sample(band, min(most, len(band)))
    return [{"tree": name, **row, "verdict": "", "reason": ""} for row in chosen]


def bands(placed: list[dict[str, Any]], by: str, label: str) -> list[tuple[Any, ...]]:
    """Return a row for each band of confidence."""
    found = []
    for low, high, _ in BANDS:
        counts = Counter(one["verdict"] for one in placed if low <= one[by] < high)
        total = sum(counts.values())
        found.append(
            (
                label,
                f"{low:g} and more" if high > 1 else f"{low:g} to {high:g}",
                total,
                counts["dead"],
                counts["api"],
                counts["used"],
                f"{counts['dead'] / total:.0%}" if total else "-",
                f"{(counts['dead'] + counts['api']) / total:.0%}" if total else "-",
            )
        )
    return found


if __name__ == "__main__":
    main()
