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

_SENTENCES: Final = re.compile(r"(?<=[.!?؟])[\"'”’»)\]*_]*\s+|(?<=[。！？])|\n+")
_LABEL: Final = re.compile(r"^\s*[^.!?\n]{1,60}?:\s+")  # a colon inside a time, as in 10:30, ends no label


def micros(moment: datetime) -> int:
    """Convert a time to a number of microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(at: int) -> datetime:
    """Convert `at`, microseconds since 1970, to a time."""
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

    The title is left out if the content begins with it.
    """
    opening = row.title.removesuffix("…").rstrip()
    parts = [row.content, *row.tags]
    return "\n".join(parts if row.content.lstrip().startswith(opening) else [row.title, *parts])


def asking(row: MemoryRow) -> float:
    """Return how much of a memory's content consists of questions, 0 to 1.

    A memory with nothing but questions seldom answers a query. But the memory created after it may answer the query. A label before the
    content, such as a speaker's name, is ignored.
    """
    if _ASKED.search(row.content) is None:
        return 0.0
    pieces = [(len(piece.strip()), _ASKED.search(piece) is not None) for piece in _SENTENCES.split(_LABEL.sub("", row.content))]
    return sum(length for length, asks in pieces if asks) / max(1, sum(length for length, _ in pieces))
