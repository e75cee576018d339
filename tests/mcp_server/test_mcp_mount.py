"""The protocol over HTTP: its sessions start with the first request, or the request says why not."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from graphmem.mcp_server.mount import McpApp
from graphmem.security.access import ACCESS, FULL


class _Service:
    """A project that the request never reaches."""


async def _asked(app: McpApp) -> list[int]:
    statuses: list[int] = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "method": "DELETE",
        "path": "/mcp",
        "headers": [],
        "query_string": b"",
        ACCESS: FULL,
    }
    async with asyncio.timeout(20):
        await app(scope, receive, send)
    return statuses


def _names() -> set[str]:
    return {one.get_name() for one in asyncio.all_tasks()}


def test_a_failed_start_is_raised_and_the_next_request_starts_again(monkeypatch) -> None:
    @asynccontextmanager
    async def failing(self):
        raise OSError("no more sockets")
        yield

    async def story() -> None:
        app = McpApp(_Service())
        with monkeypatch.context() as broken:
            broken.setattr(StreamableHTTPSessionManager, "run", failing)
            with pytest.raises(OSError, match="no more sockets"):
                await _asked(app)
        assert "graphmem-mcp" not in _names()
        assert (await _asked(app))[0] >= 400, "the protocol answers: a session to end is missing"
        await app.close()

    asyncio.run(story())


def test_a_client_that_leaves_during_the_start_leaves_nothing_behind(monkeypatch) -> None:
    @asynccontextmanager
    async def slow(self):
        await asyncio.sleep(60)
        yield

    async def story() -> None:
        monkeypatch.setattr(StreamableHTTPSessionManager, "run", slow)
        asking = asyncio.create_task(_asked(McpApp(_Service())))
        while "graphmem-mcp" not in _names():
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert "graphmem-mcp" not in _names()

    asyncio.run(story())
