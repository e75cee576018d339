"""The list of an organisation's projects, which may call each other.

The list is a file in the user's home directory. Each project publishes its contracts (such as HTTP routes) in a file of its index
directory. So the databases of other projects are not opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.contracts import rows
from graphmem.contracts.rows import Published
from graphmem.errors import BadInputError
from graphmem.location import locate, user_data_dir
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process import system
from graphmem.runtime.process.limits import disk_refusal
from graphmem.settings import Settings

LIST: Final = "organisation.json"


class Neighbour(NamedTuple):
    """Another project of the organisation, with its published contracts.

    A contract is, for example, an HTTP route.
    """

    root: Path
    published: Published | None  # None: it has no index, or one of an earlier version


def listed() -> list[Path]:
    """Return the root directories of the organisation's projects.

    They are in the order in which they were added. Without a list, the result is empty.

    Raises:
        BadInputError: the list is damaged.
        DiskFullError: the list cannot be read.
        ResourceError: the process lacks file descriptors or memory.
    """
    file = _file()
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
        return [Path(one) for one in found["projects"]]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk_refusal(error, "reading the list of projects", file) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(
            f"{file}, the list of projects that use each other's interfaces, is damaged "
            f"({type(error).__name__}); move the file to another place, and add the projects again with "
            "`graphmem organisation add`",
            argument="path",
        ) from error


def change(roots: Iterable[Path], *, remove: bool = False) -> list[Path]:
    """Add projects to the organisation's list, or remove them.

    Returns the changed list. Processes that change the list wait for each other.

    Raises:
        BadInputError: the list is damaged.
        DiskFullError: the list cannot be read or written.
        ResourceError: the process lacks file descriptors or memory.
    """
    file, wanted = _file(), list(roots)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.with_name(f"{LIST}.lock").open("a") as lock:
            system.lock(lock.fileno(), wait=True)
            known = listed()
            kept = [one for one in known if one not in wanted] if remove else [*dict.fromkeys([*known, *wanted])]
            replace_file(file, (json.dumps({"projects": [str(one) for one in kept]}, indent=2) + "\n").encode())
            return kept
    except OSError as error:
        raise disk_refusal(error, "writing the list of projects", file) from error


def neighbours(root: Path) -> list[Neighbour]:
    """Return the other projects of the organisation's list.

    The result is empty if the project at `root` is not on the list.

    Raises:
        BadInputError: the list is damaged.
        DiskFullError: the list cannot be read.
        ResourceError: the process lacks file descriptors or memory.
    """
    every = listed()
    if not every or root.resolve() not in every:
        return []
    return [Neighbour(one, rows.read(locate(one, Settings(), os.environ).data_dir)) for one in every if one != root.resolve()]


def names(roots: Sequence[Path]) -> dict[Path, str]:
    """Return a short, unique name for the root directory of each project.

    The name is the shortest end of the path that is unique. For example, `/a/web` and `/b/web` are named `a/web` and `b/web`. `/b/shop` is
    named `shop`.
    """
    found: dict[Path, str] = {}
    for root in roots:
        others = [one for one in roots if one != root]
        found[root] = next(
            ("/".join(root.parts[-n:]) for n in range(1, len(root.parts)) if all(one.parts[-n:] != root.parts[-n:] for one in others)),
            str(root),
        )
    return found


def is_indexed(root: Path) -> bool:
    """Whether a project has published its contracts, such as HTTP routes."""
    return rows.read(locate(root, Settings(), os.environ).data_dir) is not None


def _file() -> Path:
    return _file_in(*(os.environ.get(name, "") for name in ("XDG_DATA_HOME", "HOME", "USERPROFILE")))


@lru_cache(8)
def _file_in(*environment: str) -> Path:  # each impact question asks
    return user_data_dir(os.environ) / "graphmem" / LIST
