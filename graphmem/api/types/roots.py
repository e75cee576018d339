"""Derive GraphQL's root fields, such as `impact`, from the operations.

Each field parses its arguments, calls one operation and returns its answer.
"""

from __future__ import annotations

import inspect
import time
import typing
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Final
from weakref import WeakSet

import strawberry

from graphmem.answers.marks import Size
from graphmem.api.requests.complexity import assumed, sized_by
from graphmem.api.requests.context import Info
from graphmem.api.requests.ids import as_ref
from graphmem.api.requests.limits import ServerLimits, at_most, no_more_than, page
from graphmem.api.types.connections import connection_of, rows
from graphmem.api.types.derive import hints_of, object_type, shown, taken
from graphmem.api.types.describe import declared
from graphmem.errors import BadInputError
from graphmem.operations.declare import Operation, Parameter, split
from graphmem.operations.marks import FileName, Filled, Local, Ref, Within
from graphmem.operations.registry import registry

ACTOR: Final = "graphql"
PAGING: Final = ("limit", "offset")  # arguments of an operation with pages; a connection has `first` and `after` instead
Convert = Callable[[ServerLimits, Any], Any]
_DERIVED: Final[WeakSet[Callable[..., Any]]] = WeakSet()


def root_type(root: str, by_hand: type) -> type:
    """Make a root type of GraphQL: query or mutation.

    The type has the fields of `by_hand`, and a derived field for each other operation of this root.

    Args:
        root: query or mutation.
        by_hand: class with the handwritten fields; its docstring describes the type.
    """
    attributes = {name: value for name, value in vars(by_hand).items() if name not in ("__dict__", "__weakref__")}
    for operation in registry().values():
        if operation.hints.root == root and operation.name not in attributes:
            attributes[operation.name] = root_field(operation)
    return declared(type(by_hand.__name__, (), attributes), by_hand.__name__, inspect.getdoc(by_hand))


def root_field(operation: Operation) -> Any:
    """Make the root field of GraphQL for an operation.

    The field is nullable. So if one field of a query fails, the other fields still have answers.
    """
    rows_of = _rows_of(operation)
    arguments = [_Argument(one) for one in operation.parameters if not (one.has(Local) or one.has(Filled))]
    if rows_of is not None:
        arguments = [one for one in arguments if one.name not in PAGING]
    filled = {one.name: one.mark(Filled) for one in operation.parameters if one.has(Filled)}
    resolve = _packed(operation, filled) if operation.hints.packed else _resolver(operation, arguments, filled, rows_of)
    signature = [inspect.Parameter("info", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Info)]
    if operation.hints.packed:
        signature.append(inspect.Parameter("input", inspect.Parameter.KEYWORD_ONLY, annotation=taken(operation.hints.packed)))
    else:
        signature += sorted((one.declared() for one in arguments), key=lambda one: one.default is not inspect.Parameter.empty)
    if rows_of is not None:
        first = next(one.default for one in operation.parameters if one.name == "limit")
        signature.append(inspect.Parameter("first", inspect.Parameter.KEYWORD_ONLY, annotation=int, default=first))
        signature.append(inspect.Parameter("after", inspect.Parameter.KEYWORD_ONLY, annotation=str | None, default=None))
    _DERIVED.add(resolve)
    resolve.__name__ = operation.name
    resolve.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    resolve.__annotations__ = {one.name: one.annotation for one in signature}
    return strawberry.field(
        resolver=resolve, description=operation.doc, graphql_type=_shown(operation, rows_of), directives=_sizes(operation, rows_of)
    )


class _Argument:
    """An argument of a root field, and how its value is converted."""

    def __init__(self, parameter: Parameter) -> None:
        self.name = parameter.name
        self._parameter = parameter
        self._annotation = taken(parameter.hint, parameter.marks)
        self._is_required = parameter.is_required or parameter.is_mapping
        self._convert = _conversion(parameter)

    def declared(self) -> inspect.Parameter:
        """Declare the argument as a parameter of the field's resolver."""
        default = self._parameter.default
        annotation = self._annotation
        if self._is_required:
            default = inspect.Parameter.empty
        elif isinstance(default, tuple):
            default, annotation = None, annotation | None
        elif default == "" and _is_optional(annotation):  # an enum in which "" means no value
            default = None
        elif isinstance(default, str) and isinstance(annotation, type) and issubclass(annotation, Enum):
            default = annotation(default)
        if described := self._parameter.described:
            annotation = Annotated[annotation, strawberry.argument(description=described)]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    def put(self, limits: ServerLimits, value: Any, into: dict[str, Any]) -> None:
        """Convert the client's value, and store it in `into` for the operation.

        `into` maps names of the operation's parameters to values. The value is stored under the name of this argument. If the argument
        takes a mapping, each field of the mapping is stored under the field's name. If `value` is None because the client gave none, the
        operation's default applies.
        """
        if value is None and self._parameter.default is not None:
            return
        converted = None if value is None else self._convert(limits, value)
        if self._parameter.is_mapping:
            into.update(converted or {})
        else:
            into[self.name] = converted


def is_derived(resolve: Callable[..., Any]) -> bool:
    """Whether this module made a resolver from an operation.

    Of its argument `info`, such a resolver uses only `context`.
    """
    return resolve in _DERIVED


def _resolver(operation: Operation, arguments: Sequence[_Argument], filled: dict[str, Any], rows_of: str | None) -> Callable[..., Any]:
    async def resolve(info: Info, **values: Any) -> Any:
        limits, given = info.context.limits, _filled(filled)
        for one in arguments:
            one.put(limits, values[one.name], given)
        if rows_of is not None:
            at = page(limits, values["first"], values["after"])
            given.update(limit=at.first, offset=at.offset)
        run = info.context.wait_for if operation.hints.slow else info.context.call
        found = await run(getattr(info.context.service, operation.name), **given)
        return found if rows_of is None else rows(getattr(found, rows_of), found.total, at)

    return resolve


def _packed(operation: Operation, filled: dict[str, Any]) -> Callable[..., Any]:
    async def resolve(info: Info, **values: Any) -> Any:
        given = _filled(filled) | _fields(operation.hints.packed)(info.context.limits, values["input"])
        run = info.context.wait_for if operation.hints.slow else info.context.call
        return await run(getattr(info.context.service, operation.name), **given)

    return resolve


def _filled(filled: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"actor": ACTOR, "clock": time.monotonic(), "network": True}
    return {name: values[mark.by] for name, mark in filled.items()}


def _conversion(parameter: Parameter) -> Convert:
    """Return a function that converts a GraphQL value for an operation.

    The function also checks the limits of the operation's parameter.
    """
    steps: list[Convert] = [_plain(parameter.hint)]
    if within := parameter.mark(Within):
        steps.append(_bounded(parameter, within))
    if parameter.has(Ref):
        steps.append(lambda _, value: [as_ref(one) for one in value] if isinstance(value, list) else as_ref(value))
    if parameter.has(FileName):
        steps.append(lambda _, value: _name_alone(parameter.name, value))

    def convert(limits: ServerLimits, value: Any) -> Any:
        for step in steps:
            value = step(limits, value)
        return value

    return convert


def _plain(hint: Any) -> Convert:
    """Return a function that converts a GraphQL value to the type `hint`.

    An enum becomes a word, and an input object becomes a mapping. Each item of a list is converted in the same way.
    """
    hint = split(hint)[0]
    inner = next((one for one in (hint, *typing.get_args(hint)) if typing.is_typeddict(split(one)[0])), None)
    if inner is not None:
        fields = _fields(split(inner)[0])
        return lambda limits, value: [fields(limits, one) for one in value] if isinstance(value, list) else fields(limits, value)
    return lambda _, value: [_word(one) for one in value] if isinstance(value, list) else _word(value)


def _word(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _fields(declared: Any) -> Convert:
    """Return a function that converts a GraphQL input object to a mapping.

    `declared` is the TypedDict of the input object. The keys are the Python names of the fields. Fields without a value are left out.
    """
    refs = {name for name, (_, marks) in hints_of(declared).items() if any(isinstance(one, Ref) for one in marks)}

    def convert(_: ServerLimits, value: Any) -> Any:
        return {name: [as_ref(ref) for ref in one] if name in refs else _word(one) for name, one in vars(value).items() if one is not None}

    return convert


def _bounded(parameter: Parameter, within: Within) -> Convert:
    def convert(limits: ServerLimits, value: Any) -> Any:
        allowed = getattr(limits, within.limit)
        if not isinstance(value, list):
            return at_most(allowed, parameter.graphql_name, value)
        return no_more_than(allowed, parameter.graphql_name, value) if value else value  # an operation that needs at least one reports it

    return convert


def _name_alone(argument: str, value: str) -> str:
    if not value or PurePath(value).name != value or "\\" in value:
        raise BadInputError(
            f"{value[:200]!r} is not the name of a backup; use a file name from the answer of the query `backups`",
            argument=argument,
            value=value[:200],
        )
    return value


def _rows_of(operation: Operation) -> str | None:
    """Return the field of an operation's answer that holds a page of a list.

    The result is the field's name. It is None if the answer is not a page of a list.
    """
    shape = getattr(operation.answer, "__shape__", None)
    return shape.page or None if shape is not None else None


def _shown(operation: Operation, rows_of: str | None) -> Any:
    if rows_of is not None:
        row = typing.get_args(hints_of(operation.answer)[rows_of][0])[0]
        return connection_of(row) | None
    hint, marks = split(operation.answer)
    return (object_type(hint) if hasattr(hint, "__shape__") else shown(hint, marks)) | None


def _sizes(operation: Operation, rows_of: str | None) -> list[Any]:
    if rows_of is not None:
        return [sized_by("first", "edges")]
    sizes: list[Any] = [sized_by(name, *fields) for name, fields in operation.hints.sizes.items()]
    return sizes + [assumed(one.objects) for one in split(operation.answer)[1] if isinstance(one, Size)]


def _is_optional(annotation: Any) -> bool:
    return type(None) in typing.get_args(annotation)
