"""Files a query names: by path, by file name, as a module, or as the scope that a description of a change begins with."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from graphmem.projection.graph import GraphView

MOST: Final = 200  # files one name may mean: a folder that holds more is no place
_JOINED: Final = re.compile(r"(?<![\w:/.@-])(?:\.{1,2}/)*[\w@-]*(?:[./][\w@-]+)+")
# "iostream: close twice", "fix(backends.database): ...", "[cli, config] ..."; before a bracket stands what kind of change it is.
_SCOPE: Final = re.compile(r"\W*(?:\w*\(([\w./, -]+)\)!?:|([\w./, -]+):(?=\s)|(?<=\[)([\w./, -]+)\])")
_SCOPE_WORDS: Final = 3  # a longer beginning is a sentence
_DEEPEST: Final = 20  # folders of a project above a file
_TITLE: Final = 200  # characters of the first line in which a scope is looked for


def named_files(view: GraphView, query: str) -> dict[str, float]:
    """Files the query names, with how sure that is: 1 for a name that one file has, 1 / sqrt(number) for one of several.

    A word that is also a file's name names it only where a scope stands; elsewhere it says as much as any word of a name.

    Args:
        view: whose files.
        query: any text.
    """
    found: dict[str, float] = {}
    for place in dict.fromkeys((*_scope(query), *(match.group() for match in _JOINED.finditer(query)))):
        paths = next(filter(None, map(view.file_names.meant, _readings(place))), [])
        if len(paths) <= MOST:
            for path in paths:
                found[path] = max(1 / math.sqrt(len(paths)), found.get(path, 0.0))
    return found


def _readings(place: str) -> Iterator[str]:
    """A path as it stands; of one from the root of a disk, as in a traceback, its ends as well, the longest first."""
    parts = place.strip("./-").split("/")
    yield "/".join(parts)
    if place.startswith("/"):
        yield from ("/".join(parts[at:]) for at in range(max(1, len(parts) - _DEEPEST), len(parts) - 1))


def _scope(query: str) -> Iterator[str]:
    """What the first line says it is about before it says it."""
    match = _SCOPE.match(query.strip().split("\n", 1)[0][:_TITLE])
    words = re.split(r"[, ]+", next(filter(None, match.groups()), "")) if match is not None else []
    return iter(words if len(words) <= _SCOPE_WORDS else [])
