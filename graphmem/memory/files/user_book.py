"""A person's own memories, which are available in every project.

They are in `~/.graphmem/memories.jsonl`. Each line of the file is a JSON object, and only the person can read the file. Each project has
copies of scope `user`, which are ranked together with the project's memories.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process import system

FILE: Final = "memories.jsonl"
USER: Final = "user"  # scope of the copies in a project
MAX_BYTES: Final = 64 << 20
MAX_MEMORIES: Final = 1_000
_PRIVATE: Final = 0o600
_FOLDER: Final = 0o700


class Own(NamedTuple):
    """One memory of a person, as the file in the home directory stores it."""

    id: str
    content: str
    type: str
    tags: tuple[str, ...] = ()


class UserBook:
    """The file of one person's own memories, safe for several processes.

    Args:
        folder: the person's directory, `~/.graphmem`.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def state(self) -> tuple[int, int] | None:
        """(Modification time, size) of the person's file; None if it is missing."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def all(self) -> dict[str, Own]:
        """Return all memories of the person, as a mapping from id to memory.

        Invalid lines of the file are left out.

        Raises:
            BadInputError: the file is too large, or the file cannot be read.
        """
        try:
            with self._file.open("rb") as opened:
                data = opened.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable("read", error) from error
        if len(data) > MAX_BYTES:
            raise BadInputError(f"{self._file} is larger than {MAX_BYTES:,} bytes; shorten the file", path=str(self._file))
        lines = data.split(b"\n")
        found: dict[str, Own] = {}
        for line in lines:
            row = _row(line)
            if row is None:
                continue
            tags = row.get("tags")
            texts = tuple(one for one in tags if isinstance(one, str)) if isinstance(tags, list) else ()
            found[row["id"]] = Own(row["id"], str(row.get("content") or ""), str(row.get("type") or "preference"), texts)
        return {key: one for key, one in found.items() if one.content}

    def put(self, one: Own) -> None:
        """Store a memory in the person's file.

        It replaces a stored memory with the same id.

        Raises:
            BadInputError: the file has reached its maximum size, or cannot be written.
        """
        with self._writing() as known:
            if len(known) >= MAX_MEMORIES and one.id not in known:
                raise BadInputError(
                    f"{self._file} has {MAX_MEMORIES:,} memories, which is the maximum; remove some with `graphmem memory forget`",
                    argument="scope",
                    allowed=MAX_MEMORIES,
                )
            known[one.id] = one

    def remove(self, memory_id: str) -> None:
        """Remove a memory from the person's file, and so from all projects.

        Raises:
            BadInputError: the file cannot be written.
        """
        with self._writing() as known:
            known.pop(memory_id, None)

    @contextmanager
    def _writing(self) -> Iterator[dict[str, Own]]:
        """Yield the memories of the file, to be changed; then write them back.

        The file is locked meanwhile. If an error occurs, nothing is changed.
        """
        try:
            self._file.parent.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
            with _private(self._file.with_name(FILE + ".lock")) as lock:
                system.lock(lock.fileno(), wait=True)
                known = self.all()
                before = dict(known)
                yield known
                if known == before:
                    return
                lines = [json.dumps(one._asdict(), ensure_ascii=False) + "\n" for one in known.values()]
                replace_file(self._file, "".join(lines).encode("utf-8", "surrogatepass"), durable=True)
        except OSError as error:
            raise self._unusable("written", error) from error

    def _unusable(self, how: str, error: OSError) -> BadInputError:
        return BadInputError(f"{self._file} cannot be {how} ({error.strerror}); check its permissions and the disk", path=str(self._file))


def _private(path: Path) -> IO[bytes]:
    """Open a file for writing that only its owner can read."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | system.OPEN, _PRIVATE), "r+b")


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"] else None
