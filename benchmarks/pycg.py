"""Exact call graphs of small programs: the micro benchmark of PyCG.

    python -m benchmarks pycg --checkout DIR [--differences]

DIR is a checkout of https://github.com/vitsalis/PyCG. Each of its programs (`micro-benchmark/snippets/CATEGORY/NAME`) shows one feature of
Python and comes with its call graph. A program is exact if the calls between its definitions are the same: complete (none is missing)
and sound (none is wrong). Edges of every confidence count. Calls of builtins, of libraries and of classes without a constructor are left
out. Calls of lambdas are left out, too, because lambdas are part of the code around them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import report
from calibration import call_edges

from graphmem.parsing.extract import extract
from graphmem.resolution.values.symbol import CLASS_KINDS

HEAD = ("category", "programs", "exact", "complete", "sound")
Calls = set[tuple[str, str]]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--checkout", type=Path, required=True, help="the checkout of PyCG")
    options.add_argument("--differences", action="store_true", help="also print the calls that differ")
    arguments = options.parse_args()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    programs = {}
    for truth in sorted((arguments.checkout / "micro-benchmark" / "snippets").rglob("callgraph.json")):
        category, name = truth.parent.parts[-2:]
        wanted, found = expected(truth), resolved(truth.parent)
        missing, wrong = sorted(wanted - found), sorted(found - wanted)
        for position, counted in enumerate((True, not missing and not wrong, not missing, not wrong)):
            counts[category][position] += counted
        programs[f"{category}/{name}"] = {"missing": missing, "wrong": wrong}
        if arguments.differences and (missing or wrong):
            print(f"{category}/{name}", *(f"- {a} -> {b}" for a, b in missing), *(f"+ {a} -> {b}" for a, b in wrong), sep="\n  ")
    if not programs:
        raise SystemExit(f"{arguments.checkout} has no programs; --checkout is a checkout of vitsalis/PyCG")
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    report.table(HEAD, [[category, *row] for category, row in [*counts.items(), ("all", total)]])
    summary = dict(zip(HEAD[1:], total, strict=True))
    differing = {name: found for name, found in programs.items() if any(found.values())}
    report.publish("pycg", {**summary, "categories": dict(counts), "differing": differing}, arguments.out)
    return 0


def expected(truth: Path) -> Calls:
    """Return the calls between a program's definitions, with graphmem's names."""
    graph: dict[str, list[str]] = json.loads(truth.read_text(encoding="utf-8"))
    modules = {named(str(path.relative_to(truth.parent)), "<module>") for path in truth.parent.rglob("*.py")}

    def is_own(name: str) -> bool:
        parts = name.split(".")
        return "<" not in name and any(".".join(parts[:count]) in modules for count in range(1, len(parts) + 1))

    return {(around(source), target) for source, targets in graph.items() for target in targets if is_own(target)}


def around(name: str) -> str:
    """Return the name of a definition; for a lambda, of the code around it."""
    return ".".join(part for part in name.split(".") if not part.startswith("<"))


def resolved(program: Path) -> Calls:
    """Return the calls that graphmem finds, without classes and lambdas."""
    classes: set[str] = set()
    lambdas: dict[str, str] = {}  # name -> the code around
    for path in program.rglob("*.py"):
        file, facts = str(path.relative_to(program)), extract(path.name, path.read_bytes(), "python", "")
        for definition in facts.definitions:
            name = named(file, definition.qualname)
            if definition.kind in CLASS_KINDS:
                classes.add(name)
            elif definition.signature.partition("=")[2].lstrip().startswith("lambda"):  # name = lambda …
                lambdas[name] = named(file, facts.definitions[definition.parent].qualname)
    edges = (edge for edge, *_ in call_edges(program))
    calls = {(named(path, source), named(target, qualname)) for path, source, target, qualname, _ in edges}
    return {(lambdas.get(source, source), target) for source, target in calls if target not in classes and target not in lambdas}


def named(path: str, qualname: str) -> str:
    """Return the dotted name of a definition in a file."""
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return module if qualname == "<module>" else f"{module}.{qualname}"


if __name__ == "__main__":
    raise SystemExit(main())
