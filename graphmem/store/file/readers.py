"""Pool of connections for reads; each read uses its own connection."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphmem.errors import StoreBusyError

if TYPE_CHECKING:
    from graphmem.store.engine.engine import Connection, RawDatabase


HELD_BYTES: Final = 1 << 20  # Arrow data a reading connection may hold before it is renewed


class Readers:
    """A pool of connections of one open database.

    Connections are created on demand, at most `capacity`. Statements of two threads on one connection corrupt the heap,
    so a connection is never shared.
    """

    def __init__(self, database: RawDatabase, capacity: int) -> None:
        self._database = database
        self._free: list[Connection] = []
        self._lock = threading.Lock()
        self._places = threading.Semaphore(capacity)
        self._capacity = capacity

    @contextlib.contextmanager
    def one(self, wait_s: float) -> Iterator[Connection]:
        """Lend a connection to the caller for a `with` block.

        Raises:
            StoreBusyError: all connections are in use for longer than `wait_s`.
        """
        if not self._places.acquire(timeout=wait_s):
            raise StoreBusyError(
                f"{self._capacity} reads of the database are running already, which is the maximum; try again",
                path=str(self._database.path),
                owner=None,
                retry_after=1.0,
            )
        try:
            with self._lock:
                connection = self._free.pop() if self._free else self._database.connect()
            try:
                yield connection
            finally:
                with self._lock:
                    self._free.append(self._database.renew(connection) if connection.held_bytes > HELD_BYTES else connection)
        finally:
            self._places.release()
