"""Find the branches that contain the commit at which a memory was written."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from graphmem.errors import GitError
from graphmem.history import git_mark
from graphmem.runtime import git

MOST_NAMED: Final = 5  # branches of one commit, the most recently committed first
FRESH_S: Final = 5.0  # seconds for which other branches are not read again


class OtherBranches:
    """Finds the local branches that contain a commit and are not checked out.

    One run of Git reads the commits of all these branches. The commits are cached until the checked-out commit changes or `FRESH_S` seconds
    have passed.
    """

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._until = 0.0
        self._elsewhere: frozenset[str] = frozenset()
        self._branches: dict[str, list[str]] = {}

    def of(self, root: Path, commit: str) -> list[str]:
        """Return the local branches with `commit`, except the checked-out one.

        The newest branches come first, at most `MOST_NAMED`. The result is [] if the checked-out branch contains the commit, too. It is
        also [] outside a Git repository, and for an unknown commit.
        """
        key = (str(root), git_mark.head(root))
        if not (commit and key[1]):
            return []
        if key != self._key or time.monotonic() > self._until:
            self._elsewhere = frozenset(_lines(root, "rev-list", "--branches", "--not", "HEAD"))
            self._branches = {}
            self._key, self._until = key, time.monotonic() + FRESH_S
        if commit not in self._elsewhere:
            return []
        if commit not in self._branches:
            self._branches[commit] = _lines(
                *(root, "for-each-ref", f"--contains={commit}", "--sort=-committerdate", f"--count={MOST_NAMED}"),
                *("--format=%(refname:short)", "refs/heads"),
            )
        return self._branches[commit]


def _lines(root: Path, *arguments: str) -> list[str]:
    """Run Git with `arguments`; return its output by line.

    The result is [] if Git is not installed or fails. Then answers about memories lack the names of branches.
    """
    try:
        done = git.answer(root, arguments)
    except GitError:
        return []
    return os.fsdecode(done.stdout).split("\n")[:-1] if not done.returncode else []
