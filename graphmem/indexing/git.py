"""The few questions asked of git, each one subprocess without a shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

from graphmem.errors import GitError

TIMEOUT_S = 60


def run(root: Path, *arguments: str) -> bytes:
    """Standard output of `git <arguments>` in `root`.

    Raises:
        GitError: git is not installed, takes more than a minute, or refuses; `stderr` says why.
    """
    command = ["git", "-c", "core.quotepath=off", "-c", "color.ui=never", *arguments]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        raise GitError("git is not installed or not on PATH; install it, or pass the diff itself", command=arguments, stderr="") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took more than {TIMEOUT_S} s; try a smaller range", command=arguments, stderr="") from None
    if done.returncode:
        stderr = done.stderr.decode("utf-8", "replace").strip()
        reason = stderr.splitlines()[-1].removeprefix("fatal: ") if stderr else f"exit code {done.returncode}"
        raise GitError(f"git {arguments[0]} refused: {reason}; check the revision and the directory", command=arguments, stderr=stderr)
    return done.stdout


def diff(root: Path, base: str, head: str | None) -> str:
    """Unified diff, without context, of `base..head`, or of `base` against the working tree when head is None.

    Untracked files are not part of it.

    Raises:
        GitError: a revision is unknown or begins with a dash.
    """
    for revision in (base, head):
        if revision is not None and revision.startswith("-"):
            raise GitError(f"{revision!r} is no revision; name a commit, a branch or a tag", command=("diff",), stderr="")
    revisions = [base] if head is None else [f"{base}..{head}"] if ".." not in base else [base]
    return run(root, "diff", "--no-ext-diff", "--relative", "-U0", "--find-renames", *revisions, "--").decode("utf-8", "replace")


def show(root: Path, revision: str, path: str) -> bytes | None:
    """A file's bytes at a revision, path from `root`; None when it is not there."""
    try:
        return run(root, "show", f"{revision}:./{path}")
    except GitError as error:
        if "does not exist" in error.stderr or "exists on disk" in error.stderr or "not in" in error.stderr:
            return None
        raise
