"""Make GraphQL types from the dataclasses that operations return.

Each dataclass becomes an object type, each closed set of words an enum, and each TypedDict an input. Resolvers return the dataclasses
themselves, and plain fields are read from their attributes. So an answer of thousands of symbols is not copied. Fields that exist only in
GraphQL, such as fields with loaders, are in `graphmem.api.types.extras`.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NewType

import strawberry
from strawberry.scalars import JSON

from graphmem.answers.marks import Big, Doc, GlobalId, Hidden, Size, Time, Vocabulary
from graphmem.api.requests.complexity import assumed
from graphmem.api.requests.ids import global_id
from graphmem.api.types.describe import declared
from graphmem.operations.declare import split, type_hints

_PAIRS: Final[Mapping[type, str]] = types.MappingProxyType({int: "Count", float: "Amount", str: "Remark"})
_SCALARS: Final = (str, int, float, bool)


def _given_time(value: object) -> str:
    """Check that a DateTime in a request is a string, and return it.

    The operation that gets the string parses it.

    Raises:
        ValueError: the value is not a string.
    """
    if not isinstance(value, str):
        raise ValueError(
            "a value of the GraphQL type DateTime must be a string in ISO 8601 with a time zone, not of type "
            f'{type(value).__name__}; send for example "2026-01-31T12:00:00Z"'
        )
    return value


DateTime = NewType("DateTime", str)
"""A time in GraphQL: the text that answers have, not an object made of it."""
SCALARS: Final[dict[object, Any]] = {
    DateTime: strawberry.scalar(
        name="DateTime",
        description="A point in time, ISO 8601 with its zone.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time.html",
        serialize=str,
        parse_value=_given_time,
    )
}


@strawberry.interface(description="An object with an id by which `node` finds it again.")
class Node:
    """Relay's interface of an object with a global id."""

    id: strawberry.ID = strawberry.field(description="Id of the object, which index runs do not change.")


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """A key and its value; GraphQL shows a mapping as a list of these pairs."""

    name: str
    value: Any


_extras: dict[type, type] = {}
_objects: dict[type, type] = {}


def extends(answer: type) -> Callable[[type], type]:
    """Decorate a class: add its fields to the GraphQL type for `answer`.

    If both have a field of the same name, the field of the decorated class is used.
    """

    def decorate(fields: type) -> type:
        _extras[answer] = fields
        return fields

    return decorate


def object_type(answer: type) -> type:
    """Return the GraphQL object type of an answer's dataclass."""
    if answer not in _objects:
        shape: Any = getattr(answer, "__shape__")  # noqa: B009 - only classes made by `answer` have it
        extra = _extras.get(answer)
        by_hand = {name: value for name, value in vars(extra).items() if not name.startswith("__")} if extra else {}
        attributes: dict[str, Any] = {"__doc__": answer.__doc__, "__module__": extra.__module__ if extra else __name__}
        annotations: dict[str, Any] = {}
        for name, (hint, marks) in hints_of(answer).items():
            if name in by_hand or any(isinstance(mark, Hidden) for mark in marks):
                continue
            annotation, resolver = output(hint, marks, name)
            options: dict[str, Any] = {
                "description": _text(marks),
                "directives": [assumed(one.objects) for one in marks if isinstance(one, Size)],
            }
            if resolver is None:
                annotations[name] = annotation
                attributes[name] = strawberry.field(**options)
            else:
                attributes[name] = strawberry.field(resolver=resolver, graphql_type=annotation, **options)
        attributes.update(by_hand)
        annotations.update(getattr(extra, "__annotations__", {}))
        if shape.node:
            attributes["is_type_of"] = classmethod(lambda _cls, value, _info: isinstance(value, answer))
        attributes["__annotations__"] = annotations
        made = type(shape.name, (Node,) if shape.node else (), attributes)
        _objects[answer] = declared(made, shape.name, inspect.getdoc(answer))
    return _objects[answer]


@cache
def hints_of(answer: type) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return the type of each field of a dataclass or a TypedDict.

    The result maps names to (type, marks). `marks` is the metadata of the field's `Annotated`, such as `GlobalId`; it may be empty.
    """
    hints = type_hints(answer)
    names = [one.name for one in dataclasses.fields(answer)] if dataclasses.is_dataclass(answer) else list(hints)
    return {name: split(_bare(hints[name])) for name in names}


def output(hint: Any, marks: tuple[Any, ...], name: str) -> tuple[Any, Callable[..., Any] | None]:
    """Return the GraphQL type of an answer's field, and its resolver.

    The resolver is None if GraphQL shows the attribute unchanged.

    Args:
        hint: Python type of the field.
        marks: metadata from the field's `Annotated`, such as `GlobalId`.
        name: name of the attribute.
    """
    ident = next((one for one in marks if isinstance(one, GlobalId)), None)
    if ident is not None:
        return (list[strawberry.ID] if typing.get_origin(hint) is list else strawberry.ID), _identified(name, ident)
    if typing.get_origin(hint) is dict and typing.get_args(hint)[1] in _PAIRS:
        return list[_pair(typing.get_args(hint)[1])], _pairs(name)  # type: ignore[misc]
    if (time := next((one for one in marks if isinstance(one, Time)), None)) is not None:
        return (DateTime, None) if time.always else (DateTime | None, _moment(name))
    return shown(hint, marks), None


def shown(hint: Any, marks: tuple[Any, ...] = ()) -> Any:
    """Return the GraphQL type for `hint`, a Python type that answers contain.

    For example, a dataclass gives its GraphQL type, and a type without a GraphQL equivalent gives JSON. `marks` is the metadata from the
    `Annotated` around `hint`, such as `Vocabulary`.
    """
    hint, more = split(hint)
    marks = (*more, *marks)
    origin = typing.get_origin(hint)
    if origin is Literal:
        return enum_of(hint, marks)
    if origin in (types.UnionType, typing.Union):
        return shown(next(one for one in typing.get_args(hint) if one is not type(None)), marks) | None
    if origin in (list, Sequence) and not _is_json(typing.get_args(hint)[0]):
        return list[shown(typing.get_args(hint)[0])]  # type: ignore[misc]
    if dataclasses.is_dataclass(hint):
        return object_type(typing.cast("type", hint))
    if hint is int and any(isinstance(one, Big) for one in marks):
        return float
    return hint if hint in _SCALARS else JSON


def taken(hint: Any, marks: tuple[Any, ...] = ()) -> Any:
    """Return the GraphQL type for `hint`, the Python type of an argument.

    For example, a TypedDict gives its input type, and a type without a GraphQL equivalent gives JSON. `marks` is the metadata from the
    `Annotated` around `hint`, such as `Vocabulary`.
    """
    hint, more = split(_bare(hint))
    marks = (*more, *marks)
    origin = typing.get_origin(hint)
    if origin is Literal:
        made = enum_of(hint, marks)
        return made | None if "" in typing.get_args(hint) else made
    if origin in (types.UnionType, typing.Union):
        kinds = [one for one in typing.get_args(hint) if one is not type(None)]
        lists = [one for one in kinds if typing.get_origin(one) in (Sequence, Iterable, list)]
        if datetime in kinds:
            return DateTime | None if len(kinds) < len(typing.get_args(hint)) else DateTime
        chosen = lists[0] if lists else str if Path in kinds else kinds[0]
        inner = taken(chosen, marks)
        return inner | None if len(kinds) < len(typing.get_args(hint)) else inner
    if origin in (Sequence, Iterable, list):
        return list[taken(typing.get_args(hint)[0])]  # type: ignore[misc]
    if typing.is_typeddict(hint):
        return input_type(hint)
    if any(isinstance(one, Time) for one in marks):
        return DateTime
    return hint if hint in _SCALARS else JSON


@cache
def input_type(given: type) -> type:
    """Return the GraphQL input type for a TypedDict.

    Keys that the TypedDict does not require are optional.
    """
    attributes: dict[str, Any] = {"__doc__": given.__doc__, "__module__": __name__}
    annotations: dict[str, Any] = {}
    # `__required_keys__` does not know of `Required` in annotations that are not evaluated.
    hints = type_hints(given)
    required = {name for name, hint in hints.items() if typing.get_origin(hint) is typing.Required}
    for name, (hint, marks) in sorted(hints_of(given).items(), key=lambda item: item[0] not in required):
        annotations[name] = taken(hint, marks)
        options: dict[str, Any] = {} if name in required else {"default": None}
        attributes[name] = strawberry.field(description=_text(marks), **options)
    attributes["__annotations__"] = annotations
    name = given.__name__
    return strawberry.input(type(name, (), attributes), name=name, description=inspect.getdoc(given))


def enum_of(hint: Any, marks: tuple[Any, ...]) -> Any:
    """Return the GraphQL enum for a closed set of words.

    Args:
        hint: a `Literal` with the words.
        marks: metadata from the `Annotated` around `hint`; a `Vocabulary` in it names the enum.

    Raises:
        TypeError: `marks` has no `Vocabulary`.
    """
    known = next((one for one in marks if isinstance(one, Vocabulary)), None)
    if known is None:
        raise TypeError(f"the Python type {hint} has no GraphQL name; add a `Vocabulary` with the name: Annotated[{hint}, Vocabulary(…)]")
    return _enum(known, tuple(one for one in typing.get_args(hint) if one))


@cache
def _enum(known: Vocabulary, words: tuple[str, ...]) -> Any:
    made = StrEnum(known.name, {word.upper().replace(" ", "_").replace("-", "_"): word for word in words})  # type: ignore[misc]
    return strawberry.enum(made, name=known.name, description=known.description)


@cache
def _pair(kind: type) -> type:
    described = {int: "A name and its count.", float: "A name and its number.", str: "A name and a sentence about it."}
    attributes = {"__annotations__": {"name": str, "value": kind}, "__module__": __name__}
    return declared(type(_PAIRS[kind], (), attributes), _PAIRS[kind], described[kind])


def _pairs(attribute: str) -> Callable[..., Any]:
    def resolve(parent: strawberry.Parent[Any]) -> Any:
        return [Pair(name, value) for name, value in getattr(parent, attribute).items()]

    return resolve


def _moment(attribute: str) -> Callable[..., Any]:
    def resolve(parent: strawberry.Parent[Any]) -> Any:
        return getattr(parent, attribute) or None

    return resolve


def _identified(attribute: str, ident: GlobalId) -> Callable[..., Any]:
    if ident.sibling:
        types_by_value = dict(ident.types)

        def resolve(parent: strawberry.Parent[Any]) -> Any:
            sibling = getattr(parent, ident.type)
            return global_id(types_by_value.get(sibling, sibling), getattr(parent, attribute))

        return resolve

    def resolve_fixed(parent: strawberry.Parent[Any]) -> Any:
        raw = getattr(parent, attribute)
        return [global_id(ident.type, one) for one in raw] if isinstance(raw, list) else global_id(ident.type, raw) if raw else ""

    return resolve_fixed


def _bare(hint: Any) -> Any:
    """Return a type without `Required` and `NotRequired` around it."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.Required, typing.NotRequired) else hint


def _is_json(hint: Any) -> bool:
    return hint is Any or typing.get_origin(hint) in (list, dict)


def _text(marks: tuple[Any, ...]) -> str | None:
    return next((one.text for one in marks if isinstance(one, Doc)), None)
