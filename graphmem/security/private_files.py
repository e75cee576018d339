"""Files whose words stay out of memories: what git ignores, what `.secretsignore` names, and `.env` with whatever follows it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final

from graphmem.parsing.ignore import GIT_IGNORE, IgnoreRules

SECRETS_IGNORE: Final = ".secretsignore"  # in gitignore's language, anywhere in the tree
_ENVIRONMENT: Final = ".env"
_MAX_BYTES: Final = 1 << 20  # of an ignore file


def kept_out(root: Path | None, path: str) -> str:
    """Which rule keeps a file's words out of memories, as the end of a sentence; "" when none does.

    Args:
        root: of the project; None when it is not known, and then only the name counts.
        path: absolute, or from the root. What lies outside of the project is judged by its name alone.
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
    """Of an ignore file; none when it is not there or no plain file."""
    try:
        if not file.is_file():
            return []
        with file.open("rb") as content:
            return content.read(_MAX_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
