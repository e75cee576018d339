"""Recall and precision of call edges in TypeScript and JavaScript against the TypeScript compiler.

    python -m benchmarks ecmascript_truth TREE … [--modules NODE_MODULES] [--docs docs/resolution.md] [--show N]

`ecmascript_truth.cjs` asks the checker of the compiler for the declaration of every call, constructor call, component and accessor of each
TREE. The answers are compared with the edges of graphmem in the same files. NODE_MODULES needs `typescript` (`npm install typescript`), and
should have the types that the tree uses (`@types/node`, `@types/react`, …). Without it, npm installs the compiler into a scratch folder.
Without node or npm, the benchmark prints a message and does nothing. The trees are not changed: the compiler reads a copy with links to the
packages of the workspace and to the modules.

Recall, by kind of site: the share of sites with a declaration in the tree that have an edge to a declaration. Precision, by rule: the share
of edges that the compiler confirms, on lines where it knows the callee of every site of that name. Edges by `override` are judged by the
name alone, because the compiler names only the declared method.

--docs writes the precision over all trees, with the 95 % interval of Wilson (1927), between the markers of that page. Without a TREE it
uses the stored results.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import report
from calibration import wilson

from graphmem.parsing.discovery import FoundFile, discover
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.extract import extract
from graphmem.resolution.interfaces.layout import is_layout_file, read_layout
from graphmem.resolution.resolver import Resolver
from graphmem.resolution.rules import RULES

LANGUAGES = ("javascript", "tsx", "typescript")
SCRIPT = Path(__file__).with_suffix(".cjs")

KEPT = Path(__file__).parent / "results" / "ecmascript_truth.json"
BEGIN, END = "<!-- compiler: written by benchmarks/ecmascript_truth.py -->", "<!-- end of compiler -->"

Line = tuple[str, int]


class Edge(NamedTuple):
    """A call edge of graphmem."""

    line: int
    name: str
    target: Line
    rule: str
    kind: str  # CALLS | REFERENCES


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("trees", nargs="*", type=Path)
    options.add_argument("--modules", type=Path, help="a node_modules folder with typescript; default: npm installs one")
    options.add_argument("--show", type=int, default=0, metavar="N", help="print N missed and N false edges of each tree")
    options.add_argument("--docs", type=Path, help="page whose table is rewritten")
    arguments = options.parse_args()
    if not arguments.trees:
        if arguments.docs is None:
            options.error("name a TREE, or a page with --docs")
        renew(arguments.docs, json.loads(KEPT.read_text(encoding="utf-8"))["trees"])
        return 0
    if shutil.which("node") is None or (arguments.modules is None and shutil.which("npm") is None):
        print("skipped: the compiler needs node, and npm to install it; nothing is written")
        return 0
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        modules = arguments.modules or _installed(Path(scratch))
        for tree in arguments.trees:
            results[tree.name] = compare(tree, modules.resolve(), Path(scratch), arguments.show)
    rows = [
        [tree, rule, *(found[key] for key in ("edges", "judged", "true", "precision"))]
        for tree, result in results.items()
        for rule, found in result["precision"].items()
    ]
    report.table(["tree", "rule", "edges", "judged", "true", "precision"], rows)
    print()
    rows = [
        [tree, kind, *(found[key] for key in ("sites", "found", "recall"))]
        for tree, result in results.items()
        for kind, found in result["recall"].items()
    ]
    report.table(["tree", "sites", "inside", "found", "recall"], rows)
    report.publish("ecmascript_truth", {"trees": results}, arguments.out)
    if arguments.docs:
        renew(arguments.docs, results)
    return 0


def renew(page: Path, trees: dict[str, Any]) -> None:
    """Write the precision by rule over all trees between markers of a page."""
    pooled: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees.values():
        for rule, found in tree["precision"].items():
            pooled[rule].update({key: found[key] for key in ("judged", "true")})
    lines = ["| rule | confidence | edges judged | true | share | interval |", "|---|---|---|---|---|---|"]
    for rule in (rule for rule in RULES if pooled[rule]["judged"]):
        judged, true = pooled[rule]["judged"], pooled[rule]["true"]
        low, high = wilson(true, judged)
        lines.append(f"| {rule} | {RULES[rule].confidence} | {judged} | {true} | {true / judged:.3f} | {low:.3f} to {high:.3f} |")
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")


def compare(tree: Path, modules: Path, scratch: Path, show: int) -> dict[str, Any]:
    """Return recall and precision of one tree."""
    files = [file for file in discover(tree).files if file.language in LANGUAGES or is_layout_file(file.path.rpartition("/")[2])]
    begin = time.process_time()
    edges = _edges(files)
    seconds = time.process_time() - begin
    truth = _truth(files, modules, scratch)
    judged = _judged(edges, truth["sites"])
    if show:
        _print(tree.name, judged, show)
    return {"files": truth["files"], "typescript": truth["typescript"], "cpu_seconds": round(seconds, 2), **_scores(judged)}


def _edges(files: list[FoundFile]) -> dict[str, list[Edge]]:
    """Return the edges of graphmem, by path."""
    texts = {file.path: to_utf8(Path(file.absolute).read_bytes()).source for file in files}
    layout, _ = read_layout({path: text.decode() for path, text in texts.items() if is_layout_file(path.rpartition("/")[2])})
    resolver = Resolver("truth", layout)
    sources = [file for file in files if file.language in LANGUAGES]
    paths = sorted(resolver.update({file.path: extract(file.path, texts[file.path], file.language, "") for file in sources}, ()))
    symbols = {row.id: row for path in paths for row in resolver.symbols(path)}
    found: dict[str, list[Edge]] = {}
    for path in paths:
        found[path] = [
            Edge(int(line), symbols[edge.dst].name, (symbols[edge.dst].path, symbols[edge.dst].name_line), edge.rule, edge.kind)
            for edge in resolver.resolve(path).edges
            if edge.kind in ("CALLS", "REFERENCES") and edge.dst in symbols and edge.lines
            for line in edge.lines.split(",")
        ]
    return found


def _truth(files: list[FoundFile], modules: Path, scratch: Path) -> Any:
    """Return the answers of the compiler, from a copy of the tree."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        copy = Path(folder)
        for file in files:
            target = copy / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.absolute, target)
        linked = copy / "node_modules"
        linked.mkdir()
        for entry in sorted(modules.iterdir()):
            (linked / entry.name).symlink_to(entry)
        for file in files:
            _link_package(copy, linked, file.path)
        listing = copy / "node_modules" / ".files.json"
        listing.write_text(json.dumps([file.path for file in files if file.language in LANGUAGES]), encoding="utf-8")
        command = ["node", "--max-old-space-size=6000", str(SCRIPT), str(copy), str(listing), str(modules)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _link_package(copy: Path, linked: Path, path: str) -> None:
    """Make a package of the tree importable by its name, as a workspace does."""
    if path.rpartition("/")[2] != "package.json" or path == "package.json":
        return
    try:
        name = json.loads((copy / path).read_text(encoding="utf-8")).get("name")
    except (ValueError, AttributeError):
        return
    target = linked / name if isinstance(name, str) and name else None
    if target is not None and not target.exists() and linked in target.parents:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to((copy / path).parent)


class Judged(NamedTuple):
    """Judged sites and edges of one tree."""

    sites: list[tuple[str, str, str, int, bool]]  # kind, name, path, line, whether an edge leads to a declaration
    edges: list[tuple[str, Edge, bool | None]]  # path, edge, whether it is true; None if the compiler cannot tell


def _judged(edges: dict[str, list[Edge]], sites: list[list[Any]]) -> Judged:
    by_line: dict[Line, list[list[Any]]] = defaultdict(list)
    for site in sites:
        by_line[site[0], site[1]].append(site)
    called: dict[Line, set[Line]] = defaultdict(set)
    for path, found in edges.items():
        for edge in found:
            if edge.kind == "CALLS":
                called[path, edge.line].add(edge.target)
    compared = []
    for path, line, kind, name, targets, verdict, _ in sites:
        if verdict == "inside":
            compared.append((kind, name, path, line, any((place, number) in called[path, line] for place, number in targets)))
    verdicts = [
        (path, edge, _verdict(edge, by_line[path, edge.line])) for path, found in edges.items() for edge in found if edge.kind == "CALLS"
    ]
    return Judged(compared, verdicts)


def _verdict(edge: Edge, sites: list[list[Any]]) -> bool | None:
    """Whether the compiler confirms an edge; None if it cannot tell."""
    if any(list(edge.target) in site[4] for site in sites):
        return True
    same = [site for site in sites if site[3] == edge.name]
    if any(site[6] for site in same):  # the declaration has no body, so the compiler does not know what runs
        return None
    if edge.rule == "override":
        return True if any(site[5] == "inside" for site in same) else None
    doubtful = [site for site in (same or sites) if site[5] in ("unknown", "typed") or site[3] in ("call", "apply")]
    return None if doubtful or not sites else False


def _scores(judged: Judged) -> dict[str, Any]:
    recall: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, _, _, _, hit in judged.sites:
        for group in (kind, "all"):
            recall[group]["sites"] += 1
            recall[group]["found"] += hit
    precision: dict[str, Counter[str]] = defaultdict(Counter)
    for _, edge, is_true in judged.edges:
        for group in (edge.rule, "all"):
            precision[group]["edges"] += 1
            precision[group]["judged"] += is_true is not None
            precision[group]["true"] += is_true is True
    return {
        "recall": {kind: {**count, "recall": _share(count["found"], count["sites"])} for kind, count in sorted(recall.items())},
        "precision": {rule: {**count, "precision": _share(count["true"], count["judged"])} for rule, count in sorted(precision.items())},
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _print(name: str, judged: Judged, count: int) -> None:
    """Print some errors, evenly spread over the tree."""
    missed = [f"{path}:{line} {kind} {what}" for kind, what, path, line, hit in judged.sites if not hit]
    wrong = [(path, edge) for path, edge, is_true in judged.edges if is_true is False]
    false = [f"{path}:{edge.line} {edge.rule} {edge.name} -> {edge.target[0]}:{edge.target[1]}" for path, edge in wrong]
    for title, rows in (("missed", missed), ("false", false)):
        print(f"\n{name}: {len(rows)} {title}", file=sys.stderr)
        for row in rows[:: max(1, len(rows) // count)][:count]:
            print("  " + row, file=sys.stderr)


def _installed(scratch: Path) -> Path:
    """Install the compiler by npm into a scratch folder."""
    print("installing typescript by npm", file=sys.stderr)
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(scratch), "typescript@5"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return scratch / "node_modules"


if __name__ == "__main__":
    raise SystemExit(main())
