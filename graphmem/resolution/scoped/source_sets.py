"""Find the build module of a file, and whether the file is main code.

Both are found from the names of folders that Gradle and similar build tools use.
"""

from __future__ import annotations

from typing import Final

SOURCES: Final = "src"
"""Folder of a build module that contains its source sets."""


def module_of(path: str) -> str:
    """Return the folder of the build module that contains a file."""
    folders = path.split("/")
    return "/".join(folders[: folders.index(SOURCES)]) if SOURCES in folders else ""


def is_main(path: str) -> bool:
    """Whether a file, by its folder, contains main code and not test code."""
    below = path.split(f"{SOURCES}/")[1:]
    return bool(below) and (below[0].startswith("main/") or below[0].partition("/")[0].endswith("Main"))
