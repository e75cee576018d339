"""The name of an index, by which clients and servers know that they mean the same one.

Hooks load this at every step of an agent, so it imports next to nothing.
"""

from __future__ import annotations

import os

INDEX_HEADER = "Graphmem-Index"  # names the index: of a request the one it is meant for, of an answer the one it came from


def index_id(folder: str | os.PathLike[str]) -> str:
    """Device and inode of an index's folder, which a move keeps and a copy does not; "" where there is none."""
    try:
        found = os.stat(folder)  # noqa: PTH116 -- hooks do without pathlib
    except OSError:
        return ""
    return f"{found.st_dev:x}-{found.st_ino:x}"
