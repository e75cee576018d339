"""The routes `/health`, `/ready` and `/metrics`, to monitor the server.

`/health` and `/ready` need no token and reveal no data of the code.
"""

from __future__ import annotations

import asyncio
import os
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

import graphmem
from graphmem.api.http.security import refusal
from graphmem.api.requests.context import ServerState
from graphmem.api.routes import metrics
from graphmem.errors import GraphMemError
from graphmem.runtime.network.paths import HEALTH_PATH
from graphmem.security.access import ACCESS
from graphmem.security.guarded import guarded

READY_PATH: Final = "/ready"
METRICS_PATH: Final = "/metrics"
OPEN: Final = (HEALTH_PATH, READY_PATH)
UNCOUNTED: Final = (HEALTH_PATH, READY_PATH, METRICS_PATH)  # requests for these do not keep the server alive


async def health(request: Request) -> Response:
    """Answer that the server is alive, with its name, version and process."""
    body = {"status": "ok", "name": "graphmem", "version": graphmem.__version__, "pid": os.getpid()}
    return Response(orjson.dumps(body), media_type="application/json")


async def ready(request: Request) -> Response:
    """Answer 200 when the server can answer questions, 503 until then."""
    server: ServerState = request.app.state.server
    found = await asyncio.to_thread(server.service.health)
    body = {"ready": found.ready, "status": found.status}
    return Response(orjson.dumps(body), 200 if found.ready else 503, media_type="application/json")


async def exposed(request: Request) -> Response:
    """Answer with the server's counters and gauges, in Prometheus' format."""
    server: ServerState = request.app.state.server

    def text() -> str:
        service = guarded(server.service, request.scope[ACCESS])
        return metrics.exposition(server, service.health(), service.state())

    try:
        return Response(await asyncio.to_thread(text), media_type=metrics.CONTENT_TYPE)
    except GraphMemError as error:
        return refusal(error)
