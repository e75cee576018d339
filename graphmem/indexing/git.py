"""The few questions asked of git about revisions and working trees; of a tree, without the filters it configures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from graphmem.errors import GitError
from graphmem.runtime import git as _git

_OF_FILTERS: Final = {"clean": "", "smudge": "", "process": "", "required": "false"}
_READS_FILES: Final = frozenset({"diff", "checkout-index"})  # these put contents through filters, which are programs


def run(root: Path, *arguments: str, index: Path | None = None) -> bytes:
    """Standard output of `git <arguments>` in `root`; with `index` as the file of its index, instead of the repository's own.

    Raises:
        GitError: git is not installed, takes more than a minute, or refuses; `stderr` says why.
    """
    variables = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    if arguments[0] in _READS_FILES:
        filters = _git.answer(root, ("config", "-z", "--name-only", "--get-regexp", r"^filter\."), variables).stdout
        variables |= _without_filters(filters)
    return _git.run(root, *arguments, variables=variables)


def _without_filters(configured: bytes) -> dict[str, str]:
    """Variables that switch off every filter some configuration has; not `-c`, which a name with an equals sign would get past."""
    names = sorted({key.rpartition(".")[0] for key in os.fsdecode(configured).split("\0") if key})
    settings = [(f"{name}.{key}", value) for name in names for key, value in _OF_FILTERS.items()]
    pairs = {f"GIT_CONFIG_{part}_{at}": text for at, one in enumerate(settings) for part, text in zip(("KEY", "VALUE"), one, strict=True)}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **pairs}


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
    # Of a submodule the commit is compared alone: its files would be by its own configuration.
    safe = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short")
    return run(root, "diff", *safe, "--relative", "-U0", "--find-renames", *revisions, "--").decode("utf-8", "replace")


def show(root: Path, revision: str, path: str) -> bytes | None:
    """A file's bytes at a revision, path from `root`; None when it is not there."""
    try:
        return run(root, "show", "--no-textconv", f"{revision}:./{path}")
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
        top = Path(run(root, "rev-parse", "--show-toplevel").decode().strip())
        run(top, "checkout-index", "--all", "--quiet", f"--prefix={into}/", index=index)
    finally:
        index.unlink(missing_ok=True)
