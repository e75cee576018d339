"""Frames of a traceback: places in code that a query gives by file and line, and the functions they lie in."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from graphmem.projection.graph import GraphView
from graphmem.search.units import is_class, is_function

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


class Definition(NamedTuple):
    """A function or class, and its lines."""

    node: int
    name: str
    start: int
    end: int


class Frame(NamedTuple):
    """One place."""

    path: str  # as it stands, with "/" between its parts
    line: int
    name: str  # of the function, its last part; "" where it is not told


def frames(query: str) -> list[Frame]:
    """Places that a query gives by file and line, in its order, each once: a recursion is a thousand times the same."""
    found: dict[Frame, None] = {}
    for match in _FRAME.finditer(query):
        path = match["quoted"] or match["path"]
        name = (match["within"] or match["called"] or "").rpartition(".")[2]
        found[Frame(path.replace("\\", "/"), int(match["said"] or match["line"]), name if name.isidentifier() else "")] = None
    return list(found)


def framed(view: GraphView, query: str) -> set[int]:
    """Functions and classes in which these places lie.

    The function a frame names comes before its line, for what ran may be older than what is indexed; of several with that name the one
    around the line, else the nearest.
    """
    meant: dict[str, tuple[list[list[Definition]], bool]] = {}
    found = set()
    for frame in frames(query):
        if frame.path not in meant:
            paths, sure = _files(view, frame.path)
            meant[frame.path] = [_definitions(view, path) for path in paths], sure
        files, sure = meant[frame.path]
        found |= {_around(file, frame, sure) for file in files}
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


def _definitions(view: GraphView, path: str) -> list[Definition]:
    """Functions and classes of a file, those around others before them."""
    return [
        Definition(node, view.name(node), int(view.start_line[node]), int(view.end_line[node]))
        for node in view.by_path(path).tolist()
        if is_function(view, node) or is_class(view, node)
    ]


def _around(file: list[Definition], frame: Frame, sure: bool) -> int:
    """The definition in a file that a frame means.

    -1 for none: code outside all of them, or a function that is not there in a file of which only the name is the same.
    """
    named = [one for one in file if one.name == frame.name] if frame.name else []
    if named:
        return min(named, key=lambda one: (max(one.start - frame.line, frame.line - one.end, 0), one.node)).node
    if not sure:
        return -1
    return next((one.node for one in reversed(file) if one.start <= frame.line <= one.end), -1)
