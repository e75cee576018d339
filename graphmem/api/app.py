"""Build the server's ASGI application: its routes and request checks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import orjson
from graphql import GraphQLError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from strawberry.http.websocket_origin import normalize_origin

from graphmem.api.execution.failures import STATUS, payload, shape
from graphmem.api.execution.persisted import load_operations
from graphmem.api.http.holding import room
from graphmem.api.http.rate import RateLimit
from graphmem.api.http.security import BodyLimit, HostCheck, IndexCheck, OriginCheck, Placed, SecurityHeaders, TokenCheck
from graphmem.api.http.streams import StreamLimit
from graphmem.api.http.view import GraphQLView, JsonResponse
from graphmem.api.requests.activity import NoteActivity
from graphmem.api.requests.context import ServerState
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.routes import explorer, page
from graphmem.api.routes.bulk import IMPORT_BYTES, IMPORT_PATH, import_memories
from graphmem.api.routes.export import Export
from graphmem.api.routes.health import METRICS_PATH, OPEN, READY_PATH, UNCOUNTED, exposed, health, ready
from graphmem.api.schema import build_schema
from graphmem.errors import SettingsError
from graphmem.operations.registry import Operations as Service
from graphmem.runtime.identity import INDEX_HEADER
from graphmem.runtime.network.paths import GRAPHQL_PATH, HEALTH_PATH
from graphmem.runtime.network.pushes import BODY_BYTES, PUSH_PATH, project_and_branch
from graphmem.security.tokens import Keys, TokenFile

PREFIX = "/p/"  # of the projects of a server with several
_ROLES = "`graphmem projects` lists yours, and the server's operator gives roles with `graphmem server role`"
EXPORT_PATH = "/export.jsonl"
MCP_PATH = "/mcp"


class Mounted(Protocol):
    """ASGI application of another interface, served at a path such as `/mcp`.

    Requests to this application pass the same checks as all others.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of the mounted application."""

    async def close(self) -> None:
        """End the open requests of the mounted application."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Settings of a server: who may use it, and its limits."""

    token: str = field(default="", repr=False)  # what clients must present; empty: no token is needed unless named tokens exist
    own_token: str = field(default="", repr=False)  # a secret of this server, for other processes of the same user
    tokens: Path | None = None  # file of the index's named tokens
    token_required: bool = False  # also while no token exists
    allowed_hosts: tuple[str, ...] = ()  # names in `Host` besides localhost and bare addresses
    allowed_origins: tuple[str, ...] = ()  # sites whose pages may use the server, e.g. "https://ide.example.com"
    persisted_only: bool = False  # serve only the operations of queries/operations
    limits: ServerLimits = field(default_factory=ServerLimits)

    def __post_init__(self) -> None:
        for origin in self.allowed_origins:
            if normalize_origin(origin) != origin or origin in ("http://*", "https://*"):
                raise SettingsError(
                    f"{origin!r} is not a valid origin of a web page; write scheme, host and port as browsers send them "
                    "(https://ide.example.com), or scheme://* for all pages of a scheme other than http and https (vscode-webview://*)",
                    setting="allowed_origins",
                    value=origin,
                    origin="",
                )

    @property
    def socket_origins(self) -> tuple[str, ...]:
        """Origins whose pages may open a WebSocket, for the WebSocket library.

        An origin is the scheme, host and port of a site. The library cannot compare with entries such as `https://*`. If there is such an
        entry, the result is `*` (all origins). That is safe, because the middleware `OriginCheck` has already refused other origins.
        """
        return ("*",) if any(one.endswith("://*") for one in self.allowed_origins) else self.allowed_origins


def build_app(
    service: Service,
    options: ServerOptions | None = None,
    mcp: Mounted | None = None,
    keys: Keys | None = None,
    more: Sequence[BaseRoute] = (),
) -> Starlette:
    """Build the ASGI application over an open service.

    Closing the application does not close the service; the caller does.

    Args:
        service: the open service with the operations.
        options: settings for access and limits.
        mcp: the application for agents, served at `/mcp`; None leaves it out.
        keys: the accepted credentials; None for the credentials in `options`.
        more: further routes to serve.
    """
    options = options or ServerOptions()
    server = ServerState(service, options.limits)
    keys = keys or keys_of(options)
    schema = build_schema(options.limits)
    view = GraphQLView(schema, server, load_operations(schema.graphql), keys, options.socket_origins, persisted_only=options.persisted_only)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server.progress.start()
        yield
        if mcp is not None:
            await mcp.close()
        server.close()

    app = Starlette(
        routes=_routes(view, mcp, more),
        middleware=_middleware(server, service, options, keys),
        exception_handlers={404: not_found, 405: not_allowed, Exception: internal},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.server = server
    return app


def _routes(view: GraphQLView, mcp: Mounted | None, more: Sequence[BaseRoute]) -> list[BaseRoute]:
    return [
        Route(HEALTH_PATH, health),
        Route(READY_PATH, ready),
        Route(METRICS_PATH, exposed),
        Route(IMPORT_PATH, import_memories, methods=["POST"]),
        Route(EXPORT_PATH, Export(), methods=["GET"]),
        *(Route(path, GraphQLOrPage(view)) for path in (GRAPHQL_PATH, GRAPHQL_PATH + "/")),
        *(WebSocketRoute(path, view) for path in (GRAPHQL_PATH, GRAPHQL_PATH + "/")),
        Route(page.ASSETS_PATH + "{name}", page.asset),
        Route(explorer.ASSETS_PATH + "{name}", explorer.asset),
        *(Route(path, explorer.page) for path in ("/", explorer.EXPLORER_PATH, explorer.EXPLORER_PATH + "/{view:path}")),
        *((Route(path, mcp) for path in (MCP_PATH, MCP_PATH + "/")) if mcp is not None else ()),
        *more,
    ]


def _middleware(server: ServerState, service: Service, options: ServerOptions, keys: Keys) -> list[Middleware]:
    """Return the ASGI middleware with the checks of requests, outermost first."""
    return [
        Middleware(NoteActivity, server.activity, UNCOUNTED),
        Middleware(SecurityHeaders),
        Middleware(IndexCheck, cast("Placed", service)),
        Middleware(HostCheck, options.allowed_hosts),
        Middleware(OriginCheck, options.allowed_origins, is_page),
        Middleware(StreamLimit, room(options.limits) // 4),
        Middleware(RateLimit, options.limits.per_minute, OPEN),
        Middleware(
            CORSMiddleware,
            allow_origins=options.allowed_origins,
            allow_origin_regex="|".join(f"{re.escape(one[:-1])}.*" for one in options.allowed_origins if one.endswith("://*")) or None,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "accept", INDEX_HEADER],
            expose_headers=[INDEX_HEADER],
        ),
        Middleware(TokenCheck, keys, (*OPEN, explorer.EXPLORER_PATH, ""), (page.ASSETS_PATH, explorer.EXPLORER_PATH + "/"), GRAPHQL_PATH),
        Middleware(BodyLimit, options.limits.body_bytes, body_limits(options)),
    ]


def keys_of(options: ServerOptions) -> Keys:
    """Return the credentials that a server with these options accepts."""
    tokens = TokenFile(options.tokens) if options.tokens is not None else None
    return Keys(options.token, options.own_token, tokens, required=options.token_required)


def body_limits(options: ServerOptions) -> dict[str, int]:
    """Return the maximum body sizes of two routes, in bytes by path.

    The routes take imported documents of memories, and indexes from `graphmem push`. For all other paths, the limit is
    `options.limits.body_bytes`.
    """
    usual = options.limits.body_bytes
    return {IMPORT_PATH: max(IMPORT_BYTES, usual), PUSH_PATH: max(BODY_BYTES, usual)}


def is_page(path: str) -> bool:
    """Whether a URL path belongs to a page for browsers.

    A page is the same for everybody and contains no data of the project.
    """
    path = path.rstrip("/")
    inside = path.startswith(explorer.EXPLORER_PATH + "/") and not path.startswith(explorer.ASSETS_PATH)
    return inside or path in ("", explorer.EXPLORER_PATH, GRAPHQL_PATH)


class GraphQLOrPage:
    """Answers GET with the query page, and POST with a GraphQL answer."""

    def __init__(self, view: GraphQLView) -> None:
        self._view = view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the query page or a GraphQL answer."""
        if scope["method"] == "POST":
            await self._view(scope, receive, send)
            return
        response = await page.page(Request(scope)) if scope["method"] in ("GET", "HEAD") else _not_allowed("GET, POST")
        await response(scope, receive, send)


async def not_found(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown address with an error."""
    if request.url.path.startswith(PREFIX):
        name, _ = project_and_branch(request.url.path.removeprefix(PREFIX).partition("/")[0])
        return _json(payload("BAD_INPUT", f"this server has no project {name[:80]!r} that you may use; {_ROLES}"), 404)
    return _json(payload("NOT_FOUND", f"{request.url.path} was not found; GraphQL is at {GRAPHQL_PATH}"), 404)


async def not_allowed(request: Request, error: Exception) -> Response:
    """Answer a request with an error if its route does not support the method."""
    return _not_allowed((getattr(error, "headers", None) or {}).get("Allow", "GET"))


async def internal(request: Request, error: Exception) -> Response:
    """Answer a request that failed with an unexpected error.

    Only errors outside of an operation arrive here. `failures.shape` handles errors inside an operation.
    """
    shaped = shape(GraphQLError("", original_error=error))
    return _json({"errors": [shaped.formatted]}, STATUS[(shaped.extensions or {}).get("code", "INTERNAL")])


def _not_allowed(allow: str) -> Response:
    response = _json(payload("BAD_INPUT", f"The method is not supported here; use {allow}"), 405)
    response.headers["allow"] = allow
    return response


def _json(body: object, status: int = 200) -> Response:
    return JsonResponse(orjson.dumps(body), status_code=status)
