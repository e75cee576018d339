"""The few questions asked of git, each one subprocess without a shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from graphmem.errors import GitError

TIMEOUT_S = 60


def run(root: Path, *arguments: str, index: Path | None = None) -> bytes:
    """Standard output of `git <arguments>` in `root`; with `index` as the file of its index, instead of the repository's own.

    Raises:
        GitError: git is not installed, takes more than a minute, or refuses; `stderr` says why.
    """
    command = ["git", "-c", "core.quotepath=off", "-c", "color.ui=never", *arguments]
    env = None if index is None else {**os.environ, "GIT_INDEX_FILE": str(index)}
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False, env=env)
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


def revision(root: Path, name: str) -> str:
    """The full id of the commit a revision means.

    Raises:
        GitError: there is none of that name.
    """
    if name.startswith("-"):
        raise GitError(f"{name!r} is no revision; name a commit, a branch or a tag", command=("rev-parse",), stderr="")
    return run(root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()


def unpack(root: Path, name: str, into: Path) -> None:
    """Write the files of a revision, those below `root` alone, into an empty folder; the repository and its index stay as they are.

    Not by `git archive`, which leaves out what a project does not ship, such as its tests. Contents of large files that are kept
    elsewhere are not fetched.

    Raises:
        GitError: there is no such revision, or it has nothing at this place.
    """
    commit = revision(root, name)
    prefix = run(root, "rev-parse", "--show-prefix").decode().strip()
    index = into.parent / f"{into.name}.index"
    try:
        run(root, "read-tree", f"{commit}:{prefix}", index=index)
        here = ("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false")
        top = Path(run(root, "rev-parse", "--show-toplevel").decode().strip())
        run(top, *here, "checkout-index", "--all", "--quiet", f"--prefix={into}/", index=index)
    finally:
        index.unlink(missing_ok=True)
