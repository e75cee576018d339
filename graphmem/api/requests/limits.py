"""Limits of a GraphQL request, and checks of limited arguments.

Every limit is a field of `ServerLimits`. A request that exceeds one is refused with `LIMIT`, the name of the limit, the allowed value and
the value found. Nothing is cut silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from graphmem.api.requests.ids import cursor_offset
from graphmem.errors import BadInputError, LimitError

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits of one request to the server.

    The class is frozen and hashable, so that validation rules can be cached for each set of limits.
    """

    depth: int = 12  # nested fields, without introspection
    complexity: int = 120_000  # objects an answer could hold, see graphmem.api.requests.complexity
    aliases: int = 30
    tokens: int = 4_000  # lexical tokens of the document
    body_bytes: int = 1024 * 1024  # larger diffs need the command line, which reads the files directly
    seconds: float = 30.0  # for all work of one GraphQL operation
    page: int = 1_000  # `first` of a connection
    hits: int = 10_000  # `limit` of impact and subgraph
    results: int = 200  # `k` of search
    targets: int = 1_000  # targets, seeds or ids in one list
    items: int = 10_000  # memories in one bulk write; the size of the body limits them too
    events: int = 10_000  # of sessions in one request; the size of the body limits them too
    deadline_s: float = 30.0  # maximum deadline that a client may set for injected context
    threads: int = 8  # operations that run at a time, without slow ones
    slow_threads: int = 16  # slow operations, such as index runs, that run at a time
    pending: int = 256  # operations that wait or run, with slow ones; more are refused at once
    subscriptions: int = 32  # on one WebSocket connection
    per_minute: int = 0  # requests of one address; 0: unlimited
    connections: int = 512  # at a time; fewer if the process may open few files, see graphmem.api.http.holding
    connections_per_address: int = 256
    header_bytes: int = 32 * 1024  # of a request, including its first line
    header_seconds: float = 10.0  # for TLS, for headers, and for the first message of a WebSocket
    body_seconds: float = 30.0  # plus a second for each 16 KiB received
    write_seconds: float = 30.0  # for a client to read 64 KiB of its answer, or the rest if less
    idle_seconds: int = 30  # between two requests on one connection


@dataclass(frozen=True, slots=True)
class Page:
    """The part of a list that a client requests.

    The part has `first` rows, beginning with row `offset`.
    """

    first: int
    offset: int


def page(limits: ServerLimits, first: int, after: str | None) -> Page:
    """Convert the arguments `first` and `after` to a part of a list.

    Raises:
        BadInputError: `first` is negative, or `after` is not a cursor of this server.
        LimitError: `first` exceeds the page limit.
    """
    at_most(limits.page, "first", first)
    return Page(first, 0 if after is None else cursor_offset(after) + 1)


def at_most(allowed: Number, argument: str, value: Number) -> Number:
    """Check that `value` is between 0 and `allowed`; return it.

    `argument` is the name of the argument in errors.

    Raises:
        BadInputError: the value is negative.
        LimitError: the value is larger than `allowed`.
    """
    if value < 0:
        raise BadInputError(f"{argument} is {value}; use 0 or more", argument=argument, value=value)
    if value > allowed:
        raise LimitError(f"{argument} is {value}; use at most {allowed}", limit=argument, allowed=allowed, found=value)
    return value


def no_more_than(allowed: int, argument: str, values: list[str]) -> list[str]:
    """Check that the list `values` has 1 to `allowed` items; return it.

    `argument` is the name of the argument in errors.

    Raises:
        BadInputError: `values` is empty.
        LimitError: `values` has more than `allowed` items.
    """
    if not values:
        raise BadInputError(f"{argument} is an empty list; pass at least one entry", argument=argument)
    if len(values) > allowed:
        raise LimitError(
            f"the list {argument} has {len(values)} entries; pass at most {allowed} entries",
            limit=argument,
            allowed=allowed,
            found=len(values),
        )
    return values
