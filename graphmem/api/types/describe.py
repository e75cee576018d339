"""Make GraphQL types from Python classes and their docstrings.

The classes are only declarations. Resolvers return the dataclasses of `graphmem.answers`, and plain fields are read from their attributes.
So an answer of thousands of symbols is not copied. `strawberry.type` would make dataclasses of the classes here, too. This is avoided
because the classes never have instances, and the methods of the dataclasses would cost a third of the time in which the schema is made.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import strawberry
from strawberry.annotation import StrawberryAnnotation
from strawberry.types import get_object_definition
from strawberry.types.base import StrawberryObjectDefinition
from strawberry.types.field import StrawberryField

T = TypeVar("T", bound=type)


def gql_type(cls: T) -> T:
    """Decorate a class: make it a GraphQL type, described by its docstring."""
    _evaluate(cls)
    return declared(cls, cls.__name__, inspect.getdoc(cls))


def declared(cls: T, name: str, description: str | None) -> T:
    """Make a class an output type of GraphQL, with the fields it declares.

    Fields with annotations come first, in their order, then the other fields.

    Args:
        cls: the class; a base may be a GraphQL interface.
        name: name of the type in GraphQL.
        description: description of the type.
    """
    interfaces = [one for base in cls.__bases__ if (one := get_object_definition(base)) is not None]
    fields = {one.python_name: one for interface in interfaces for one in interface.fields}
    annotations = vars(cls).get("__annotations__", {})
    by_name = {name: value for name, value in vars(cls).items() if isinstance(value, StrawberryField)}
    for attribute in [*annotations, *(one for one in by_name if one not in annotations)]:
        found = by_name.get(attribute) or StrawberryField()
        found.python_name = attribute
        found.origin = found.origin or cls
        if found.type_annotation is None:
            if attribute in annotations:
                found.type_annotation = StrawberryAnnotation(annotations[attribute])
            elif found.base_resolver is not None:
                found.type_annotation = found.base_resolver.type_annotation
        if found.type_annotation is not None and found.type_annotation.namespace is None:
            found.type_annotation.set_namespace_from_field(found)
        fields[attribute] = found
    definition = StrawberryObjectDefinition(
        name=name,
        is_input=False,
        is_interface=False,
        interfaces=interfaces,
        description=description,
        directives=(),
        origin=cls,
        extend=False,
        fields=list(fields.values()),
        is_type_of=getattr(cls, "is_type_of", None),
        resolve_type=None,
    )
    cls.__strawberry_definition__ = definition  # type: ignore[attr-defined]
    return cls


def field(description: str, **options: Any) -> Any:
    """Declare a GraphQL field that shows the attribute of the same name."""
    return strawberry.field(description=description, **options)


def resolved(
    graphql_type: Any = None, directives: Sequence[object] = (), subscription: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function: it computes the value of a GraphQL field.

    The docstring of the function is the description of the field.

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
    """Replace annotations that are strings, such as "int", by their types.

    `declared` is the class or function with the annotations. Strawberry would parse each string several times, which takes a fifth of the
    time to make the schema. An annotation whose name is not defined yet remains a string, and strawberry evaluates it later.
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
