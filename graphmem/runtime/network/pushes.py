"""Addresses and limits of `graphmem push`, for client and server."""

from __future__ import annotations

import os.path
import re
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote

from graphmem.errors import BadInputError

PUSH_PATH: Final = "/push"
COMMITS_PATH: Final = "/commits"  # below PUSH_PATH
BRANCH_HEADER: Final = "Graphmem-Branch"  # of a request to a project: one of its branches, instead of in the address
KEY_HEADER: Final = "Graphmem-Key"  # of a push: the project's key in the team's database
FORMAT: Final = 1
PART_BYTES: Final = 4 << 20  # of JSON in one part, before compression
MOST_PART: Final = 256 << 20  # bytes of one part after decompression; a single file may be large
MOST_PARTS: Final = 10_000  # of one push
MOST_PUSH: Final = 4 << 30  # bytes of all parts of one push after decompression: about 5 for each byte of source
MOST_KEPT: Final = 4 << 30  # bytes of the parts of all unfinished pushes of one project, before decompression
BODY_BYTES: Final = 64 << 20  # of one request
PROJECT_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
PUSHED_FILE: Final = ".graphmem/pushed.json"  # below the directory of a project on a server: facts about the newest push
BRANCH_MARK: Final = "@"  # in the address of a branch, after the project's name: /p/shop@feature~x
_SLASH: Final = "~"  # instead of a slash in that address; Git allows no such character in a branch's name
_BRANCH: Final = re.compile(r"(?!.*(?:\.\.|//|@\{))[^\x00-\x20\x7f~^:?*\[\\/.-][^\x00-\x20\x7f~^:?*\[\\]{0,199}(?<![/.])")
_CLOSED: Final = frozenset({"..", ".", "", ".git", ".graphmem"})


def is_pushed(root: Path) -> bool:
    """Whether a directory is a server's copy of a pushed project.

    Users send the project with `graphmem push`, without a Git repository. So Git must not be used in such a directory. A repository that
    contains the directory belongs to another project.
    """
    return os.path.isfile(root / PUSHED_FILE)  # noqa: PTH113 -- no error in a closed directory


def is_inside(path: str) -> bool:
    """Whether a path in an index is relative and stays inside its project.

    The check is needed because the paths of a push come from another machine, and the server writes files to these paths.
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


def is_branch(name: str) -> bool:
    """Whether a string can be the name of a branch, in Git and in graphmem."""
    return bool(_BRANCH.fullmatch(name)) and name != BRANCH_MARK


def address_of(project: str, branch: str) -> str:
    """Return the part of an address that names a project, or a branch of it.

    If `branch` is "", the result is `project`. The result can be used in a path, in a URL and as the name of a directory.
    """
    return f"{project}{BRANCH_MARK}{quote(branch.replace('/', _SLASH), safe=_SLASH)}" if branch else project


def project_and_branch(part: str) -> tuple[str, str]:
    """Return (project, branch) of a decoded part of an address.

    The function reverses `address_of`. The branch is "" if the part names only a project.
    """
    project, _, branch = part.partition(BRANCH_MARK)
    return project, branch.replace(_SLASH, "/")


def no_branches(argument: str = "branch") -> BadInputError:
    """Return the error for a branch name sent to a server without branches.

    A server of a single project keeps no branches. `argument` is the name of the argument that names the branch.
    """
    return BadInputError(
        "this server keeps no branches; ask a project of a server of several projects (`graphmem serve --projects`), or omit the branch",
        argument=argument,
    )
