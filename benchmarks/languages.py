"""Recall and precision of calls found from the text alone, by language.

    python -m benchmarks languages --data DIR … --trees DIR … [--only NAME …] [--keep]

--data has `score.py` and `truth/LANGUAGE-NAME.jsonl.gz`, calls resolved by a compiler or recorded by tests (benchmarks/language_truth).
--trees has a clone of each tree at the revision of its truth, as `LANGUAGE-NAME`. Both take several directories; the scorer of the first is
used.

Every tree is indexed by the command line without outside evidence, and its edges at the confidence that `graphmem impact` shows are scored.
A language has the mean of its trees, or of the trees that no rule was developed on, if that is lower. The shares are written to
`graphmem/analysis/recall.toml`, which answers report. Languages that were not measured keep their figures; with --only, so do the other
trees. --keep prints the shares and writes nothing.

Python has the results of `callgraph` (`callgraph.json`, and `callgraph_unseen.json` of projects traced by `call_truth`). They are taken
without --only, or with `--only python`.

--docs names the page whose table is rewritten from all results.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import report

FLOOR = 0.3
LABELS = {"c": "C", "cpp": "C++", "csharp": "C#", "go": "Go", "java": "Java", "kotlin": "Kotlin", "php": "PHP", "python": "Python"} | {
    "ruby": "Ruby",
    "rust": "Rust",
    "typescript": "TypeScript",
}
MARKERS = ("<!-- languages: written by benchmarks/languages.py -->", "<!-- end of languages -->")
TABLE = Path(__file__).parents[1] / "graphmem" / "analysis" / "recall.toml"
GRAPHMEM = [sys.executable, "-m", "graphmem"]
UNSEEN = {
    "c": ["cjson"],
    "cpp": ["snappy", "double-conversion", "spdlog", "box2d"],
    "csharp": ["autofac", "newtonsoft", "yamldotnet", "nancy"],
    "go": ["goldmark", "mux"],
    "java": ["gson", "commons-csv", "joda-money", "jsoup", "picocli", "failsafe", "mybatis"],
    "kotlin": ["markdown", "koin", "exposed", "okhttp", "shark"],
    "php": ["parser", "twig", "guzzle", "phpdoc-parser"],
    "python": ["pyrsistent", "markdown", "portion"],
    "ruby": ["highline", "rubyzip", "tzinfo", "money"],
    "rust": ["rustc-demangle", "memchr", "jpeg-decoder", "predicates"],
    "typescript": ["immer", "query", "zod", "vue", "clipanion", "mobx"],
}
"""Trees whose misses led to no rule (benchmarks/language_truth/README.md); answers tell their mean if it is below that of all trees."""
HEAD = """\
# Of the calls in trees of each language, the share that graphmem has from the text alone, at the confidence that impact shows.
# It is the lower of two means: that of all trees, and that of the trees on which no rule was developed (unseen).
# Written by benchmarks/languages.py from benchmarks/results/languages.json. Names are folders of grammars/.
"""


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--data", type=Path, nargs="+", required=True)
    options.add_argument("--trees", type=Path, nargs="+", required=True)
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--keep", action="store_true", help="print the shares only; leave recall.toml and the results alone")
    options.add_argument("--docs", type=Path, help="page whose table of languages is rewritten")
    arguments = options.parse_args()
    shares: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        truths = (file for folder in arguments.data for file in (folder / "truth").glob("*.jsonl.gz"))
        for truth in sorted(truths, key=lambda file: file.name):
            name = truth.name.partition(".")[0]
            language, _, tree = name.partition("-")
            clone = next((folder / name for folder in arguments.trees if (folder / name).is_dir()), None)
            if clone is not None and (not arguments.only or name in arguments.only):
                db = Path(scratch) / name
                subprocess.run([*GRAPHMEM, "index", str(clone), "--db", str(db), "--embedder", "none", "--quiet"], check=True)
                said = shares.setdefault(language, {})[tree] = scored(arguments.data[0] / "score.py", truth, clone, db)
                print(name, said, flush=True)
    if arguments.only and not arguments.keep:
        shares = {language: _before(language) | trees for language, trees in shares.items()}
    found = {language: _mean(trees) for language, trees in shares.items()}
    if arguments.keep:
        report.table(
            ["language", "trees", "recall", "precision"],
            [[one, row["tree"], row["recall"], row["precision"]] for one, row in found.items()],
        )
        return 0
    if not arguments.only or "python" in arguments.only:
        found["python"] = _python()
    before = report.RESULTS / "languages.json"
    rows = (json.loads(before.read_text("utf-8"))["languages"] if before.exists() else {}) | found
    told = {language: _reported(language, row) for language, row in sorted(rows.items())}
    text = "".join(
        f'\n[{language}]\ntree = "{row["tree"]}"\nrecall = {row["recall"]:.3f}\nprecision = {row["precision"]:.3f}\n'
        f"unseen = {str(row['unseen']).lower()}\n"
        for language, row in told.items()
    )
    TABLE.write_text(HEAD + text, encoding="utf-8")
    report.table(
        ["language", "tree", "recall", "precision"], [[one, row["tree"], row["recall"], row["precision"]] for one, row in told.items()]
    )
    report.publish("languages", {"languages": rows}, arguments.out)
    if arguments.docs is not None:
        _write_table(arguments.docs, rows)
    return 0


def _write_table(page: Path, rows: dict[str, Any]) -> None:
    """Replace the table of languages on a page, between its two markers."""
    lines = ["| language | trees, recall and precision | recall | precision |", "|---|---|---|---|"]
    for language, label in LABELS.items():
        row = rows[language]
        named = row["tree"].split(", ")  # the row of Python has further trees, which the mean leaves out
        trees = {tree: shares for tree, shares in row.get("trees", {row["tree"]: row}).items() if tree in named}
        parts = [f"{tree} {shares['recall']:.3f} and {shares['precision']:.3f}" for tree, shares in trees.items()]
        lines.append(f"| {label} | {', '.join(parts)} | {row['recall']:.3f} | {row['precision']:.3f} |")
    before, first, rest = page.read_text("utf-8").partition(MARKERS[0])
    _, last, after = rest.partition(MARKERS[1])
    if not first or not last:
        raise SystemExit(f"{page} has no table of languages; put the lines {MARKERS[0]} and {MARKERS[1]} around it")
    table = "\n".join(lines)
    page.write_text(f"{before}{first}\n\n{table}\n\n{last}{after}", encoding="utf-8")


def _python() -> dict[str, Any]:
    """Return the results of `callgraph`, with those of unseen projects.

    The row has the mean of the six development projects, as benchmarks.md has; `trees` has every project.
    """
    development, unseen = (
        {
            name: {"recall": scores["recall"]["explicit"]["recall"], "precision": scores["precision"]["precision_proxy"]}
            for name, ran in json.loads((report.RESULTS / f"{results}.json").read_text("utf-8"))["repositories"].items()
            for scores in [ran["graphmem_cli"]]
        }
        for results in ("callgraph", "callgraph_unseen")
    )
    return _mean(development) | {"trees": development | unseen}


def _reported(language: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row that answers report: the lower of two means.

    They are the means of the unseen trees and of all trees. A few unseen trees can be easier than the others. Their mean then says more
    than is known of a tree that nobody measured.
    """
    unseen = {tree: shares for tree, shares in row.get("trees", {}).items() if tree in UNSEEN.get(language, ())}
    is_lower = bool(unseen) and _mean(unseen)["recall"] <= row["recall"]
    return (_mean(unseen) if is_lower else row) | {"unseen": is_lower}


def _before(language: str) -> dict[str, dict[str, float]]:
    """Return the earlier shares of the trees of a language."""
    results = report.RESULTS / "languages.json"
    row = json.loads(results.read_text("utf-8"))["languages"].get(language, {}) if results.exists() else {}
    return row.get("trees") or ({row["tree"]: {share: row[share] for share in ("recall", "precision")}} if row else {})


def _mean(trees: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Return mean shares of one language, and those of several trees."""
    row: dict[str, Any] = {"tree": ", ".join(trees)}
    for share in ("recall", "precision"):
        row[share] = round(sum(shares[share] for shares in trees.values()) / len(trees), 4)
    return row | ({"trees": trees} if len(trees) > 1 else {})


def scored(scorer: Path, truth: Path, tree: Path, db: Path) -> dict[str, float]:
    """Return recall and precision of the edges of one indexed tree."""
    edges = db.with_suffix(".jsonl")
    with edges.open("wb") as file:
        subprocess.run([*GRAPHMEM, "export", "--db", str(db), "--format", "jsonl"], check=True, stdout=file, stderr=subprocess.DEVNULL)
    command = [sys.executable, str(scorer), str(truth), str(edges), "--floor", str(FLOOR)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    match = re.search(r"recall ([\d.]+) .*? precision ([\d.]+)", said)
    if match is None:
        raise SystemExit(f"the scorer printed no recall of {tree.name}; its output: {said[:300]}")
    return {"recall": float(match[1]), "precision": float(match[2])}


if __name__ == "__main__":
    raise SystemExit(main())
