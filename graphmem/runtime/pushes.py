"""Addresses and limits of `graphmem push`, for client and server."""

from __future__ import annotations

import os.path
import re
from pathlib import Path, PurePosixPath
from typing import Final

PUSH_PATH: Final = "/push"
COMMITS_PATH: Final = "/commits"  # below PUSH_PATH
KEY_HEADER: Final = "Graphmem-Key"  # of a push: the project's key in the team's database
FORMAT: Final = 1
PART_BYTES: Final = 4 << 20  # of JSON in one part, before compression
MOST_PART: Final = 256 << 20  # bytes of one part after decompression; a single file may be large
BODY_BYTES: Final = 64 << 20  # of one request
PROJECT_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
PUSHED_FILE: Final = ".graphmem/pushed.json"  # below the directory of a project on a server: facts about the newest push
_CLOSED: Final = frozenset({"..", ".", "", ".git", ".graphmem"})


def is_pushed(root: Path) -> bool:
    """Whether a directory is a project on a server that pushes have filled.

    Such a project has no Git repository. A repository that contains the server's directory belongs to another project.
    """
    return os.path.isfile(root / PUSHED_FILE)  # noqa: PTH113 -- no error in a closed directory


def is_inside(path: str) -> bool:
    """Whether a path of an index stays inside its project.

    Paths of a push come from another machine, and the server writes files to these paths.
    """
    return (
        bool(path)
        and len(path) <= 4_096
        and "\0" not in path
        and "\\" not in path
        and not path.startswith("/")
        and not _CLOSED.intersection(path.split("/"))
        and str(PurePosixPath(path)) == path
    )
