"""`/export.jsonl`: the whole graph, one JSON object a line, sent as it is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from graphmem.api.context import Door
from graphmem.api.security import refusal
from graphmem.errors import GraphMemError
from graphmem.service.access import ACCESS, guarded

ROWS = 1_000
"""Rows written in one trip to a thread."""


async def export(request: Request) -> Response:
    """Nodes, then edges; see `graphmem.service.exporting` for their form."""
    door: Door = request.app.state.door
    try:
        rows = guarded(door.service, request.scope[ACCESS]).export()
        first = await _lines(door, rows)  # what can fail fails here, while there is still a status to say it with
    except GraphMemError as error:
        return refusal(error)

    async def body() -> AsyncIterator[bytes]:
        lines = first
        while lines:
            yield lines
            lines = await _lines(door, rows)

    return StreamingResponse(body(), media_type="application/jsonl")


async def _lines(door: Door, rows: Iterator[dict[str, Any]]) -> bytes:
    def read() -> bytes:
        return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in islice(rows, ROWS))

    return await door.runner.run(asyncio.get_running_loop().time() + door.limits.seconds, read)
