"""Makes GraphQL types out of classes whose docstring is the description clients read.

The classes are declarations: resolvers return the dataclasses of `graphmem.answers` themselves and
plain fields are read from their attributes, so an answer of thousands of symbols is not copied.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import strawberry

T = TypeVar("T", bound=type)


def gql_type(cls: T) -> T:
    """A GraphQL object type, described by the class's docstring."""
    _evaluate(cls)
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
        _evaluate(getattr(function, "__func__", function))
        return make(resolver=function, description=inspect.getdoc(function), graphql_type=graphql_type, directives=list(directives))

    return decorate


_known: dict[tuple[str, str], Any] = {}  # by module and text


def _evaluate(declared: Any) -> None:
    """Put what they mean in the place of annotations that are texts.

    Strawberry would do the same, several times each and by way of their syntax trees: a fifth of what making the schema takes.
    What names something that is not there yet stays a text, for strawberry to look at when everything is.
    """
    module = declared.__module__
    names = vars(sys.modules[module])
    for name, text in declared.__annotations__.items():
        if not isinstance(text, str):
            continue
        key = module, text
        if key not in _known:
            try:
                _known[key] = eval(text, names)  # noqa: S307 - an annotation of this package
            except NameError:
                continue
        declared.__annotations__[name] = _known[key]
