"""Convert errors to the form in which clients receive them.

An error raised on purpose (`graphmem.errors`, a broken document, a limit) keeps its message, its code, and the facts that clients may see.
Any other error becomes INTERNAL: the client gets an id, and the log gets the id and the traceback.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any, Final

from graphql import GraphQLError, ValueNode

from graphmem.answers import SymbolInfo, to_json
from graphmem.answers.marks import SYMBOL
from graphmem.api.requests.ids import global_id
from graphmem.errors import GraphMemError
from graphmem.runtime.process.limits import refusal_of_any

log = logging.getLogger("graphmem.api")

STATUS: Final[dict[str, int]] = {
    "BAD_INPUT": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "AMBIGUOUS": 409,
    "CONFLICT": 409,
    "SHARING": 503,
    "LIMIT": 413,
    "INTERNAL": 500,
    "TIMEOUT": 504,
}
"""HTTP status of each code for errors outside an operation. Inside an operation the status is 200."""

PUBLIC_FACTS: Final[dict[str, tuple[str, ...]]] = {
    "BAD_INPUT": ("argument", "value", "allowed", "limit", "setting", "language", "path", "field", "index", "kinds", "projects", "reason"),
    "NOT_FOUND": ("ref", "suggestions", "id"),
    "AMBIGUOUS": ("ref", "candidates", "total", "id"),
    "LIMIT": ("limit", "allowed", "found", "retry_after"),
    "TIMEOUT": ("seconds",),
    "CONFLICT": ("owner", "retry_after", "expected", "found"),
    "FORBIDDEN": ("needs",),
}
"""Facts of an error that clients receive, by code. Other facts remain in the process."""

# graphql-core has plain errors for its own limits; only their text tells them apart.
_CORE_LIMITS: Final = {
    "Document contains more than": "tokens",
    "Document is nested too deeply": "depth",
    "Maximum introspection depth exceeded": "depth",
}


MOST_SAID: Final = 1_000
"""Maximum characters of an error's message, or of a string among its facts. So an answer does not repeat long input."""


def shortened(text: str) -> str:
    """Truncate a message to the maximum length; "…" marks the cut."""
    return text if len(text) <= MOST_SAID else text[: MOST_SAID - 1] + "…"


def facts_of(error: GraphMemError) -> dict[str, object]:
    """Return the code, the class and the public attributes of an error.

    Public attributes are those that clients may see. GraphQL answers contain the result as the error's `extensions`. An attribute may be a
    list of symbols, such as the symbols that match an ambiguous name. Each symbol is a mapping with the fields of a GraphQL symbol.
    """
    known = PUBLIC_FACTS.get(error.code, ())
    return {
        "code": error.code,
        "error": type(error).__name__,
        **{name: _public(error.facts[name]) for name in known if name in error.facts},
    }


def _public(value: object) -> object:
    if isinstance(value, SymbolInfo):
        return {**_camel(to_json(value)), "id": global_id(SYMBOL, value.id), "kind": value.kind.upper(), "ref": value.ref}
    if isinstance(value, (list, tuple)):
        return [_public(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _public(item) for key, item in value.items()}
    return value if isinstance(value, (int, float, bool)) or value is None else shortened(str(value))


def _camel(fields: dict[str, object]) -> dict[str, object]:
    def name(text: str) -> str:
        head, *tail = text.split("_")
        return head + "".join(part.capitalize() for part in tail)

    return {name(key): value for key, value in fields.items()}


class ShapedError(GraphQLError):
    """An error that already has the form for clients.

    `shape` returns it unchanged.
    """


def shape(error: GraphQLError) -> ShapedError:
    """Convert any error to the error that a client receives."""
    if isinstance(error, ShapedError):
        return error
    message, extensions = _say(error)
    return ShapedError(message, nodes=error.nodes, source=error.source, positions=error.positions, path=error.path, extensions=extensions)


def _say(error: GraphQLError) -> tuple[str, dict[str, object]]:
    origin = error.original_error
    refused = origin if isinstance(origin, GraphMemError) else refusal_of_any(origin) if origin is not None else None
    if refused is not None and refused.code != "INTERNAL":
        if refused is not origin:
            log.warning("%s", refused.message, exc_info=origin if log.isEnabledFor(logging.DEBUG) else None)
        return shortened(refused.message), facts_of(refused)
    # An error without an origin concerns the document or an argument; with the path of a field it concerns a value of this server that the
    # schema does not allow.
    if (origin is None or isinstance(origin, GraphQLError)) and (error.path is None or _is_of_argument(error)):
        for words, limit in _CORE_LIMITS.items():
            if words in error.message:
                return shortened(error.message), {"code": "LIMIT", "limit": limit}
        return shortened(error.message), {"code": "BAD_INPUT", **(error.extensions or {})}
    if isinstance(origin, RecursionError) and error.path is None:  # in the parser or a rule, before execution
        return "The operation is nested too deeply to be read", {"code": "LIMIT", "limit": "depth"}
    name = secrets.token_hex(6)
    log.error("internal error %s at %s", name, ".".join(map(str, error.path or [])) or "the operation", exc_info=origin or error)
    return f"Internal error {name}; find the details under this id in the server's log.", {"code": "INTERNAL", "id": name}


def _is_of_argument(error: GraphQLError) -> bool:
    """Whether an error is about the value of an argument, such as null."""
    first = next(iter(error.nodes or ()), None)
    return isinstance(first, ValueNode)


def payload(code: str, message: str, **facts: object) -> dict[str, Any]:
    """Return the body of an error response, in the form of a GraphQL answer.

    The body is `{"errors": [{"message": …, "extensions": …}]}`. Use it for errors that occur before or outside an operation. `facts` are
    further attributes of the error for the client.
    """
    return {"errors": [{"message": message, "extensions": {"code": code, **facts}}]}
