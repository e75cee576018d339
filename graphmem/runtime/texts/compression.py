"""Compress a chunk of source: its text, and a prefix that describes it.

The process that parses a file compresses its chunks. The database and the word index store the compressed bytes unchanged. A prefix
contains the line numbers of its chunk. These numbers are removed before compression and restored after reading. So the bytes do not change
if the code moves to other lines.
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

    The line numbers are removed from the prefix, so that moved code gives the same bytes. `inflated` restores the line numbers.

    Args:
        prefix: description; may contain the line numbers.
        text: the source text of the chunk.
        first: first line of the chunk, as in the prefix.
        last: last line of the chunk.

    Raises:
        UnicodeEncodeError: the text contains half a surrogate pair.
    """
    lines = _lines(first, last)
    at = prefix.find(lines)
    if at >= 0:
        prefix = prefix[:at] + prefix[at + len(lines) :]
    return deflate(f"{_MARK}{at} {len(prefix)} {prefix}{text}".encode())


def deflate(data: bytes) -> bytes:
    """Compress bytes to zlib's format with Intel's library (ISA-L).

    This takes half of zlib's time for a chunk of source, and a third for the results of parsing a file.
    """
    made: bytes = igzip_lib.compress(data, _LEVEL, igzip_lib.COMP_ZLIB)
    return made


def inflated(packed: bytes, first: int, last: int) -> tuple[str, str]:
    """Return (prefix, text) of a chunk that `deflated` compressed.

    `first` and `last` are the chunk's current lines, which are put into the prefix.

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
