"""Render plain parts of a GraphQL answer without a call for each field.

Most of a large answer consists of attributes of dataclasses. A selection (the fields that a query asks for) is compiled to one function if
all its fields are such attributes, without arguments, context or awaiting. The function is applied to every object. graphql-core executes
the other selections. Rendering a large impact report takes about a fifteenth of the time that graphql-core needs. The result has the same
bytes as graphql-core's; a test compares them.
"""

from __future__ import annotations

import inspect
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from types import CodeType
from typing import Any

from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
)
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types.field import StrawberryField

from graphmem.api.execution.encoding import Again

Render = Callable[[Any], Any]
"""Converts a resolver's value to the value in the answer."""

Seen = dict[int, tuple[Any, dict[str, Any]]]
"""By id of an object: the object, kept so that no other one gets its id, and its rendered form."""


class _Work(threading.local):
    """The objects that this thread has rendered for the current answer.

    A thread renders one answer at a time, so the objects of different answers cannot be mixed up.
    """

    seen: defaultdict[Render, Seen] | None = None  # by the function that renders the objects


_WORK = _Work()

# A value of exactly this type needs no conversion; the executor handles other types.
_EXACT: dict[str, type] = {"String": str, "ID": str, "Int": int, "Float": float, "Boolean": bool, "DateTime": str}
_INT = range(-(2**31), 2**31)


class _NotPlainError(Exception):
    """Raised when graphql-core must render a part of the answer itself."""


Chosen = tuple[GraphQLObjectType, tuple[int, ...], tuple[tuple[str, bool], ...]]
"""Key of a plan: the type, the selections by identity, and the variables that `@include` and `@skip` may use."""

_PLANS: dict[Chosen, tuple[list[FieldNode], Render | None]] = {}  # the nodes are kept, so that their ids are not reused
_MOST_PLANS = 2_048


class PlainExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes queries like graphql-core, but faster where objects are plain.

    An object is plain if a query asks only for attributes of a dataclass, without arguments or awaiting.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._switches = tuple((name, value) for name, value in self.variable_values.coerced.items() if isinstance(value, bool))
        # Within the operation the key is the id of the list, as in graphql-core's own cache of subfields; the list is kept.
        self._plans: dict[tuple[GraphQLObjectType, int], tuple[FieldDetailsList, Render | None]] = {}

    def collect_and_execute_subfields(
        self,
        return_type: GraphQLObjectType,
        field_details_list: FieldDetailsList,
        path: Path,
        result: Any,
        position_context: Any,
    ) -> AwaitableOrValue[dict[str, Any]]:
        """Render an object by a compiled function, or else field by field."""
        key = (return_type, id(field_details_list))
        known = self._plans.get(key)
        if known is None:
            known = self._plans[key] = (field_details_list, self.plan(return_type, field_details_list))
        if known[1] is not None and (answer := rendered(known[1], result)) is not None:
            return answer
        return super().collect_and_execute_subfields(return_type, field_details_list, path, result, position_context)

    def plan(self, type_: GraphQLObjectType, details: FieldDetailsList) -> Render | None:
        """Return a function that renders objects of one type, or None.

        The result is None if graphql-core must render the objects, because they are not plain. `type_` is the GraphQL type of the objects.
        `details` has the nodes of the document that select the objects.
        """
        # Documents are cached, so the next operation has the same nodes.
        nodes = [one.node for one in details]
        chosen = (type_, tuple(map(id, nodes)), self._switches)
        known = _PLANS.get(chosen)
        if known is None:
            try:
                known = (nodes, self._object(type_, details))
            except _NotPlainError:
                known = (nodes, None)
            if len(_PLANS) >= _MOST_PLANS:
                _PLANS.clear()
            _PLANS[chosen] = known
        return known[1]

    def _object(self, type_: GraphQLObjectType, details: FieldDetailsList) -> Render:
        """Compile a function that renders an object of the GraphQL type `type_`.

        The source of the function has statements for each selected field. This is more than twice as fast as one call for each field.
        The source contains only attribute names of this package's classes, and no text from a client.
        """
        text = ["def render(source):"]
        names: dict[str, Any] = {"_NotPlainError": _NotPlainError}
        shown = []
        for place, (name, chosen) in enumerate(self.collect_subfields(type_, details).grouped_field_set.items()):
            names[f"key{place}"] = name
            shown.append(f"key{place}: value{place}")
            text += [f" {line}" for line in self._field(type_, chosen, place, names)]
        text.append(f" return {{{', '.join(shown)}}}")
        return _rendering("\n".join(text), tuple(names.items()))

    def _field(self, parent: GraphQLObjectType, details: FieldDetailsList, place: int, names: dict[str, Any]) -> Iterator[str]:
        """Yield lines of Python code that read one field of an object.

        `place` is the number of the field among the selected fields. The code stores the field's value in the variable `value{place}`.
        Objects that the code needs, such as resolvers, are added to `names` by variable name.
        """
        node, value = details[0].node, f"value{place}"
        if node.name.value == "__typename":
            names[f"type{place}"] = parent.name
            yield f"{value} = type{place}"
            return
        definition = self.schema.get_field(parent, node.name.value)
        if definition is None or definition.args or node.directives:
            raise _NotPlainError
        read = _reader(definition)
        names[f"read{place}"] = read
        yield f"{value} = source.{read}" if isinstance(read, str) else f"{value} = read{place}(source)"
        given = definition.type
        may_be_none = "" if isinstance(given, GraphQLNonNull) else f"{value} is not None and "
        inner = given.of_type if isinstance(given, GraphQLNonNull) else given
        exact = _EXACT.get(inner.name) if isinstance(inner, GraphQLScalarType) else None
        if exact is not None:
            outside = f" or not {_INT.start} <= {value} < {_INT.stop}" if exact is int else ""
            yield f"if {may_be_none}(type({value}) is not {exact.__name__}{outside}): raise _NotPlainError"
            return
        names[f"complete{place}"] = self._present(inner, details)
        yield f"{f'if {value} is not None: ' if may_be_none else ''}{value} = complete{place}({value})"

    def _value(self, type_: GraphQLOutputType, details: FieldDetailsList) -> Render:
        if isinstance(type_, GraphQLNonNull):
            return self._present(type_.of_type, details)
        return _or_none(self._present(type_, details))

    def _present(self, type_: GraphQLOutputType, details: FieldDetailsList) -> Render:
        """Return a function that renders non-null values of a GraphQL type.

        The caller of the function must handle null values.
        """
        if isinstance(type_, GraphQLScalarType):
            return _scalar(type_)
        if isinstance(type_, GraphQLEnumType):
            return _names(type_)
        if isinstance(type_, GraphQLList):
            return _each(self._value(type_.of_type, details))
        if isinstance(type_, GraphQLObjectType):
            return _once(type_, self._object(type_, details))  # one for equal arguments, so that an answer renders an object once
        raise _NotPlainError  # interfaces and unions: the type depends on the value


def rendered(plan: Render, source: object) -> dict[str, Any] | None:
    """Return `source` rendered by the function `plan`, or None.

    None means that graphql-core must render the object, or report an error in it.
    """
    _WORK.seen = defaultdict(dict)
    try:
        answer: dict[str, Any] = plan(source)
    except Exception:  # noqa: BLE001 - graphql-core raises it again and names the field
        return None
    finally:
        _WORK.seen = None
    return answer


@lru_cache(_MOST_PLANS)
def _rendering(text: str, names: tuple[tuple[str, Any], ...]) -> Render:
    """Run `text`, the source of a function, and return the function.

    `names` has (name, object) for each name that the source uses. Equal arguments give the same function. So an object that several equal
    selections of a query show is rendered once.
    """
    known = dict(names)
    exec(_compiled(text), known)  # noqa: S102 - see `_object`
    made: Render = known["render"]
    return made


@lru_cache(_MOST_PLANS)
def _or_none(present: Render) -> Render:
    return lambda value: None if value is None else present(value)


@lru_cache(_MOST_PLANS)
def _each(item: Render) -> Render:
    return item.each if isinstance(item, _Once) else lambda values: [item(value) for value in _listed(values)]


class _Once:
    """Renders objects of one GraphQL type; an object that recurs, only once.

    If an object occurs again in the same answer, the result is an `Again`. This is a dictionary that also keeps its encoded JSON.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Render) -> None:
        self._fields = fields

    def __call__(self, source: object) -> Any:
        """Return the requested fields of the object `source` as JSON data."""
        seen = _WORK.seen
        return self._fields(source) if seen is None else self._render(source, seen[self])

    def each(self, sources: object) -> list[Any]:
        """Render the objects of a list."""
        seen = _WORK.seen
        if seen is None:
            return [self._fields(source) for source in _listed(sources)]
        known, shown = seen[self], []
        for source in _listed(sources):
            found = known.get(id(source))  # most are steps of paths, which earlier paths had
            shown.append(found[1] if found is not None and type(found[1]) is Again else self._render(source, known))
        return shown

    def _render(self, source: object, known: Seen) -> Any:
        found = known.get(id(source))
        if found is None:
            rendered = self._fields(source)
            known[id(source)] = (source, rendered)
            return rendered
        rendered = found[1]
        if type(rendered) is not Again:
            rendered = Again(rendered)
            known[id(source)] = (source, rendered)
        return rendered


@lru_cache(_MOST_PLANS)
def _once(type_: GraphQLObjectType, fields: Render) -> _Once:
    return _Once(_checked(type_, fields))


@lru_cache(512)
def _compiled(text: str) -> CodeType:
    return compile(text, "<plan>", "exec")


def _reader(definition: GraphQLField) -> str | Render:
    """Return the attribute or function that gives the value of a field.

    The result is the name of a Python attribute. If the GraphQL field computes its value instead, the result is the field's resolver
    function.

    Raises:
        _NotPlainError: graphql-core must resolve the field.
    """
    field = definition.extensions.get("strawberry-definition")
    if not isinstance(field, StrawberryField) or field.extensions:
        raise _NotPlainError
    if field.is_basic_field:
        if not field.python_name.isidentifier():
            raise _NotPlainError
        return field.python_name
    resolver = field.base_resolver
    if resolver is None or resolver.is_async or resolver.parent_parameter is None or len(resolver.signature.parameters) != 1:
        raise _NotPlainError
    function: Render = inspect.unwrap(resolver._unbound_wrapped_func)
    return function


@cache
def _names(type_: GraphQLEnumType) -> Render:
    return {value.value: name for name, value in type_.values.items()}.__getitem__


@cache
def _scalar(type_: GraphQLScalarType) -> Render:
    exact = _EXACT.get(type_.name)
    if exact is None:
        return type_.coerce_output_value
    in_range = _INT.__contains__ if exact is int else None

    def render(value: object) -> Any:
        if type(value) is not exact or (in_range is not None and not in_range(value)):
            raise _NotPlainError
        return value

    return render


def _listed(values: object) -> Any:
    if type(values) is not list and type(values) is not tuple:
        raise _NotPlainError
    return values


def _checked(type_: GraphQLObjectType, fields: Render) -> Render:
    predicate = type_.is_type_of
    if predicate is None:
        return fields
    answers_type: Callable[[Any, Any], Any] = predicate

    def render(value: object) -> Any:
        # The predicates of this package use only the value; see `derive.object_type`.
        if answers_type(value, None) is not True:
            raise _NotPlainError
        return fields(value)

    return render
