"""The list of an organisation's projects, whose contracts are linked.

The list is a file of the user. Each project publishes its contracts in its index directory, so that no other index is opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.contracts import rows
from graphmem.contracts.rows import Published
from graphmem.settings import Settings, locate, user_data_dir

LIST: Final = "organisation.json"


class Neighbour(NamedTuple):
    """Another project of the organisation."""

    root: Path
    published: Published | None  # None: it has no index, or one of an earlier version


def listed() -> list[Path]:
    """Return the roots of the projects, in the order of addition."""
    try:
        found: Any = json.loads(_file().read_text(encoding="utf-8"))
        return [Path(one) for one in found["projects"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def keep(roots: Sequence[Path]) -> None:
    """Replace the list of the organisation's projects.

    Raises:
        OSError: the disk refuses.
    """
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    rows.replace(file, json.dumps({"projects": [str(one) for one in dict.fromkeys(roots)]}, indent=2) + "\n")


def neighbours(root: Path) -> list[Neighbour]:
    """Return the other projects; none if `root` is not on the list."""
    every = listed()
    root = root.resolve()
    if root not in every:
        return []
    return [Neighbour(one, rows.read(locate(one, Settings(), os.environ).data_dir)) for one in every if one != root]


def is_indexed(root: Path) -> bool:
    """Whether a project has published its contracts."""
    return rows.read(locate(root, Settings(), os.environ).data_dir) is not None


def _file() -> Path:
    return user_data_dir(os.environ) / "graphmem" / LIST
