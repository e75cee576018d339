"""HTTP and WebSocket protocols of uvicorn, with limits on clients.

Requests with too large or too slow headers, or with bodies that do not arrive, are refused here and never reach the application.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from graphmem.api.execution.failures import payload
from graphmem.api.http.holding import Connections, Phase, Slot, cut_off

HEADERS: Final = 100  # maximum headers of one request
PIPELINED: Final = 32  # requests that may wait for the answer of an earlier one
FRAMING: Final = 16  # bytes of framing allowed for each byte of a chunked body

REFUSALS: Final = {
    400: ("BAD_INPUT", "The request is not valid HTTP; correct the client that sends it"),
    408: ("TIMEOUT", "The request did not arrive in time; send it again"),
    431: ("LIMIT", "The headers of the request are too large; send fewer and shorter ones"),
    503: ("LIMIT", "Too many requests were sent before the first was answered; wait for answers"),
}


class _RefusedError(Exception):
    """Raised to stop parsing a refused request.

    The parser wraps this error in an error of its own.
    """


class BoundedHttp(HttpToolsProtocol):
    """One HTTP connection, with limits on size and time of headers and bodies.

    Args:
        header_bytes: maximum size of the headers of one request, including its first line.
        connections: all connections of the server.
        slot: the record of this connection in `connections`.
        **uvicorn: arguments for uvicorn's protocol.
    """

    def __init__(self, header_bytes: int, connections: Connections, slot: Slot, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._most = header_bytes
        self._all = connections
        self._slot = slot
        self._head = 0  # parsed bytes of this request's headers
        self._loose = 0  # bytes of headers or framing since the last complete element
        self._body = 0  # bytes of bodies in this chunk
        self._in_headers = False
        self._refused = 400
        self._running: RequestResponseCycle | None = None  # the request being answered; `cycle` is the last received

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, after the TLS handshake if TLS is used."""
        super().connection_made(transport)
        slot = self._slot
        slot.close_now, slot.late, slot.look = self._close_now, self._end_late, self._phase

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the ended connection from the server's list of connections."""
        self._all.leave(self._slot)
        self._tell_gone()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _tell_gone(self) -> None:
        """Tell the application that answers a request that its client left."""
        for cycle in (self._running, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _close_now(self) -> None:
        self._tell_gone()
        cut_off(self.transport)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes and refuse too many bytes of headers."""
        self._body = 0
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        self._loose = max(0, self._loose + len(data) - FRAMING * self._body)
        if self._loose > self._most and (self._in_headers or self._owes_body()):
            self._refuse(431)
            return
        self._slot.note()
        self._slot.size += self._body

    def on_message_begin(self) -> None:
        """Begin a request, whose first bytes were received."""
        super().on_message_begin()
        self._head, self._in_headers = 0, True

    def on_url(self, url: bytes) -> None:
        """Add a part of the request's address to the parts received before."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header of the request, or a trailer after a chunked body."""
        self._count(len(name) + len(value))
        if len(self.headers) >= HEADERS:
            self._stop(431)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to answer the request; its body may follow."""
        self._loose, self._in_headers = 0, False
        if len(self.pipeline) >= PIPELINED:
            self._stop(503)
        self._make_relative()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Add a part of the request's body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the whole body of a request has been received."""
        self._loose = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Note that the whole answer to a request has been written."""
        super().on_response_complete()
        self._slot.note()

    def resume_writing(self) -> None:
        """Continue sending after the client has read the waiting data."""
        super().resume_writing()
        self._slot.begin(self._phase())

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the WebSocket protocol.

        The connection keeps its slot (its record in `Connections`). So it is counted only once.
        """
        self.ws_protocol_class = partial(BoundedWebSocket, self._all, self._slot)  # type: ignore[assignment]
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that could not be parsed or exceeded a limit."""
        self._refuse(self._refused)

    def _make_relative(self) -> None:
        """Reduce a request target with a host (`http://host/path`) to its path.

        The host replaces the value of the `Host` header (RFC 9112, 3.2.2).
        """
        before, found, after = self.url.partition(b"://")
        if found and not before.startswith(b"/"):
            ends = [at for at in map(after.find, (b"/", b"?")) if at >= 0]
            at = min(ends, default=len(after))
            self.url = after[at:] if after[at:].startswith(b"/") else b"/" + after[at:]
            self.headers[:] = [(name, after[:at] if name == b"host" else value) for name, value in self.headers]
        httptools.parse_url(self.url)

    def _phase(self) -> Phase:
        transport, cycle = self.transport, self.cycle
        waiting = transport.get_write_buffer_size()
        if waiting:
            self._slot.wait_to_write(waiting)
            return Phase.CLOSING if transport.is_closing() else Phase.WRITING
        if transport.is_closing():
            return Phase.CLOSING
        if cycle is not None and not cycle.response_complete:
            return Phase.BODY if self._owes_body() else Phase.ANSWER
        if cycle is None or self._in_headers:
            return Phase.HEADERS
        return Phase.REST if cycle.more_body else Phase.IDLE

    def _owes_body(self) -> bool:
        return self.cycle is not None and self.cycle.more_body and not self.flow.read_paused

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > self._most:
            self._stop(431)

    def _stop(self, status: int) -> None:
        self._refused = status
        raise _RefusedError

    def _end_late(self) -> None:
        phase = self._slot.phase
        if phase in (Phase.HEADERS, Phase.BODY) and (self.cycle is None or not self.cycle.response_started or self.cycle.response_complete):
            self._refuse(408)
        else:
            self._close_now()

    def _refuse(self, status: int) -> None:
        """Answer a refused request with its HTTP status, and close the connection.

        If the client does not read the answer in time, the connection is closed at once.
        """
        code, said = REFUSALS[status]
        body = orjson.dumps(payload(code, said))
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self._tell_gone()
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()
        self._slot.note()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One WebSocket, which replaces the HTTP connection of its handshake.

    Args:
        connections: all connections of the server.
        slot: the record of this connection in `connections`.
        **uvicorn: arguments for uvicorn's protocol.
    """

    def __init__(self, connections: Connections, slot: Slot, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._all = connections
        self._slot = slot

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the WebSocket on the connection that its handshake used."""
        super().connection_made(transport)
        slot = self._slot
        slot.close_now = slot.late = partial(cut_off, self.transport)
        slot.look = self._phase
        slot.note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the ended WebSocket from the server's list of connections."""
        self._all.leave(self._slot)
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        """Continue sending after the client has read the waiting data."""
        super().resume_writing()
        self._slot.begin(self._phase())

    def _phase(self) -> Phase:
        waiting = self.transport.get_write_buffer_size()
        if waiting:
            self._slot.wait_to_write(waiting)
        if self.transport.is_closing():
            return Phase.CLOSING
        return Phase.WRITING if waiting else Phase.STREAM
