"""Decide which files must not be quoted in memories.

A file is kept out for one of three reasons: Git ignores the file, `.secretsignore` names it, or its name begins with `.env`.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final

from graphmem.parsing.ignore import GIT_IGNORE, IgnoreRules
from graphmem.runtime.texts.lines import lines_of

SECRETS_IGNORE: Final = ".secretsignore"  # in the format of .gitignore, in any folder
_ENVIRONMENT: Final = ".env"
_MAX_BYTES: Final = 1 << 20  # of an ignore file


def kept_out(root: Path | None, path: str) -> str:
    """Return why a file's content must not enter memories; "" if it may.

    The reason is the end of a sentence, such as `.gitignore names it`.

    Args:
        root: root of the project. If it is None, only the file's name is checked.
        path: absolute path, or path relative to the root. For a file outside the project, only the name is checked.
    """
    name = PurePosixPath(path.replace("\\", "/")).name
    if name.casefold().startswith(_ENVIRONMENT):
        return f"its name begins with {_ENVIRONMENT}"
    if root is None or not name:
        return ""
    try:
        inside = (root / path).resolve().relative_to(root.resolve()).as_posix()
    except (ValueError, OSError):
        return ""
    folders = [parent.as_posix().removeprefix(".") for parent in reversed(PurePosixPath(inside).parents)]
    for file in (SECRETS_IGNORE, GIT_IGNORE):
        rules = IgnoreRules()
        for folder in folders:
            rules.add(folder, _lines(root / folder / file))
        if rules.decide_below(inside):
            return f"{file} names it"
    return ""


def _lines(file: Path) -> list[str]:
    """Return the lines of an ignore file; empty if it is not a file."""
    try:
        if not file.is_file():
            return []
        with file.open("rb") as content:
            return lines_of(content.read(_MAX_BYTES).decode("utf-8", "replace"))
    except OSError:
        return []
