"""Find the files that a query names: by path, name, module or scope.

A scope is the beginning of a description of a change, as in `fix(cli): ...`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from graphmem.projection.graph.view import GraphView

MOST: Final = 200  # maximum files that one name may match: a larger directory is too vague
_JOINED: Final = re.compile(r"(?<![\w:/.@-])(?:\.{1,2}/)*[\w@-]*(?:[./][\w@-]+)+")
# "iostream: close twice", "fix(backends.database): ...", "[cli, config] ..."; the word before a bracket is the kind of change.
_SCOPE: Final = re.compile(r"\W*(?:\w*\(([\w./, -]+)\)!?:|([\w./, -]+):(?=\s)|(?<=\[)([\w./, -]+)\])")
_SCOPE_WORDS: Final = 3  # a longer beginning is a sentence
_DEEPEST: Final = 20  # directories between a project's root and a file
_TITLE: Final = 200  # characters of the first line in which a scope is searched


def named_files(view: GraphView, query: str) -> dict[str, float]:
    """Return the files that a query names, each with a confidence.

    The confidence is 1 for a name that only one file has, and 1 / sqrt(n) for a name that n files have. A plain word names a file only in a
    scope, such as `cli` in `fix(cli): ...`. Elsewhere it is an ordinary word.

    Args:
        view: the graph that contains the files.
        query: any text.
    """
    found: dict[str, float] = {}
    for place in dict.fromkeys((*_scope(query), *(match.group() for match in _JOINED.finditer(query)))):
        paths = next(filter(None, map(view.file_names.files_named, _readings(place))), [])
        if len(paths) <= MOST:
            for path in paths:
                found[path] = max(1 / math.sqrt(len(paths)), found.get(path, 0.0))
    return found


def _readings(place: str) -> Iterator[str]:
    """Yield the paths in the project that a path in a query may stand for.

    The first is `place`, the path as written. For an absolute path, as in tracebacks, its trailing parts follow, longest first.
    """
    parts = place.strip("./-").split("/")
    yield "/".join(parts)
    if place.startswith("/"):
        yield from ("/".join(parts[at:]) for at in range(max(1, len(parts) - _DEEPEST), len(parts) - 1))


def _scope(query: str) -> Iterator[str]:
    """Yield the names in the scope at the start of a query.

    In `fix(cli): show help` the scope is `cli`. Only the first line counts.
    """
    match = _SCOPE.match(query.strip().split("\n", 1)[0][:_TITLE])
    words = re.split(r"[, ]+", next(filter(None, match.groups()), "")) if match is not None else []
    return iter(words if len(words) <= _SCOPE_WORDS else [])
