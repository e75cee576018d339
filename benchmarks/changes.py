"""Data set for `search_quality`: commit messages with the changed files and functions.

    python -m benchmarks changes DATA --mirrors DIR [--only NAME,NAME] [--cases 240] [--windows 4]

DIR has `<owner>+<name>/repo` bare git directories. The program writes two files for each repository into DATA: `localize_<name>.jsonl.gz`,
one row for each commit, which `search_quality --changes DATA` reads, and `history_<name>.jsonl.gz`, the files of every earlier commit. The
rules are the same for every repository:

* A commit fits if it is not a merge, moves no file, and changes one to ten Python files of the package that existed before. Tests and
  vendored code do not count. Releases, typos, findings of tools and commits of bots are left out. The message, without trailers
  and issue numbers, must have three words or more.
* Commits are drawn evenly from the latest part of the history that has enough, and divided into windows. All questions of a window search
  the tree before its first commit, so that no question sees the future.
* The answer is the changed files and the definitions with changed lines. A line belongs to the outermost function around it, or to the
  class if it is in none of its methods. Blank lines belong to nothing.
* "stripped" is the message without the names of the changed files and functions and without anything that looks like code.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import report

from graphmem.search.query.query_type import mentions

MINED: Final = {
    "scrapy": ("scrapy+scrapy", ("scrapy/",)),
    "celery": ("celery+celery", ("celery/",)),
    "black": ("psf+black", ("src/", "black.py", "blackd.py")),
    "tornado": ("tornadoweb+tornado", ("tornado/",)),
    "marshmallow": ("marshmallow-code+marshmallow", ("src/marshmallow/", "marshmallow/")),
    "pytest": ("pytest-dev+pytest", ("src/",)),
    "aiohttp": ("aio-libs+aiohttp", ("aiohttp/",)),
    "alembic": ("sqlalchemy+alembic", ("alembic/",)),
    "redis-py": ("redis+redis-py", ("redis/",)),
    "poetry": ("python-poetry+poetry", ("src/poetry/", "poetry/")),
    "paramiko": ("paramiko+paramiko", ("paramiko/",)),
    "gunicorn": ("benoitc+gunicorn", ("gunicorn/",)),
    "tox": ("tox-dev+tox", ("src/tox/", "tox/")),
    "pip": ("pypa+pip", ("src/pip/_internal/",)),
}
REPOSITORIES: Final = MINED | {"flask": ("pallets+flask", ("src/flask/", "flask/")), "click": ("pallets+click", ("src/click/", "click/"))}
MOST_FILES: Final = 10
MOST_LETTERS: Final = 2000  # of a message; longer ones are protocols of a discussion
_NOT_OF_PACKAGE: Final = re.compile(r"/tests?/|/test_|/testsuite/|/templates/|/packages/|/_vendor|_version\.py$")
_TRAILER: Final = re.compile(
    r"^(signed-off-by|co-authored-by|reviewed-by|pull request resolved|refs?|see|thanks|cherry.picked)\b.*$", re.I | re.M
)
_ISSUE: Final = re.compile(
    r"\(?\s*(?:\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|issue|pr|gh|bug)\b[ :-]*)?(?:#\d+|https?://\S+)(?:\s*,\s*#\d+)*\s*\)?", re.I
)
_DULL: Final = re.compile(
    r"\b(typos?|spelling|misspell\w*|releas\w*|bump\w*|version \d|flake8|pyupgrade|pre-commit|isort|mypy|ruff|black|reformat\w*|formatting|"
    r"lint\w*|pep ?-?8|whitespace|dependenc\w+|changelog|copyright|merge|revert|backport\w*)\b",
    re.I,
)
_ROBOT: Final = re.compile(r"\[bot\]|dependabot|pre-commit-ci|renovate", re.I)
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Commit(NamedTuple):
    """One commit in the log."""

    sha: str
    parent: str
    at: str
    author: str
    message: str
    files: list[list[str]]  # [letter, path] or ["R", new path, old path]


def of_package(path: str, roots: tuple[str, ...]) -> bool:
    """Whether a path is a Python file of the package itself."""
    return path.endswith(".py") and path.startswith(roots) and not _NOT_OF_PACKAGE.search(f"/{path.lower()}")


def git(repo: Path, *arguments: str) -> str:
    """Return the output of a git command."""
    command = ["git", "--git-dir", str(repo), "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def log(repo: Path) -> Iterator[Commit]:
    """Yield commits that are not merges, oldest first."""
    form = "--format=%x1e%H%x1f%P%x1f%cI%x1f%an%x1f%B%x1f"
    said = git(repo, "log", "--no-merges", "--reverse", "-M", "--name-status", "--date-order", form)
    for record in said.split("\x1e")[1:]:
        sha, parents, at, author, message, changed = record.split("\x1f")
        files = []
        for line in changed.strip().splitlines():
            letter, *paths = line.split("\t")
            files.append([letter[0], *reversed(paths)])
        yield Commit(sha, parents.split(" ")[0], at, author, message, files)


def described(message: str) -> str:
    """Return a message without trailers, issue numbers and links."""
    text = _ISSUE.sub(" ", _TRAILER.sub("", message))
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if re.search(r"\w", line))


def stripped(query: str, files: list[str], functions: list[str]) -> str:
    """Return a message without the names of changed code and without code."""
    names = {part.lower() for path in files for part in re.split(r"[/.]", path) if part not in ("py", "src", "__init__")}
    names |= {part.lower() for name in functions for part in name.partition("::")[2].split(".")}
    code = sorted((mention.text for mention in mentions(query) if mention.is_explicit), key=len, reverse=True)
    text = re.sub(r"`[^`\n]*`", "", query)
    for name in code:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "", text)
    text = re.sub(r"\w+", lambda match: "" if match.group().lower() in names else match.group(), text)
    return re.sub(r"[ \t]+", " ", text).strip()


def owners(source: str) -> dict[int, str]:
    """Return the name of the definition around each line.

    It is the outermost function, or the class. The second definition of a name has #2.
    """
    owner: dict[int, str] = {}
    seen: dict[str, int] = {}

    def visit(body: list[Any], outer: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{outer}.{node.name}" if outer else node.name
                seen[name] = seen.get(name, 0) + 1
                full = name if seen[name] == 1 else f"{name}#{seen[name]}"
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                owner.update(dict.fromkeys(range(first, (node.end_lineno or first) + 1), full))
                if isinstance(node, ast.ClassDef):
                    visit(node.body, name)
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                for part in ("body", "orelse", "finalbody"):
                    visit(getattr(node, part, []), outer)
                for handler in getattr(node, "handlers", []):
                    visit(handler.body, outer)

    visit(ast.parse(source).body, "")
    lines = source.split("\n")
    return {line: name for line, name in owner.items() if line <= len(lines) and lines[line - 1].strip()}


def touched(repo: Path, commit: Commit, path: str) -> set[str]:
    """Return the names of the definitions that a commit changed in a file.

    Lines of both sides of the change count.
    """
    sides = [owners(git(repo, "show", f"{revision}:{path}")) for revision in (commit.parent, commit.sha)]
    names = set()
    for line in git(repo, "diff", "-U0", commit.parent, commit.sha, "--", path).splitlines():
        if match := _HUNK.match(line):
            for side, (first, count) in zip(sides, (match.groups()[:2], match.groups()[2:]), strict=True):
                names |= {side[at] for at in range(int(first), int(first) + int(count or 1)) if at in side}
    return names


def mined_rows(repo: Path, roots: tuple[str, ...], cases: int, windows: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the questions, oldest first, and all commits before the last."""
    commits = list(log(repo))
    fit = []
    for at, commit in enumerate(commits):
        changed = [path for letter, path, *_ in commit.files if letter == "M" and of_package(path, roots)]
        query = described(commit.message)
        title = query.split("\n", 1)[0]
        is_dull = _DULL.search(title) or _ROBOT.search(commit.author) or any(letter in "RCT" for letter, *_ in commit.files)
        if not is_dull and 1 <= len(changed) <= MOST_FILES and len(re.findall(r"\w{2,}", query)) >= 3 and len(query) < MOST_LETTERS:
            fit.append((at, changed, query))
    # The latest commits, two in three. The others change the tree between two questions.
    fit = fit[-round(cases * 1.5) :]
    fit = [one for number, one in enumerate(fit) if number % 3 != 2]
    rows = []
    for number, (at, changed, query) in enumerate(fit):
        commit = commits[at]
        window = number * windows // len(fit)
        before = commits[fit[next(i for i in range(len(fit)) if i * windows // len(fit) == window)][0]].parent
        try:
            functions = sorted(f"{path}::{name}" for path in changed for name in touched(repo, commit, path))
        except SyntaxError:
            continue
        row = {"sha": commit.sha, "parent": commit.parent, "at": commit.at, "snapshot": before, "query": query}
        rows.append(row | {"stripped": stripped(query, changed, functions), "files": changed, "funcs": functions})
    last = commits.index(next(commit for commit in commits if commit.sha == rows[-1]["sha"]))
    history = [{"sha": one.sha, "at": one.at, "files": one.files} for one in commits[: last + 1]]
    return rows, history


def written(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write one JSON object a line; equal rows give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as out:
        out.writelines((json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n").encode() for row in rows)


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--mirrors", type=Path, required=True)
    options.add_argument("--only", default=",".join(MINED))
    options.add_argument("--cases", type=int, default=240)
    options.add_argument("--windows", type=int, default=4)
    arguments = options.parse_args()
    for name in arguments.only.split(","):
        folder, roots = MINED[name]
        rows, history = mined_rows(arguments.mirrors / folder / "repo", roots, arguments.cases, arguments.windows)
        written(arguments.data / f"localize_{name}.jsonl.gz", rows)
        written(arguments.data / f"history_{name}.jsonl.gz", history)
        print(f"{name}: {len(rows)} questions, {rows[0]['at'][:10]} to {rows[-1]['at'][:10]}, {len(history)} commits")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
