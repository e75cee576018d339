"""The route `/export.jsonl`: stream the whole graph, one object a line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from graphmem.api.http.security import refusal
from graphmem.api.requests.context import ServerState
from graphmem.errors import GraphMemError, LimitError
from graphmem.reports.exporting import jsonl
from graphmem.security.access import ACCESS
from graphmem.security.guarded import guarded

T = TypeVar("T")

ROWS: Final = 1_000
"""Rows written in one call to a thread."""
AT_ONCE: Final = 4
"""Maximum concurrent exports. Each holds the tables of the whole graph until its client has read the last line."""
RETRY_S: Final = 5.0


class Export:
    """The route `/export.jsonl`, which streams all nodes and edges.

    The route is an ASGI application, because a plain handler function would not learn when the last line was sent.
    """

    def __init__(self) -> None:
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream the nodes of the graph, then the edges.

        `graphmem.reports.exporting` has the format.
        """
        if self._open >= AT_ONCE:
            error = LimitError(
                f"{AT_ONCE} exports are running, which is the maximum; try again in {RETRY_S:g} s",
                limit="exports",
                allowed=AT_ONCE,
                retry_after=RETRY_S,
            )
            await refusal(error)(scope, receive, send)
            return
        self._open += 1
        try:
            response = await _export(Request(scope, receive))
            await response(scope, receive, send)
        finally:
            self._open -= 1


async def _export(request: Request) -> Response:
    server: ServerState = request.app.state.server

    def begin() -> tuple[Iterator[dict[str, Any]], bytes]:
        rows = guarded(server.service, request.scope[ACCESS]).export()
        return rows, _lines(rows)

    try:
        rows, first = await _in_thread(server, begin)  # errors occur here, before the status is sent
    except GraphMemError as error:
        return refusal(error)

    async def body() -> AsyncIterator[bytes]:
        lines = first
        while lines:
            yield lines
            lines = await _in_thread(server, lambda: _lines(rows))

    return StreamingResponse(body(), media_type="application/jsonl")


async def _in_thread(server: ServerState, read: Callable[[], T]) -> T:
    return await server.runner.run(asyncio.get_running_loop().time() + server.limits.seconds, read)


def _lines(rows: Iterator[dict[str, object]]) -> bytes:
    return "".join(jsonl(islice(rows, ROWS))).encode()
