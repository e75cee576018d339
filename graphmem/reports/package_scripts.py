"""Read the scripts of a `package.json` that run tests."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from graphmem.reports.launchers import LAUNCHERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmem.reports.launchers import Project

_DENO: Final = re.compile(r"(?P<set>(?:[A-Z_]+=[\w.:/-]+ )*)deno test\b(?P<options>(?: -[\w.,:/=@-]+)*)\Z")
"""A script that runs Deno alone. Its words need no quotes in a shell."""
_BUN: Final = re.compile(r"\bbun test\b([^\"&;|]*)")


def test_script(project: Project, path: str) -> tuple[str, str]:
    """Return (directory, command) of the nearest script `test`, or two "".

    The script is in the `package.json` of the directory.
    """
    for folder in PurePosixPath(path).parents:
        base = "" if str(folder) == "." else str(folder)
        if found := _scripts(project, base).get("test"):
            return base, found.strip()
    return "", ""


def _scripts(project: Project, base: str) -> Mapping[str, str]:
    """Map names of scripts to the scripts in a directory's `package.json`.

    The result is empty if the directory `base` has no such file.
    """
    text = project.text(f"{base}/{LAUNCHERS.node_manifest}" if base else LAUNCHERS.node_manifest)
    return _scripts_in(text) if text else {}


@lru_cache(maxsize=256)
def _scripts_in(text: str) -> Mapping[str, str]:
    """Map names of scripts to the scripts in `text`, a `package.json`.

    The result is empty if the text is invalid.
    """
    try:
        manifest = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    scripts = manifest.get("scripts") if isinstance(manifest, dict) else None
    return {name: one for name, one in scripts.items() if isinstance(one, str)} if isinstance(scripts, dict) else {}


def deno_script(project: Project, path: str) -> re.Match[str] | None:
    """Match the nearest script `test` with a call of `deno test`.

    The match has two groups: `set` (variables such as `CI=1`, before the call) and `options` (after the call). The result is None if the
    script is missing or does not call Deno alone.
    """
    return _DENO.match(test_script(project, path)[1])


def is_run_by_bun(project: Project, path: str) -> bool:
    """Whether a `bun test` script runs a file.

    It is the script `test` of the nearest `package.json` that has one, or a script at the root that names the file's directory.
    """
    _, own = test_script(project, path)
    if _BUN.fullmatch(own) and "/" not in own:
        return True
    runs = [options for script in _scripts(project, "").values() for options in _BUN.findall(script)]
    named = [word.removeprefix("./").rstrip("*") for options in runs for word in options.split() if "/" in word]
    return any(folder and path.startswith(folder) for folder in named if not folder.startswith(("-", "../")))
