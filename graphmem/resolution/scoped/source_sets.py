"""Folders of a build such as Gradle: its modules, and their main code."""

from __future__ import annotations

from typing import Final

SOURCES: Final = "src"
"""Folder of a build module that contains its source sets."""


def module_of(path: str) -> str:
    """Return the folder of the build module that contains a file."""
    folders = path.split("/")
    return "/".join(folders[: folders.index(SOURCES)]) if SOURCES in folders else ""


def is_main(path: str) -> bool:
    """Whether a file is main code, and not code of tests, by its folder."""
    below = path.split(f"{SOURCES}/")[1:]
    return bool(below) and (below[0].startswith("main/") or below[0].partition("/")[0].endswith("Main"))
