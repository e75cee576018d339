"""Start the server of a project for a hook that found none.

A hook runs `python -m graphmem.server.waking DIRECTORY` and does not wait for it. Without an index, nothing is started.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from graphmem.errors import GraphMemError
from graphmem.location import Location, find_project, locate
from graphmem.runtime.worktree import first_index
from graphmem.server.starting import find_or_start
from graphmem.settings import load_settings


def has_index(location: Location) -> bool:
    """Whether a project has an index, or is a worktree that can share one."""
    first = first_index(location.data_dir)
    return location.exists or (first is not None and Location(first, None).exists)


def wake(folder: Path) -> bool:
    """Start the server of a project's index; return whether there is an index.

    Args:
        folder: any directory of the project.

    Raises:
        BadInputError, OwnerUnreachableError: see `find_or_start`.
        SettingsError: the project's settings are invalid.
    """
    root = find_project(folder)
    location = locate(root, load_settings(root, os.environ, {}), os.environ)
    if not has_index(location):
        return False
    find_or_start(location)
    return True


if __name__ == "__main__":
    try:
        wake(Path(sys.argv[1]))
    except GraphMemError as error:
        raise SystemExit(f"graphmem: {error.message}") from None
