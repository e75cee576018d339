"""The protocol over HTTP, inside the server's own application, made at the first request.

Importing the protocol's library takes longer than answering most questions, and most servers are never asked this way.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from graphmem.client import Service

    # As the ASGI specification has them; whose framework it is mounted in is not this room's business.
    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class McpApp:
    """An ASGI application. Hosts, origins, tokens and sizes are checked by the application it is mounted in.

    Args:
        service: the open project.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._starting = asyncio.Lock()
        self._app: ASGIApp | None = None
        self._life: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; the first one waits for the library."""
        async with self._starting:
            if self._app is None:
                self._app = await self._start()
        await self._app(scope, receive, send)

    async def close(self) -> None:
        """End all conversations."""
        self._stop.set()
        if self._life is not None:
            await self._life

    async def _start(self) -> ASGIApp:
        from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from graphmem.mcp_server.server import build_server

        logging.getLogger("mcp").setLevel(logging.WARNING)
        manager = StreamableHTTPSessionManager(
            app=build_server(lambda: self._service),
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostCheck and OriginCheck have done it
        )
        running = asyncio.Event()
        self._life = asyncio.create_task(self._live(manager, running), name="graphmem-mcp")
        await running.wait()
        return StreamableHTTPASGIApp(manager)

    async def _live(self, manager: StreamableHTTPSessionManager, running: asyncio.Event) -> None:
        """The task that conversations belong to: the library ends them where it began them."""
        async with manager.run():
            running.set()
            await self._stop.wait()
