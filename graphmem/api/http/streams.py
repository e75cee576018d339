"""Limit the number of streams (answers without end) open at once.

A stream is a WebSocket or an answer of server-sent events, and lasts as long as its client wants. The limit leaves connections free for
other requests.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphmem.api.http.security import refuse
from graphmem.errors import LimitError

RETRY_S = 5.0


class StreamLimit:
    """ASGI middleware that limits WebSockets and server-sent events.

    Args:
        app: the application that receives accepted requests.
        most: maximum number of concurrent streams.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a stream while it is open; refuse it if too many are open.

        A WebSocket counts from its handshake. Any other answer counts from the moment it becomes a stream.
        """
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        counted = refused = False
        if scope["type"] == "websocket":
            if self._open >= self._most:
                await refuse(self._full(), scope, receive, send)
                return
            self._open, counted = self._open + 1, True

        async def watched(message: Message) -> None:
            nonlocal counted, refused
            if refused:
                return  # its answer is not sent; the application sees a disconnected client
            if not counted and message["type"] == "http.response.start" and _is_stream(message):
                if self._open >= self._most:
                    refused = True
                    await refuse(self._full(), scope, receive, send)
                    return
                self._open, counted = self._open + 1, True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._open -= counted

    def _full(self) -> LimitError:
        return LimitError(
            f"{self._open} streams are open; at most {self._most} are allowed at a time, so end one or try again in {RETRY_S:g} s",
            limit="streams",
            allowed=self._most,
            found=self._open,
            retry_after=RETRY_S,
        )


def _is_stream(start: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in start.get("headers", ()))
