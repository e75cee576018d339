"""Pack a memory into bytes, and build the text that word search indexes."""

from __future__ import annotations

import marshal
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from graphmem.knowledge import MemoryRow

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TIMES: Final = tuple(MemoryRow._fields.index(name) for name in MemoryRow._fields if name.endswith("_at") or name.startswith("valid_"))
# Latin, Arabic and full width; inside a word, as in an address, it does not mark a question.
_ASKED: Final = re.compile(r"[?؟？](?=[\s\"'”’»)\]*_!?]|$)")


def micros(moment: datetime) -> int:
    """Convert a time to a number of microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(at: int) -> datetime:
    """Convert a number of microseconds since 1970 to a time."""
    return _EPOCH + at * _MICROSECOND


def pack(row: MemoryRow) -> bytes:
    """Pack a memory into bytes, a third of the size of the Python objects."""
    fields: list[Any] = list(row)
    for i in _TIMES:
        fields[i] = None if fields[i] is None else micros(fields[i])
    return marshal.dumps(fields)


def unpack(packed: bytes) -> MemoryRow:
    """Return the memory that `pack` packed into bytes."""
    fields: list[Any] = marshal.loads(packed)  # noqa: S302 - our own bytes, of this process
    for i in _TIMES:
        fields[i] = None if fields[i] is None else moment(fields[i])
    return MemoryRow._make(fields)


def searched(row: MemoryRow) -> str:
    """Return the text for word search: title, content and tags.

    The title is included only if it adds words to the content.
    """
    opening = row.title.removesuffix("…").rstrip()
    parts = [row.content, *row.tags]
    return "\n".join(parts if row.content.lstrip().startswith(opening) else [row.title, *parts])


def asks(row: MemoryRow) -> bool:
    """Return whether the content of a memory contains a question.

    The memory learnt right after it may be the answer.
    """
    return _ASKED.search(row.content) is not None
