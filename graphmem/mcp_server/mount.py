"""The Model Context Protocol over HTTP, mounted in the ASGI application.

The protocol's library is imported at the first request. The import takes longer than most answers, and most servers never need it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from graphmem.security.access import ACCESS, Access
from graphmem.security.guarded import guarded

MOST_TOKENS: Final = 64  # with sessions at a time; the least recently used token must start a new session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
    from contextlib import AbstractAsyncContextManager

    from graphmem.client.connecting import Service
    from graphmem.mcp_server.server import Opened

    # The types of the ASGI specification; this package does not depend on the framework it is mounted in.
    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
    OnBranch = Callable[[str, Access], AbstractAsyncContextManager["Served"]]


class Served(Protocol):
    """The state of a server, with the service that answers its requests."""

    @property
    def service(self) -> Any:
        """The operations of the project or branch, without access checks."""


class McpApp:
    """The Model Context Protocol (MCP) as an ASGI application.

    The outer application checks hosts, origins, tokens and sizes. Each token has its own protocol sessions. A client cannot resume a
    session of another token, and each session has the permissions of its token.

    Args:
        service: the open project.
        on_branch: opens a branch of the project for a block; None if the server keeps none.
    """

    def __init__(self, service: Service, on_branch: OnBranch | None = None) -> None:
        self._service, self._on_branch = service, on_branch
        self._starting = asyncio.Lock()
        self._running: OrderedDict[Access, _Running] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the first request imports the protocol's library."""
        access: Access = scope[ACCESS]
        async with self._starting:
            running = self._running.get(access)
            if running is None:
                running = self._running[access] = await _start(guarded(self._service, access), self._of_branch(access))
            self._running.move_to_end(access)
            oldest = self._running.popitem(last=False)[1] if len(self._running) > MOST_TOKENS else None
        if oldest is not None:
            await oldest.close()
        await running.app(scope, receive, send)

    def _of_branch(self, access: Access) -> Opened | None:
        """Return a function that opens a branch with the caller's permissions."""
        if self._on_branch is None:
            return None
        on_branch = self._on_branch

        @asynccontextmanager
        async def opened(name: str) -> AsyncIterator[Service]:
            async with on_branch(name, access) as served:
                yield guarded(served.service, access)

        return opened

    async def close(self) -> None:
        """End all sessions of the Model Context Protocol."""
        while self._running:
            await self._running.popitem()[1].close()


class _Running(NamedTuple):
    """The running MCP sessions of all clients that have the same token."""

    app: ASGIApp
    life: asyncio.Task[None]
    stop: asyncio.Event

    async def close(self) -> None:
        self.stop.set()
        await self.life


async def _start(service: Service, of_branch: Opened | None) -> _Running:
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from graphmem.mcp_server.server import build_server

    logging.getLogger("mcp").setLevel(logging.WARNING)
    manager = StreamableHTTPSessionManager(
        app=build_server(lambda: service, of_branch),
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostCheck and OriginCheck did it before
    )
    begun, stop = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        """Start the MCP sessions, wait until `stop` is set, and end them.

        The library requires that the start and the end are in the same task.
        """
        async with manager.run():
            begun.set()
            await stop.wait()

    life = asyncio.create_task(live(), name="graphmem-mcp")
    ready = asyncio.create_task(begun.wait())
    try:
        await asyncio.wait((life, ready), return_when=asyncio.FIRST_COMPLETED)
        if not begun.is_set():
            await life  # raises the error that ended it
            raise RuntimeError("the server's part for the Model Context Protocol (MCP) is not running; restart the server")
    except BaseException:  # the client may have gone
        life.cancel()
        raise
    finally:
        ready.cancel()
    return _Running(StreamableHTTPASGIApp(manager), life, stop)
