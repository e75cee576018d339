"""Connections that read one unchanging state of the word index.

Each connection holds a read transaction, which hides later writes from it.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from graphmem.errors import DeadlineError
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.runtime.files.checksums import seal

_READERS: Final = 2
_END_S: Final = 2.0  # how long a close waits for queries
_STEPS: Final = 2_000  # steps of SQLite's virtual machine between two checks of the clock


class WordReaders:
    """A pool of connections to one state of the word index. Thread-safe.

    Args:
        path: the file of the index.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._free: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._entry = threading.Lock()  # readers take it for a moment; a writer holds it, because it needs all connections at once
        self._all = [_reader(path) for _ in range(_READERS)]
        for connection in self._all:
            self._free.put(connection)

    @contextmanager
    def lend(self, deadline: float | None = None) -> Iterator[sqlite3.Connection]:
        """Return a context manager that lends a connection to the word index.

        The connection sees this state of the index. A query that still runs at the deadline is interrupted. `deadline` is a value of
        time.monotonic(); None for no deadline.

        Raises:
            DeadlineError: the deadline passed.
            DamagedWordsError: the file is damaged.
        """
        db = self._take(deadline)
        late = threading.Event()
        if deadline is not None:

            def check() -> int:
                if time.monotonic() > deadline:
                    late.set()
                return late.is_set()

            db.set_progress_handler(check, _STEPS)
        try:
            with damage_named():
                yield db
        except sqlite3.OperationalError as error:
            if late.is_set():
                raise DeadlineError("the word index did not answer in time; try again") from error
            raise
        finally:
            db.set_progress_handler(None, 0)
            self._free.put(db)

    @contextmanager
    def separate(self) -> Iterator[sqlite3.Connection]:
        """Return a context manager that opens a connection for one long read.

        The connection does not belong to the pool, so neither readers nor writers wait for it. It keeps the state of its opening, which can
        be newer than that of the pool. Until it is closed, SQLite keeps the writes of the meantime in the log.

        Raises:
            FileNotFoundError: the file was deleted.
            DamagedWordsError: the file is damaged.
        """
        self._path.stat()  # SQLite would create a missing file
        with damage_named():
            db = _reader(self._path)
            try:
                yield db
            finally:
                db.close()
        seal(self._path)  # has an effect only if the pool was closed meanwhile

    def empty_log(self) -> None:
        """Empty SQLite's write-ahead log, before a write.

        First each connection ends its read transaction, because an open transaction would make the log grow without limit. Then each
        connection begins a new one. No write has happened since the connections were opened, so they see the same rows as before.
        """
        with self._entry:
            connections = [self._free.get() for _ in range(_READERS)]
        try:
            with damage_named():
                for db in connections:
                    db.execute("ROLLBACK")
                connections[0].execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                for db in connections:
                    _pin(db)
        finally:
            for db in connections:
                self._free.put(db)

    def close(self) -> None:
        """Close all connections, and store the file's checksum beside it.

        Queries that run may end before, within `_END_S` seconds.
        """
        until = time.monotonic() + _END_S
        with self._entry, suppress(queue.Empty):
            for _ in self._all:
                self._free.get(timeout=max(0.0, until - time.monotonic()))
        for connection in self._all:
            connection.close()
            self._free.put(connection)  # a later reader gets the error that it is closed
        seal(self._path)

    def _take(self, deadline: float | None) -> sqlite3.Connection:
        def left() -> float:
            return -1 if deadline is None else max(0.0, deadline - time.monotonic())

        if self._entry.acquire(timeout=left()):
            try:
                return self._free.get(timeout=None if deadline is None else left())
            except queue.Empty:
                pass
            finally:
                self._entry.release()
        raise DeadlineError("the word index was busy until the deadline; try again")


def immutable(path: Path) -> sqlite3.Connection:
    """Open a word index read-only, as a file that no process writes to."""
    return sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True, isolation_level=None, check_same_thread=False)


def writer(path: Path) -> sqlite3.Connection:
    """Open a word index for writing, with SQLite's write-ahead log."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000")
    return db


def _reader(path: Path) -> sqlite3.Connection:
    # SQLite makes files next to one with a log even for reading, unless it knows that nobody writes.
    alone = not os.access(path.parent, os.W_OK)
    db = immutable(path) if alone else writer(path)
    # A checkpoint by this connection must not wait for readers of older generations.
    db.execute("PRAGMA busy_timeout = 0")
    db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)")
    db.execute("CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance)")
    db.execute("PRAGMA query_only = ON")
    _pin(db)
    return db


def _pin(db: sqlite3.Connection) -> None:
    """Begin a read transaction, to hide later changes from the connection."""
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM meta").fetchone()


@contextmanager
def damage_named() -> Iterator[None]:
    """Convert SQLite's error for a damaged file to DamagedWordsError.

    Other errors are not converted.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        # These statements are correct: an error means that the tables have changed. Text that is not UTF-8 has no error code.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR:
            raise DamagedWordsError(str(error)) from error
        raise
    except sqlite3.DatabaseError as error:
        raise DamagedWordsError(str(error)) from error
