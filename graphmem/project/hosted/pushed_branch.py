"""Find the Git branch that `graphmem push` sends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import GitError
from graphmem.runtime import git

_MAIN: Final = ("main", "master", "trunk")


class CheckedOut(NamedTuple):
    """The checked-out branch, and the main branch of a repository.

    Both are "" outside a repository. If a commit is checked out instead of a branch, which is usual on CI runners, the branch is "".
    """

    branch: str
    main: str


def checked_out(root: Path) -> CheckedOut:
    """Return the checked-out branch and the main branch of a repository.

    The main branch is the one that the remote `origin` declares. Without one, it is `main`, `master` or `trunk`, whichever exists first, or
    else the checked-out branch.
    """
    branch = _line(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    declared = _line(root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").removeprefix("origin/")
    local = _line(root, "for-each-ref", "--format=%(refname:short)", *(f"refs/heads/{one}" for one in _MAIN)).split("\n")
    return CheckedOut(branch, declared or next((one for one in _MAIN if one in local), branch))


def own_commit(root: Path) -> str:
    """Return the checked-out commit; "" if the main branch also contains it."""
    main = checked_out(root).main
    if main and any(_is_ancestor(root, "HEAD", f"refs/{where}/{main}") for where in ("heads", "remotes/origin")):
        return ""
    return _line(root, "rev-parse", "--verify", "--quiet", "HEAD")


def holds(root: Path, commit: str) -> bool:
    """Whether the checked-out commit contains a commit in its history.

    A commit contains itself. The result is False if the commit is unknown.
    """
    return bool(commit) and _is_ancestor(root, commit, "HEAD")


def _is_ancestor(root: Path, earlier: str, later: str) -> bool:
    try:
        return git.answer(root, ("merge-base", "--is-ancestor", earlier, later)).returncode == 0
    except GitError:
        return False


def _line(root: Path, *arguments: str) -> str:
    """Return Git's output without surrounding white space; "" if Git fails."""
    try:
        done = git.answer(root, arguments)
    except GitError:
        return ""
    return os.fsdecode(done.stdout).strip() if not done.returncode else ""
