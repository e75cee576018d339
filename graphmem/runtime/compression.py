"""Compress a chunk of source: its text, and a prefix that describes it.

The process that parses a file makes the bytes. They go to the database and to the word index unchanged.
A prefix names the lines of its chunk. The lines are left out here and restored on inflating, so that code that only moved keeps its bytes.
"""

from __future__ import annotations

import zlib
from typing import Final

from isal import igzip_lib

FORMAT: Final = "3"  # of the bytes; an index with texts in another format is rebuilt
_MARK: Final = "@"  # first character since format 2
_LEVEL: Final = 1  # of 0 to 3; as small as zlib's own first level


def deflated(prefix: str, text: str, first: int, last: int) -> bytes:
    """Compress a chunk of source: the prefix that describes it, and its text.

    Args:
        prefix: context; may name the lines, as " | Lines: 12-30".
        text: the text itself.
        first: line of the chunk, as the prefix names it.
        last: last line of the chunk.

    Raises:
        UnicodeEncodeError: the text holds half a surrogate pair.
    """
    lines = _lines(first, last)
    at = prefix.find(lines)
    if at >= 0:
        prefix = prefix[:at] + prefix[at + len(lines) :]
    return deflate(f"{_MARK}{at} {len(prefix)} {prefix}{text}".encode())


def deflate(data: bytes) -> bytes:
    """Compress bytes to zlib's format with Intel's library (ISA-L).

    It takes half of zlib's time for a chunk of source and a third for the facts of a file.
    """
    made: bytes = igzip_lib.compress(data, _LEVEL, igzip_lib.COMP_ZLIB)
    return made


def inflated(packed: bytes, first: int, last: int) -> tuple[str, str]:
    """Return the prefix and text of a chunk that `deflated` compressed.

    The prefix gets the given line numbers.

    Raises:
        zlib.error, ValueError: the bytes are not an output of `deflated`.
    """
    plain = zlib.decompress(packed).decode()
    if not plain.startswith(_MARK):  # of format 1, with its lines in it
        length, _, both = plain.partition(" ")
        return both[: int(length)], both[int(length) :]
    place, length, both = plain.removeprefix(_MARK).split(" ", 2)
    at, end = int(place), int(length)
    prefix = both[:end]
    if at >= 0:
        prefix = prefix[:at] + _lines(first, last) + prefix[at:]
    return prefix, both[end:]


def _lines(first: int, last: int) -> str:
    return f" | Lines: {first}-{last}"
