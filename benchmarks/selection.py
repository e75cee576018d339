"""Test selection on mutants: share of the failing tests selected, and share of the suite run.

    python -m benchmarks selection ROOT [ROOT …] [--mutants 200] [--seed 1] [--minutes 30] [--truth DIR] [--library DIR]

ROOT is a Python project of `subjects` whose tests pass; it is copied. Mutants are those of Cosmic Ray (`pip install cosmic-ray`) in
functions, on lines that a test runs: an operator, constant, condition, loop, exception or decorator is changed. The truth is the tests that
fail with the mutant. All tests that run the changed line are run, by coverage with a context for each test. For every tenth mutant the
whole suite is run, too, and failures outside of that set are counted.

Then the tree is indexed and reviewed against the revision without the mutant, once with edges from text alone, once with a recorded run of
the suite. The baseline is tests that share a word with the name of the changed file. A test is a function: its cases fail or are selected
together, and its weight is the number of its cases.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import report
from subjects import SUBJECTS, Subject, is_test

HOME = Path(__file__).resolve().parents[1]
WHOLE_EVERY = 10  # mutants between two whole runs
TIMEOUT_S = 120  # of a run with a mutant, which may loop forever
WHOLE_S = 1800  # of a recorded run
_PLUGIN = """
import json, os
seen = {}
def pytest_runtest_logreport(report):
    if report.failed or report.when == "call" or report.skipped:
        bad = report.failed
        seen[report.nodeid] = seen.get(report.nodeid, False) or bad
def pytest_collectreport(report):
    if report.failed:
        seen[report.nodeid] = True
def pytest_sessionfinish(session):
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(seen, file)
"""


class Mutant(NamedTuple):
    """One change of a file by Cosmic Ray."""

    path: str
    line: int
    operator: str
    occurrence: int


class Suite:
    """The tests of a copied project."""

    def __init__(self, root: Path, subject: Subject, libraries: list[Path], scratch: Path) -> None:
        self.root = root
        self._tests = subject.tests
        self._scratch = scratch
        (scratch / "outcomes_plugin.py").write_text(_PLUGIN, encoding="utf-8")
        path = [str(root / subject.path), *map(str, libraries), str(scratch), str(HOME)]
        self._environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, chosen: list[str] | None = None, *more: str, patience_s: float = TIMEOUT_S) -> dict[str, bool]:
        """Return whether each test failed, by id; empty after a time limit."""
        said = self._scratch / "outcomes.json"
        said.unlink(missing_ok=True)
        plugins = ("no:cacheprovider", "outcomes_plugin", "pytest_cov", "graphmem.pytest_plugin")
        command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors", *(f"-p{one}" for one in plugins)]
        names = self._scratch / "names.txt"
        names.write_text("\n".join(chosen if chosen is not None else [self._tests]), encoding="utf-8")
        # Other plugins double the time in which pytest starts.
        environ = {**self._environ, "OUTCOMES": str(said), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        process = subprocess.Popen(
            [*command, *more, f"@{names}"], cwd=self.root, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return json.loads(said.read_text()) if said.is_file() else {}


def function_of(case: str) -> str:
    """Return the id of a test without the parameters of its case."""
    path, _, name = case.partition("::")
    return f"{path}::{name.partition('[')[0]}"


def id_of(test: Any) -> str:
    """Return the id that pytest gives a selected test.

    It is also used for projects with another runner.
    """
    return f"{test.path}::{test.name.replace('.', '::')}"


def mutants_of(path: str, data: bytes, lines: set[int]) -> Iterator[Mutant]:
    """Yield the mutants of a file in functions, on lines that a test runs."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    functions = [one for one in ast.walk(ast.parse(data)) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {line for one in functions for node in one.body for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    nodes = list(ast_nodes(get_ast(data.decode())))
    for name in sorted(operator_names()):
        kind = get_operator(name)
        if kind.arguments():
            continue  # needs values, such as names of variables
        operator = kind()
        positions = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, ((line, _), _) in enumerate(positions):
            if line in lines and line in inside:
                yield Mutant(path, line, name, occurrence)


def mutated(data: bytes, one: Mutant) -> bytes:
    """Return the text of a file with a mutant."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    made = mutate_code(data.decode(), get_operator(one.operator)(), one.occurrence)
    assert made is not None, one
    return made.encode()


def contexts(root: Path, package: str, data_file: Path) -> dict[str, dict[int, set[str]]]:
    """Return the tests that run each line, by path."""
    from coverage import CoverageData

    data = CoverageData(str(data_file))
    data.read()
    found = {}
    for file in data.measured_files():
        path = Path(file).resolve().relative_to(root).as_posix()
        if path.startswith(package):
            rows = data.contexts_by_lineno(file)
            found[path] = {line: {one.partition("|")[0] for one in names if one} for line, names in rows.items()}
    return found


def git(root: Path, *command: str) -> None:
    subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b", *command], cwd=root, check=True, capture_output=True)


def by_name(path: str, tests: list[str]) -> set[str]:
    """Return tests with a word of the changed file's name in their own id."""
    words = [one for one in Path(path).stem.strip("_").split("_") if len(one) > 2]
    return {one for one in tests if any(word in one for word in words)}


def truth_of(source: Path, subject: Subject, options: Any, scratch: Path, trace: Path) -> dict[str, Any]:
    """Run the tests with each mutant, and return the failing ones.

    A recorded run of the suite without a mutant is written to `trace`.
    """
    root = copied(source, scratch / "truth")
    data_file = scratch / "coverage"
    os.environ["COVERAGE_FILE"] = str(data_file)
    suite = Suite(root, subject, options.library, scratch)
    base = suite.run(None, f"--cov={subject.package.rstrip('/')}", "--cov-context=test", "--cov-report=", patience_s=WHOLE_S)
    if all(base.values()):
        raise SystemExit(f"the tests of {source} do not run; see `pytest {subject.tests}` there")
    broken = {function_of(case) for case, failed in base.items() if failed}
    weights = {test: many for test, many in Counter(function_of(case) for case in base).items() if test not in broken}
    ran = contexts(root, subject.package, data_file)
    suite.run(None, "--graphmem", f"--graphmem-root={root}", f"--graphmem-trace={trace}", patience_s=WHOLE_S)
    chance = random.Random(options.seed)
    every = [
        one
        for path, lines in sorted(ran.items())
        if not is_test(subject, path)
        for one in mutants_of(path, (root / path).read_bytes(), {line for line, names in lines.items() if names})
    ]
    chosen = chance.sample(every, min(options.mutants, len(every)))
    print(
        f"{source.name}: {len(weights):,} tests with {sum(weights.values()):,} cases; {len(chosen):,} of {len(every):,} mutants", flush=True
    )
    rows: list[dict[str, Any]] = []
    missed_by_lines = checked = 0
    until = time.monotonic() + options.minutes * 60
    for number, one in enumerate(chosen):
        if time.monotonic() > until:
            chosen = chosen[:number]
            break
        path = root / one.path
        before = path.read_bytes()
        path.write_bytes(mutated(before, one))
        try:
            ast.parse(path.read_bytes())
            able = sorted({function_of(case) for case in ran[one.path].get(one.line, ())} & set(weights))
            outcomes = suite.run(able)
            failing = {function_of(case) for case, failed in outcomes.items() if failed} & set(weights) if outcomes else set(able)
            if number % WHOLE_EVERY == 0 and (all_outcomes := suite.run()):
                checked += 1
                others = {function_of(case) for case, failed in all_outcomes.items() if failed} & set(weights)
                missed_by_lines += len(others - failing)
                failing |= others
            if failing:
                mutant = {"path": one.path, "line": one.line, "operator": one.operator, "occurrence": one.occurrence}
                rows.append({**mutant, "failing": sorted(failing)})
        except SyntaxError:
            continue
        finally:
            path.write_bytes(before)
    return {
        "mutants": len(chosen),
        "whole_runs": checked,
        "failures_outside_of_the_line": missed_by_lines,
        "tests": weights,
        "killed": rows,
    }


def copied(source: Path, root: Path) -> Path:
    """Return a copy of a project with one commit."""
    shutil.copytree(source, root, ignore=shutil.ignore_patterns(".git", ".graphmem", "__pycache__"))
    git(root, "init", "-q")
    (root / ".git" / "info" / "exclude").write_text("__pycache__\n.graphmem\n.coverage*\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    return root


def replay(source: Path, options: Any, scratch: Path) -> dict[str, Any]:
    from graphmem import GraphMem
    from graphmem.evidence import inbox
    from graphmem.evidence.trace import SUFFIX
    from graphmem.settings import Settings

    kept: Path = options.truth or scratch
    trace, told = kept / f"{source.name}{SUFFIX}", kept / f"{source.name}.json"
    if not told.is_file():
        told.write_text(json.dumps(truth_of(source, SUBJECTS[source.name], options, scratch, trace)), encoding="utf-8")
    truth = json.loads(told.read_text(encoding="utf-8"))
    weights: Counter[str] = Counter(truth["tests"])
    good, whole = list(weights), sum(weights.values())
    root = copied(source, scratch / source.name)
    settings = Settings(embedder="none")
    opened = {name: GraphMem.open(scratch / f"{source.name}-{name}", repo=root, settings=settings) for name in ("text", "recorded")}
    rows: list[dict[str, Any]] = []
    try:
        opened["text"].index(root)
        opened["recorded"].index(root)
        inbox.put(trace, SUFFIX, scratch / f"{source.name}-recorded")
        opened["recorded"].index(root)
        for one in truth["killed"]:
            path = root / one["path"]
            before = path.read_bytes()
            path.write_bytes(mutated(before, Mutant(one["path"], one["line"], one["operator"], one["occurrence"])))
            failing = set(one["failing"])
            row: dict[str, Any] = {"path": one["path"], "line": one["line"], "failing": sum(weights[test] for test in failing)}
            try:
                for name, memory in opened.items():
                    memory.index(root)
                    found = {id_of(test) for test in memory.review(base="HEAD", tests=100_000).tests}
                    row[name] = score(found, failing, good, weights, whole)
            finally:
                path.write_bytes(before)
            row["names"] = score(by_name(one["path"], good), failing, good, weights, whole)
            rows.append(row)
    finally:
        for memory in opened.values():
            memory.close()
    return {
        "repository": source.name,
        "tests": whole,
        "mutants": truth["mutants"],
        "killed": len(rows),
        "whole_runs": truth["whole_runs"],
        "failures_outside_of_the_line": truth["failures_outside_of_the_line"],
        **{name: summed(rows, name) for name in ("text", "recorded", "names")},
        "rows": rows,
    }


def score(found: set[str], failing: set[str], good: list[str], weights: Counter[str], whole: int) -> dict[str, float]:
    hit = sum(weights[one] for one in failing & covered(found, failing))
    selected = covered(found, set(good))
    return {"found": hit / max(1, sum(weights[one] for one in failing)), "ran": sum(weights[one] for one in selected) / whole}


def covered(found: set[str], tests: set[str]) -> set[str]:
    """Return tests that a selection runs, by test, class or file."""
    return {one for one in tests if one in found or one.rpartition("::")[0] in found or f"{one.partition('::')[0]}::" in found}


def summed(rows: list[dict[str, Any]], name: str) -> dict[str, float]:
    failing = sum(row["failing"] for row in rows)
    return {
        "failing_found": round(sum(row[name]["found"] * row["failing"] for row in rows) / max(1, failing), 4),
        "found_mean": round(sum(row[name]["found"] for row in rows) / max(1, len(rows)), 4),
        "found_whole": round(sum(row[name]["found"] == 1 for row in rows) / max(1, len(rows)), 4),
        "found_by_one": round(sum(row[name]["found"] > 0 for row in rows) / max(1, len(rows)), 4),
        "suite_ran": round(sum(row[name]["ran"] for row in rows) / max(1, len(rows)), 4),
    }


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("roots", type=Path, nargs="+", metavar="ROOT")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30, help="for running the mutants of each repository")
    parser.add_argument("--truth", type=Path, help="directory that keeps the failing tests, so that another run needs no mutants")
    parser.add_argument("--library", type=Path, action="append", default=[], help="folder of packages that the tests need (repeatable)")
    options = parser.parse_args()
    if unknown := [source.name for source in options.roots if source.resolve().name not in SUBJECTS]:
        raise SystemExit(f"unknown repositories {unknown}; add them to benchmarks/subjects.py")
    if options.truth:
        options.truth.mkdir(parents=True, exist_ok=True)
    results = []
    for source in options.roots:
        with tempfile.TemporaryDirectory() as scratch:
            results.append(replay(source.resolve(), options, Path(scratch)))
    head = ["repository", "selection", "failing found", "mean of mutants", "mutants found whole", "by one test", "suite run"]
    kinds = ("recorded", "text", "names")
    report.table(head, [[one["repository"], kind, *one[kind].values()] for one in results for kind in kinds])
    report.publish("selection", {"repositories": results}, options.out)


if __name__ == "__main__":
    main()
