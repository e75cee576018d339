"""Format of the journal's lines: encode entries, and find intact ones.

A line ends with a hash of the preceding text of the line, and contains the hash of the previous entry. So a flipped byte, an incomplete end
and a removed line can be distinguished, and every change of past entries is detected. The lines of one write form a *batch*, which is valid
only as a whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from graphmem.runtime.files.vault import opened_text

if TYPE_CHECKING:
    from graphmem.runtime.files.vault import Vault

START: Final = "0" * 32  # predecessor hash of the first entry

_HASH_BYTES: Final = 16
_TAIL: Final = re.compile(rb',"sum":"([0-9a-f]{32})"\}$')
_SEALED: Final = "sealed"  # key of an encrypted entry
_OWN: Final = frozenset({"n", "batch", "of", "prev", "sum"})

Line = dict[str, Any]


class Entry(NamedTuple):
    """One entry of the journal: the decoded content of an intact line."""

    number: int  # from 1
    batch: int  # number of the first entry of its batch
    of: int  # entries in the batch
    sum: str
    prev: str
    body: Line


class Head(NamedTuple):
    """Number and hash of the newest entry of a journal."""

    number: int
    sum: str


class Scan(NamedTuple):
    """The intact entries and the damage found in a file of the journal."""

    entries: list[Entry]
    bad: list[bytes]  # damaged lines
    torn_at: int | None  # offset in the file at which a last, incomplete batch begins


def encoded(bodies: Iterable[Line], head: Head, vault: Vault | None = None) -> tuple[bytes, Head]:
    """Encode the entries of one write as lines of the journal.

    `bodies` are the entries, and `head` is the journal's last entry before them. A `vault` encrypts the entries, except their numbers and
    hashes. So damage is found without the key. Returns the lines as bytes, and the number and hash of the new last entry.
    """
    bodies = list(bodies)
    number, prev = head
    batch = number + 1
    lines: list[bytes] = []
    for body in bodies:
        number += 1
        if vault is not None:
            body = {_SEALED: vault.seal_text(orjson.dumps(body).decode(), str(number))}
        start = orjson.dumps({"n": number, "batch": batch, "of": len(bodies), **body, "prev": prev})[:-1]
        prev = hash_of(start)
        lines.append(start + b',"sum":"' + prev.encode() + b'"}\n')
    return b"".join(lines), Head(number, prev)


def hash_of(start: bytes) -> str:
    """Return the hash of a line of the journal.

    `start` is the line up to its last field `sum`, which stores the hash.
    """
    return hashlib.blake2b(start, digest_size=_HASH_BYTES).hexdigest()


def scanned(data: bytes) -> Scan:
    """Find the intact entries and the damage in a journal file's bytes."""
    entries: list[Entry] = []
    bad: list[bytes] = []
    places: list[int] = []
    at = 0
    torn_at: int | None = None
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at:] if end < 0 else data[at:end]
        entry = _entry(line) if end >= 0 else None  # a line without its end was never complete, however much of it exists
        if entry is not None:
            entries.append(entry)
            places.append(at)
        elif end < 0:
            torn_at = at
        elif line:
            bad.append(line + b"\n")
        at = len(data) if end < 0 else end + 1
    # A last line without its end belongs to an incomplete batch, as does a batch without its last entry.
    if entries and (torn_at is not None or not bad):
        last = entries[-1]
        if last.number != last.batch + last.of - 1 and last.number - last.batch + 1 <= last.of:
            first = next(i for i, entry in enumerate(entries) if entry.batch == last.batch)
            torn_at = places[first]
            del entries[first:]
    return Scan(entries, bad, torn_at)


def from_entry(data: bytes, number: int) -> bytes:
    """Return the end of a journal file, from the line of entry `number` on.

    If no line has this number, all bytes are returned. A caller that has already checked the hashes of earlier entries can check only this
    part.
    """
    at = data.find(b'\n{"n":%d,' % number)
    return data[at + 1 :] if at >= 0 else data


def _entry(line: bytes) -> Entry | None:
    tail = _TAIL.search(line)
    if tail is None or hash_of(line[: tail.start()]) != tail[1].decode():
        return None
    try:
        body = orjson.loads(line)
        if _SEALED in body:
            body |= orjson.loads(opened_text(body.pop(_SEALED), str(body["n"])))
        return Entry(body["n"], body["batch"], body["of"], body["sum"], body["prev"], {k: v for k, v in body.items() if k not in _OWN})
    except (ValueError, KeyError, TypeError):
        return None


def line_of(data: bytes, entry: Entry) -> bytes:
    """Return the line of an entry in the bytes of a journal file.

    The line end is included.
    """
    at = data.index(f'"sum":"{entry.sum}"}}\n'.encode())
    return data[data.rfind(b"\n", 0, at) + 1 : data.index(b"\n", at) + 1]


def body(at: str, actor: str, op: str, memory_id: str = "", before: str = "", after: str = "", note: str = "", **payload: object) -> Line:
    """Return an entry of the journal as a mapping, without empty fields.

    `at` is the time of the operation `op`, and `note` a remark for the audit log. `before` and `after` are fingerprints of the memory's
    text before and after the operation.
    """
    line: dict[str, Any] = {"at": at, "actor": actor, "op": op, "memory": memory_id, "before": before, "after": after, "note": note}
    line.update(payload)
    return {name: value for name, value in line.items() if value not in ("", None, [], {})}


def text_of(body: Mapping[str, object], name: str) -> str:
    """Return a string field of an entry by name; "" if it is missing."""
    return str(body.get(name, ""))
