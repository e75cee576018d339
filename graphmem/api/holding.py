"""How many connections a server has, and how long each may keep it waiting, so that nobody can hold it.

A connection that waits for its client (for headers, a body, the next request, or room to write) has a time for that. When there is no
room for another one, whoever has kept the server waiting longest is let go. What is being answered is never let go.
"""

from __future__ import annotations

import asyncio
import enum
import errno
import logging
import math
import resource
import socket
import ssl
import struct
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from graphmem.api.limits import ServerLimits

_log = logging.getLogger(__name__)

OWN_FILES: Final = 128  # descriptors left to the owner's database, side files, git and parsers
LAST_FILES: Final = 32  # of which the last are never given to connections, whatever else is open; an eighth where there are fewer
FEWEST: Final = 16  # connections, however few descriptors there are
LEAST_S: Final = 0.05  # that a connection has for each phase, however many want its place
AT_ONCE: Final = 8  # connections taken in one round of the event loop; fewer than there is room for by far
AGAIN_S: Final = 0.05  # before connections are taken again when the system had no descriptor left
BYTES_A_SECOND: Final = 16_384  # a slower client has no more than the time of its phase
STEP_BYTES: Final = 65_536  # that a client has to take of an answer within the time for writing, before it has as long again
LINGER_S: Final = 5.0  # for a client to read a refusal, or to send the rest of a body nobody wants


class Phase(enum.IntEnum):
    """What a connection waits for."""

    IDLE = 0  # the next request
    HEADERS = 1  # the rest of a TLS handshake or of headers
    BODY = 2
    REST = 3  # of a body whose answer is out
    WRITING = 4  # until the client takes what is ready
    CLOSING = 5  # until it has taken the last of it
    ANSWER = 6  # the server's own work
    STREAM = 7  # a WebSocket


LETTING_GO: Final = frozenset({Phase.IDLE, Phase.HEADERS, Phase.BODY, Phase.REST, Phase.WRITING, Phase.CLOSING})


class Allowed(NamedTuple):
    """Time for a phase."""

    seconds: float
    is_by_size: bool  # a second more for each `BYTES_A_SECOND`


def times(limits: ServerLimits) -> dict[Phase, Allowed]:
    """The time each phase may take; the others end by themselves."""
    return {
        Phase.HEADERS: Allowed(limits.header_seconds, is_by_size=False),
        Phase.BODY: Allowed(limits.body_seconds, is_by_size=True),
        Phase.REST: Allowed(LINGER_S, is_by_size=False),
        Phase.WRITING: Allowed(limits.write_seconds, is_by_size=False),
        Phase.CLOSING: Allowed(LINGER_S, is_by_size=False),
    }


def room(limits: ServerLimits) -> int:
    """How many connections there may be: what the settings allow, less where the process may open few files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = limits.connections if soft == resource.RLIM_INFINITY else soft - OWN_FILES
    return max(FEWEST, min(limits.connections, files))


def cut_off(transport: asyncio.Transport) -> None:
    """End a connection at once. What its client has not taken yet is thrown away, by the system as well."""
    connection = transport.get_extra_info("socket")
    if connection is not None and not transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class Slot:
    """One connection, from the moment it is accepted."""

    def __init__(self, address: str, let_go: Callable[[], object]) -> None:
        self.address = address
        self.let_go = let_go  # ends it at once; its protocol has another way
        self.late: Callable[[], object] = let_go  # ends it when its time is over
        self.look: Callable[[], Phase] = lambda: Phase.HEADERS
        self.phase = Phase.HEADERS
        self.since = time.monotonic()
        self.size = 0  # bytes that came, or wait to be written, in this phase

    def note(self) -> None:
        """See which phase it is in now."""
        phase = self.look()
        if phase is not self.phase:
            self.begin(phase)

    def wait_to_write(self, waiting: int) -> None:
        """So many bytes wait to be taken by the client."""
        if self.phase is Phase.WRITING and waiting <= self.size - STEP_BYTES:
            self.begin(Phase.WRITING)
            self.size = waiting
        else:
            self.size = max(self.size, waiting)

    def begin(self, phase: Phase) -> None:
        """A phase begins, though it be the one before: there was progress."""
        self.phase, self.since, self.size = phase, time.monotonic(), 0


class Connections:
    """All connections of a server.

    Args:
        limits: of the server.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._times = times(limits)
        self._most = room(limits)
        self._most_of_one = min(limits.connections_per_address, self._most - self._most // 4)
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._last_file = None if soft == resource.RLIM_INFINITY else soft - min(LAST_FILES, soft // 8)
        self._slots: set[Slot] = set()
        self._by_address: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._slots)

    def take(self, address: str, descriptor: int, let_go: Callable[[], object]) -> Slot | float:
        """A place for a connection that was accepted, or in how many seconds to ask again; infinity when nobody can be let go for it."""
        # The system gives the lowest free number: one so high means that all below it are in use.
        crowded = self._last_file is not None and descriptor >= self._last_file
        wait_s = 0.0
        if self._by_address[address] >= self._most_of_one:
            wait_s = self.make_room(address)
        elif crowded or len(self._slots) >= self._most:
            wait_s = self.make_room()
        if wait_s:
            return wait_s
        slot = Slot(address, let_go)
        self._slots.add(slot)
        self._by_address[address] += 1
        return slot

    def leave(self, slot: Slot) -> None:
        """A connection is over; twice is once."""
        if slot in self._slots:
            self._slots.discard(slot)
            self._by_address[slot.address] -= 1
            if not self._by_address[slot.address]:
                del self._by_address[slot.address]

    def make_room(self, address: str | None = None) -> float:
        """Let go of the one that has kept the server waiting longest, of an address if one is given.

        Returns:
            0; or how long it still has, and then nobody was let go; or infinity when the server waits for nobody.
        """
        waiting = [slot for slot in self._slots if slot.phase in LETTING_GO and address in (None, slot.address)]
        if not waiting:
            return math.inf
        slot = min(waiting, key=lambda one: one.since)
        left_s = slot.since + LEAST_S - time.monotonic()
        if left_s > 0:
            return left_s
        self.leave(slot)
        slot.let_go()
        return 0.0

    def end_late(self) -> None:
        """End those whose time is over."""
        now = time.monotonic()
        for slot in list(self._slots):
            slot.note()
            allowed = self._times.get(slot.phase)
            if allowed is not None and now - slot.since > allowed.seconds + allowed.is_by_size * slot.size / BYTES_A_SECOND:
                slot.late()


class Acceptor:
    """Takes connections from a listening socket as long as there is room, and hands them to their protocol.

    Has what uvicorn asks of a server: `close` and `wait_closed`.

    Args:
        listener: listens, and does not block.
        connections: all of this server.
        protocol: makes what speaks over a connection.
        tls: how it is encrypted; None for in clear.
        tls_seconds: for the handshake, and for the end.
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
        """Take no more connections."""
        self._loop.remove_reader(self._listener)
        if self._again is not None:
            self._again.cancel()
        for task in self._beginning:
            task.cancel()

    async def wait_closed(self) -> None:
        """Until nothing of it runs."""
        await asyncio.gather(*self._beginning, return_exceptions=True)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):  # the others in the next round: whoever is there already is to be answered, too
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
        """Find a place for a connection; False when the next one is to be taken later."""
        slot = self._connections.take(address, connection.fileno(), connection.close)
        if isinstance(slot, Slot):
            task = self._loop.create_task(self._begin(connection, slot))
            self._beginning.add(task)
            slot.let_go = slot.late = task.cancel
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
        """Leave connections to the system's queue for a moment."""
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
        """Its protocol has the connection now, or nobody: TLS that fails is the client's affair."""
        self._beginning.discard(task)
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or error is not None:
            self._connections.leave(slot)
            connection.close()
        if error is not None and not isinstance(error, OSError):  # ssl.SSLError is one
            _log.error("a connection could not be taken", exc_info=error)
