"""Who may speak to the server: host, origin and token are checked before anything is read.

Each check is a small ASGI middleware; `graphmem.api.app` puts them in order.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry.http.websocket_origin import is_same_origin, normalize_origin

from graphmem.api.failures import STATUS, facts_of, said
from graphmem.errors import ForbiddenError, GraphMemError, LimitError, UnauthenticatedError
from graphmem.service.access import ACCESS

if TYPE_CHECKING:
    from graphmem.service.tokens import Keys

# GraphiQL styles its editor inline; scripts come from us alone.
PAGE_POLICY: Final = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Sent with every response that does not set them itself."""


def refusal(error: GraphMemError) -> Response:
    """A refusal as an HTTP response, in the form of a GraphQL answer."""
    body = {"errors": [{"message": said(error.message), "extensions": facts_of(error)}]}
    headers = {"www-authenticate": "Bearer"} if error.code == "UNAUTHENTICATED" else {}
    if "retry_after" in error.facts:
        headers["retry-after"] = str(max(1, round(float(error.facts["retry_after"]))))
    status = 429 if error.facts.get("limit") == "per_minute" else STATUS[error.code]
    return Response(orjson.dumps(body), status, headers, "application/json")


async def refuse(error: GraphMemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a refusal; a WebSocket that is not open yet is answered with 403, the only status it can have."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
    else:
        await refusal(error)(scope, receive, send)


class HostCheck:
    """Refuses names that are not ours in `Host`: what is left of a DNS rebinding attack.

    Rebinding needs a name an attacker owns, so `localhost` and bare addresses are always fine.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._allowed = {"localhost", *(host.lower() for host in allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check HTTP requests and WebSocket handshakes."""
        if scope["type"] in ("http", "websocket"):
            host = Headers(scope=scope).get("host", "")
            if not self._ours(host):
                error = ForbiddenError(f"This server is not called {host[:100]!r}; allow the name in its settings if it is")
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _ours(self, header: str) -> bool:
        name = header.strip().lower()
        if name.startswith("["):
            name = name[1:].partition("]")[0]
        elif name.count(":") == 1:
            name = name.partition(":")[0]
        if name in self._allowed:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class OriginCheck:
    """Refuses requests that a page of another site makes, reads included."""

    def __init__(self, app: ASGIApp, allowed_origins: Iterable[str] = ()) -> None:
        self._app = app
        self._allowed = {normalize_origin(origin) or origin for origin in allowed_origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check HTTP requests and WebSocket handshakes; clients that are no browsers send no origin."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and not is_same_origin(origin, headers.get("host")) and normalize_origin(origin) not in self._allowed:
                error = ForbiddenError(f"Pages of {origin[:200]} may not use this server; allow the origin in its settings if they may")
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)


class TokenCheck:
    """Asks for a token, except on open paths, and notes what it gives; a WebSocket may still bring it in its first message."""

    def __init__(self, app: ASGIApp, keys: Keys, open_paths: Iterable[str], open_prefixes: tuple[str, ...], page_path: str) -> None:
        self._app = app
        self._keys = keys
        self._open = frozenset(open_paths)
        self._prefixes = open_prefixes
        self._page = page_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check HTTP requests and WebSocket handshakes."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        authorization = Headers(scope=scope).get("authorization")
        scope[ACCESS] = self._keys.access(authorization)
        later = scope["type"] == "websocket" and authorization is None
        if scope[ACCESS] is not None or later or self._is_open(scope):
            await self._app(scope, receive, send)
            return
        said = "Wrong token, or one that was revoked or is too old" if authorization else "This server asks for a token"
        await refuse(UnauthenticatedError(f"{said}; send it as `Authorization: Bearer …`"), scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            return False
        path = scope["path"].rstrip("/")
        return path in self._open or path == self._page or scope["path"].startswith(self._prefixes)


class BodyLimit:
    """Refuses bodies over the limit, by their announced length or while they come in."""

    def __init__(self, app: ASGIApp, limit_bytes: int, by_path: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._usual = limit_bytes
        self._by_path = dict(by_path or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count HTTP bodies; WebSocket messages are limited by the server's protocol."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._by_path.get(scope["path"], self._usual)
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdigit() and int(announced) > limit:
            await refuse(_too_large(int(announced), limit), scope, receive, send)
            return
        came = 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            if message["type"] == "http.request":
                came += len(message.get("body", b""))
                if came > limit:
                    raise _too_large(came, limit)  # to whoever reads the body; the view answers with it
            return message

        await self._app(scope, counted, send)


def _too_large(found: int, limit: int) -> LimitError:
    return LimitError(f"The body has {found} bytes or more; at most {limit} are allowed", limit="body_bytes", allowed=limit, found=found)


class SecurityHeaders:
    """Adds `HEADERS` to every response that does not have them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wrap the start of HTTP responses."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
