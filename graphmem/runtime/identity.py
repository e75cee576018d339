"""Compute the id of an index directory, which clients and servers compare.

Hooks load this module at every step of an agent, so it imports almost nothing.
"""

from __future__ import annotations

import os

INDEX_HEADER = "Graphmem-Index"  # names the index: of a request the one it is meant for, of an answer the one it came from


def index_id(folder: str | os.PathLike[str]) -> str:
    """Return the id of an index directory: its device and inode as a string.

    The id is "" if the directory is missing. If the directory is moved, the id stays the same; a copy has a different id.
    """
    try:
        found = os.stat(folder)  # noqa: PTH116 -- hooks do without pathlib
    except OSError:
        return ""
    return f"{found.st_dev:x}-{found.st_ino:x}"
