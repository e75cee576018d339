"""Find what a name means in a document that the index lacks.

A new file has no edges in the graph yet. Its own definitions come from its text. Other names are searched for in the index, and the lines
of the document that mention the name, such as its import, choose among symbols of the same name.
"""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import SymbolInfo
    from graphmem.client.connecting import Service

MOST_NAMESAKES: Final = 200  # symbols of one name that are compared
_WORD: Final = re.compile(r"[\w$]+")


def find_namesake(service: Service, path: str, lines: Sequence[str], line: int, column: int) -> SymbolInfo | None:
    """Return the symbol that a name means in a document, or None.

    The result is None if no symbol has the name, or if several have it and no line of the document tells which one it is.

    Args:
        service: the server of the project.
        path: path of the document.
        lines: lines of the document.
        line: line of the name, from 0.
        column: column of the name, in characters.
    """
    text = lines[line] if line < len(lines) else ""
    word = next((one[0] for one in _WORD.finditer(text) if one.start() <= column <= one.end()), "")
    if not word:
        return None
    own = next((one.symbol for one in service.outline(path, "\n".join(lines)).entries if one.symbol.name == word), None)
    if own is not None:
        return own
    found = [one for one in service.symbols(word, limit=MOST_NAMESAKES).symbols if one.path and one.name == word]
    ranked = sorted(((_nearness(one, path, word, lines), one) for one in found), key=lambda pair: pair[0], reverse=True)
    if len(ranked) > 1 and (ranked[0][0][0] == 0 or ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1] if ranked else None


def _nearness(symbol: SymbolInfo, path: str, word: str, lines: Sequence[str]) -> tuple[int, int]:
    """Return two numbers: how well a document fits the file of `symbol`.

    Of the lines that contain `word`, the symbol's name, one mentions the most parts of the path of the symbol's file. The first number is
    the number of these parts. The second number counts the folders that the path of that file and `path`, the path of the document, have in
    common. `lines` are the lines of the document.
    """
    file = PurePosixPath(symbol.path)
    parts = {*file.parent.parts, file.stem.partition(".")[0]}
    named = (set(_WORD.findall(one)) for one in lines if word in one)
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(file.parent.parts, PurePosixPath(path).parent.parts, strict=False))
    return max((len(parts & one) for one in named if word in one), default=0), len(list(shared))


__all__ = ["MOST_NAMESAKES", "find_namesake"]
