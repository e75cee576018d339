"""Open SQLite files with a format number, readable only by their owner."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from graphmem.errors import GraphMemError, ResourceError
from graphmem.runtime.files.checksums import MISMATCH, Proof, proof
from graphmem.runtime.process.limits import is_disk_full, refusal
from graphmem.runtime.process.system import OPEN

_META: Final = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
WAIT_S: Final = 10  # for another connection's write
_proven: Final[dict[Path, tuple[int, ...]]] = {}  # files whose checksum was read, and their stamp: some are opened often
PRIVATE: Final = 0o600  # of every file of an index: memories may be private


def is_of_system(error: BaseException) -> bool:
    """Whether the system refused to read or write a file, which may be intact.

    `error` is an error of SQLite or of the system. Examples are a full disk and a failed read.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the higher bits give details
    return isinstance(error, OSError) or code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)


def private(path: str, flags: int) -> int:
    """Open a file; if it is new, only its owner may read or write it.

    `flags` are those of `os.open`. The umask has no effect on this. Use the function as the `opener` of `open`.
    """
    return os.open(path, flags | OPEN, PRIVATE)


def private_file(path: Path) -> Path:
    """Create a file readable only by its owner, if missing; return its path.

    Calling this before SQLite opens the file protects SQLite's logs, too, because they get the permissions of the file.
    """
    with contextlib.suppress(OSError):  # the open call reports a file that cannot be made
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | OPEN, PRIVATE))
    return path


@dataclass(frozen=True, slots=True)
class Sidefile:
    """A kind of SQLite file: its tables, its format, and its error class."""

    format: str  # of this program; a file of another one is refused
    schema: tuple[str, ...]  # statements that make its tables, beside `meta` (key, value)
    counter: str  # row of meta that begins at 0, beside `format` and `id`
    error: type[GraphMemError]  # carries `path` and `reason`
    advice: str  # what to do with an unusable file
    explicit: bool = False  # callers begin transactions themselves

    def connect(self, path: Path, *, create: bool, memory: sqlite3.Connection | None = None) -> sqlite3.Connection:
        """Open and check a SQLite file of this kind.

        Any thread may use the connection, but only one at a time.

        Args:
            path: path of the file.
            create: create the file if it is missing or empty.
            memory: a database in memory with the decrypted content of the file, used instead of `path`; see `vault.connected`.

        Raises:
            GraphMemError: the file is damaged or unreadable, or has another format. The class is `self.error`.
        """
        reading = not os.access(path.parent, os.W_OK) and path.exists()
        # SQLite creates files beside one with a log even for reading, unless it is told that there is no writer.
        address = f"file:{quote(str(path))}?{'immutable=1' if reading else 'mode=rwc' if create else 'mode=rw'}"
        if memory is None and path.exists() and _proven.get(path) != (stamp := _stamp(path)):
            if proof(path) is Proof.DAMAGED:
                raise self.unreadable(path, MISMATCH)
            _proven[path] = stamp
        if memory is None and create and not reading:
            private_file(path)
        try:
            if memory is not None:
                db = memory
            else:
                db = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=WAIT_S, isolation_level=None)
            try:
                if memory is None and not reading:
                    db.execute("PRAGMA journal_mode = WAL")  # readers need not wait
                    db.execute("PRAGMA synchronous = NORMAL")  # a lost machine may lose the last changes, a lost process none
                found = _format(db)
                if found == "" and create:
                    self._make(db)
                    found = self.format
                if not self.explicit:
                    db.isolation_level = "DEFERRED"
            except sqlite3.Error:
                db.close()
                raise
        except sqlite3.Error as error:
            raise self.unreadable(path, error) from error
        if found != self.format:
            db.close()
            raise self.error(
                f"{path} has format {found or 'unknown'}, and this graphmem reads format {self.format}; {self.advice}",
                path=str(path),
                reason="format",
            )
        return db

    def unreadable(self, path: Path, error: sqlite3.Error | str) -> GraphMemError:
        """Return the error to raise for a SQLite file that cannot be read.

        If memory, descriptors or disk space ran out, the error says this and not `advice`. Otherwise its class is `self.error`.
        """
        if isinstance(error, sqlite3.Error):
            if is_of_system(error) and is_disk_full(path.parent):
                said = f"{path} cannot be read, because its disk is full and SQLite needs room even to read; make room and try again"
                return self.error(said, path=str(path), reason=str(error))
            if isinstance(refused := refusal(error, f"opening {path}", path), ResourceError):
                return refused
        return self.error(f"{path} cannot be read ({error}); {self.advice}", path=str(path), reason=str(error))

    def _make(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        for statement in (_META, *self.schema):
            db.execute(statement)
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("format", self.format), ("id", os.urandom(8).hex()), (self.counter, "0")])
        db.execute("COMMIT")


def _stamp(path: Path) -> tuple[int, ...]:
    """Return (time, size, inode) of a file; a write changes them."""
    about = path.stat()
    return about.st_mtime_ns, about.st_size, about.st_ino


def _format(db: sqlite3.Connection) -> str:
    """Return the format that a SQLite file declares; "" for a new file."""
    if not db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()[0]:
        return ""
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return str(row[0]) if row else "unknown"
