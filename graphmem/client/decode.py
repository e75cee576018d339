"""Encode a call's arguments as GraphQL variables, and decode its answer."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import PurePath
from typing import Any, Literal

from graphmem.answers.marks import Big, GlobalId, Hidden, Time
from graphmem.errors import GraphMemError
from graphmem.operations.declare import Parameter, camel, split, type_hints

Decode = Callable[[Any], Any]


def variable(parameter: Parameter, value: object) -> Any:
    """Convert an argument of an operation to a GraphQL variable, as JSON."""
    return _encoder(parameter.hint)(value)


@cache
def decoder(hint: object) -> Decode:
    """Return a function that converts GraphQL data to the type `hint`.

    The function raises GraphMemError if an object lacks a field, because a server of another version may send such an object.
    """
    hint, marks = split(hint)
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if any(isinstance(one, GlobalId) for one in marks):
        return (lambda value: [raw_id(one) for one in value]) if origin is list else raw_id
    if any(isinstance(one, Time) for one in marks):
        return lambda value: value or ""
    if origin is Literal:
        return _words(hint).__getitem__ if "" not in arguments else lambda value: _words(hint)[value] if value else ""
    if origin in (types.UnionType, typing.Union):
        present = decoder(_marked(next(one for one in arguments if one is not type(None)), marks))
        return lambda value: None if value is None else present(value)
    if origin is list:
        return _listed(decoder(arguments[0]))
    if origin is dict and arguments[1] in (int, float, str):
        return lambda value: {row["name"]: row["value"] for row in value}
    if dataclasses.is_dataclass(hint):
        return _object(typing.cast("type", hint))
    if hint is int and any(isinstance(one, Big) for one in marks):
        return int
    return _same


def raw_id(text: str) -> str:
    """Return the id in a Relay global id, which is `Type:id` in base64.

    Any other text is returned unchanged.
    """
    try:
        kind, colon, found = base64.b64decode(text, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return text
    return found if kind and colon else text


def _object(kind: type) -> Decode:
    shape: Any = getattr(kind, "__shape__", None)
    if shape is not None and shape.page:
        return _page(kind, shape.page)
    hints = type_hints(kind)
    plan: list[tuple[str, Decode]] = []
    for one in dataclasses.fields(kind):
        hint, marks = split(hints[one.name])
        if not any(isinstance(mark, Hidden) for mark in marks):
            plan.append((camel(one.name), _field(hint, marks)))

    def decode(data: Any) -> Any:
        try:
            return kind(*[convert(data[name]) for name, convert in plan])
        except KeyError as missing:
            raise GraphMemError(
                f"the answer of the server has no field {kind.__name__}.{missing.args[0]}, so server and client have different "
                "versions; update the older one"
            ) from None

    return decode


def _field(hint: object, marks: tuple[object, ...]) -> Decode:
    return decoder(_marked(hint, marks))


def _marked(hint: object, marks: tuple[object, ...]) -> object:
    return typing.Annotated[(hint, *marks)] if marks else hint


def _page(kind: type, rows: str) -> Decode:
    row = decoder(typing.get_args(split(type_hints(kind)[rows])[0])[0])
    return lambda data: kind([row(edge["node"]) for edge in data["edges"]], data["totalCount"])


def _listed(item: Decode) -> Decode:
    return list if item is _same else lambda values: [item(one) for one in values]


def _same(value: object) -> Any:
    return value


@cache
def _words(hint: Any) -> dict[str, str]:
    """Map GraphQL enum names to the words of the `Literal` type `hint`.

    For example, `IN_USE` is mapped to `in use`.
    """
    return {enum_name(word): word for word in typing.get_args(hint) if word}


def enum_name(word: str) -> str:
    """The GraphQL enum name for a Python word: `IN_USE` for `in use`."""
    return word.upper().replace(" ", "_").replace("-", "_")


@cache
def _encoder(hint: object) -> Decode:
    hint = split(hint)[0]
    if typing.get_origin(hint) in (typing.Required, typing.NotRequired):
        return _encoder(typing.get_args(hint)[0])
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is Literal:
        return lambda word: enum_name(str(word)) if word else None
    if origin in (types.UnionType, typing.Union):
        kinds = [one for one in arguments if one is not type(None)]
        listed = next((one for one in kinds if _is_list(one)), None)
        if listed is not None and str in kinds:
            many = _encoder(listed)
            return lambda value: many([value] if isinstance(value, str) else value)
        return _encoder(kinds[0]) if len(kinds) == 1 else _plain
    if _is_list(hint):
        item = _encoder(arguments[0])
        return lambda values: [item(one) for one in (values.tolist() if hasattr(values, "tolist") else values)]
    if typing.is_typeddict(hint):
        return _mapping(hint)
    return _plain


def _mapping(declared: Any) -> Decode:
    fields = {name: _encoder(hint) for name, hint in type_hints(declared).items()}
    # An unknown name is sent too; the server rejects it with an explanation.
    return lambda given: {camel(name): fields.get(name, _plain)(value) for name, value in given.items() if value is not None}


def _is_list(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, (Mapping, str))


def _plain(value: Any) -> Any:
    """Convert a value to JSON: times, paths, mappings, sequences and arrays.

    Any other value is returned unchanged.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value  # an array of numbers
