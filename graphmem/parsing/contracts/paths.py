"""Convert paths of routes and addresses to a normal form: `/users/{}`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HOLE: Final = "{}"
REST: Final = "**"

_ADDRESS: Final = re.compile(r"(?:[\w+]+:|\{\})?//(?P<host>[^/?#]*)(?P<path>[/?#].*)?$", re.DOTALL)
_GROUP: Final = re.compile(r"\(\?P?<(\w+)>(?:[^()]|\([^()]*\))*\)|\((?:\?:)?[^()]*\)")
_PART: Final = re.compile(r"<[^<>]*>|\{[^{}]*(?:\{\}[^{}]*)*\}|\$\{[^{}]*\}|:[A-Za-z_]\w*\??|\[\[?\.{0,3}\w+\]?\]")
_REST: Final = re.compile(r"^(?:\*\*?\w*|\{\*+\w*\}|\{\w+:path\}|<path:\w+>|\[\.\.\.\w+\]|\[\[\.\.\.\w+\]\]|\{\w+:\.\*\}|\{\.\.\.\w*\})$")


class Address(NamedTuple):
    """The host and the path of an address that an HTTP client requests."""

    host: str  # as far as it is written; "" when it is not
    path: str  # normal form


def route_path(written: str) -> str:
    """Return the normal form of a route's path, given as `written` in code.

    `/users/<int:id>` becomes `/users/{}`.
    """
    text = written.strip().removeprefix("^").removesuffix("$").removesuffix("/?").replace("\\/", "/").replace("\\.", ".")
    text = re.sub(r"\\[ZA]$", "", text)
    text = text.split("?", 1)[0] if "(?" not in text and "?}" not in text else text
    text = _GROUP.sub(HOLE, re.sub(r"(?<=\w)\*$", "/**", text))  # `/users*` of Express
    parts = [_segment(part) for part in text.split("/") if part]
    parts = [HOLE if part == REST and position + 1 < len(parts) else part for position, part in enumerate(parts)]
    return "/" + "/".join(parts)


def _segment(part: str) -> str:
    if _REST.match(part):
        return REST
    return re.sub(r"(?:\{\})+", HOLE, _PART.sub(HOLE, part))


def joined(*parts: str) -> str:
    """Join parts of a path, such as a prefix and a route's path, with slashes.

    For `/api` and `/users`, the result is `/api/users`. Empty parts are left out.
    """
    return "/" + "/".join(piece.strip("/") for piece in parts if piece.strip("/"))


def address(pattern: str, *, relative: bool) -> Address | None:
    """Split an address into host and path; None if the path is unknown.

    Args:
        pattern: the address, with `{}` for each part that is known only at run time.
        relative: whether a path may begin without a slash.
    """
    text = pattern.strip().split("#", 1)[0].split("?", 1)[0]
    match = _ADDRESS.match(text)
    if "\n" in text:
        return None
    if match:
        host, path = match["host"], match["path"] or ""
        if host.startswith(HOLE) and not path and host != HOLE:
            return None
    elif text.startswith(HOLE):
        host, path = "", text[2:]
        if path and not path.startswith("/"):
            if not path[:1].isalnum():
                return None
            path = "/" + path
    elif text.startswith("/"):
        host, path = "", text
    elif relative and re.match(r"[\w-]+(?:/|$)", text):
        host, path = "", "/" + text
    else:
        return None
    path = route_path(path)
    if not any(part not in (HOLE, REST) for part in path.split("/") if part):
        return None
    return Address(host, path)
