"""Serve the query page (GraphiQL) for browsers.

Its static files are built from npm packages. If the files are missing, a page explains how to build them.
"""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from graphmem.api.execution.failures import payload
from graphmem.api.http.security import PAGE_POLICY
from graphmem.runtime.network.paths import GRAPHQL_PATH

ASSETS_PATH: Final = f"{GRAPHQL_PATH}/assets/"
PAGE: Final = "index.html"
SLICE_BYTES: Final = 64 << 10

MISSING: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>graphmem: query page not built</title></head>
<body><h1>The query page was not built</h1>
<p>The server works: send GraphQL operations as JSON by POST to this address.
Only this page's assets (GraphiQL) are missing from the installation.</p>
<p>They are npm packages; with Node.js 18 or newer, build them once in a checkout of graphmem:</p>
<pre>npm --prefix web ci
npm --prefix web run build</pre>
<p>and reload this page; an installed graphmem has to be installed again from that checkout.</p>
</body></html>
"""


def assets() -> Traversable:
    """Return the directory with the built files of the query page."""
    return files("graphmem.api") / "static" / "graphiql"


async def page(request: Request) -> Response:
    """Serve the query page, or a page that explains how to build it."""
    index = assets() / PAGE
    if not index.is_file():
        return HTMLResponse(MISSING)
    return HTMLResponse(index.read_bytes(), headers={"content-security-policy": PAGE_POLICY, "cache-control": "no-cache"})


async def asset(request: Request) -> Response:
    """Serve a file that the query page loads."""
    found = _names().get(request.path_params["name"])
    if found is None:
        return _not_found()
    kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    body = _content(found.name)
    return StreamingResponse(_slices(body), media_type=kind, headers={"cache-control": "no-cache", "content-length": str(len(body))})


async def _slices(body: bytes) -> AsyncIterator[bytes]:
    # A transport that is given megabytes at once copies what its client does not take; in slices it is waited for instead.
    for at in range(0, len(body), SLICE_BYTES):
        yield body[at : at + SLICE_BYTES]


@cache
def _content(name: str) -> bytes:
    # Once for all who are sent it: megabytes that a slow client does not take stay in memory until it is cut off.
    return _names()[name].read_bytes()


@cache
def _names() -> dict[str, Traversable]:
    # A listing: a name in a URL is compared with it and never becomes a path.
    folder = assets()
    return {entry.name: entry for entry in folder.iterdir() if entry.is_file()} if folder.is_dir() else {}


def _not_found() -> Response:
    import orjson

    return Response(orjson.dumps(payload("NOT_FOUND", "The file was not found; open /graphql")), 404, media_type="application/json")
