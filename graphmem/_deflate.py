"""Prefix and text of a chunk as one deflated value: the form in which a text is kept, made once and inflated where it is read.

The same bytes travel from the process that parsed a file to the database, and from there behind the rows of the word index.
A prefix names the lines of its chunk. They are left out here and put back by whoever inflates, so that the bytes of code that only
moved stay what they are.
"""

from __future__ import annotations

import zlib
from typing import Final

FORMAT: Final = "2"  # of the bytes; an index whose texts are kept in another one is made anew
_MARK: Final = "@"  # what the bytes begin with since format 2
_LEVEL: Final = 1  # levels above it save another 3 % for as much time again
# A window of 32 KB takes 268 KB of tables, which are new pages of the system each time: five times what deflating the few hundred
# bytes of a chunk takes. With 4 KB the tables are small enough to be used again, and the bytes are the same for texts below that.
_WINDOW: Final = 12
_MEMORY: Final = 6


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
    tables = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    return tables.compress(f"{_MARK}{at} {len(prefix)} {prefix}{text}".encode()) + tables.flush()


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
