"""Find stack frames (file, line, function) in a query, as in tracebacks.

Each frame resolves to the function that contains the frame's line.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from graphmem.projection.graph.view import GraphView
from graphmem.runtime.data.conventions import all_conventions
from graphmem.search.units.facts import is_class, is_function

_FILES: Final = 3  # maximum files that a path may match; with more, a frame identifies none
_LIBRARY: Final = re.compile(r"python\d(\.\d+)?")  # directory of Python's standard library and packages
_PYTHON: Final = r'File "(?P<quoted>[^"\n]+)", line (?P<said>\d{1,9})(?!\d)(?:, in (?P<within>[\w.<>]+))?'
# at Server.start (src/server.ts:12:5), at shop.Cart.add(Cart.java:12), in Cart.cs:line 12, cart.php(12), main.go:12
_OTHER: Final = (
    r"(?:\bat (?:async |new )?(?P<called>[\w.$<>]+) ?\()?"
    r"(?<![\w@./\\+-])(?P<path>(?:[A-Za-z]:|file://)?[\w@./\\+-]*\w\.[A-Za-z]\w{0,4})(?::line |:|\()(?P<line>\d{1,9})(?!\d)"
)
_FRAME: Final = re.compile(f"{_PYTHON}|{_OTHER}")


class Definition(NamedTuple):
    """A function or class with its range of lines."""

    node: int
    name: str
    start: int
    end: int


class Frame(NamedTuple):
    """A stack frame in a query: file, line and function."""

    path: str  # as written, with "/" as separator
    line: int
    name: str  # last part of the function's name; "" if unknown


def frames(query: str) -> list[Frame]:
    """Return the stack frames (file, line, function) that a query contains.

    Duplicates are left out.
    """
    found: dict[Frame, None] = {}
    for match in _FRAME.finditer(query):
        path = match["quoted"] or match["path"]
        name = (match["within"] or match["called"] or "").rpartition(".")[2]
        found[Frame(path.replace("\\", "/"), int(match["said"] or match["line"]), name if name.isidentifier() else "")] = None
    return list(found)


def framed(view: GraphView, query: str) -> set[int]:
    """Return the functions and classes that a query's stack frames refer to.

    The result has node numbers. The name in a frame takes precedence over its line, because the code that ran may be older than the index.
    If several definitions have that name, the one that contains the line is chosen. If none contains it, the nearest is chosen.
    """
    meant: dict[str, tuple[list[list[Definition]], bool]] = {}
    found = set()
    for frame in frames(query):
        if frame.path not in meant:
            paths, sure = _files(view, frame.path)
            meant[frame.path] = [_definitions(view, path) for path in paths], sure
        files, sure = meant[frame.path]
        found |= {_definition_at(file, frame, sure) for file in files}
    return found - {-1}


def _files(view: GraphView, path: str) -> tuple[list[str], bool]:
    """Return the project's files that the path in a stack frame may mean.

    The path's beginning may be a folder of another machine, so its last parts are compared. If too many files match, the result is empty.
    The result is also empty for a path inside a library that is not this project. The second result is whether the match is sure: the whole
    path matches, or at least its last two parts do.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    libraries = all_conventions().library_folders
    library = max((at for at, part in enumerate(parts[:-1]) if part in libraries or _LIBRARY.fullmatch(part)), default=-1)
    own = parts[library + 1 :]
    paths, same = view.file_names.ending(own)
    whole = same == len(own)
    if len(paths) > _FILES or (library >= 0 and not whole):
        return [], False
    return paths, whole or same > 1


def _definitions(view: GraphView, path: str) -> list[Definition]:
    """Return the functions and classes of a file, enclosing ones first."""
    return [
        Definition(node, view.name(node), int(view.start_line[node]), int(view.end_line[node]))
        for node in view.by_path(path).tolist()
        if is_function(view, node) or is_class(view, node)
    ]


def _definition_at(file: list[Definition], frame: Frame, sure: bool) -> int:
    """Return the definition to which a stack frame refers, as a node.

    If `file` has definitions with the name in `frame`, the one nearest to the frame's line is chosen. Otherwise, the innermost definition
    around the line is chosen, but only if `sure` is true. The result is -1 if nothing is chosen.

    Args:
        file: the definitions of a file to which the path of the frame may refer.
        frame: the stack frame.
        sure: whether the path of the frame can refer to no other file; see `_files`.
    """
    named = [one for one in file if one.name == frame.name] if frame.name else []
    if named:
        return min(named, key=lambda one: (max(one.start - frame.line, frame.line - one.end, 0), one.node)).node
    if not sure:
        return -1
    return next((one.node for one in reversed(file) if one.start <= frame.line <= one.end), -1)
