"""Keep the last parsed versions of edited files.

An agent edits a file several times in a row. Only the changed part of the next version is parsed.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from graphmem.parsing.touched import Text, text_of

KEPT: Final = 4  # files
REUSED: Final = 0.5  # least share of a version that the next one has unchanged at its begin and end


class Versions:
    """The last version of each recently edited file. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._texts: OrderedDict[str, Text] = OrderedDict()

    def text(self, path: str, source: bytes, language: str) -> Text | None:
        """Return a parsed version of a file.

        The result is None for a language without a grammar, or if parsing takes too long.
        """
        with self._lock:
            last = self._texts.get(path)
        is_known = last is not None and last.grammar.spec.name == language
        found = _next(last, source) if last is not None and is_known else text_of(path, source, language)
        if found is not None:
            self.keep(found)
        return found

    def keep(self, text: Text) -> None:
        """Keep a version as the last one of its file."""
        with self._lock:
            self._texts[text.path] = text
            self._texts.move_to_end(text.path)
            while len(self._texts) > KEPT:
                self._texts.popitem(last=False)


def _next(last: Text, source: bytes) -> Text | None:
    """Parse the content `source`; reuse the syntax tree of the version `last`.

    Only the part that differs is parsed. If little is the same, the whole content is parsed. The result is None if parsing takes too long.
    """
    if source == last.source:
        return last
    start = last.source.rfind(b"\n", 0, _shared(last.source, source)) + 1
    rest, its_rest = last.source[start:][::-1], source[start:][::-1]
    same = max(0, rest.rfind(b"\n", 0, _shared(rest, its_rest)))
    if start + same < REUSED * len(last.source):
        return text_of(last.path, source, last.grammar.spec.name)
    return last.changed([(start, len(last.source) - same, source[start : len(source) - same])])


def _shared(one: bytes, other: bytes) -> int:
    """Return the length of the longest common prefix, in bytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low
