"""Identity of an index, which clients and servers compare.

Hooks load this module at every step of an agent, so it imports almost nothing.
"""

from __future__ import annotations

import os

INDEX_HEADER = "Graphmem-Index"  # names the index: of a request the one it is meant for, of an answer the one it came from


def index_id(folder: str | os.PathLike[str]) -> str:
    """Device and inode of an index's folder; "" if the folder is missing.

    A move keeps them, a copy does not.
    """
    try:
        found = os.stat(folder)  # noqa: PTH116 -- hooks do without pathlib
    except OSError:
        return ""
    return f"{found.st_dev:x}-{found.st_ino:x}"
