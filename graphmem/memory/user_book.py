"""A person's own memories, which follow the person into every project.

They are in `~/.graphmem/memories.jsonl`, one JSON object a line, readable by the person alone. The last line of an id counts. Each project
has copies of scope `user`, so that they are ranked together with its own memories.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError

FILE: Final = "memories.jsonl"
USER: Final = "user"  # scope of the copies in a project
MAX_BYTES: Final = 1 << 20
MAX_MEMORIES: Final = 1_000
_PRIVATE: Final = 0o600


class Own(NamedTuple):
    """A memory of a person."""

    id: str
    content: str
    type: str
    tags: tuple[str, ...] = ()


class UserBook:
    """The file of one person's memories. Several processes may use it.

    Args:
        folder: the person's directory, `~/.graphmem`.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def state(self) -> tuple[int, int] | None:
        """Time and size of the file, which change with it; None without one."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def all(self) -> dict[str, Own]:
        """All memories by id. Lines that cannot be read are left out."""
        try:
            with self._file.open("rb") as opened:
                lines = opened.read(MAX_BYTES).split(b"\n")
        except OSError:
            return {}
        found: dict[str, Own] = {}
        for line in lines:
            row = _row(line)
            if row is None:
                continue
            if row.get("removed") is True:
                found.pop(row["id"], None)
            else:
                tags = row.get("tags")
                texts = tuple(one for one in tags if isinstance(one, str)) if isinstance(tags, list) else ()
                found[row["id"]] = Own(row["id"], str(row.get("content") or ""), str(row.get("type") or "preference"), texts)
        return {key: one for key, one in found.items() if one.content}

    def put(self, one: Own) -> None:
        """Store a memory, or replace the one with its id.

        Raises:
            BadInputError: the file is full, or the system refused to write it.
        """
        if len(self.all()) >= MAX_MEMORIES and one.id not in self.all():
            raise BadInputError(f"{self._file} has {MAX_MEMORIES:,} memories; forget some", argument="scope", allowed=MAX_MEMORIES)
        self._append({"id": one.id, "content": one.content, "type": one.type, "tags": list(one.tags)})

    def remove(self, memory_id: str) -> None:
        """Remove a memory from all projects.

        Raises:
            BadInputError: the system refused to write the file.
        """
        if memory_id in self.all():
            self._append({"id": memory_id, "removed": True})

    def _append(self, row: Mapping[str, Any]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND, _PRIVATE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"  # a write that was cut off
                os.write(descriptor, (b"\n" if torn else b"") + json.dumps(row, ensure_ascii=False).encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise BadInputError(f"{self._file} cannot be written ({error.strerror}); check it", path=str(self._file)) from error


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"] else None
