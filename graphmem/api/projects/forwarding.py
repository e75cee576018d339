"""Pass a request to another server process, and its answer to the client.

Several processes may serve the projects of one directory. The process that has a project open answers all requests for this project. It
gets the client's address and `Host` in headers, and trusts these headers only with its own secret.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import httptools
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from graphmem.api.http.security import refuse
from graphmem.errors import OwnerUnreachableError
from graphmem.runtime.identity import INDEX_HEADER
from graphmem.server.owner import is_running, refusal_if_stopped

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from graphmem.server.owner import Owner

PEER_HEADER: Final = b"graphmem-peer"  # the secret of the receiving server
CLIENT_HEADER: Final = b"graphmem-client"  # address and port of the client
HOST_HEADER: Final = b"graphmem-host"  # `Host` of the client's request
_OWN: Final = frozenset((PEER_HEADER, CLIENT_HEADER, HOST_HEADER))
_PER_CONNECTION: Final = frozenset(
    (b"connection", b"expect", b"host", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)
_OF_ANSWERS: Final = _PER_CONNECTION | {b"date"}  # headers of an answer that this server's own protocol adds
_CONNECT_S: Final = 5.0
_LOOK_S: Final = 1.0  # between two checks of the other server's process, until its answer begins
_CHUNK: Final = 64 << 10
_RESTARTING: Final = 1012  # code of a WebSocket whose server ends; clients connect again
_Headers = list[tuple[bytes, bytes]]


async def forward(peer: Owner, scope: Scope, receive: Receive, send: Send) -> bool:
    """Pass a request or WebSocket to another server, and its answer back.

    Returns whether the request was answered. If not, no part of the request was read, so it can be handled otherwise.
    """
    if (stopped := refusal_if_stopped(peer)) is not None:
        await refuse(stopped, scope, receive, send)
        return True
    if scope["type"] == "websocket":
        return await _websocket(peer, scope, receive, send)
    return await _http(peer, scope, receive, send)


def passed_on(scope: Scope) -> Scope:
    """Return the ASGI scope of a forwarded request with the original client.

    The address of the client and the `Host` come from the headers that the forwarding server added. Several `Host` headers stay several,
    because a check refuses them.
    """
    given = dict(scope["headers"])
    name, _, port = given.get(CLIENT_HEADER, b"").decode("latin-1").rpartition(" ")
    headers = [(key, value) for key, value in scope["headers"] if key not in _OWN and key != b"host"]
    hosts = [(b"host", value) for key, value in scope["headers"] if key == HOST_HEADER]
    return {**scope, "headers": hosts + headers, "client": (name, int(port)) if port.isdecimal() else None}


def without_own(scope: Scope) -> Scope:
    """Return a request's ASGI scope without headers that only servers send."""
    return {**scope, "headers": [(key, value) for key, value in scope["headers"] if key not in _OWN]}


def _headers(peer: Owner, scope: Scope) -> _Headers:
    passed = [(key, value) for key, value in scope["headers"] if key not in _PER_CONNECTION]
    name, port = scope.get("client") or ("", 0)
    host = [(HOST_HEADER, value) for key, value in scope["headers"] if key == b"host"]
    return [*passed, *host, (PEER_HEADER, peer.token.encode()), (CLIENT_HEADER, f"{name} {port}".encode("latin-1", "replace"))]


def _target(scope: Scope) -> bytes:
    path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
    query: bytes = scope.get("query_string", b"")
    return path + (b"?" + query if query else b"")


# ---- requests and their answers


async def _http(peer: Owner, scope: Scope, receive: Receive, send: Send) -> bool:
    place = urlsplit(peer.address)
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
    except (OSError, TimeoutError):
        return False
    headers = [(b"host", place.netloc.encode()), (b"connection", b"close"), *_headers(peer, scope)]
    is_chunked = any(key == b"transfer-encoding" for key, _ in scope["headers"])
    if is_chunked:
        headers.append((b"transfer-encoding", b"chunked"))
    head = b"%s %s HTTP/1.1\r\n" % (scope["method"].encode(), _target(scope))
    writer.write(head + b"".join(b"%s: %s\r\n" % one for one in headers) + b"\r\n")
    reply = _Reply(has_body=scope["method"] != "HEAD")
    sending = asyncio.create_task(_send_body(receive, writer, is_chunked=is_chunked))
    answering = asyncio.create_task(_answer(peer, reader, reply, send))
    try:
        await _until_one_ends(sending, answering)
    finally:
        writer.close()
    if reply.ended and not reply.begun:  # otherwise the client has disconnected, or has got a part of the answer
        await refuse(refusal_if_stopped(peer) or _interrupted(), scope, receive, send)
    return True


async def _until_one_ends(*tasks: asyncio.Task[None]) -> None:
    """Wait until one of several tasks ends, and cancel the others.

    The errors of all tasks are raised, except for a WebSocket that was closed.
    """
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in tasks:
            one.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [one for one in results if isinstance(one, Exception) and not isinstance(one, ConnectionClosed)]
    if failed:
        raise failed[0] if len(failed) == 1 else ExceptionGroup("a request could not be passed to another server", failed)


async def _send_body(receive: Receive, writer: asyncio.StreamWriter, *, is_chunked: bool) -> None:
    """Send the body of a request, then wait until the client disconnects.

    With `is_chunked`, the body is sent in chunks, because its length is unknown.
    """
    is_open = True  # whether the other server still reads
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body = message.get("body", b"")
        parts = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") if is_chunked else body
        if is_chunked and not message.get("more_body", False):
            parts += b"0\r\n\r\n"
        if parts and is_open:
            try:
                writer.write(parts)
                await writer.drain()
            except OSError:  # it refused the request before the end of the body
                is_open = False


async def _answer(peer: Owner, reader: asyncio.StreamReader, reply: _Reply, send: Send) -> None:
    """Send the answer of the other server to the client, as it arrives."""
    while not reply.complete and (data := await _read(peer, reader, reply)):
        try:
            reply.parser.feed_data(data)
        except httptools.HttpParserError:
            break
        for message in reply.taken():
            await send(message)
    reply.ended = True


async def _read(peer: Owner, reader: asyncio.StreamReader, reply: _Reply) -> bytes:
    """Return the next bytes of an answer; b"" at its end.

    An operation may take long before its answer begins. Meanwhile the process of the other server is checked. If it has ended or is
    stopped, the result is b"".
    """
    while True:
        try:
            async with asyncio.timeout(None if reply.begun else _LOOK_S) as limit:
                return await reader.read(_CHUNK)
        except OSError:
            if not limit.expired() or not is_running(peer) or refusal_if_stopped(peer) is not None:
                return b""


class _Reply:
    """The other server's answer, parsed and converted to ASGI messages."""

    def __init__(self, *, has_body: bool) -> None:
        self.begun = self.complete = self.ended = False
        self.parser = httptools.HttpResponseParser(self)
        self._has_body = has_body
        self._headers: _Headers = []
        self._messages: list[Message] = []

    def taken(self) -> list[Message]:
        """Return the ASGI messages that were made since the last call."""
        found, self._messages = self._messages, []
        self.begun = self.begun or bool(found)
        return found

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header, unless this server's own protocol adds it."""
        if name.lower() not in _OF_ANSWERS:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Begin the answer."""
        self._messages.append({"type": "http.response.start", "status": self.parser.get_status_code(), "headers": self._headers})
        if not self._has_body:
            self.on_message_complete()

    def on_body(self, data: bytes) -> None:
        """Add a part of the body."""
        self._messages.append({"type": "http.response.body", "body": data, "more_body": True})

    def on_message_complete(self) -> None:
        """End the answer."""
        if not self.complete:
            self._messages.append({"type": "http.response.body", "body": b"", "more_body": False})
        self.complete = True


def _interrupted() -> OwnerUnreachableError:
    return OwnerUnreachableError(
        "the server that has this project open ended before it answered, so a change may or may not have been made; send the request again",
        address="",
        pid=0,
    )


# ---- WebSockets


async def _websocket(peer: Owner, scope: Scope, receive: Receive, send: Send) -> bool:
    place = urlsplit(peer.address)
    headers = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in _headers(peer, scope) if not _of_handshake(key)]
    try:
        there = await connect(
            f"ws://{place.netloc}{_target(scope).decode('latin-1')}",
            additional_headers=headers,
            subprotocols=scope["subprotocols"] or None,
            user_agent_header=None,
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=_CONNECT_S,
            ping_interval=None,
        )
    except (OSError, TimeoutError):
        return False
    except InvalidHandshake:
        await send({"type": "websocket.close", "code": 1008, "reason": "the server of this project refused the WebSocket"})
        return True
    async with there:
        await receive()  # the handshake
        kept = INDEX_HEADER.lower()
        found = there.response.headers.get(kept, "") if there.response is not None else ""
        named = [(kept.encode(), found.encode("latin-1"))] if found else []
        await send({"type": "websocket.accept", "subprotocol": there.subprotocol, "headers": named})
        await _both_ways(there, receive, send)
    return True


def _of_handshake(name: bytes) -> bool:
    return name.startswith(b"sec-websocket-") or name == b"user-agent"


async def _both_ways(there: ClientConnection, receive: Receive, send: Send) -> None:
    """Pass messages until one side closes the WebSocket, then close the other."""

    async def outwards() -> None:
        async for data in there:
            await send({"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data})

    async def inwards() -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            await there.send(text if text is not None else message["bytes"])

    await _until_one_ends(asyncio.create_task(outwards()), asyncio.create_task(inwards()))
    if there.close_code is not None:  # the other server closed it, or ended
        code = _RESTARTING if there.close_code in (1001, 1005, 1006) else there.close_code
        await send({"type": "websocket.close", "code": code, "reason": there.close_reason or ""})
