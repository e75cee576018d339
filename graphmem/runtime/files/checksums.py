"""Store and check checksums inside SQLite files and JSON files.

SQLite has no checksums of its pages, but its header has four bytes for programs (`application_id`). graphmem stores the CRC-32 of all other
bytes there. A writer sets these four bytes to zero in its first transaction (`unseal`). The last process that closes the file writes the
new checksum (`seal`). A file with a checksum was therefore closed properly. A changed bit is found before a row is read (6 ms for 100 MB).
A file without a checksum is in use by a process, or was left by a crash. A file in use has a log file (WAL). After a crash, SQLite's log
protects the committed rows, and `PRAGMA quick_check` checks the rest.

A JSON file ends with the hash of everything before it, like a line of the journal of memories.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

from graphmem.runtime.process.system import read_at, write_at

_AT: Final = 68  # of `application_id` in the header of SQLite's file format
_SIZE: Final = 4
_HEADER: Final = 100  # bytes
_MAGIC: Final = b"SQLite format 3\0"
_PIECE: Final = 1 << 20
_TAIL: Final = re.compile(rb',"sum":"([0-9a-f]{32})"\}\Z')
_LIKE_A_SUM: Final = 32  # characters; of a last value that was a sum before its name was damaged
LOGS: Final = ("-wal", "-journal")
SIDES: Final = ("-wal", "-shm", "-journal")
MISMATCH: Final = "the bytes of the file do not match its checksum; graphmem does not use the file"


class Proof(Enum):
    """Result of comparing a file with its checksum: sound, open or damaged.

    *Open* means that the file has no checksum. Then a process has the file open, the file was left by a crash, or an earlier version of
    graphmem wrote it.
    """

    SOUND = "sound"  # the file is as it was when it was closed
    OPEN = "open"  # it has no checksum: it is open, was left by a crash, or comes from an earlier version
    DAMAGED = "damaged"


def proof(path: Path) -> Proof:
    """Return the result of comparing a whole file with its stored checksum.

    Raises:
        OSError: the file cannot be read, or is missing.
    """
    read = _sums(path)
    while True:
        sealed, found = read
        if sealed == found:
            return Proof.SOUND
        # After a crash during a checkpoint, the file is complete only together with its log.
        if (sealed == 0 and _has_header(path)) or _is_logged(path):
            return Proof.OPEN
        if read == (read := _sums(path)):  # otherwise another process has just closed it
            return Proof.DAMAGED


def unseal(db: sqlite3.Connection) -> None:
    """Remove the checksum from a SQLite file before a change.

    A writer must call this first in its transaction.
    """
    db.execute("PRAGMA application_id = 0")


def seal(path: Path) -> None:
    """Write the checksum into a closed SQLite file.

    If another process has the file open, or the file already has a checksum, nothing is written.
    """
    if any(path.with_name(path.name + side).exists() for side in SIDES):
        return
    try:
        with path.open("r+b") as file:
            if os.fstat(file.fileno()).st_size < _HEADER or any(read_at(file.fileno(), _SIZE, _AT)):
                return
            write_at(file.fileno(), _sums(path)[1].to_bytes(_SIZE, "big"), _AT)
    except OSError:  # the file stays without a seal, and the next process checks it instead
        return


def _has_header(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(_HEADER)
    return len(header) == _HEADER and header.startswith(_MAGIC)


def _is_logged(path: Path) -> bool:
    """Whether SQLite has a log with changes next to a database file."""
    for side in LOGS:
        log = path.with_name(path.name + side)
        if log.exists() and log.stat().st_size:
            return True
    return False


def _sums(path: Path) -> tuple[int, int]:
    """Return a file's stored checksum (0 if missing) and its computed one.

    The computed checksum covers all bytes except those of the stored checksum, and is never 0.
    """
    from isal import isal_zlib  # slow to load, and seldom needed

    with path.open("rb") as file:
        first = file.read(_PIECE)
        sealed = int.from_bytes(first[_AT : _AT + _SIZE], "big")
        found = isal_zlib.crc32(first[_AT + _SIZE :], isal_zlib.crc32(first[:_AT]))
        while piece := file.read(_PIECE):
            found = isal_zlib.crc32(piece, found)
    return sealed, found or 1


def sealed_json(value: Mapping[str, Any], **options: Any) -> bytes:
    """Encode an object as JSON whose last entry, "sum", is a hash of the rest.

    Args:
        value: an object with at least one entry and no entry called "sum".
        options: options of `json.dumps`.
    """
    head = json.dumps(value, **options).encode("utf-8", "surrogatepass")[:-1].rstrip()
    return head + b',"sum":"' + _hash(head) + b'"}'


def read_sealed_json(data: bytes) -> dict[str, Any]:
    """Decode the output of `sealed_json`, and check its hash.

    JSON without a hash, from an older version, is accepted.

    Raises:
        ValueError: the data differ from what was written.
    """
    tail = _TAIL.search(data)
    if tail is not None and _hash(data[: tail.start()]) != tail[1]:
        raise ValueError(MISMATCH)
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("the file does not contain a JSON object; graphmem ignores the file")
    if tail is not None:
        del found["sum"]
    elif found and isinstance(last := list(found.values())[-1], str) and len(last) == _LIKE_A_SUM:
        raise ValueError(
            "the file may be damaged, because its last entry is not a valid checksum; graphmem does not use the file; restore it from a "
            "backup if you need its content"
        )
    return found


def _hash(head: bytes) -> bytes:
    return hashlib.blake2b(head, digest_size=16).hexdigest().encode()
