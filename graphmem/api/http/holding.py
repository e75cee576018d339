"""Limit the number of connections, and how long they may wait.

A connection that waits for its client (for headers, a body, the next request, or the reading of an answer) has a time limit. If the server
is full, the connection that has waited for its client for the longest time is closed. A connection whose request is being answered is never
closed.
"""

from __future__ import annotations

import asyncio
import enum
import errno
import logging
import math
import socket
import ssl
import struct
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.runtime.process.system import soft_limit

if TYPE_CHECKING:
    from graphmem.api.requests.limits import ServerLimits

_log = logging.getLogger(__name__)

OWN_FILES: Final = 128  # descriptors reserved for the database, side files, git and parsers
LAST_FILES: Final = 32  # of these, the last ones that connections never get; an eighth if the process has few
FEWEST: Final = 16  # connections, even if the process has few descriptors
LEAST_S: Final = 0.05  # minimum time for each phase, even if the server is full
AT_ONCE: Final = 8  # connections accepted in one round of the event loop; far fewer than the maximum
AGAIN_S: Final = 0.05  # until the next accept after the system ran out of descriptors
BYTES_A_SECOND: Final = 16_384  # at this rate or faster a client gets additional time
STEP_BYTES: Final = 65_536  # progress of a client that restarts the time for writing
LINGER_S: Final = 5.0  # for a client to read an error, or to send the rest of an unwanted body


class Phase(enum.IntEnum):
    """State of an open connection: the event for which it waits."""

    IDLE = 0  # the next request
    HEADERS = 1  # the rest of a TLS handshake or of headers
    BODY = 2
    REST = 3  # of a body whose answer was sent
    WRITING = 4  # until the client reads the answer
    CLOSING = 5  # until it has read the last of it
    ANSWER = 6  # the server computes it
    STREAM = 7  # a WebSocket


LETTING_GO: Final = frozenset({Phase.IDLE, Phase.HEADERS, Phase.BODY, Phase.REST, Phase.WRITING, Phase.CLOSING})


class Allowed(NamedTuple):
    """The maximum time of a connection in one phase, such as sending a body."""

    seconds: float
    is_by_size: bool  # one more second for each `BYTES_A_SECOND`


def times(limits: ServerLimits) -> dict[Phase, Allowed]:
    """Map each phase, such as the sending of a body, to its time limit.

    A phase that is not in the result has no limit.
    """
    return {
        Phase.HEADERS: Allowed(limits.header_seconds, is_by_size=False),
        Phase.BODY: Allowed(limits.body_seconds, is_by_size=True),
        Phase.REST: Allowed(LINGER_S, is_by_size=False),
        Phase.WRITING: Allowed(limits.write_seconds, is_by_size=False),
        Phase.CLOSING: Allowed(LINGER_S, is_by_size=False),
    }


def room(limits: ServerLimits) -> int:
    """Return the maximum number of connections that the server accepts.

    The result is the configured number, or less if the process may open fewer files.
    """
    soft = soft_limit("NOFILE")
    files = limits.connections if soft is None else soft - OWN_FILES
    return max(FEWEST, min(limits.connections, files))


def cut_off(transport: asyncio.Transport) -> None:
    """Close a connection at once.

    Data that the client has not read is dropped, also from the operating system's buffer.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None and not transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class Slot:
    """The record of one accepted connection, with the event it waits for."""

    def __init__(self, address: str, close_now: Callable[[], object]) -> None:
        self.address = address
        self.close_now = close_now  # ends it at once; its protocol replaces this
        self.late: Callable[[], object] = close_now  # ends it when its time limit has passed
        self.look: Callable[[], Phase] = lambda: Phase.HEADERS
        self.phase = Phase.HEADERS
        self.since = time.monotonic()
        self.size = 0  # bytes received, or waiting to be written, in this phase

    def note(self) -> None:
        """Find out what the connection is waiting for, and store it in `phase`.

        If the phase changed, its time limit starts again.
        """
        phase = self.look()
        if phase is not self.phase:
            self.begin(phase)

    def wait_to_write(self, waiting: int) -> None:
        """Note how many bytes of an answer the client has not read yet.

        Each time this number has dropped by `STEP_BYTES`, the time limit for reading starts again.
        """
        if self.phase is Phase.WRITING and waiting <= self.size - STEP_BYTES:
            self.begin(Phase.WRITING)
            self.size = waiting
        else:
            self.size = max(self.size, waiting)

    def begin(self, phase: Phase) -> None:
        """Record that the connection begins to wait for the event `phase`.

        The time limit starts again, even if the connection was already in this phase.
        """
        self.phase, self.since, self.size = phase, time.monotonic(), 0


class Connections:
    """All connections of a server, with limits in total and by address.

    Args:
        limits: limits of the server.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._times = times(limits)
        self._most = room(limits)
        self._most_of_one = min(limits.connections_per_address, self._most - self._most // 4)
        soft = soft_limit("NOFILE")
        self._last_file = None if soft is None else soft - min(LAST_FILES, soft // 8)
        self._slots: set[Slot] = set()
        self._by_address: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._slots)

    def take(self, address: str, descriptor: int, close_now: Callable[[], object]) -> Slot | float:
        """Register a new connection; return its record, or seconds to wait.

        If the server or `address` has too many connections, one that waits for its client is closed. If none may be closed yet, the new
        connection is not registered. Then the result is the number of seconds after which to try again. The number is infinite if no
        connection waits for its client.

        Args:
            address: address of the client.
            descriptor: file descriptor of the connection; a high number means that the process has many open files.
            close_now: closes the new connection at once.
        """
        # The system gives the lowest free number, so all lower ones are in use.
        crowded = self._last_file is not None and descriptor >= self._last_file
        wait_s = 0.0
        if self._by_address[address] >= self._most_of_one:
            wait_s = self.make_room(address)
        elif crowded or len(self._slots) >= self._most:
            wait_s = self.make_room()
        if wait_s:
            return wait_s
        slot = Slot(address, close_now)
        self._slots.add(slot)
        self._by_address[address] += 1
        return slot

    def leave(self, slot: Slot) -> None:
        """Unregister a connection that ended; a repeated call has no effect."""
        if slot in self._slots:
            self._slots.discard(slot)
            self._by_address[slot.address] -= 1
            if not self._by_address[slot.address]:
                del self._by_address[slot.address]

    def make_room(self, address: str | None = None) -> float:
        """Close the connection that has waited longest for its client.

        Args:
            address: choose only among connections of this address; None for all.

        Returns:
            0 if a connection was closed. If none may be closed yet, the seconds until one may; infinite if no connection waits for its
                client.
        """
        waiting = [slot for slot in self._slots if slot.phase in LETTING_GO and address in (None, slot.address)]
        if not waiting:
            return math.inf
        slot = min(waiting, key=lambda one: one.since)
        left_s = slot.since + LEAST_S - time.monotonic()
        if left_s > 0:
            return left_s
        self.leave(slot)
        slot.close_now()
        return 0.0

    def end_late(self) -> None:
        """End connections that have waited longer than their time limit."""
        now = time.monotonic()
        for slot in list(self._slots):
            slot.note()
            allowed = self._times.get(slot.phase)
            if allowed is not None and now - slot.since > allowed.seconds + allowed.is_by_size * slot.size / BYTES_A_SECOND:
                slot.late()


class Acceptor:
    """Accepts connections of clients while the server is not full.

    `close` and `wait_closed` are the methods that uvicorn expects of a server.

    Args:
        listener: a listening, non-blocking socket.
        connections: all connections of this server.
        protocol: returns the protocol object for a connection's record.
        tls: the TLS context; None for plain text.
        tls_seconds: time limit of the handshake.
    """

    def __init__(
        self,
        listener: socket.socket,
        connections: Connections,
        protocol: Callable[[Slot], asyncio.Protocol],
        tls: ssl.SSLContext | None,
        tls_seconds: float,
    ) -> None:
        self._listener = listener
        self._connections = connections
        self._protocol = protocol
        self._tls: dict[str, Any] = (
            {"ssl": tls, "ssl_handshake_timeout": tls_seconds, "ssl_shutdown_timeout": LINGER_S} if tls is not None else {}
        )
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[None]] = set()
        self._again: asyncio.TimerHandle | None = None
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        """Accept no more connections; existing ones continue."""
        self._loop.remove_reader(self._listener)
        if self._again is not None:
            self._again.cancel()
        for task in self._beginning:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until all tasks that start connections have ended.

        `close` has cancelled these tasks.
        """
        await asyncio.gather(*self._beginning, return_exceptions=True)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):  # the others in the next round, so that open connections are answered too
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    self._connections.make_room()
                self._pause(AGAIN_S, self._resume)
                return
            if not self._take(connection, address[0]):
                return

    def _take(self, connection: socket.socket, address: str) -> bool:
        """Register a new connection; return whether more may be accepted now.

        If the server is full and none of its connections can be closed, the new connection is closed. If one can be closed soon, the result
        is False: the new connection waits until then, and no others are accepted.
        """
        slot = self._connections.take(address, connection.fileno(), connection.close)
        if isinstance(slot, Slot):
            task = self._loop.create_task(self._begin(connection, slot))
            self._beginning.add(task)
            slot.close_now = slot.late = task.cancel
            task.add_done_callback(partial(self._begun, connection, slot))
            return True
        if slot == math.inf:
            connection.close()
            return True

        def again() -> None:
            if self._take(connection, address):
                self._resume()

        self._pause(slot, again)
        return False

    def _pause(self, seconds: float, following: Callable[[], None]) -> None:
        """Stop accepting connections for some seconds, then call `following`.

        Meanwhile new connections wait in the operating system's queue.
        """
        self._loop.remove_reader(self._listener)
        self._again = self._loop.call_later(seconds, following)

    def _resume(self) -> None:
        self._loop.add_reader(self._listener, self._accept)

    async def _begin(self, connection: socket.socket, slot: Slot) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol = self._protocol(slot)
        await self._loop.connect_accepted_socket(lambda: protocol, connection, **self._tls)

    def _begun(self, connection: socket.socket, slot: Slot, task: asyncio.Task[None]) -> None:
        """Clean up after `task`, which has started a connection or failed.

        If `task` failed, the connection is closed. A failed TLS handshake is not logged, because the client caused it.
        """
        self._beginning.discard(task)
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or error is not None:
            self._connections.leave(slot)
            connection.close()
        if error is not None and not isinstance(error, OSError):  # ssl.SSLError is one
            _log.error("a connection could not be started; the server continues", exc_info=error)
