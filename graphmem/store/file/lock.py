"""The lock on a database: only one process opens it, and only once.

The engine's own lock is dropped when any handle on the file is closed. The engine also allows a second handle in the same process, which
loses committed rows. So each process keeps a register of its open databases. A lock file next to the database tells other processes which
process has the database open.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

from graphmem import __version__
from graphmem.errors import StoreBusyError
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.sqlite_file import PRIVATE
from graphmem.runtime.process import system
from graphmem.store.file.files import beside

RECORD_BYTES: Final = 1024  # a record overwrites the previous one in a single write

_register: dict[tuple[object, ...], Path] = {}
_register_lock = threading.Lock()
_held: set[DatabaseLock] = set()


class Holder(TypedDict):
    """The process that has a database open, for messages and JSON."""

    pid: int
    host: str
    since: str  # time of opening
    version: str  # of graphmem


class Record(NamedTuple):
    """Content of the lock file: owner process, and state of the database.

    The owner is the process that has the database open, or had it open last.
    """

    pid: int
    host: str
    since: str  # UTC, ISO 8601
    version: str  # of graphmem
    engine: str
    clean: bool  # the last owner closed it, and its log is empty
    size: int  # bytes of the database file at that time
    database: str  # identity of the database, kept in Meta
    checkpoint: int  # number of its checkpoints, kept in Meta
    log: int  # bytes of the write-ahead log that are complete transactions; the rest was being written
    compact: int = 0  # bytes of the file when it was last written as a whole; 0: unknown
    checksum: int = 0  # of the whole file, when it is clean; 0: unknown
    known: str = ""  # its content, when it is clean, see `store.file.resting`; empty: unknown

    @property
    def owner(self) -> Holder:
        """The process that has the database open, with its host and version."""
        return {"pid": self.pid, "host": self.host, "since": self.since, "version": self.version}


class DatabaseLock:
    """The lock on one open database: a register entry and a lock file.

    Args:
        path: resolved path of the database file.
        engine: name of the database's engine.
        shared: whether the database is opened read-only, so that other processes may read too.

    Raises:
        StoreBusyError: this or another process has the database open. The attribute `owner` has facts about that process; None if unknown.
    """

    def __init__(self, path: Path, engine: str, shared: bool) -> None:
        self.path = path
        self._engine = engine
        self._shared = shared
        self._since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._keys = _keys(path)
        self._descriptor: int | None = None
        self.previous: Record | None = None
        self.note = ""  # why the state of the database is unknown, if its record is damaged
        with _register_lock:
            for key in self._keys:
                if key in _register:
                    raise StoreBusyError(
                        f"this process already has the database {_register[key]} open; use the open store, or close it first",
                        path=str(path),
                        owner={"pid": os.getpid(), "host": socket.gethostname()},
                    )
            self._acquire()
            for key in self._keys:
                _register[key] = path
            _held.add(self)

    def note_file(self) -> None:
        """Register the database file again, after it was created or replaced.

        The register lists the files that this process has open, by path and inode. A replaced file has another inode.
        """
        with _register_lock:
            for key in self._keys:
                _register.pop(key, None)
            self._keys = _keys(self.path)
            for key in self._keys:
                _register[key] = self.path

    def write(self, *, clean: bool, database: str, checkpoint: int, log: int, compact: int = 0, checksum: int = 0, known: str = "") -> None:
        """Write the state of the database to the lock file.

        The arguments are fields of `Record`. One system call writes the record, so a killed process leaves either the new or the previous
        record.
        """
        if self._descriptor is None or self._shared:
            return
        size = self.path.stat().st_size if self.path.exists() else 0
        who = (os.getpid(), socket.gethostname(), self._since, __version__, self._engine)
        record = Record(*who, clean, size, database, checkpoint, log, compact, checksum, known)
        data = sealed_json(record._asdict(), indent=1).ljust(RECORD_BYTES)
        system.write_at(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))

    def release(self) -> None:
        """Release the lock on the database. Idempotent."""
        with _register_lock:
            for key in self._keys:
                _register.pop(key, None)
            _held.discard(self)
            if self._descriptor is not None:
                system.unlock(self._descriptor)
                os.close(self._descriptor)
                self._descriptor = None

    def _acquire(self) -> None:
        file = beside(self.path, ".lock")
        flags = os.O_RDWR | os.O_CREAT | system.OPEN
        try:
            descriptor = os.open(file, flags, PRIVATE)
        except OSError:
            if not self._shared:
                raise
            try:  # a directory that is not writable
                descriptor = os.open(file, os.O_RDONLY | system.OPEN)
            except (FileNotFoundError, PermissionError):
                return  # has no writer, or belongs to another account: the engine's own lock on the file keeps writers and readers apart
        try:
            system.lock(descriptor, shared=self._shared)
        except OSError as error:
            record = _parse(descriptor)
            os.close(descriptor)
            who = f"process {record.pid} on {record.host} since {record.since}" if record else "another process"
            raise StoreBusyError(
                f"the database {self.path} is open in {who}; use that process, or stop it first",
                path=str(self.path),
                owner=record.owner if record else None,
            ) from error
        self._descriptor = descriptor
        self.previous = _parse(descriptor)
        # An empty one has no information: this open made it, or one that was refused before it could write.
        if self.previous is None and os.fstat(descriptor).st_size and self.path.exists() and not self._shared:
            self.note = (
                f"{file.name} was damaged: whether a byte of {self.path.name} has flipped cannot be told, it was examined and opened"
            )

    def forget_in_child(self) -> None:
        """Forget the lock in a forked child; the parent keeps the lock.

        Only the child's copy of the lock file's descriptor is closed.
        """
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def read_record(path: Path) -> Record | None:
    """Read the lock file of a database, locked or not; None if missing."""
    try:
        descriptor = os.open(beside(path, ".lock"), os.O_RDONLY | system.OPEN)
    except OSError:
        return None
    try:
        return _parse(descriptor)
    except IsADirectoryError:
        return None
    finally:
        os.close(descriptor)


def _parse(descriptor: int) -> Record | None:
    try:
        found = read_sealed_json(system.read_at(descriptor, 65_536, 0).rstrip(b" "))
        return Record(**{name: kind(found.get(name, kind()) if name in _LATER else found[name]) for name, kind in _TYPES.items()})
    except (ValueError, KeyError, TypeError):
        return None


_LATER: Final = ("log", "compact", "checksum", "known")  # missing in records of older versions
_TYPES: dict[str, Any] = {
    "pid": int,
    "host": str,
    "since": str,
    "version": str,
    "engine": str,
    "clean": bool,
    "size": int,
    "database": str,
    "checkpoint": int,
    "log": int,
    "compact": int,
    "checksum": int,
    "known": str,
}


def _keys(path: Path) -> list[tuple[object, ...]]:
    keys: list[tuple[object, ...]] = [("path", str(path))]
    if path.exists():
        status = path.stat()
        keys.append(("inode", status.st_dev, status.st_ino))
    return keys


def _after_fork() -> None:
    global _register_lock
    _register_lock = threading.Lock()
    for lock in list(_held):
        lock.forget_in_child()
    _held.clear()
    _register.clear()


system.after_fork(_after_fork)
