"""Frames of a traceback: places in code that a query gives by file and line, and the functions they lie in."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from graphmem.projection.graph import GraphView
from graphmem.search.units import is_class, is_function

MOST: Final = 100  # frames that are looked at, from both ends
_FILES: Final = 3  # that a path may mean: a frame in one of many files says nothing
_LIBRARIES: Final = frozenset({"site-packages", "dist-packages", "node_modules"})
_LIBRARY: Final = re.compile(r"python\d(\.\d+)?")  # folder of what comes with Python
_PYTHON: Final = r'File "(?P<quoted>[^"\n]+)", line (?P<said>\d{1,9})(?!\d)(?:, in (?P<within>[\w.<>]+))?'
# at Server.start (src/server.ts:12:5), at shop.Cart.add(Cart.java:12), in Cart.cs:line 12, cart.php(12), main.go:12
_OTHER: Final = (
    r"(?:\bat (?:async |new )?(?P<called>[\w.$<>]+) ?\()?"
    r"(?<![\w@./\\+-])(?P<path>(?:[A-Za-z]:|file://)?[\w@./\\+-]*\w\.[A-Za-z]\w{0,4})(?::line |:|\()(?P<line>\d{1,9})(?!\d)"
)
_FRAME: Final = re.compile(f"{_PYTHON}|{_OTHER}")


class Frame(NamedTuple):
    """One place."""

    path: str  # as it stands, with "/" between its parts
    line: int
    name: str  # of the function, its last part; "" where it is not told


def frames(query: str) -> list[Frame]:
    """Places that a query gives by file and line, in its order; of more than `MOST` the first and the last."""
    found = []
    for match in _FRAME.finditer(query):
        path = match["quoted"] or match["path"]
        name = (match["within"] or match["called"] or "").rpartition(".")[2]
        found.append(Frame(path.replace("\\", "/"), int(match["said"] or match["line"]), name if name.isidentifier() else ""))
    return found if len(found) <= MOST else found[: MOST // 2] + found[-MOST // 2 :]


def framed(view: GraphView, query: str) -> set[int]:
    """Functions and classes in which these places lie.

    The function a frame names comes before its line, for what ran may be older than what is indexed; of several with that name the one
    around the line, else the nearest.
    """
    files: dict[str, tuple[list[str], bool]] = {}
    found = set()
    for frame in frames(query):
        if frame.path not in files:
            files[frame.path] = _files(view, frame.path)
        paths, sure = files[frame.path]
        found |= {_around(view, path, frame, sure) for path in paths}
    return found - {-1}


def _files(view: GraphView, path: str) -> tuple[list[str], bool]:
    """Files that a path means, whose beginning may be of another machine, and whether more than their name says so; none of many.

    What lies in a library is a file of the project only where the library is the project.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    library = max((at for at, part in enumerate(parts[:-1]) if part in _LIBRARIES or _LIBRARY.fullmatch(part)), default=-1)
    own = parts[library + 1 :]
    paths, same = view.file_names.ending(own)
    whole = same == len(own)
    if len(paths) > _FILES or (library >= 0 and not whole):
        return [], False
    return paths, whole or same > 1


def _around(view: GraphView, path: str, frame: Frame, sure: bool) -> int:
    """The definition in a file that a frame means.

    -1 for none: code outside all of them, or a function that is not there in a file of which only the name is the same.
    """
    inside: list[int] = [node for node in view.by_path(path).tolist() if is_function(view, node) or is_class(view, node)]
    named = [node for node in inside if frame.name and view.name(node) == frame.name]
    if named:
        return min(named, key=lambda node: (_distance(view, node, frame.line), node))
    if not sure:
        return -1
    return next((node for node in reversed(inside) if not _distance(view, node, frame.line)), -1)  # enclosing ones stand first


def _distance(view: GraphView, node: int, line: int) -> int:
    """Lines between a definition and a line; 0 inside."""
    return max(int(view.start_line[node]) - line, line - int(view.end_line[node]), 0)
