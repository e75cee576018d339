"""What does an edit cost a running server, from the file's change to the fresh answer?

    python -m benchmarks edits TREE [--rounds 9] [--target PATH::QUALNAME …] [--no-git]

Copies the tree, puts it under git, indexes it and serves it. Then the body of one function is changed again and again, in turn in a
file that nobody imports, in one that is imported as often as the median of those that are, and in the two that are imported
most (or in the functions named): a line is put in front of its first statement, and taken out the next time. The CPU is
the server's and its workers', from the write until a question asked through GraphQL has the new answer; questions are asked
every tenth of a second and are part of it. One series follows the files as an editor's user has it, one is told to index by
request. Beside them, in the same rounds: a file written with the bytes it had, which changes nothing, the same
questions asked for as long; and a function added to the end of the file imported most.
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
    """A full index by the command line."""
    subprocess.run([*GRAPHMEM, "index", str(tree), "--db", str(data), "--json"], check=True, stdout=subprocess.DEVNULL)


def importers(data: Path) -> Counter[str]:
    """How many files import each file of the index."""
    said = subprocess.run([*GRAPHMEM, "export", "--db", str(data), "--format", "jsonl"], check=True, capture_output=True).stdout
    edges = (json.loads(line) for line in said.splitlines() if b'"IMPORTS"' in line)
    return Counter(edge["dst"]["path"] for edge in edges if edge.get("kind") == "IMPORTS" and "path" in edge["dst"])


def longest_function(source: str) -> str:
    """Qualified name of the function, or method of a class at the top, with the most lines; "" when there is none."""
    found = [("", -1)]
    for node in ast.parse(source).body:
        inner = [(f"{node.name}.", child) for child in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, child in inner:
            if isinstance(child, ast.FunctionDef):
                found.append((prefix + child.name, (child.end_lineno or 0) - child.lineno))
    return max(found, key=lambda one: (one[1], one[0]))[0]


def chosen(tree: Path, data: Path) -> list[Target]:
    """A file nobody imports, one of median popularity, the two most popular ones; those that hold a function of five lines."""
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
    """The functions a person named."""
    counts = importers(data)
    parts = [one.partition("::") for one in given]
    return [Target(qualname, path, qualname, counts[path]) for path, _, qualname in parts if (tree / path).is_file()]


def first_statement(source: str, qualname: str) -> int:
    """0-based line of a function's first statement after its docstring."""
    scope: list[ast.stmt] = ast.parse(source).body
    node: ast.stmt | None = None
    for name in qualname.split("."):
        node = next(one for one in scope if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == name)
        scope = node.body
    has_doc = len(scope) > 1 and isinstance(scope[0], ast.Expr) and isinstance(scope[0].value, ast.Constant)
    return scope[1 if has_doc else 0].lineno - 1


def edited(source: str, qualname: str, number: int) -> str:
    """The file with one more statement in a function's body, a call of a builtin."""
    lines = source.splitlines(keepends=True)
    at = first_statement(source, qualname)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return "".join([*lines[:at], f"{indent}edit_{number} = len({str(number)!r})\n", *lines[at:]])


class Server:
    """A running server: what it is asked, and its CPU.

    Args:
        pid: its process.
        address: where it answers.
        follows: it watches the files; else it is told to index after each write.
    """

    def __init__(self, pid: int, address: str, *, follows: bool) -> None:
        self.pid = pid
        self.remote = RemoteGraphMem(address)
        self.follows = follows

    def cost(self, file: Path, text: str, is_fresh: Callable[[], bool], least_s: float = 0.0) -> dict[str, float]:
        """CPU and wall seconds from the write until the answer is fresh and `least_s` are over, and CPU until the server rests."""
        before, begun = cpu_of(self.pid), time.perf_counter()
        file.write_text(text, encoding="utf-8")
        if not self.follows:
            self.remote.index()
        while not is_fresh() or time.perf_counter() - begun < least_s:
            if time.perf_counter() - begun > PATIENCE_S:
                raise SystemExit(f"the change of {file} was not seen")
            time.sleep(STEP_S)
        cpu, wall = cpu_of(self.pid) - before, time.perf_counter() - begun
        settle(self.pid)
        return {"cpu": cpu, "wall": wall, "rest": cpu_of(self.pid) - before}

    def end_line(self, target: Target) -> int:
        """Last line of a function, as the index has it."""
        return self.remote.symbol(f"{target.path}:{target.qualname}").symbol.end_line

    def ends_at(self, target: Target, line: int) -> bool:
        """Whether a function ends there."""
        return self.end_line(target) == line

    def knows(self, name: str) -> bool:
        """Whether there is a symbol of that name."""
        return bool(self.remote.symbols(name)[1])


def series(server: Server, tree: Path, targets: list[Target], rounds: int) -> dict[str, dict[str, float]]:
    """Medians by row. The first round warms what later ones keep; it is reported apart."""
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
    report.table(["edits", "what", "CPU s", "least", "most", "until rest", "wall s", "first", "where"], rows)
    report.publish("edits", {"tree": arguments.tree.name, "rounds": arguments.rounds, "series": results, "targets": where}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
