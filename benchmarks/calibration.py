"""Calibration of call-graph edges: confidence of each rule against the share of edges that ran.

    python -m benchmarks calibration --data DIR --work DIR [--elsewhere DIR --elsewhere-work DIR] [--docs docs/resolution.md]

--data and --work take the directories that `callgraph` describes. --elsewhere and --elsewhere-work take other projects, which had no
part in the development of the rules. `call_truth` makes such data.

A call edge is counted if its caller and the line of its call site ran in the project's test suite. It is seen if the caller then called
the target. The README of the data has this definition; only callers in the package count. An edge from a test to its subject is
counted if the test ran, and seen if the test ran the subject.

The table pools all projects and gives the 95 % interval of Wilson (1927). The tracer records a generator or coroutine when it is first
resumed, and often a library resumes it. Therefore the share over all targets is a lower bound. A second share leaves these targets out.
--docs writes the table between the markers of that page.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import report

from graphmem.model import EdgeRow, SymbolRow
from graphmem.parsing.discovery import discover
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.extract import extract
from graphmem.parsing.language import languages
from graphmem.resolution.interfaces.layout import is_layout_file, read_layout
from graphmem.resolution.resolver import Resolver
from graphmem.resolution.rules import RULES

HEAD = ("rule", "confidence", "edges", "seen", "share", "interval", "without generators", "elsewhere")
Edges = dict[str, list[EdgeRow]]  # by path
Symbols = dict[str, SymbolRow]  # by id
Groups = dict[tuple[str, float], list[int]]  # by rule and confidence: (seen, all) edges, then both without deferred targets
BEGIN, END = "<!-- calibration: written by benchmarks/calibration.py -->", "<!-- end of calibration -->"
FEW = 20  # edges; with fewer, the share says little and the confidence is a choice


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--elsewhere", type=Path, help="data of other projects")
    options.add_argument("--elsewhere-work", type=Path, help="their sources")
    options.add_argument("--docs", type=Path, help="page whose table is rewritten")
    arguments = options.parse_args()
    repositories, groups = judged(arguments.data, arguments.work)
    others, beside = judged(arguments.elsewhere, arguments.elsewhere_work) if arguments.elsewhere else ([], {})
    found = [row(rule, confidence, *counts) for (rule, confidence), counts in groups.items() if counts[1]]
    for one in found:
        seen, edges = beside.get((one["rule"], one["confidence"]), (0, 0))[:2]
        one["elsewhere"] = {"edges": edges, "seen": seen, "share": round(seen / edges, 3) if edges else None}
    order = {rule: position for position, rule in enumerate(RULES)}
    found.sort(key=lambda one: (order[one["rule"]], -one["confidence"]))
    report.table(HEAD, [cells(one) for one in found])
    if arguments.docs:
        renew(arguments.docs, found)
    report.publish("calibration", {"repositories": repositories, "elsewhere": others, "rules": found}, arguments.out)
    return 0


def judged(data: Path, work: Path) -> tuple[list[str], Groups]:
    """Return the projects, and counts of seen edges by rule and confidence."""
    score = _load(data / "score.py")
    groups: Groups = defaultdict(lambda: [0, 0, 0, 0])
    repositories = list(json.loads((data / "repos.json").read_text(encoding="utf-8")))
    for repository in repositories:
        root = work / "subjects" / repository
        truth = score.Truth(str(data / "truth" / repository), str(root.resolve()))
        edges = resolved(root)
        for edge, rule, confidence, is_deferred in calls(*edges):
            proxy = score.precision_proxy(truth, score.Static(truth, [edge]))
            counts = groups[rule, confidence]
            counts[0] += proxy["observed"]
            counts[1] += proxy["of"]
            if not is_deferred:
                counts[2] += proxy["observed"]
                counts[3] += proxy["of"]
        for test, target, rule, confidence in subjects_of_tests(*edges):
            if test in truth.tests:
                ran = any(test in tests for code, tests in truth.covering.items() if is_within(code, target))
                counts = groups[rule, confidence]
                for place in (0, 2):
                    counts[place] += ran
                    counts[place + 1] += 1
    return repositories, groups


def is_within(code: tuple[str, str], around: tuple[str, str]) -> bool:
    """Whether a function is a definition or, for a class, one of its members.

    Both are given by path and qualified name.
    """
    return code == around or (code[0] == around[0] and code[1].startswith(f"{around[1]}."))


def call_edges(root: Path) -> Iterator[tuple[tuple[Any, ...], str, float, bool]]:
    """Yield (edge, rule, confidence, target is deferred) for every call.

    An edge has source, target and line in the form that the scorer expects.
    """
    return calls(*resolved(root))


def resolved(root: Path) -> tuple[Edges, Symbols]:
    """Return the edges of a project by file, and its symbols by id."""
    facts, texts = {}, {}
    for file in discover(root).files:
        if file.language in languages():
            source = to_utf8(Path(file.absolute).read_bytes(), file.language).source
            facts[file.path] = extract(file.path, source, file.language, file.content_hash)
        if is_layout_file(file.path.rpartition("/")[2]):
            texts[file.path] = Path(file.absolute).read_text(encoding="utf-8")
    resolver = Resolver(root.name, read_layout(texts)[0])
    edges = {path: resolver.resolve(path).edges for path in sorted(resolver.update(facts, ()))}
    return edges, {symbol.id: symbol for path in edges for symbol in resolver.symbols(path)}


def subjects_of_tests(edges: Edges, symbols: Symbols) -> Iterator[tuple[tuple[str, str], tuple[str, str], str, float]]:
    """Yield (test, subject, rule, confidence); both are (path, name)."""
    for rows in edges.values():
        for one in rows:
            if one.kind == "TESTS":
                test, target = symbols[one.src], symbols[one.dst]
                yield (test.path, test.qualname), (target.path, target.qualname), one.rule, one.confidence


def calls(edges: Edges, symbols: Symbols) -> Iterator[tuple[tuple[Any, ...], str, float, bool]]:
    """Yield the calls among the edges of a project, as `call_edges` does."""
    for rows in edges.values():
        for one in rows:
            if one.kind == "CALLS" and one.dst in symbols:
                caller, target = symbols[one.src], symbols[one.dst]
                is_deferred = not {"async", "generator"}.isdisjoint(target.modifiers.split())
                edge = (caller.path, caller.qualname, target.path, target.qualname, one.line)
                yield edge, one.rule, one.confidence, is_deferred


def row(rule: str, confidence: float, seen: int, edges: int, plain_seen: int, plain_edges: int) -> dict[str, Any]:
    """Return one row of the table."""
    low, high = wilson(seen, edges)
    plain_share = round(plain_seen / plain_edges, 3) if plain_edges else None
    return {
        "rule": rule,
        "confidence": confidence,
        "edges": edges,
        "seen": seen,
        "share": round(seen / edges, 3),
        "interval": [round(low, 3), round(high, 3)],
        "few": edges < FEW,
        "without_deferred": {"edges": plain_edges, "seen": plain_seen, "share": plain_share},
    }


def cells(one: dict[str, Any]) -> list[str]:
    """Return the cells of a row; shares of few edges are in brackets."""
    plain, elsewhere = one["without_deferred"], one["elsewhere"]
    share = f"{one['share']:.3f}"
    return [
        one["rule"],
        f"{one['confidence']:.3g}",
        str(one["edges"]),
        str(one["seen"]),
        f"({share})" if one["few"] else share,
        "{:.2f} to {:.2f}".format(*one["interval"]),
        f"{plain['share']:.3f} of {plain['edges']}" if plain["edges"] else "–",
        bracketed(elsewhere) if elsewhere["edges"] else "–",
    ]


def bracketed(one: dict[str, Any]) -> str:
    """Return a share and its number of edges, in brackets if there are few."""
    text = f"{one['share']:.3f} of {one['edges']}"
    return f"({text})" if one["edges"] < FEW else text


def wilson(seen: int, edges: int, z: float = 1.96) -> tuple[float, float]:
    """Return the score interval of a share.

    Source: Wilson, E. B. (1927), Journal of the American Statistical Association 22.
    """
    share = seen / edges
    middle = share + z * z / (2 * edges)
    spread = z * sqrt(share * (1 - share) / edges + z * z / (4 * edges * edges))
    whole = 1 + z * z / edges
    return (middle - spread) / whole, (middle + spread) / whole


def renew(page: Path, found: list[dict[str, Any]]) -> None:
    """Write the table between the markers of a page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    lines += ["| " + " | ".join(cells(one)) + " |" for one in found]
    page.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")


def _load(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a scorer; --data must be the folder with score.py and truth/")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
