"""Find who last changed each line of a file, and in which commit."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from graphmem.answers.source import Blame, BlameRun
from graphmem.errors import GitError
from graphmem.history.git_log import moment
from graphmem.runtime import git as _git

PATIENCE_S: Final = 20.0


def blame(root: Path, file: str) -> Blame:
    """Return the last commit of each line in a file's current text, from Git.

    Args:
        root: root directory of the project.
        file: path relative to `root`.
    """
    command = ("blame", "--porcelain", "--no-textconv", "--", file)
    try:
        done = _git.answer(root, command, timeout_s=PATIENCE_S)
    except GitError as error:
        return Blame(file, [], [f"without authors: {error.message}"])
    if done.returncode:
        return Blame(file, [], [f"without authors: {_git.reason(done.stderr) or 'git blame failed'}"])
    return Blame(file, _runs(done.stdout.decode("utf-8", "replace").split("\n")), [])


def _runs(lines: list[str]) -> list[BlameRun]:
    facts: dict[str, dict[str, str]] = {}
    commits: list[str] = []  # of each line
    sha = ""
    for line in lines:
        if line.startswith("\t"):
            commits.append(sha)
            sha = ""
        elif not sha:
            sha = line.partition(" ")[0]
            facts.setdefault(sha, {})
        else:
            key, _, value = line.partition(" ")
            facts[sha].setdefault(key, value)
    starts = [i for i, one in enumerate(commits) if not i or commits[i - 1] != one]
    ends = [*starts[1:], len(commits)]
    return [_run(start + 1, end - start, commits[start], facts[commits[start]]) for start, end in zip(starts, ends, strict=True)]


def _run(line: int, lines: int, sha: str, known: dict[str, str]) -> BlameRun:
    at = moment(int(known.get("author-time", "0"))).isoformat()
    if not sha.strip("0"):  # not committed
        return BlameRun(line, lines, "", "", at, "")
    return BlameRun(line, lines, sha, known.get("author", ""), at, known.get("summary", ""))
