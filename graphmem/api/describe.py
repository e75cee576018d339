"""Make GraphQL types from classes; their docstrings become descriptions.

The classes are only declarations. Resolvers return the dataclasses of `graphmem.answers`, and plain fields are read from their attributes.
So an answer of thousands of symbols is not copied.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import strawberry

T = TypeVar("T", bound=type)


def gql_type(cls: T) -> T:
    """Decorate a class: make it a GraphQL type, described by its docstring."""
    _evaluate(cls)
    return strawberry.type(cls, description=inspect.getdoc(cls))


def field(description: str, **options: Any) -> Any:
    """Declare a GraphQL field that is read from the attribute of its name."""
    return strawberry.field(description=description, **options)


def resolved(
    graphql_type: Any = None, directives: Sequence[object] = (), subscription: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function: it computes the value of a GraphQL field.

    Its docstring is the description of the field.

    Args:
        graphql_type: type of the field, if the function returns a plain dataclass.
        directives: schema directives of the field.
        subscription: whether the function is an async generator, whose items are answers.
    """
    make = strawberry.subscription if subscription else strawberry.field

    def decorate(function: Callable[..., Any]) -> Any:
        _evaluate(getattr(function, "__func__", function))
        return make(resolver=function, description=inspect.getdoc(function), graphql_type=graphql_type, directives=list(directives))

    return decorate


_known: dict[tuple[str, str], Any] = {}  # by module and text


def _evaluate(declared: Any) -> None:
    """Replace annotations that are strings by their types.

    Strawberry would parse each of them several times, which takes a fifth of the time to make the schema. An annotation whose name is not
    defined yet remains a string; strawberry evaluates it later.
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
