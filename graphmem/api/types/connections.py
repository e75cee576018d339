"""Types for Relay connections: pages of a list, with cursors.

The GraphQL types for each kind of entry are made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import strawberry

from graphmem.api.requests.ids import cursor
from graphmem.api.requests.limits import Page
from graphmem.api.types.derive import object_type
from graphmem.api.types.describe import field, gql_type

T = TypeVar("T")


@gql_type
class PageInfo:
    """The position of one page in a list."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class Slice:
    """The position of a page in its list, which GraphQL shows as `PageInfo`.

    The page has `rows` rows and begins with row `offset`, counted from 0. `more` states whether further rows follow the page.
    """

    offset: int
    rows: int
    more: bool

    @property
    def has_next_page(self) -> bool:
        """Whether the list has rows after the page."""
        return self.more

    @property
    def has_previous_page(self) -> bool:
        """Whether the list has rows before the page."""
        return self.offset > 0

    @property
    def start_cursor(self) -> str | None:
        """Cursor of the first row of the page."""
        return cursor(self.offset) if self.rows else None

    @property
    def end_cursor(self) -> str | None:
        """Cursor of the last row of the page."""
        return cursor(self.offset + self.rows - 1) if self.rows else None


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a page of a list, with its cursor."""

    cursor: str
    node: Any


@dataclass(frozen=True, slots=True)
class Rows:
    """A page of a list whose total length is known.

    Resolvers return an object of this class, and GraphQL shows it as a connection.
    """

    edges: list[Item]
    page_info: Slice
    total_count: int


def rows(found: list[T], total: int, at: Page) -> Rows:
    """Make a page of a list: its rows with cursors, and the page's position.

    Args:
        found: the rows of the page.
        total: number of rows of the whole list.
        at: the part of the list that was requested.
    """
    edges = [Item(cursor(at.offset + i), node) for i, node in enumerate(found)]
    return Rows(edges, Slice(at.offset, len(found), at.offset + len(found) < total), total)


@cache
def connection_of(answer: type) -> type:
    """Return the GraphQL connection type for pages of `answer` objects.

    For the class `Memory`, it is `MemoryConnection` with entries of type `MemoryListEdge`.
    """
    node = object_type(answer)
    name = getattr(answer, "__shape__").name  # noqa: B009 - only classes made by `answer` have it
    edge = type(
        f"{name}ListEdge",
        (),
        {
            "__annotations__": {"cursor": str, "node": node},
            "__module__": __name__,
            "node": field("the object at this position of the list"),
        },
    )
    edge = strawberry.type(edge, description=f"An entry of a list of type {name}.")
    annotations = {"edges": list[edge], "page_info": PageInfo, "total_count": int}  # type: ignore[valid-type]
    described = {"edges": field("the entries of the page, in order"), "total_count": field("number of entries in the whole list")}
    made = type(f"{name}Connection", (), {"__annotations__": annotations, "__module__": __name__, **described})
    return strawberry.type(made, description=f"A page of a list of type {name}.")
