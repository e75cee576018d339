"""Prefix and text of a chunk as one deflated value: the form in which a text is kept, made once and inflated where it is read.

The same bytes travel from the process that parsed a file to the database, and from there behind the rows of the word index.
A prefix names the lines of its chunk. They are left out here and put back by whoever inflates, so that the bytes of code that only
moved stay what they are.
"""

from __future__ import annotations

import zlib
from typing import Final

from isal import igzip_lib

FORMAT: Final = "3"  # of the bytes; an index whose texts are kept in another one is made anew
_MARK: Final = "@"  # what the bytes begin with since format 2
_LEVEL: Final = 1  # of 0 to 3; as small as zlib's own first level


def deflated(prefix: str, text: str, first: int, last: int) -> bytes:
    """Both as bytes.

    Args:
        prefix: context; may name the lines, as " | Lines: 12-30".
        text: the text itself.
        first: line of the chunk, as the prefix names it.
        last: its last line.

    Raises:
        UnicodeEncodeError: half a surrogate pair, which is no text.
    """
    lines = _lines(first, last)
    at = prefix.find(lines)
    if at >= 0:
        prefix = prefix[:at] + prefix[at + len(lines) :]
    return deflate(f"{_MARK}{at} {len(prefix)} {prefix}{text}".encode())


def deflate(data: bytes) -> bytes:
    """Bytes in zlib's format, made by Intel's library: half of what zlib takes for a chunk, a third for the facts of a file."""
    made: bytes = igzip_lib.compress(data, _LEVEL, igzip_lib.COMP_ZLIB)
    return made


def inflated(packed: bytes, first: int, last: int) -> tuple[str, str]:
    """(prefix, text) of what `deflated` made, the prefix with these lines.

    Raises:
        zlib.error, ValueError: it is not what was made.
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
