"""Check host, origin and token before the rest of a request is read.

Each check is a small ASGI middleware; `graphmem.api.app` puts them in order.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry.http.websocket_origin import is_same_origin, normalize_origin

from graphmem.api.execution.failures import STATUS, facts_of, shortened
from graphmem.errors import BadInputError, ForbiddenError, GraphMemError, LimitError, UnauthenticatedError, WrongIndexError
from graphmem.runtime.identity import INDEX_HEADER
from graphmem.security.access import ACCESS

if TYPE_CHECKING:
    from graphmem.security.tokens import Keys

# GraphiQL has inline styles; scripts come only from this server.
PAGE_POLICY: Final = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_OWN_SITES: Final = ("same-origin", "none")  # values of Sec-Fetch-Site: pages of this server, and typed addresses
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Sent with every response that does not set them itself."""


_OTHER_STATUS: Final[dict[type[GraphMemError], int]] = {WrongIndexError: 421}  # Misdirected Request
_LIMIT_STATUS: Final = {"per_minute": 429, "streams": 503, "exports": 503}


def refusal(error: GraphMemError) -> Response:
    """Make the HTTP response for an error, in the form of a GraphQL answer."""
    body = {"errors": [{"message": shortened(error.message), "extensions": facts_of(error)}]}
    headers = {"www-authenticate": "Bearer"} if error.code == "UNAUTHENTICATED" else {}
    if "retry_after" in error.facts:
        headers["retry-after"] = str(max(1, round(float(error.facts["retry_after"]))))
    status = _OTHER_STATUS.get(type(error)) or _LIMIT_STATUS.get(error.facts.get("limit", "")) or STATUS[error.code]
    return Response(orjson.dumps(body), status, headers, "application/json")


async def refuse(error: GraphMemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with an error.

    A refused WebSocket handshake always gets status 403.
    """
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
    else:
        await refusal(error)(scope, receive, send)


# `uri-host [":" port]` of RFC 9110: an address in brackets, or a name or IPv4 address; without user and password.
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._~!$&'()*+,;=%-]+))(?::[0-9]{0,5})?", re.ASCII)


class HostCheck:
    """Refuses requests with an unknown `Host`, against DNS rebinding.

    DNS rebinding needs a name that an attacker owns, so `localhost` and IP addresses are always accepted. A request must have exactly one
    `Host` (RFC 9112, 3.2).
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._allowed = {"localhost", *(host.lower() for host in allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the `Host` of HTTP requests and WebSocket handshakes."""
        if scope["type"] in ("http", "websocket"):
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1:
                error: GraphMemError = BadInputError(f"The request has {len(hosts)} Host headers; send exactly one", argument="host")
                await refuse(error, scope, receive, send)
                return
            if not self._ours(hosts[0]):
                error = ForbiddenError(f"{hosts[0][:100]!r} is not a host name of this server; if it should be, add it to GRAPHMEM_HOSTS")
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _ours(self, header: str) -> bool:
        found = _HOST.fullmatch(header.strip().lower())
        if found is None:
            return False
        try:
            if found[1]:
                ipaddress.IPv6Address(found[1])
            elif found[2] not in self._allowed:
                ipaddress.IPv4Address(found[2])
        except ValueError:
            return False
        return True


class OriginCheck:
    """Refuses requests from pages of other sites, also requests that read.

    Args:
        app: the application that receives accepted requests.
        allowed_origins: sites whose pages may use the server.
        is_page: returns whether a path is the address of a page. Other sites may link to pages.
    """

    def __init__(self, app: ASGIApp, allowed_origins: Iterable[str] = (), is_page: Callable[[str], bool] = lambda path: False) -> None:
        self._app = app
        self._allowed = {normalize_origin(origin) or origin for origin in allowed_origins}
        self._is_page = is_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the origin of HTTP requests and WebSocket handshakes.

        If a browser sends no origin, the header `Sec-Fetch-Site` is checked instead. A request with neither is accepted, because it does
        not come from a browser.
        """
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and not is_same_origin(origin, headers.get("host")) and not self._may(origin):
                error = ForbiddenError(
                    f"Web pages of {origin[:200]} may not use this server; if they should, add this origin to GRAPHMEM_SITES"
                )
                await refuse(error, scope, receive, send)
                return
            # For embedded resources a browser sends no origin, but it sends Sec-Fetch-Site.
            if origin is None and headers.get("sec-fetch-site", "none") not in _OWN_SITES and not self._leads_to_page(scope):
                error = ForbiddenError(
                    "Pages of other sites may link to this server, but not load anything from it; open the address directly"
                )
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _may(self, origin: str) -> bool:
        known = normalize_origin(origin)
        return known is not None and (known in self._allowed or known.partition("://")[0] + "://*" in self._allowed)

    def _leads_to_page(self, scope: Scope) -> bool:
        return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and self._is_page(scope["path"])


class Placed(Protocol):
    """Interface of an open index: its id, and whether its directory moved.

    `index_id` is described in `graphmem.runtime.identity`.
    """

    index_id: str

    @property
    def in_place(self) -> bool:
        """Whether the index directory still has its original path."""


class IndexCheck:
    """Refuses requests that are meant for another index.

    A client may use an outdated address: after a server ended, the server of another index may listen there. So a request can name its
    index in a header. Each answer names the index of this server in the same header.
    """

    def __init__(self, app: ASGIApp, service: Placed) -> None:
        self._app = app
        self._service = service
        self._index = service.index_id
        self._header = (INDEX_HEADER.lower().encode(), self._index.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the index that HTTP requests and WebSocket handshakes name.

        A request that names no index is accepted. All requests are refused if the index directory was moved or deleted.
        """
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def named(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message = {**message, "headers": [*message.get("headers", ()), self._header]}
            await send(message)

        meant = Headers(scope=scope).get(INDEX_HEADER, "")
        said = ""
        if meant and meant != self._index:
            said = "This server does not serve the index that the request is for; find the server of that index and send the request there"
        elif not self._service.in_place:
            said = "The directory of this index was moved or deleted, so its server is stopping; repeat the command in the new directory"
        if said:
            await refuse(WrongIndexError(said, expected=meant[:100], found=self._index), scope, receive, named)
            return
        await self._app(scope, receive, named)


class TokenCheck:
    """Requires an access token in each request, except on open paths.

    The permissions of the token are stored in the request's scope. A WebSocket may send the token in its first message.
    """

    def __init__(self, app: ASGIApp, keys: Keys, open_paths: Iterable[str], open_prefixes: tuple[str, ...], page_path: str) -> None:
        self._app = app
        self._keys = keys
        self._open = frozenset(open_paths)
        self._prefixes = open_prefixes
        self._page = page_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the token of HTTP requests and WebSocket handshakes."""
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
        await refuse(UnauthenticatedError(f"{said}; {self._keys.advice}"), scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            return False
        path = scope["path"].rstrip("/")
        return path in self._open or path == self._page or scope["path"].startswith(self._prefixes)


class BodyLimit:
    """Refuses request bodies that are too large.

    A body is refused by its `Content-Length`, or once too many bytes of it were read.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int, by_path: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._usual = limit_bytes
        self._by_path = dict(by_path or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes of HTTP bodies.

        The server's protocol limits WebSocket messages.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"] + "/"
        limit = next((one for start, one in self._by_path.items() if path.startswith(start + "/")), self._usual)
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
                    raise _too_large(came, limit)  # to the reader of the body; the view answers with it
            return message

        try:
            await self._app(scope, counted, send)
        except ClientDisconnect:
            return  # the client disconnected within its body, so no answer is sent


def _too_large(found: int, limit: int) -> LimitError:
    return LimitError(f"The body has at least {found} bytes; send at most {limit}", limit="body_bytes", allowed=limit, found=found)


class SecurityHeaders:
    """Adds headers such as a content policy to responses that lack them.

    The headers are in `HEADERS`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the start of HTTP responses."""
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
