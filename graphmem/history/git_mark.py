"""Detect, from Git's files, that a repository's current commit changed.

Running Git instead would start three processes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, TypeAlias

from graphmem.runtime.network.pushes import is_pushed

Mark: TypeAlias = tuple[str, tuple[tuple[int, int, int] | None, ...]]
_COMMON: Final = ("packed-refs", "shallow", "config", "reftable/tables.list")


def mark(root: Path) -> Mark | None:
    """Return a value that changes when a repository's current commit changes.

    The value also changes if a shallow clone gets more history. The value is computed from the states of some of Git's files. Git replaces
    each of these files by a rename, so its inode changes with every write. The result is `("", ())` outside a repository, and None if Git's
    files cannot be read.

    Args:
        root: a folder of a working tree.
    """
    try:
        folder = _git_folder(root)
        if folder is None:
            return "", ()
        head = (folder / "HEAD").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    common = _common(folder)
    reference = head.removeprefix("ref:").strip() if head.startswith("ref:") else ""
    files = [common / name for name in _COMMON]
    files += [place / reference for place in (folder, common) if reference]
    return head, tuple(map(_state, files))


def head(root: Path) -> str:
    """Return the current commit of a working tree; "" if unknown.

    The commit is read from Git's files, without running Git.
    """
    try:
        folder = _git_folder(root)
        said = (folder / "HEAD").read_text(encoding="utf-8").strip() if folder is not None else ""
        if folder is None or not said.startswith("ref:"):
            return said if _COMMIT.fullmatch(said) else ""
        reference = said.removeprefix("ref:").strip()
        common = _common(folder)
        for place in (folder, common):
            if (place / reference).is_file():
                said = (place / reference).read_text(encoding="ascii").strip()
                return said if _COMMIT.fullmatch(said) else ""
        packed = (common / "packed-refs").read_text(encoding="utf-8")
    except (OSError, ValueError):  # nothing is committed yet, or refs use another format
        return ""
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(reference)}$", packed, re.MULTILINE)
    return found[1] if found is not None else ""


_COMMIT: Final = re.compile("[0-9a-f]{40,64}")


def _git_folder(root: Path) -> Path | None:
    """Return the Git folder of a working tree; None without one.

    The result is the nearest `.git` in `root` or in a folder above it. If that `.git` is a file, the result is the folder that the file
    names. A server's copy of a pushed project has no Git folder.

    Raises:
        OSError, UnicodeDecodeError: the `.git` file cannot be read.
    """
    if is_pushed(root):
        return None
    for place in (root, *root.parents):
        there = place / ".git"
        if there.is_dir():
            return there
        try:
            return place / there.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        except FileNotFoundError:
            continue
    return None


def _common(folder: Path) -> Path:
    """Return the Git folder that all working trees of a repository share."""
    try:
        return folder / (folder / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return folder


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
