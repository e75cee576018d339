"""Mutation test of tagged tuples in `parsing` and `resolution`: share of swaps that mypy reports.

    python -m benchmarks positions [--count 50] [--seed 0]

Terms and atoms are tuples whose first item is a tag. A mutation swaps two neighbouring parts of one such tuple, where it is made or
unpacked, in a copy of the package. Each of --count functions gets one mutation. One run of mypy with the settings of the project then
reports errors. A mutation is caught if mypy finds an error in its function. The others are listed.
"""

from __future__ import annotations

import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import report

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("parsing", "resolution")
TAGGED = ("parsing/facts.py", "resolution/values/types.py")  # the modules that define tags


class Mutation(NamedTuple):
    """Two neighbouring parts of one tuple, as offsets in bytes."""

    path: str
    line: int
    first: tuple[int, int]
    second: tuple[int, int]
    function: tuple[int, int]  # lines of the outermost function or class member around it


def main(arguments: Sequence[str] | None = None) -> int:
    """Report how many mutations mypy catches."""
    parser = report.parser(__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    every = sorted(mutation for room in ROOMS for path in (ROOT / "graphmem" / room).rglob("*.py") for mutation in mutations(path))
    mixed = random.Random(options.seed).sample(every, len(every))
    one_each = list({(mutation.path, mutation.function): mutation for mutation in mixed}.values())
    chosen = sorted(one_each[: options.count], reverse=True)
    with tempfile.TemporaryDirectory(prefix="positions-") as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "graphmem", copy / "graphmem", ignore=shutil.ignore_patterns("__pycache__", "static"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        if errors(copy):
            raise SystemExit("mypy fails before any mutation; fix that first")
        for mutation in sorted(chosen, key=lambda one: (one.path, one.first), reverse=True):
            file = copy / mutation.path
            file.write_bytes(swapped(file.read_bytes(), mutation))
        wrong = errors(copy)
    missed = [
        mutation
        for mutation in chosen
        if not any(path == mutation.path and mutation.function[0] <= line <= mutation.function[1] for path, line in wrong)
    ]
    rows = []
    for mutation in missed:
        source = (ROOT / mutation.path).read_bytes()
        rows.append((f"{mutation.path}:{mutation.line}", text(source, mutation.first), text(source, mutation.second)))
    report.table(["missed at", "part", "swapped with"], rows)
    report.table(["caught", "of", "places"], [(len(chosen) - len(missed), len(chosen), len(every))])
    found = {"caught": len(chosen) - len(missed), "of": len(chosen), "places": len(every), "seed": options.seed}
    report.publish("positions", found, options.out)
    return 0


def mutations(path: Path) -> Iterator[Mutation]:
    """Yield pairs of neighbouring parts of tagged tuples that can be swapped."""
    source = path.read_bytes()
    starts = [0]
    for row in source.split(b"\n"):
        starts.append(starts[-1] + len(row) + 1)

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    tree = ast.parse(source)
    members = (one for node in tree.body for one in (node.body if isinstance(node, ast.ClassDef) else [node]))
    for function in members:
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Tuple) and is_tagged(node):
                for first, second in zip(node.elts[1:], node.elts[2:], strict=False):
                    if ast.dump(first) != ast.dump(second):
                        lines = (function.lineno, function.end_lineno or function.lineno)
                        yield Mutation(str(path.relative_to(ROOT)), node.lineno, span(first), span(second), lines)


def is_tagged(node: ast.Tuple) -> bool:
    """Whether a tuple with a tag is made or unpacked here.

    Examples: `(FUNC, symbol, None)` and `_, package, dotted, _ = atom`.
    """
    first = node.elts[0] if node.elts else None
    if not isinstance(first, ast.Name):
        return False
    if isinstance(node.ctx, ast.Store):
        return first.id == "_"
    return first.id in TAGS and not any(isinstance(part, ast.Name) and part.id in TAGS for part in node.elts[1:])


def tags() -> frozenset[str]:
    """Return the names of tags: constants that are small numbers."""
    trees = (ast.parse((ROOT / "graphmem" / path).read_bytes()) for path in TAGGED)
    return frozenset(
        node.target.id
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
        and not node.target.id.startswith("MAX")
    )


TAGS = tags()


def swapped(source: bytes, mutation: Mutation) -> bytes:
    """Return the source with the two parts exchanged."""
    (start, end), (begin, stop) = mutation.first, mutation.second
    return source[:start] + source[begin:stop] + source[end:begin] + source[start:end] + source[stop:]


def text(source: bytes, span: tuple[int, int]) -> str:
    """Return the source of a span."""
    return source[span[0] : span[1]].decode()


def errors(copy: Path) -> set[tuple[str, int]]:
    """Return (path, line) of the errors that mypy finds in a copy."""
    command = [sys.executable, "-m", "mypy", *(f"--package=graphmem.{room}" for room in ROOMS)]
    checked = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    if checked.returncode not in (0, 1):
        raise SystemExit(checked.stdout + checked.stderr)
    found = (line.split(":", 3) for line in checked.stdout.splitlines() if ": error:" in line)
    return {(path, int(line)) for path, line, *_ in found}


if __name__ == "__main__":
    sys.exit(main())
