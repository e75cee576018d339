"""Read the scripts of a `package.json` that run tests."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from graphmem.reports.launchers import LAUNCHERS

if TYPE_CHECKING:
    from graphmem.reports.launchers import Project

_DENO: Final = re.compile(r"(?P<set>(?:[A-Z_]+=[\w.:/-]+ )*)deno test\b(?P<options>(?: -[\w.,:/=@-]+)*)\Z")
"""A script that runs Deno alone. Its words need no quotes in a shell."""
_BUN: Final = re.compile(r"\bbun test\b([^\"&;|]*)")
_TEST: Final = re.compile(r'"test"\s*:\s*"([^"]*)"')


def test_script(project: Project, path: str) -> tuple[str, str]:
    """Return (directory, command) of the nearest script `test`, or two "".

    The script is in the `package.json` of the directory.
    """
    for folder in PurePosixPath(path).parents:
        base = "" if str(folder) == "." else str(folder)
        if found := _TEST.search(project.text(f"{base}/{LAUNCHERS.node_manifest}" if base else LAUNCHERS.node_manifest) or ""):
            return base, found[1].strip()
    return "", ""


def deno_script(project: Project, path: str) -> re.Match[str] | None:
    """Return the parts of the nearest script `test`, or None without Deno."""
    return _DENO.match(test_script(project, path)[1])


def is_run_by_bun(project: Project, path: str) -> bool:
    """Whether a `bun test` script runs a file.

    It is the script `test` of the nearest `package.json` that has one, or a script at the root that names the file's directory.
    """
    _, own = test_script(project, path)
    if _BUN.fullmatch(own) and "/" not in own:
        return True
    scripts = _BUN.findall(project.text(LAUNCHERS.node_manifest) or "")
    named = [word.removeprefix("./").rstrip("*") for script in scripts for word in script.split() if "/" in word]
    return any(folder and path.startswith(folder) for folder in named if not folder.startswith(("-", "../")))
