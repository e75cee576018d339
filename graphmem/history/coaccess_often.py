"""Find files to read before work on some files or folders.

A file is found if more than half of the earlier changes to the given files or folders also touched it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.history.co_edits import History

LEAST_CHANGES: Final = 3  # of a place; with fewer the answer is empty
LEAST_SHARE: Final = 0.5  # of its changes


class Often(NamedTuple):
    """A file that often changes together with given files or folders.

    More than half of the changes to the given files and folders also touched the file.
    """

    path: str
    share: float  # of those changes, in (LEAST_SHARE, 1]
    touched: int  # changes of them that touched it
    changes: int  # of the places


def often_with(history: History, places: Sequence[str]) -> list[Often]:
    """Return files that more than half of the changes to `places` touched.

    A place is a file or a folder. With fewer than `LEAST_CHANGES` changes, the result is empty. Only existing files are returned, the
    most frequent first, ties by path. Sessions and commits have equal weight. Changes that are too large to relate two files are ignored.

    Args:
        history: the changes.
        places: files or folders, from the root; a change that touches several of them is counted once.
    """
    nodes = {number for place in places for number in _within(history, place)}
    changes = {change for node in nodes for change in history.nodes[node].changes}
    if len(changes) < LEAST_CHANGES:
        return []
    touched: dict[int, int] = {}
    for change in changes:
        for node in history.groups[change]:
            touched[node] = touched.get(node, 0) + 1
    often = [
        Often(history.nodes[node].path, count / len(changes), count, len(changes))
        for node, count in touched.items()
        if count > LEAST_SHARE * len(changes) and history.nodes[node].alive
    ]
    return sorted(often, key=lambda one: (-one.share, one.path))


def _within(history: History, place: str) -> list[int]:
    """Return the number of a file, or the numbers of all files in a folder.

    `place` must be the current path of the file or folder.
    """
    known = history.known(place)
    if known is not None:
        return [known]
    inside = place.rstrip("/") + "/"
    return [number for path, number in history.by_path.items() if path.startswith(inside)]
