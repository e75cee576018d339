"""Find commits by words in their messages, or by a name that they added."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import GitError
from graphmem.history.authors import is_routine
from graphmem.history.git_log import moment
from graphmem.runtime import git

PATIENCE_S: Final = 5.0
_BOTS: Final = 5  # as many commits are read for each that is wanted
_FORMAT: Final = "--format=%H%x00%aN%x00%at%x00%s%x00%b"
_FIELDS: Final = 5


class Message(NamedTuple):
    """The message of a commit, and when it was written."""

    sha: str
    author: str
    at: str  # ISO 8601
    subject: str
    body: str


def with_words(root: Path, words: Sequence[str], most: int) -> list[Message]:
    """Return the `most` newest commits whose messages have all of the words.

    Commits by programs that update versions, such as Dependabot, are left out. Their messages quote release notes with many words.

    Raises:
        GitError: Git is not installed, takes too long, or cannot read the history.
    """
    greps = [f"--grep={word}" for word in words]
    found = _messages(root, "--regexp-ignore-case", "--all-match", "--fixed-strings", *greps, f"--max-count={most * _BOTS}")
    return [one for one in found if not is_routine(one.author)][:most]


def introduced(root: Path, path: str, name: str) -> Message | None:
    """Return the first commit that added a name to a file; None without one.

    Raises:
        GitError: Git is not installed, takes too long, or lacks old contents of the file.
    """
    found = _messages(root, f"-S{name}", "--no-textconv", "--no-ext-diff", after=("--", path))
    return found[-1] if found else None


def _messages(root: Path, *options: str, after: Sequence[str] = ("--",)) -> list[Message]:
    done = git.answer(root, ("log", "-z", "--no-merges", "--encoding=UTF-8", _FORMAT, *options, *after), timeout_s=PATIENCE_S)
    if done.returncode:
        raise GitError(
            f"`git log` failed: {git.reason(done.stderr)}; run `git fsck` to find the cause",
            command=("log",),
            stderr=done.stderr.decode("utf-8", "replace"),
        )
    said = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    rows = zip(*(said[field::_FIELDS] for field in range(_FIELDS)), strict=True)
    return [Message(sha, author, moment(int(at)).isoformat(), subject, body.strip()) for sha, author, at, subject, body in rows]
