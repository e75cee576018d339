"""The protocol over HTTP, inside the server's own application, made at the first request.

Importing the protocol's library takes longer than answering most questions, and most servers are never asked this way.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.security.access import ACCESS, Access, guarded

MOST_TOKENS: Final = 64  # with conversations at a time; whoever asked longest ago has to begin anew

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from graphmem.client.connecting import Service

    # As the ASGI specification has them; whose framework it is mounted in is not this room's business.
    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class McpApp:
    """An ASGI application. Hosts, origins, tokens and sizes are checked by the application it is mounted in.

    Whoever asks with another token has conversations of their own, so that nobody goes on with one that another began, and each is
    held to what the token gives.

    Args:
        service: the open project.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._starting = asyncio.Lock()
        self._running: OrderedDict[Access, _Running] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; the first one waits for the library."""
        access: Access = scope[ACCESS]
        async with self._starting:
            running = self._running.get(access)
            if running is None:
                running = self._running[access] = await _start(guarded(self._service, access))
            self._running.move_to_end(access)
            oldest = self._running.popitem(last=False)[1] if len(self._running) > MOST_TOKENS else None
        if oldest is not None:
            await oldest.close()
        await running.app(scope, receive, send)

    async def close(self) -> None:
        """End all conversations."""
        while self._running:
            await self._running.popitem()[1].close()


class _Running(NamedTuple):
    """The conversations of one token."""

    app: ASGIApp
    life: asyncio.Task[None]
    stop: asyncio.Event

    async def close(self) -> None:
        self.stop.set()
        await self.life


async def _start(service: Service) -> _Running:
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from graphmem.mcp_server.server import build_server

    logging.getLogger("mcp").setLevel(logging.WARNING)
    manager = StreamableHTTPSessionManager(
        app=build_server(lambda: service),
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostCheck and OriginCheck have done it
    )
    begun, stop = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        """The task that conversations belong to: the library ends them where it began them."""
        async with manager.run():
            begun.set()
            await stop.wait()

    life = asyncio.create_task(live(), name="graphmem-mcp")
    await begun.wait()
    return _Running(StreamableHTTPASGIApp(manager), life, stop)
