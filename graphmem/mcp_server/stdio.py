"""The Model Context Protocol over standard input and output.

Each window of an editor starts its own process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from graphmem.mcp_server.server import build_server

if TYPE_CHECKING:
    from graphmem.client.connecting import Service


def serve_stdio(service: Callable[[], Service]) -> None:
    """Serve the Model Context Protocol until standard input ends.

    Only messages of the protocol are written to standard output.
    """
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server = build_server(service)

    async def run() -> None:
        async with stdio_server() as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())

    anyio.run(run)
