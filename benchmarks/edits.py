"""Cost of an edit in a running server, from the write of the file to the first fresh answer.

    python -m benchmarks edits TREE [--rounds 9] [--target PATH::QUALNAME …] [--no-git]

The tree is copied, committed to Git, indexed and served. Then the body of one function changes repeatedly: a line is added before its first
statement, and removed in the next round. The functions are in a file without importers, in one with the median number of importers,
and in the two files with the most (or those of --target). One series follows the files, as in an editor. The other requests each
index run.

CPU is that of the server and its workers from the write until a question over GraphQL has the new answer. Questions are asked ten times a
second and are part of it. Controls in the same rounds: a file written with equal bytes and the same questions for as long, and a function
added at the end of the file with the most importers.
"""

from __future__ import annotations

import ast
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import report
from indexing import GRAPHMEM, cpu_of, served, settle

from graphmem.client.remote import RemoteGraphMem

STEP_S: Final = 0.1  # between two questions
PATIENCE_S: Final = 60.0
GIT: Final = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")


class Target(NamedTuple):
    """One function to edit."""

    name: str  # of the row
    path: str
    qualname: str
    importers: int  # files that import its file


def index(tree: Path, data: Path) -> None:
    """Make a full index by the command line."""
    subprocess.run([*GRAPHMEM, "index", str(tree), "--db", str(data), "--json"], check=True, stdout=subprocess.DEVNULL)


def importers(data: Path) -> Counter[str]:
    """Return the number of files that import each file of the index."""
    said = subprocess.run([*GRAPHMEM, "export", "--db", str(data), "--format", "jsonl"], check=True, capture_output=True).stdout
    edges = (json.loads(line) for line in said.splitlines() if b'"IMPORTS"' in line)
    return Counter(edge["dst"]["path"] for edge in edges if edge.get("kind") == "IMPORTS" and "path" in edge["dst"])


def longest_function(source: str) -> str:
    """Return the function or method with the most lines; "" without one.

    Methods are those of classes at the top level.
    """
    found = [("", -1)]
    for node in ast.parse(source).body:
        inner = [(f"{node.name}.", child) for child in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, child in inner:
            if isinstance(child, ast.FunctionDef):
                found.append((prefix + child.name, (child.end_lineno or 0) - child.lineno))
    return max(found, key=lambda one: (one[1], one[0]))[0]


def chosen(tree: Path, data: Path) -> list[Target]:
    """Return targets in files of four degrees of popularity.

    They are a file without importers, one of median popularity, and the two with the most importers. A file needs a function and 4,000
    bytes.
    """
    counts = importers(data)
    able: list[tuple[int, str, str]] = []
    for file in sorted(tree.rglob("*.py")):
        path = file.relative_to(tree).as_posix()
        try:
            name = longest_function(file.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue
        if name and file.stat().st_size > 4_000:
            able.append((counts[path], path, name))
    able.sort()
    popular = [one for one in able if one[0]]
    nobody = [one for one in able if not one[0]]
    rows = {
        "imported by nobody": nobody[len(nobody) // 2],
        "of median popularity": popular[len(popular) // 2],
        "second most imported": popular[-2],
        "most imported": popular[-1],
    }
    return [Target(name, path, qualname, count) for name, (count, path, qualname) in rows.items()]


def named(tree: Path, given: list[str], data: Path) -> list[Target]:
    """Return the functions of --target."""
    counts = importers(data)
    parts = [one.partition("::") for one in given]
    return [Target(qualname, path, qualname, counts[path]) for path, _, qualname in parts if (tree / path).is_file()]


def first_statement(source: str, qualname: str) -> int:
    """Return the 0-based line of a function's first statement.

    A docstring does not count.
    """
    scope: list[ast.stmt] = ast.parse(source).body
    node: ast.stmt | None = None
    for name in qualname.split("."):
        node = next(one for one in scope if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == name)
        scope = node.body
    has_doc = len(scope) > 1 and isinstance(scope[0], ast.Expr) and isinstance(scope[0].value, ast.Constant)
    return scope[1 if has_doc else 0].lineno - 1


def edited(source: str, qualname: str, number: int) -> str:
    """Return the file with one more statement in a function: a builtin call."""
    lines = source.splitlines(keepends=True)
    at = first_statement(source, qualname)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return "".join([*lines[:at], f"{indent}edit_{number} = len({str(number)!r})\n", *lines[at:]])


class Server:
    """A running server with its processor time.

    Args:
        pid: its process.
        address: its address.
        follows: it watches the files; else each write is followed by an index request.
    """

    def __init__(self, pid: int, address: str, *, follows: bool) -> None:
        self.pid = pid
        self.remote = RemoteGraphMem(address)
        self.follows = follows

    def cost(self, file: Path, text: str, is_fresh: Callable[[], bool], least_s: float = 0.0) -> dict[str, float]:
        """Write a file; return CPU and wall seconds until a fresh answer.

        The wait lasts at least `least_s`. `rest` is the CPU until the server is idle.
        """
        before, begun = cpu_of(self.pid), time.perf_counter()
        file.write_text(text, encoding="utf-8")
        if not self.follows:
            self.remote.index()
        while not is_fresh() or time.perf_counter() - begun < least_s:
            if time.perf_counter() - begun > PATIENCE_S:
                raise SystemExit(f"the change of {file} is not in the index; look at the log of the server")
            time.sleep(STEP_S)
        cpu, wall = cpu_of(self.pid) - before, time.perf_counter() - begun
        settle(self.pid)
        return {"cpu": cpu, "wall": wall, "rest": cpu_of(self.pid) - before}

    def end_line(self, target: Target) -> int:
        """Return the last line of a function in the index."""
        return self.remote.symbol(f"{target.path}:{target.qualname}").symbol.end_line

    def ends_at(self, target: Target, line: int) -> bool:
        """Whether a function ends at a line."""
        return self.end_line(target) == line

    def knows(self, name: str) -> bool:
        """Whether the index has a symbol of that name."""
        return bool(self.remote.symbols(name)[1])


def series(server: Server, tree: Path, targets: list[Target], rounds: int) -> dict[str, dict[str, float]]:
    """Return the medians by row.

    The first round fills caches and is reported separately.
    """
    found: dict[str, list[dict[str, float]]] = {}
    sources = {target: (tree / target.path).read_text(encoding="utf-8") for target in targets}
    lines = {target: server.end_line(target) for target in targets}
    hub = targets[-1]
    for number in range(rounds + 1):
        is_in = number % 2 == 0
        texts = {target: edited(source, target.qualname, number) if is_in else source for target, source in sources.items()}
        for target, text in texts.items():
            is_fresh = partial(server.ends_at, target, lines[target] + is_in)
            found.setdefault(target.name, []).append(server.cost(tree / target.path, text, is_fresh))
        file, is_back = tree / hub.path, partial(server.ends_at, hub, lines[hub] + is_in)
        spent = statistics.mean(one[-1]["wall"] for one in found.values()) if server.follows else 0.0
        found.setdefault("nothing changed", []).append(server.cost(file, texts[hub], is_back, spent))
        name = f"added_{number}"
        more = f"{texts[hub]}\n\ndef {name}():\n    return {number}\n"
        found.setdefault("a function added to the most imported", []).append(server.cost(file, more, partial(server.knows, name)))
        found.setdefault("and taken out again", []).append(server.cost(file, texts[hub], lambda gone=name: not server.knows(gone)))  # type: ignore[misc]
    return {
        name: {
            "first": values[0]["cpu"],
            **{key: statistics.median(one[key] for one in values[1:]) for key in ("cpu", "wall", "rest")},
            "least": min(one["cpu"] for one in values[1:]),
            "most": max(one["cpu"] for one in values[1:]),
        }
        for name, values in found.items()
    }


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("tree", type=Path)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--target", action="append", default=[], metavar="PATH::QUALNAME", help="edit this function, and no others")
    options.add_argument("--no-git", action="store_true", help="leave the copy without a repository")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tree, data = Path(scratch) / arguments.tree.resolve().name, Path(scratch) / "index"
        shutil.copytree(arguments.tree.resolve(), tree, ignore=shutil.ignore_patterns(".git", "__pycache__", ".graphmem"))
        if not arguments.no_git:
            for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "as it was")):
                subprocess.run([*GIT, *command], cwd=tree, check=True, stdout=subprocess.DEVNULL)
        index(tree, data)
        targets = named(tree, arguments.target, data) if arguments.target else chosen(tree, data)
        results: dict[str, Any] = {}
        for how, flags in (("followed", ()), ("asked", ("--no-watch",))):
            with served(tree, data, *flags) as pid:
                address = json.loads((data / "owner.json").read_text(encoding="utf-8"))["address"]
                results[how] = series(Server(pid, address, follows=how == "followed"), tree, targets, arguments.rounds)
    where = {target.name: f"{target.path} {target.qualname}, {target.importers} importers" for target in targets}
    rows = [
        [how, name, one["cpu"], one["least"], one["most"], one["rest"], one["wall"], one["first"], where.get(name, "")]
        for how, found in results.items()
        for name, one in found.items()
    ]
    report.table(["index runs", "edit", "CPU s", "least", "most", "until idle", "wall s", "first", "target"], rows)
    report.publish("edits", {"tree": arguments.tree.name, "rounds": arguments.rounds, "series": results, "targets": where}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
