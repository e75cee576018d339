"""Prefix and text of a chunk as one deflated value: the form in which a text is kept, made once and inflated where it is read.

The same bytes travel from the process that parsed a file to the database, and from there behind the rows of the word index.
"""

from __future__ import annotations

import zlib
from typing import Final

_LEVEL: Final = 1  # levels above it save another 3 % for as much time again


def deflated(prefix: str, text: str) -> bytes:
    """Both as bytes.

    Raises:
        UnicodeEncodeError: half a surrogate pair, which is no text.
    """
    return zlib.compress(f"{len(prefix)} {prefix}{text}".encode(), _LEVEL)


def inflated(packed: bytes) -> tuple[str, str]:
    """(prefix, text) of what `deflated` made.

    Raises:
        zlib.error, ValueError: it is not what was made.
    """
    length, _, both = zlib.decompress(packed).decode().partition(" ")
    return both[: int(length)], both[int(length) :]
