"""Lines of the journal: how an entry is written, and what is whole of what is read.

A line ends in the hash of what stands before it on the line, and names the hash of the entry before it, so a flipped byte, a torn end and
a line taken out are three different findings, and nobody can change the past unseen. The lines of one write form a *batch*: all of it
counts, or nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import orjson

START: Final = "0" * 32  # what the first entry names as its predecessor

_HASH_BYTES: Final = 16
_TAIL: Final = re.compile(rb',"sum":"([0-9a-f]{32})"\}$')
_OWN: Final = frozenset({"n", "batch", "of", "prev", "sum"})

Line = dict[str, Any]


class Entry(NamedTuple):
    """One line that is whole."""

    number: int  # from 1
    batch: int  # number of the first entry of its batch
    of: int  # entries in the batch
    sum: str
    prev: str
    body: Line


class Head(NamedTuple):
    """The newest entry."""

    number: int
    sum: str


class Scan(NamedTuple):
    """What reading a segment gave."""

    entries: list[Entry]
    bad: list[bytes]  # lines that are not what was written
    torn_at: int | None  # where in the file a last, unfinished batch begins


def encoded(bodies: Iterable[Line], head: Head) -> tuple[bytes, Head]:
    """One batch as bytes, and the newest entry after it."""
    bodies = list(bodies)
    number, prev = head
    batch = number + 1
    lines: list[bytes] = []
    for body in bodies:
        number += 1
        start = orjson.dumps({"n": number, "batch": batch, "of": len(bodies), **body, "prev": prev})[:-1]
        prev = hash_of(start)
        lines.append(start + b',"sum":"' + prev.encode() + b'"}\n')
    return b"".join(lines), Head(number, prev)


def hash_of(start: bytes) -> str:
    """Of the line before its `sum`."""
    return hashlib.blake2b(start, digest_size=_HASH_BYTES).hexdigest()


def scanned(data: bytes) -> Scan:
    """What is whole in the bytes of a segment, and what is not."""
    entries: list[Entry] = []
    bad: list[bytes] = []
    places: list[int] = []
    at = 0
    torn_at: int | None = None
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at:] if end < 0 else data[at:end]
        entry = _entry(line) if end >= 0 else None  # a line without its end was not finished, however much of it is there
        if entry is not None:
            entries.append(entry)
            places.append(at)
        elif end < 0:
            torn_at = at
        elif line:
            bad.append(line + b"\n")
        at = len(data) if end < 0 else end + 1
    # A last line without its end belongs to a batch that was never finished; so does a batch whose end never came.
    if entries and (torn_at is not None or not bad):
        last = entries[-1]
        if last.number != last.batch + last.of - 1 and last.number - last.batch + 1 <= last.of:
            first = next(i for i, entry in enumerate(entries) if entry.batch == last.batch)
            torn_at = places[first]
            del entries[first:]
    return Scan(entries, bad, torn_at)


def _entry(line: bytes) -> Entry | None:
    tail = _TAIL.search(line)
    if tail is None or hash_of(line[: tail.start()]) != tail[1].decode():
        return None
    try:
        body = orjson.loads(line)
        return Entry(body["n"], body["batch"], body["of"], body["sum"], body["prev"], {k: v for k, v in body.items() if k not in _OWN})
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def line_of(data: bytes, entry: Entry) -> bytes:
    """The bytes of an entry, with the line's end."""
    at = data.index(f'"sum":"{entry.sum}"}}\n'.encode())
    return data[data.rfind(b"\n", 0, at) + 1 : data.index(b"\n", at) + 1]


def body(at: str, actor: str, op: str, memory_id: str = "", before: str = "", after: str = "", note: str = "", **payload: Any) -> Line:
    """The body of an entry, empty parts left out."""
    line: dict[str, Any] = {"at": at, "actor": actor, "op": op, "memory": memory_id, "before": before, "after": after, "note": note}
    line.update(payload)
    return {name: value for name, value in line.items() if value not in ("", None, [], {})}


def text_of(body: Mapping[str, Any], name: str) -> str:
    """A text part of an entry, "" when it is not there."""
    return str(body.get(name, ""))
