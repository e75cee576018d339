"""Share of module dependencies that the map marks as worth cutting, on real systems.

    python -m benchmarks alarms TREE... [--index DIR]

`before` counts the edges of a smallest set whose removal gives layers; the map marked these in earlier versions. `now` counts the edges
worth cutting: each takes a module out of its cycle when it alone is cut. The exit code is 1 if `now` is more than one in twenty in a
system.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from report import parser, publish, table

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings


def counted(tree: Path, index: Path) -> dict[str, Any]:
    """Return modules, dependencies and marked dependencies of a tree."""
    with GraphMem.open(index, repo=tree, settings=Settings(embedder="none")) as memory:
        if not memory.state().generation:
            memory.index(tree)
        found = memory.modules()
        columns = memory.atlas().columns
    drawn = sum(1 for one in columns["moduleEdges"]["cut"] if one)
    pairs = {(a, b) for a, b in zip(columns["moduleEdges"]["src"], columns["moduleEdges"]["dst"], strict=True)}
    before, now = sum(one.upward for one in found.dependencies), sum(one.worth_cutting for one in found.dependencies)
    return {
        "system": tree.name,
        "files": len(columns["files"]["path"]),
        "modules": len(found.modules),
        "dependencies": len(found.dependencies),
        "largest_cycle": max((len(one) for one in columns["blocks"]["members"]), default=0),
        "before": before,
        "now": now,
        "share_before": round(before / max(1, len(found.dependencies)), 4),
        "share_now": round(now / max(1, len(found.dependencies)), 4),
        "drawn_pairs": len(pairs),
        "drawn_marked_rows": drawn,
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("trees", type=Path, nargs="+", help="folders of source")
    options.add_argument("--index", type=Path, help="keep the indexes here")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = [counted(tree, (given.index or Path(scratch)) / tree.name) for tree in given.trees]
    table(
        ["system", "files", "modules", "dependencies", "largest cycle", "marked before", "marked now", "share before", "share now"],
        [
            [
                one["system"],
                one["files"],
                one["modules"],
                one["dependencies"],
                one["largest_cycle"],
                one["before"],
                one["now"],
                f"{one['share_before']:.1%}",
                f"{one['share_now']:.1%}",
            ]
            for one in rows
        ],
    )
    publish("alarms", {"systems": rows, "worst_now": max(one["share_now"] for one in rows)}, given.out)
    if any(one["share_now"] > 1 / 20 for one in rows):
        raise SystemExit("more than one dependency in twenty is marked; see the column share now")


if __name__ == "__main__":
    sys.exit(main())
