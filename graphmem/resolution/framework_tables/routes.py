"""Match paths of requests with routes, to find the route that answers.

The code of a route contains only the end of the path. Blueprints, routers or `include` may add a prefix elsewhere. So a route matches a
request if it matches the last segments of the request's path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

ROUTE: Final = "/"
"""Prefix of routes in the index of call sites: a last written segment, or ":" and the name of a route."""

VERBS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "trace", "websocket"})
_COMPUTED: Final = frozenset("<>{}()[]*+?\\|:")
_REST: Final = ("<path:", ":path}", ".*", ".+", "*")

Match = tuple[int, int]  # matched segments that are written out, and all that are matched


def segments(path: str) -> list[str]:
    """Return the segments of a path, or of the pattern of a route.

    For `/users/<id>` the segments are `users` and `<id>`.
    """
    path = path.partition("#")[0]
    if "(" not in path and "<" not in path:
        path = path.partition("?")[0]
    _, scheme, after = path.partition("://")
    if scheme:
        path = after.partition("/")[2]
    return [part for part in path.removeprefix("^").removesuffix("$").removesuffix("\\Z").split("/") if part not in ("", "?")]


def is_computed(segment: str) -> bool:
    """Whether a route's segment is a placeholder or pattern, such as `<id>`."""
    return not _COMPUTED.isdisjoint(segment)


def key_of_route(path: str) -> str:
    """Return the key under which a route is indexed: "/" and a segment.

    The segment is the last one that is not a placeholder. The key of `/api/users/<id>` is `/users`. If every
    segment is a placeholder, the key is "/".
    """
    return ROUTE + next((part for part in reversed(segments(path)) if not is_computed(part)), "")


def keys_of_request(path: str) -> Iterator[str]:
    """Yield the keys of the routes that may answer a request.

    For the path `/users/list`, the keys are `/users`, `/list` and `/`.
    """
    yield from dict.fromkeys(ROUTE + part for part in segments(path) if not is_computed(part))
    yield ROUTE


def match(route: str, path: str, module: str) -> Match | None:
    """Return a score of how well a route matches a request; None for no match.

    `route` and `path` are the paths of the route and the request. The score is (number of matched literal segments, number of all matched
    segments); greater is better. `module` is the name of the file with the route. A route without segments matches a request without
    segments, and a request with `module` as its last segment. If a route has only placeholders, it matches requests with the same number of
    segments.
    """
    wanted, asked = segments(route), segments(path)
    if not wanted:
        return (int(bool(asked)), 0) if not asked or asked[-1] == module else None
    if any(mark in wanted[-1] for mark in _REST):
        begins = [at for at in range(len(asked)) if asked[at : at + len(wanted) - 1] == wanted[:-1]] if len(wanted) > 1 else []
        return (len(wanted) - 1, len(wanted) - 1) if begins else None
    if len(wanted) > len(asked):
        return None
    written = 0
    for one, other in zip(wanted, asked[-len(wanted) :], strict=True):
        if is_computed(one):
            continue
        if one != other:
            return None
        written += 1
    return (written, len(wanted)) if written or len(wanted) == len(asked) else None
