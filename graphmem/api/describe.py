"""Makes GraphQL types out of classes whose docstring is the description clients read.

The classes are declarations: resolvers return the dataclasses of `graphmem.answers` themselves and
plain fields are read from their attributes, so an answer of thousands of symbols is not copied.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import strawberry

T = TypeVar("T", bound=type)


def gql_type(cls: T) -> T:
    """A GraphQL object type, described by the class's docstring."""
    return strawberry.type(cls, description=inspect.getdoc(cls))


def field(description: str, **options: Any) -> Any:
    """A field read from the attribute of the same name."""
    return strawberry.field(description=description, **options)


def resolved(
    graphql_type: Any = None, directives: Sequence[object] = (), subscription: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """A field worked out by the decorated function, described by its docstring.

    Args:
        graphql_type: its type, where the function returns a plain dataclass in its place.
        directives: schema directives of the field.
        subscription: the function is an async generator whose every item is an answer.
    """
    make = strawberry.subscription if subscription else strawberry.field

    def decorate(function: Callable[..., Any]) -> Any:
        return make(resolver=function, description=inspect.getdoc(function), graphql_type=graphql_type, directives=list(directives))

    return decorate
