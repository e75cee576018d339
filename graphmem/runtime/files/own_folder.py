"""The `.gitignore` that graphmem writes into the directory of an index.

Git then ignores all files of the directory except those that people wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

FOR_PEOPLE: Final = ("rules", "architecture.toml", "architecture-baseline.txt", "map.json")  # people write and may commit them
IGNORE: Final = "*\n" + "".join(f"!{name}\n" for name in (*FOR_PEOPLE, "rules/**"))
_BEFORE: Final = (
    "*\n",
    "*\n!rules/\n!rules/**\n",
    "*\n!rules\n!architecture.toml\n!architecture-baseline.txt\n!rules/**\n",
)  # written by earlier versions


def hide_from_git(folder: Path) -> None:
    """Write the `.gitignore` of an index directory, unless a person wrote one.

    Raises:
        OSError: the file cannot be read or written.
    """
    if not (folder / ".gitignore").exists() or (is_hidden(folder) and _text(folder) != IGNORE):
        (folder / ".gitignore").write_text(IGNORE, encoding="utf-8")


def is_hidden(folder: Path) -> bool:
    """Whether the `.gitignore` of a directory is one that graphmem wrote."""
    return _text(folder) in (IGNORE, *_BEFORE)


def _text(folder: Path) -> str:
    ignore = folder / ".gitignore"
    return ignore.read_text(encoding="utf-8", errors="replace") if ignore.is_file() else ""
