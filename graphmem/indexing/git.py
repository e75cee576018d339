"""Run Git to read revisions and working trees."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from graphmem.errors import GitError
from graphmem.runtime import git as _git
from graphmem.runtime.files.inside import inside

MERGE_BASE: Final = "..."  # between two revisions
_UNRESOLVED: Final = "Needed a single revision"  # in git's message about an unknown commit
_SUBMODULE: Final = b"160000 "  # mode of a submodule in a list of git


def run(root: Path, *arguments: str, index: Path | None = None) -> bytes:
    """Run `git <arguments>` in `root` and return its standard output.

    With `index`, Git uses this file in place of the repository's index file.

    Raises:
        GitError: Git is not installed, takes more than a minute, or fails; `stderr` has its message.
    """
    variables = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    return _git.run(root, *arguments, variables=variables)


def diff(root: Path, base: str, head: str | None) -> str:
    """Return the unified diff of `base..head`, without context lines.

    Without `head`, the working tree is compared. Untracked files are left out.

    Raises:
        GitError: a revision is unknown.
    """
    revisions = [revision(root, one) for one in (base, head) if one is not None]
    # Of a submodule only the commit is compared: git would read its files with the filters of the submodule's own configuration.
    safe = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/")
    return run(root, "diff", *safe, "--relative", "-U0", "--find-renames", *revisions, "--").decode("utf-8", "surrogateescape")


def submodules(root: Path, name: str) -> dict[str, str]:
    """Map each submodule below `root` to its commit at a revision.

    Keys are paths relative to `root`. Submodules of submodules are left out.

    Raises:
        GitError: the revision is unknown.
    """
    listed = run(root, "ls-tree", "-r", "-z", revision(root, name))
    entries = [one.decode("utf-8", "surrogateescape").split("\t", 1) for one in listed.split(b"\0") if one.startswith(_SUBMODULE)]
    return {path: entry.split()[2] for entry, path in entries}


def with_commit(root: Path, submodule: str, commit: str) -> Path | None:
    """Return the directory of a checked-out submodule that has a commit.

    The result is None for any other submodule. `submodule` is its path relative to `root`.
    """
    found = inside(root, submodule)
    if found is None or not (found / ".git").exists():
        return None
    return found if _git.answer(found, ("cat-file", "-e", f"{commit}^{{commit}}")).returncode == 0 else None


def untracked(root: Path) -> list[str]:
    """Return the files below `root` that git neither tracks nor ignores.

    Paths are relative to `root`, and sorted.

    Raises:
        GitError: `root` is in no repository.
    """
    listed = run(root, "ls-files", "-z", "--others", "--exclude-standard").decode("utf-8", "surrogateescape")
    return sorted(listed.split("\0")[:-1])


def show(root: Path, revision: str, path: str) -> bytes | None:
    """Return the bytes of a file at a revision, or None if it is missing.

    `path` is relative to `root`.

    Raises:
        GitError: the revision is unknown, the file cannot be read, or `root` is in no repository.
    """
    try:
        return run(root, "show", "--no-textconv", f"{revision}:./{path}")
    except GitError:
        # The words of Git's message depend on its version, so Git is asked for the entry of the path.
        if run(root, "ls-tree", "--name-only", "-z", revision, "--", path):
            raise
        return None


def revision(root: Path, name: str) -> str:
    """Return the full commit id of a revision.

    `A...B` means the merge base of A and B: the last commit that both contain. An omitted A or B is HEAD.

    Raises:
        GitError: the revision is unknown, or the two revisions have no merge base.
    """
    if MERGE_BASE in name:
        return _merge_base(root, *(one or "HEAD" for one in name.split(MERGE_BASE, 1)))
    unknown = f"unknown revision {name!r}; use a commit, branch or tag"
    if name.startswith("-"):
        raise GitError(unknown, command=("rev-parse",), stderr="")
    try:
        return run(root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except GitError as error:
        if _UNRESOLVED not in error.facts["stderr"]:
            raise
        if run(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
            unknown += ", or fetch the older commits that this shallow clone lacks with `git fetch --unshallow`"
        raise GitError(unknown, command=("rev-parse",), stderr=error.facts["stderr"]) from None


def _merge_base(root: Path, one: str, other: str) -> str:
    """Return the full id of the last commit that both revisions contain."""
    arguments = ("merge-base", revision(root, one), revision(root, other))
    found = _git.answer(root, arguments)
    if found.returncode == 1:  # git prints nothing then
        shallow = run(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
        advice = "fetch older commits with `git fetch --unshallow`" if shallow else f"compare with {one} itself: {one}..{other}"
        raise GitError(f"{one} and {other} have no commit in common; {advice}", command=arguments, stderr="")
    return run(root, *arguments).decode().strip()


def unpack(root: Path, name: str, into: Path) -> None:
    """Write the files of a revision below `root` into an empty folder.

    The repository and its index do not change. `git archive` is not used, because it leaves out files that a project excludes from
    archives, such as tests. Externally stored contents of large files are not fetched. The files of a submodule are written if it is
    checked out and has the commit.

    Raises:
        GitError: the revision is unknown, or has no files below `root`.
    """
    commit = revision(root, name)
    for submodule, there in submodules(root, commit).items():
        if (source := with_commit(root, submodule, there)) is not None:
            (into / submodule).mkdir(parents=True)
            unpack(source, there, into / submodule)
    prefix = run(root, "rev-parse", "--show-prefix").decode().strip()
    with tempfile.TemporaryDirectory(prefix="graphmem-index-") as folder:
        index = Path(folder, "index")
        run(root, "read-tree", f"{commit}:{prefix}", index=index)
        top = Path(run(root, "rev-parse", "--show-toplevel").decode().strip())
        run(top, "checkout-index", "--all", "--quiet", f"--prefix={into}/", index=index)
