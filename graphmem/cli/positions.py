"""Parse positions in files, such as `a.py:12:3`, from other programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError

_POSITION: Final = re.compile(r"(?P<path>.+?):(?P<line>[1-9]\d{0,8})(?::(?P<column>\d{1,9}))?:?\Z")


class Position(NamedTuple):
    """The path of a file, with a line and a column if they were given."""

    path: str
    line: int | None = None  # 1-based
    column: int | None = None  # 0-based


def position(written: str) -> Position:
    """Split `path`, `path:line` or `path:line:column` into its parts.

    A colon at the end is ignored.
    """
    match = _POSITION.match(written)
    if match is None:
        return Position(written)
    return Position(match["path"], int(match["line"]), None if match["column"] is None else int(match["column"]))


def paths_of(written: Iterable[str] | None) -> list[str]:
    """Return the path of each argument such as `a.py:12:3`: here `a.py`."""
    return [position(one).path for one in written or ()]


def with_plain_paths(arguments: Mapping[str, Any], names: Iterable[str], *, fills: bool) -> dict[str, Any]:
    """Return a command's arguments, with `a.py` in place of `a.py:12:3`.

    Args:
        arguments: the values by the names of their parameters.
        names: parameters that are a path, or a list of paths.
        fills: whether the line and column after a path become the arguments `line` and `column`. Values that were passed for these
            arguments take precedence.

    Raises:
        BadInputError: `fills` is true, but the line is missing.
    """
    found = dict(arguments)
    for name in found.keys() & set(names):
        if not isinstance(found[name], str):
            found[name] = paths_of(found[name])
            continue
        place = position(found[name])
        found[name] = place.path
        if fills:
            found = {part: value for part, value in (("line", place.line), ("column", place.column)) if value is not None} | found
    if fills and "line" not in found:
        raise BadInputError(
            "the line number is missing; write path:line or path:line:column, or give the number after the path", argument="line"
        )
    return found
