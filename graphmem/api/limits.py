"""What one request may cost, and the checks of arguments that have a bound.

Every limit is a field of `ServerLimits`; a request that exceeds one is refused with `LIMIT`, the
name of the limit, what is allowed and what came: nothing is cut silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from graphmem.api.ids import cursor_offset
from graphmem.errors import BadInputError, LimitError

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of one request; frozen and hashable, because validation rules are cached by them."""

    depth: int = 12  # nested fields, introspection aside
    complexity: int = 120_000  # objects an answer could hold, see graphmem.api.complexity
    aliases: int = 30
    tokens: int = 4_000  # lexical tokens of the document
    body_bytes: int = 1024 * 1024  # larger diffs are for the command line, which reads them in place
    seconds: float = 30.0  # for the verbs of one operation together
    page: int = 1_000  # `first` of a connection
    hits: int = 10_000  # `limit` of impact and subgraph
    results: int = 200  # `k` of search
    targets: int = 1_000  # targets, seeds, ids in one list
    items: int = 10_000  # memories in one bulk write; the size of the body bounds it as well
    events: int = 10_000  # of sessions in one request; the same
    deadline_s: float = 30.0  # a deadline of the caller's own, for what is put in front of an agent
    threads: int = 8  # verbs that run at a time
    pending: int = 256  # verbs that wait or run; more are refused at once
    subscriptions: int = 32  # on one WebSocket connection
    per_minute: int = 0  # requests from one address; 0: any number
    connections: int = 512  # at a time; fewer where few files may be open, see graphmem.api.holding
    connections_per_address: int = 256
    header_bytes: int = 32 * 1024  # of a request, its first line included
    header_seconds: float = 10.0  # for TLS, for headers, and for the first message of a WebSocket
    body_seconds: float = 30.0  # and a second more for each 16 KiB that came
    write_seconds: float = 30.0  # for a client to take 64 KiB of what is ready for it, or all of less
    idle_seconds: int = 30  # between two requests on one connection


@dataclass(frozen=True, slots=True)
class Page:
    """A slice of a connection."""

    first: int
    offset: int


def page(limits: ServerLimits, first: int, after: str | None) -> Page:
    """The slice that `first` and `after` mean.

    Raises:
        BadInputError: `first` is negative or `after` is no cursor of ours.
        LimitError: `first` is larger than a page may be.
    """
    at_most(limits.page, "first", first)
    return Page(first, 0 if after is None else cursor_offset(after) + 1)


def at_most(allowed: Number, argument: str, value: Number) -> Number:
    """`value`, if it lies in 0..allowed.

    Raises:
        BadInputError: it is negative.
        LimitError: it is larger.
    """
    if value < 0:
        raise BadInputError(f"{argument} is {value}; give 0 or more", argument=argument, value=value)
    if value > allowed:
        raise LimitError(f"{argument} is {value}; at most {allowed} is allowed here", limit=argument, allowed=allowed, found=value)
    return value


def no_more_than(allowed: int, argument: str, values: list[str]) -> list[str]:
    """`values`, if there are at least one and at most `allowed`.

    Raises:
        BadInputError: there are none.
        LimitError: there are more.
    """
    if not values:
        raise BadInputError(f"{argument} is empty; name at least one", argument=argument)
    if len(values) > allowed:
        raise LimitError(
            f"{argument} has {len(values)} entries; at most {allowed} are allowed", limit=argument, allowed=allowed, found=len(values)
        )
    return values
