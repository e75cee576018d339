"""Derive the JSON schemas of agents' tools from the declared operations."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

from graphmem.answers.marks import Doc
from graphmem.operations.declare import Parameter, split
from graphmem.operations.finding import find
from graphmem.operations.marks import Bounds

Schema = dict[str, Any]

MOST: Final = 100
"""Minimum length of a required list."""
_TYPES: Final = {str: "string", int: "integer", float: "number", bool: "boolean"}
_OPEN: Final = frozenset({"additionalProperties", "maxItems", "maximum", "minItems", "minimum"})
"""Keywords of a schema that are checked but not shown to the model; an error names the exceeded bound."""


def parameters(operation: str) -> dict[str, Parameter]:
    """The parameters of an operation of graphmem, by name.

    A parameter that is a mapping with declared keys is replaced by one parameter for each key.

    Raises:
        LookupError: the operation is unknown.
    """
    declared = find(operation)
    if declared is None:
        raise LookupError(operation)
    found: dict[str, Parameter] = {}
    for one in declared.parameters:
        if one.is_mapping:
            hints = typing.get_type_hints(one.hint, include_extras=True)
            for name, hint in hints.items():
                inner, marks = split(hint)
                described = next((mark.text for mark in marks if isinstance(mark, Doc)), "")
                found[name] = Parameter(name, inner, marks, None, False, described)
        else:
            found[one.name] = one
    return found


def schema_of(parameter: Parameter, *, is_required: bool) -> Schema:
    """The JSON schema that validates a tool's argument for `parameter`.

    With `is_required`, a list of values must not be empty.
    """
    made = _of(parameter.hint)
    if (bounds := parameter.mark(Bounds)) is not None:
        made |= {"minimum": bounds.low, "maximum": bounds.high}
    if made.get("type") == "array" and is_required:
        made |= {"minItems": 1, "maxItems": MOST}
    return made


def shortened(schema: object, keep: Callable[[str], bool] = lambda word: word not in _OPEN) -> Any:
    """Shorten a tool's JSON schema: drop keywords that a model does not need.

    `keep` takes a keyword and returns whether the schema keeps it. A keyword with an empty list is dropped in any case.
    """
    if not isinstance(schema, dict):
        return schema
    return {key: shortened(value, keep) for key, value in schema.items() if keep(key) and value != []}


def _of(hint: Any) -> Schema:
    hint = split(hint)[0]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": [word for word in arguments if word]}
    if origin in (types.UnionType, typing.Union):
        kinds = [_of(one) for one in arguments if one is not type(None)]
        return next((one for one in kinds if one.get("type") == "array"), kinds[0])  # show a list where a single value is also accepted
    if origin in (Sequence, Iterable, list):
        return {"type": "array", "items": _of(arguments[0])}
    return {"type": _TYPES[hint]}
