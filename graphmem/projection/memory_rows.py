"""One memory as a projection keeps it: packed, with times as numbers, and the text it is found by."""

from __future__ import annotations

import marshal
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from graphmem.knowledge import MemoryRow

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TIMES: Final = tuple(MemoryRow._fields.index(name) for name in MemoryRow._fields if name.endswith("_at") or name.startswith("valid_"))
# Latin, Arabic and full width; inside a word, as in an address, it asks nothing.
_ASKED: Final = re.compile(r"[?؟？](?=[\s\"'”’»)\]*_!?]|$)")


def micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(at: int) -> datetime:
    """The time that `micros` is of."""
    return _EPOCH + at * _MICROSECOND


def pack(row: MemoryRow) -> bytes:
    """A row as bytes: a third of the objects it is made of."""
    fields: list[Any] = list(row)
    for i in _TIMES:
        fields[i] = None if fields[i] is None else micros(fields[i])
    return marshal.dumps(fields)


def unpack(packed: bytes) -> MemoryRow:
    """What was packed."""
    fields: list[Any] = marshal.loads(packed)  # noqa: S302 - our own bytes, of this process
    for i in _TIMES:
        fields[i] = None if fields[i] is None else moment(fields[i])
    return MemoryRow._make(fields)


def searched(row: MemoryRow) -> str:
    """The text that is searched by words: the title where it says what the content does not, content and tags."""
    opening = row.title.removesuffix("…").rstrip()
    parts = [row.content, *row.tags]
    return "\n".join(parts if row.content.lstrip().startswith(opening) else [row.title, *parts])


def asks(row: MemoryRow) -> bool:
    """True when the content has a question in it, so that what was learnt next may be the answer."""
    return _ASKED.search(row.content) is not None
