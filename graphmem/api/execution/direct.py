"""Run plain GraphQL queries without graphql-core, which is slower.

Most requests are plain queries. A plain query has a single root field that calls an operation (see `roots`), and selects only plain
attributes of the answer. For a plain query this module converts the arguments, calls the operation and renders the answer. That saves a
tenth to a fifth of the time of a small answer. All other requests, and requests with errors, go to the executor. Both ways give the same
bytes; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLInputType,
    GraphQLObjectType,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    Undefined,
    VariableNode,
    coerce_input_value,
    get_argument_values,
    get_variable_values,
    is_input_type,
    located_error,
    type_from_ast,
)
from graphql.execution.collect_fields import collect_fields
from strawberry import Schema
from strawberry.types import ExecutionResult
from strawberry.types.arguments import StrawberryArgument, convert_arguments
from strawberry.types.field import StrawberryField

from graphmem.api.execution.executor import PlainExecutor, Render, rendered
from graphmem.api.requests.context import Operation
from graphmem.api.types.roots import is_derived


class _Info(NamedTuple):
    """The part of strawberry's `Info` that resolvers of operations use."""

    context: Operation


@dataclass(frozen=True, slots=True)
class Direct:
    """Runs one query of a GraphQL document without graphql-core's executor."""

    schema: Schema
    operation: OperationDefinitionNode
    node: FieldNode
    key: str  # name of the field in the answer
    field: GraphQLField
    declared: StrawberryField
    resolve: Callable[..., Any]
    render: Render
    variables: dict[str, GraphQLInputType]  # types of the operation's variables
    places: dict[str, list[str]]  # by variable: the arguments whose value it is
    kept: dict[frozenset[str], dict[str, Any]]  # by the variables of a request: arguments that do not depend on their values

    def arguments(self, variables: Mapping[str, object] | None) -> dict[str, Any] | None:
        """Return the resolver's arguments; None if a variable is invalid.

        If the result is None, the executor must run the request, to report the error. Arguments that do not depend on the values in
        `variables` are computed once and then reused.
        """
        given = {name: value for name, value in (variables or {}).items() if name in self.variables}
        names = frozenset(given)
        constant = self.kept.get(names)
        if constant is None:
            found = self._coerced(given)
            if found is not None:
                changing = {one.python_name for name in names for one in self._declared(name)}
                self.kept[names] = {name: value for name, value in found.items() if name not in changing}
            return found
        changed = dict(constant)
        for name, value in given.items():
            if not _is_flat(value):
                return self._coerced(given)
            coerced = coerce_input_value(value, self.variables[name])
            if coerced is Undefined:
                return None
            changed |= self._converted(dict.fromkeys(self.places[name], coerced), self._declared(name))
        return changed

    def _coerced(self, given: dict[str, object]) -> dict[str, object] | None:
        values = get_variable_values(self.schema._schema, self.operation.variable_definitions or (), given)
        if isinstance(values, list):
            return None
        try:
            return self._converted(get_argument_values(self.field, self.node, values), self.declared.arguments)
        except Exception:  # noqa: BLE001 - the executor raises it again and names the field
            return None

    def _converted(self, given: dict[str, Any], declared: list[StrawberryArgument]) -> dict[str, Any]:
        """Return the values of a field's arguments, by argument name.

        `given` are the values from graphql-core, and `declared` are the arguments as the schema declares them.
        """
        return convert_arguments(given, declared, self.schema.schema_converter.scalar_registry, self.schema.config)

    def _declared(self, variable: str) -> list[StrawberryArgument]:
        name_of = self.schema.config.name_converter.from_argument
        return [one for one in self.declared.arguments if name_of(one) in self.places[variable]]

    async def run(self, context: Operation, arguments: dict[str, Any]) -> ExecutionResult | None:
        """Call the operation with `arguments` and render its answer.

        The result is None if graphql-core must run the request, because the answer is not plain.
        """
        try:
            found = await self.resolve(_Info(context), **arguments)
        except Exception as error:  # noqa: BLE001 - becomes an error of the answer
            return ExecutionResult(data={self.key: None}, errors=[located_error(error, [self.node], [self.key])])
        if found is None:
            return ExecutionResult(data={self.key: None}, errors=None)
        answer = rendered(self.render, found)
        return None if answer is None else ExecutionResult(data={self.key: answer}, errors=None)


_DIRECTIVE: Final = "@"


def direct(schema: Schema, text: str, document: Any, name: str | None, variables: Mapping[str, Any] | None) -> Direct | None:
    """Return an object that runs an operation without the executor, or None.

    The result is None if the executor must run the operation, such as a mutation. The result can be reused with other variables.

    Args:
        schema: the schema.
        text: text of the document.
        document: the parsed document, without errors.
        name: name of the operation as the client sent it.
        variables: variables as the client sent them.

    Raises:
        GraphQLError: a variable is invalid, so the document could not be examined.
    """
    if _DIRECTIVE in text:  # fields may depend on variables
        return None
    executor = PlainExecutor.build(schema._schema, document, raw_variable_values=dict(variables or {}), operation_name=name)
    if isinstance(executor, list):
        raise executor[0]
    operation, root = executor.operation, schema._schema.query_type
    if operation.operation is not OperationType.QUERY or root is None:
        return None
    fields = collect_fields(schema._schema, executor.fragments, executor.variable_values, root, operation).grouped_field_set
    if len(fields) != 1:
        return None
    [(key, details)] = fields.items()
    field = root.fields.get(details[0].node.name.value)
    declared = field.extensions.get("strawberry-definition") if field is not None else None
    if field is None or not isinstance(declared, StrawberryField) or not isinstance(field.type, GraphQLObjectType) or len(details) != 1:
        return None
    resolver = declared.base_resolver
    if declared.extensions or resolver is None or not is_derived(resolve := cast("Callable[..., Any]", resolver.wrapped_func)):
        return None
    render = executor.plan(field.type, details)  # type: ignore[attr-defined]
    if render is None:
        return None
    node = details[0].node
    places: dict[str, list[str]] = {one.variable.name.value: [] for one in operation.variable_definitions or ()}
    for argument in node.arguments or ():
        if isinstance(argument.value, VariableNode):
            places[argument.value.name.value].append(argument.name.value)
        elif isinstance(argument.value, (ListValueNode, ObjectValueNode)):  # may contain a variable
            return None
    types = ((one.variable.name.value, type_from_ast(schema._schema, one.type)) for one in operation.variable_definitions or ())
    variables = {name: one for name, one in types if is_input_type(one)}
    return Direct(schema, operation, node, key, field, declared, resolve, render, variables, places, {})


def _is_flat(value: object) -> bool:
    """Whether a value is a scalar or a list of scalars, and not null."""
    if isinstance(value, list):
        return not any(isinstance(one, (list, dict)) for one in value)
    return value is not None and not isinstance(value, dict)
