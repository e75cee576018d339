"""Serve the explorer (views of the code in a browser) and its files.

One HTML page serves all views. The files are served unchanged from the package, without a build or a download.
"""

from __future__ import annotations

import mimetypes
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from graphmem.api.execution.failures import payload

EXPLORER_PATH: Final = "/explore"
ASSETS_PATH: Final = "/explore/assets/"
PAGE: Final = "index.html"

# Scripts and styles come only from this server, and strings cannot become markup: texts of repositories and memories remain text.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


def assets() -> Traversable:
    """Return the directory of the explorer's files."""
    return files("graphmem.explorer") / "static"


async def page(request: Request) -> Response:
    """Serve the page of the explorer; the address names the view."""
    found = (assets() / PAGE).read_bytes()
    return HTMLResponse(found, headers={"content-security-policy": POLICY, "cache-control": "no-cache"})


async def asset(request: Request) -> Response:
    """Serve a file that the page of the explorer loads."""
    found = _names().get(request.path_params["name"])
    if found is None:
        return Response(orjson.dumps(payload("NOT_FOUND", "The file was not found; open /explore")), 404, media_type="application/json")
    suffix = found.name[found.name.rfind(".") :]
    kind = _TYPES.get(suffix) or mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    return Response(found.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})


@cache
def _names() -> dict[str, Traversable]:
    # A listing: a name in a URL is compared with it and never becomes a path.
    return {entry.name: entry for entry in assets().iterdir() if entry.is_file() and entry.name != PAGE}
