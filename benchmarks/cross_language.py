"""Recall and precision of edges between two languages of one tree.

    python -m benchmarks cross_language --trees DIR [--only PAIR …] [--draw PAIR] [--keep]

`cross_language_truth/PAIR.jsonl` has call sites whose target is in the other language of a pair, found by regular expressions in a public
tree and read by a person, and judgements of edges. DIR/TREE is a clone at the revision in `cross_language_truth/README.md`.

Recall is the share of these sites that have an edge from the code around the line to the target, at the confidence that `graphmem impact`
shows. Precision is the share of true edges among `DRAWN` calls and references between the two languages, those with the lowest digests. An
edge without a judgement counts as wrong; --draw prints those of a pair. --keep writes nothing.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import report

FLOOR = 0.3
DRAWN = 50
TRUTH = Path(__file__).parent / "cross_language_truth"
DEPENDS = frozenset({"CALLS", "REFERENCES", "USES_TYPE", "INHERITS"})
DRAWN_OF = frozenset({"CALLS", "REFERENCES"})
GRAPHMEM = [sys.executable, "-m", "graphmem"]


class Pair(NamedTuple):
    """A pair of languages in one tree, by the endings of their files."""

    tree: str
    source: tuple[str, ...]
    target: tuple[str, ...]

    def has(self, edge: Edge) -> bool:
        """Return whether an edge leads from the first language to the second."""
        return edge.path.endswith(self.source) and edge.target.endswith(self.target)


PAIRS = {
    "javascript-typescript": Pair("chartjs", (".js",), (".ts",)),
    "vue-typescript": Pair("vitepress", (".vue",), (".ts",)),
    "svelte-typescript": Pair("chat-ui", (".svelte",), (".ts",)),
    "java-kotlin": Pair("moshi", (".java",), (".kt",)),
    "kotlin-java": Pair("retrofit", (".kt",), (".java",)),
    "cpp-c": Pair("c-ares", (".cc",), (".c",)),
    "jinja-python": Pair("flaskbb", (".html",), (".py",)),
    "erb-ruby": Pair("lobsters", (".erb",), (".rb",)),
}


class Edge(NamedTuple):
    """An edge between two files, with the lines of the symbols at its ends."""

    path: str
    name: str
    first: int
    last: int
    target: str
    target_name: str
    target_lines: tuple[int, ...]  # lines where the target and the definitions around it begin
    line: int
    kind: str

    def key(self) -> list[str]:
        """Return what a judgement names an edge by."""
        return [self.path, self.name, self.target, self.target_name]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--trees", type=Path, required=True)
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--draw", metavar="PAIR", help="print the drawn edges that nobody judged")
    options.add_argument("--keep", action="store_true", help="print the shares only; leave the results alone")
    arguments = options.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    for name, pair in PAIRS.items():
        if name in ([arguments.draw] if arguments.draw else arguments.only or PAIRS):
            with tempfile.TemporaryDirectory() as scratch:
                edges = list(_edges(arguments.trees / pair.tree, Path(scratch)))
            truth = [json.loads(line) for line in (TRUTH / f"{name}.jsonl").read_text("utf-8").splitlines()]
            across = {tuple(edge.key()): edge for edge in edges if edge.kind in DRAWN_OF and pair.has(edge)}
            drawn = sorted(across.values(), key=lambda edge: hashlib.sha256("\0".join(edge.key()).encode()).digest())[:DRAWN]
            judged = {tuple(row["edge"]): row["true"] for row in truth if "edge" in row}
            if arguments.draw:
                for edge in drawn:
                    if tuple(edge.key()) not in judged:
                        print(json.dumps({"edge": edge.key(), "line": edge.line, "target_line": edge.target_lines[0]}))
                continue
            sites = [row for row in truth if "edge" not in row]
            missed = [row for row in sites if not _has(edges, row)]
            rows[name] = {
                "tree": pair.tree,
                "sites": len(sites),
                "recall": round(1 - len(missed) / len(sites), 3),
                "edges": len(across),
                "drawn": len(drawn),
                "not_judged": sum(tuple(edge.key()) not in judged for edge in drawn),
                "precision": round(sum(judged.get(tuple(edge.key()), False) for edge in drawn) / max(1, len(drawn)), 3),
                "missed": [[row["path"], row["line"], row["name"]] for row in missed],
            }
            print(name, rows[name], flush=True)
    if rows:
        heads = ("tree", "sites", "recall", "edges", "drawn", "precision")
        report.table(["pair", *heads], [[name, *(row[head] for head in heads)] for name, row in rows.items()])
    if rows and not arguments.keep:
        before = report.RESULTS / "cross_language.json"
        known = json.loads(before.read_text("utf-8"))["pairs"] if arguments.only and before.exists() else {}
        report.publish("cross_language", {"pairs": known | rows}, arguments.out)
    return 0


def _has(edges: Sequence[Edge], site: dict[str, Any]) -> bool:
    """Whether an edge leads from the code around a site to its target.

    A member of a target class counts, too.
    """
    return any(
        edge.path == site["path"]
        and edge.target == site["target"]
        and edge.first <= site["line"] <= edge.last
        and site["target_line"] in edge.target_lines
        for edge in edges
    )


def _edges(tree: Path, scratch: Path) -> Iterator[Edge]:
    """Index a tree and yield its edges between files, as impact shows them."""
    db = scratch / "db"
    subprocess.run([*GRAPHMEM, "index", str(tree), "--db", str(db), "--embedder", "none", "--quiet"], check=True)
    command = [*GRAPHMEM, "export", "--db", str(db), "--format", "jsonl"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    symbols = {row["id"]: row for row in rows if row["kind"] == "Symbol"}
    by_place = {(row["path"], row["qualname"], line): row for row in symbols.values() for line in (row["start_line"], row["name_line"])}
    for row in rows:
        if row["kind"] not in DEPENDS or not row["dst"]["path"] or row["src"]["path"] == row["dst"]["path"] or row["confidence"] < FLOOR:
            continue
        ends = [by_place.get((end["path"], end["qualname"], end["line"])) for end in (row["src"], row["dst"])]
        source, target = ends
        if target is None:
            continue
        whole = source is None or source["qualname"] == "<module>"
        yield Edge(
            row["src"]["path"],
            row["src"]["qualname"],
            1 if whole else source["start_line"],
            sys.maxsize if whole else source["end_line"],
            row["dst"]["path"],
            row["dst"]["qualname"],
            tuple(_lines_around(symbols, target)),
            row["line"],
            row["kind"],
        )


def _lines_around(symbols: dict[str, Any], symbol: dict[str, Any]) -> Iterator[int]:
    """Yield the lines where a symbol and the classes around it begin."""
    here: dict[str, Any] | None = symbol
    while here is not None and here["qualname"] != "<module>":
        yield from (here["start_line"], here["name_line"])
        above = symbols.get(here["parent_id"])
        here = above if above is not None and above["symbol_kind"] in ("class", "interface") else None


if __name__ == "__main__":
    raise SystemExit(main())
