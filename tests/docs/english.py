"""Check that texts for people keep to the style page of CONTRIBUTING.md.

`python tests/docs/english.py [PART...]` prints each finding as `path:line: what is wrong; what to do` and exits with 1 if there are any.
A part is a room, a file of the package's top folder, a page, `benchmarks` or `tests`.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
MAX_SUMMARY: Final = 72  # characters of the first line of a docstring
MAX_LISTED: Final = 100  # characters of the first line of a benchmark, which `python -m benchmarks` lists
MAX_SUBJECT: Final = 65  # characters of the first line of a commit message
MAX_ENTRY: Final = 25  # words of an entry of the changelog
CHANGELOG: Final = "CHANGELOG.md"
LANDED = {"Call the process of a dump what it is, and the renaming quarantine"}  # too long, and on the main branch before a check ran
PAGE: Final = "CONTRIBUTING.md"  # it quotes what it forbids
TESTS: Final = "tests"
SELF: Final = "tests/docs"  # it quotes what it forbids
BENCHMARKS: Final = "benchmarks"  # its results are records of their time, and are not read

STOP_LIST: Final = {
    r"\b(?:is|are|was|were|be) no (?!longer\b|more\b|less\b|\w+er\b|worse\b)[`'\"]?\w": "write 'is not a', 'must be' or 'unknown'",
    r"\banew\b": "write 'again', or name the action: rebuild, rewrite",
    r"\baside\b": "write 'quarantine', or name the action",
    r"\bwhoever\b": "name the person or the process",
    r"\bwhat (?:becomes?|became) of\b": "write 'outcome'",
    r"\bof today\b": "write 'current'",
    r"\blately\b": "write 'recently'",
    r"\bso does\b": "say what it does",
    r"\bnobody has\b": "name who has not, or write 'unused', 'unread'",
    r"\blets? go\b": "write 'release', 'close' or 'evict'",
    r"\btwice is once\b": "write 'idempotent'",
}

VAGUE: Final = {
    r"\ba text\b(?! (?:file|field|block|hash)\b)": "name the thing: string, sentence, message, query, line, document",
}
"""Words that docstrings, strings and comments of the package avoid."""
_OF_CODE: Final = STOP_LIST | VAGUE

NO_NOUN: Final = re.compile(r"(?:What|Who|Whom|Whoever|How|Why|Where|When|It|Its|This|That|These|Those|They|Their)\b")
"""First words of a summary that do not name a thing or an action."""

RIDDLES: Final = frozenset(["said", "told", "asked", "heard", "meant", "mine", "whose"])
"""Names of functions and parameters that tell nothing of what they return or hold."""

PLAIN: Final = frozenset(["AttributeError", "FrozenInstanceError", "disk_refusal", "out_of_memory"])
"""Errors of Python with a fixed wording, and functions whose argument is a part of a sentence."""
FULL_WORDS: Final = 4  # a shorter text of an error is a name or a value
NO_SUBJECT: Final = re.compile(r"(?:is|are|has|had|must|not|it|its|they|of|with|needs)\b", re.IGNORECASE)

_NOT_YET: Final = """
"""
NOT_YET: Final = frozenset(_NOT_YET.split())
"""Rooms, files and pages whose texts were written before the style page. One that was rewritten leaves this list for good."""


class Finding(NamedTuple):
    """A place that breaks the style."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def of_text(path: str, first_line: int, text: str, stop_list: Mapping[str, str] = STOP_LIST) -> Iterator[Finding]:
    """Words of a stop list in a page, a string or a comment."""
    if not _any_of(tuple(stop_list)).search(text):  # no pattern goes beyond a line
        return
    for number, line in enumerate(text.splitlines(), first_line):
        for pattern, remedy in stop_list.items():
            if found := re.search(pattern, line, re.IGNORECASE):
                yield Finding(path, number, f"'{found[0]}' is on the stop list; {remedy}")


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_parsed = functools.lru_cache(maxsize=1)(ast.parse)  # by two checks, one after the other


def of_module(path: str, source: str, most: int = MAX_SUMMARY) -> Iterator[Finding]:
    """Long summaries of docstrings, riddles, and the stop list in every docstring, string and comment.

    `most` is the length of the module's own summary.
    """
    for node in ast.walk(_parsed(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        summary = (ast.get_docstring(node) or "").partition("\n")[0]
        limit = most if isinstance(node, ast.Module) else MAX_SUMMARY
        if len(summary) > limit:
            yield Finding(path, node.body[0].lineno, f"the summary has {len(summary)} characters; use at most {limit}")
        if found := NO_NOUN.match(summary):
            yield Finding(path, node.body[0].lineno, f"the summary begins with '{found[0]}'; begin with a noun or a verb")
        if not isinstance(node, ast.Module):
            yield from of_names(path, node)
    if not _any_of(tuple(_OF_CODE)).search(source):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT) or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            yield from of_text(path, token.start[0], token.string, _OF_CODE)


def of_names(path: str, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    """Names of a function and of its parameters that are riddles."""
    parameters = (
        [] if isinstance(node, ast.ClassDef) else [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    )
    for name in (node.name, *parameters):
        if name.strip("_") in RIDDLES:
            yield Finding(path, node.lineno, f"the name '{name}' is a riddle; say what the function returns, or what the value is")


def of_errors(path: str, source: str) -> Iterator[Finding]:
    """Messages of raised errors that lack their subject, or what to do."""
    for node in ast.walk(_parsed(source)):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        if ast.unparse(node.exc.func).rpartition(".")[2] in PLAIN:
            continue
        for argument in (*node.exc.args, *(one.value for one in node.exc.keywords)):
            message = next(filter(None, map(_written, ast.walk(argument))), None)
            if message is None or len(message.split()) < FULL_WORDS:
                continue
            line = argument.lineno
            if NO_SUBJECT.match(message):
                yield Finding(path, line, f"the error '{message[:40]}' does not name its subject; begin with the thing that is wrong")
            elif "; " not in message:
                yield Finding(path, line, f"the error '{message[:40]}' has no remedy; write '<what is wrong>; <what to do>'")


def _written(node: ast.AST) -> str | None:
    """Return a string as it is written, with `{}` for each value; None for another node."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def of_tests(path: str, source: str) -> Iterator[Finding]:
    """Stop list in docstrings, comments and names of tests, and docstrings that begin without a noun or a verb.

    Strings are not read, because they hold the data of the tests.
    """
    for node in ast.walk(_parsed(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node, clean=False) or ""
        line = node.body[0].lineno if docstring else 0
        yield from of_text(path, line, docstring, _OF_CODE)
        if found := NO_NOUN.match(docstring):
            yield Finding(path, line, f"the summary begins with '{found[0]}'; begin with a noun or a verb")
        if not isinstance(node, ast.Module) and node.name.startswith("test_"):
            yield from of_text(path, node.lineno, node.name.removeprefix("test_").replace("_", " "))
    if _any_of(tuple(_OF_CODE)).search(source):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield from of_text(path, token.start[0], token.string, _OF_CODE)


def of_changelog() -> Iterator[Finding]:
    """Long entries of the changelog; links do not count."""
    text = (ROOT / CHANGELOG).read_text(encoding="utf-8")
    for found in re.finditer(r"^- .*(?:\n  .*)*", text, re.MULTILINE):
        words = len(re.sub(r"\]\([^)]*\)", "", found[0]).split()) - 1
        if words > MAX_ENTRY:
            line = text.count("\n", 0, found.start()) + 1
            yield Finding(CHANGELOG, line, f"the entry has {words} words; write one sentence of at most {MAX_ENTRY}")


def of_subjects() -> Iterator[Finding]:
    """Subjects of commits that are too long, since this check exists; none where git does not know its history."""
    git = ["git", "-C", str(ROOT)]
    added = subprocess.run(
        [*git, "log", "--diff-filter=A", "--format=%H", "--", "tests/docs/english.py"], capture_output=True, text=True, check=False
    ).stdout.split()
    if not added:
        return
    log = subprocess.run([*git, "log", "--format=%h%x00%s", f"{added[-1]}.."], capture_output=True, text=True, check=True).stdout
    for line in log.splitlines():
        commit, _, subject = line.partition("\0")
        if len(subject) > MAX_SUBJECT and subject not in LANDED:
            yield Finding(commit, 1, f"the subject has {len(subject)} characters; use at most {MAX_SUBJECT}")


def of_benchmarks() -> Iterator[Finding]:
    """Findings in the programs and pages of the benchmarks."""
    for file in sorted((ROOT / BENCHMARKS).rglob("*.py")):
        path, source = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        yield from of_module(path, source, MAX_LISTED)
        yield from of_errors(path, source)
    for file in sorted((ROOT / BENCHMARKS).rglob("*.md")):
        if file.parent.name != "results":
            yield from of_text(file.relative_to(ROOT).as_posix(), 1, file.read_text(encoding="utf-8"))


def findings(asked: Collection[str] = ()) -> Iterator[Finding]:
    """Everything found in the package, the pages and the subjects of commits; with `asked`, in these parts alone."""

    def checked(part: str) -> bool:
        return part in asked if asked else part not in NOT_YET

    for file in sorted((ROOT / "graphmem").rglob("*.py")):
        if checked(file.relative_to(ROOT / "graphmem").parts[0]):
            path, source = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
            yield from of_module(path, source)
            yield from of_errors(path, source)
    if checked(TESTS):
        for file in sorted((ROOT / TESTS).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if not path.startswith(SELF):
                yield from of_tests(path, file.read_text(encoding="utf-8"))
    if checked(BENCHMARKS):
        yield from of_benchmarks()
    for file in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        if file.name != PAGE and checked(file.name):
            yield from of_text(file.relative_to(ROOT).as_posix(), 1, file.read_text(encoding="utf-8"))
    if checked(CHANGELOG):
        yield from of_changelog()
    if not asked:
        yield from of_subjects()


if __name__ == "__main__":
    found = list(findings(sys.argv[1:]))
    print(*found, sep="\n")
    sys.exit(1 if found else 0)
