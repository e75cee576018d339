"""Encode and decode Relay's opaque strings: global ids and cursors.

A global id is `Type:id`, and a cursor is `offset:n`, both in base64.
"""

from __future__ import annotations

from binascii import b2a_base64
from functools import lru_cache
from typing import NamedTuple

from graphmem.errors import BadInputError
from graphmem.runtime.texts.naming import decoded, raw

as_ref = raw
"""A reference for the service: global ids become raw ids, everything else stays as it came."""


class GlobalId(NamedTuple):
    """Type and raw id of an object: the content of a global id."""

    type_name: str
    id: str


@lru_cache(4_096)  # the hits of an impact report repeat the id of their target, and an editor asks for the same symbols again
def _encode(prefix: str, value: str) -> str:
    return b2a_base64(f"{prefix}:{value}".encode(), newline=False).decode("ascii")


def global_id(type_name: str, raw: str) -> str:
    """Encode a type and an id of an object as a global id for clients."""
    return _encode(type_name, raw)


def parse_global_id(text: str) -> GlobalId:
    """Decode a global id to its type and raw id.

    Raises:
        BadInputError: the text is not a global id.
    """
    parts = decoded(text)
    if parts is None:
        raise BadInputError(
            f"{text!r} is not an id of this server; use the `id` of an earlier answer of this server", argument="id", value=text
        )
    return GlobalId(*parts)


def cursor(offset: int) -> str:
    """Encode the 0-based offset of an entry in a list as a cursor."""
    return _encode("offset", str(offset))


def cursor_offset(text: str) -> int:
    """Decode a cursor to the 0-based offset of an entry in a list.

    Raises:
        BadInputError: the text is not a cursor.
    """
    parts = decoded(text)
    if parts is None or parts[0] != "offset" or not parts[1].isascii() or not parts[1].isdigit():
        raise BadInputError(
            f"{text!r} is not a cursor of this server; use the `pageInfo.endCursor` of an earlier answer", argument="after", value=text
        )
    return int(parts[1])
