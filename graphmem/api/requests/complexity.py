"""Compute how many objects an answer may have, before the operation runs.

An object counts 1, and a scalar value counts 0. A list counts its length times the count of one item. The length is the value of a slicing
argument (`first`, `limit`, `k`), or the number of values in `ids`. If the request omits the argument, its default is used, or else the size
that the schema assumes. The schema declares sizes with the directive `@listSize` of the GraphQL cost directives specification.

Source:
    IBM, GraphQL Cost Directives specification, section 3 (list size), weights of objects 1 and leaves 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import strawberry
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Undefined,
    VariableNode,
    get_named_type,
    is_leaf_type,
)
from strawberry.schema_directive import Location


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION], name="listSize", repeatable=True, description="Limits the length of a list."
)
class ListSize:
    """The maximum length of the list that a GraphQL field returns.

    The length is the value of an argument named in `slicing_arguments`, or else `assumed_size`. `sized_fields` are the paths of the lists
    below the field, such as `hits`. Without `sized_fields`, the field itself is the list.
    """

    assumed_size: int | None = strawberry.UNSET
    slicing_arguments: list[str] | None = strawberry.UNSET
    sized_fields: list[str] | None = strawberry.UNSET


def sized_by(argument: str, *fields: str) -> ListSize:
    """Declare that the GraphQL argument `argument` limits the length of lists.

    For example, `sized_by("first", "hits")` on a field limits the list `hits` in its result. `fields` are the paths of the lists below
    the field. Without `fields`, the field itself is the list.
    """
    return ListSize(slicing_arguments=[argument], sized_fields=list(fields) or strawberry.UNSET)


def assumed(size: int) -> ListSize:
    """Declare that a GraphQL field returns a list of about `size` objects.

    The length does not depend on the field's arguments.
    """
    return ListSize(assumed_size=size)


FieldPath = tuple[str, ...]


class _Size(NamedTuple):
    argument: str | None
    default: int
    fields: frozenset[FieldPath]  # empty: the field itself


class _Inherited(NamedTuple):
    """A maximum length that a GraphQL field sets for lists in its result.

    `size` is the maximum length. `fields` are the paths of these lists, relative to the field that is being measured.
    """

    size: int
    fields: frozenset[FieldPath]

    def below(self, name: str) -> _Inherited:
        """Return the same list size, with paths relative to the field `name`.

        For example, the path `impact.hits` becomes `hits` below `impact`. Paths that do not begin with `name` are dropped.
        """
        rest = frozenset(path[1:] for path in self.fields if path[0] == name and len(path) > 1)
        return _Inherited(self.size, rest) if rest else _NONE


_NONE = _Inherited(1, frozenset())


def sizes_of(variables: Mapping[str, object] | None) -> tuple[tuple[str, int], ...]:
    """Return the variables with which a GraphQL request sets list lengths.

    Each is (name, size). The size of a number is its value, and the size of a list is its length. Variables of other types are left out.
    GraphQL takes 10.0 for an integer, too.
    """
    return tuple(
        (name, len(value) if isinstance(value, list) else int(value))
        for name, value in (variables or {}).items()
        if not isinstance(value, bool) and (isinstance(value, (int, list)) or (isinstance(value, float) and value.is_integer()))
    )


class ComplexityMeter:
    """Computes the size of possible answers for one GraphQL schema.

    Immutable and thread-safe.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._sizes = {
            (type_.name, name): size
            for type_ in schema.type_map.values()
            if isinstance(type_, (GraphQLObjectType, GraphQLInterfaceType))
            for name, field in type_.fields.items()
            if (size := _declared_size(field)) is not None
        }

    def measure(self, document: DocumentNode, operation_name: str | None, sizes: Mapping[str, int]) -> int:
        """Return how many objects the answer to an operation could hold.

        Args:
            document: a document that is valid for the schema.
            operation_name: name of the operation; None when the document has only one.
            sizes: sizes from the client's variables, see `sizes_of`; other variables have their defaults.
        """
        operation = next(
            (
                node
                for node in document.definitions
                if isinstance(node, OperationDefinitionNode)
                and (operation_name is None or (node.name is not None and node.name.value == operation_name))
            ),
            None,
        )
        if operation is None:  # execution reports it
            return 0
        given = dict(sizes)
        for definition in operation.variable_definitions or ():
            match definition.default_value:
                case IntValueNode(value=value):
                    given.setdefault(definition.variable.name.value, int(value))
                case ListValueNode(values=values):
                    given.setdefault(definition.variable.name.value, len(values))
        root = self._schema.get_root_type(operation.operation)
        fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
        return _Measure(self._schema, self._sizes, fragments, given).of(operation.selection_set, root, _NONE)


class _Measure:
    """Computes the possible size of the answer to one operation.

    The size of a fragment depends on the list sizes that the fields around it declare. For each combination of fragment and list sizes, the
    size is computed once and cached. So nested fragments are measured fast.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        sizes: Mapping[tuple[str, str], _Size],
        fragments: Mapping[str, FragmentDefinitionNode],
        given: Mapping[str, int],
    ) -> None:
        self._schema = schema
        self._sizes = sizes
        self._fragments = fragments
        self._given = given
        self._known: dict[tuple[str, _Inherited], int] = {}

    def of(self, selection: SelectionSetNode, parent: GraphQLNamedType | None, inherited: _Inherited) -> int:
        total = 0
        for node in selection.selections:
            if isinstance(node, FieldNode):
                total += self._field(node, parent, inherited)
            elif isinstance(node, InlineFragmentNode):
                condition = node.type_condition
                inner = parent if condition is None else self._schema.get_type(condition.name.value)
                total += self.of(node.selection_set, inner, inherited)
            elif isinstance(node, FragmentSpreadNode):
                total += self._spread(self._fragments[node.name.value], inherited)
        return total

    def _spread(self, fragment: FragmentDefinitionNode, inherited: _Inherited) -> int:
        key = (fragment.name.value, inherited)
        if key not in self._known:
            self._known[key] = self.of(fragment.selection_set, self._schema.get_type(fragment.type_condition.name.value), inherited)
        return self._known[key]

    def _field(self, node: FieldNode, parent: GraphQLNamedType | None, inherited: _Inherited) -> int:
        name = node.name.value
        if name.startswith("__") or node.selection_set is None:  # introspection has a depth rule of its own
            return 0
        if not isinstance(parent, (GraphQLObjectType, GraphQLInterfaceType)):
            return 0
        field_type = get_named_type(parent.fields[name].type)
        if is_leaf_type(field_type):
            return 0
        size = self._sizes.get((parent.name, name))
        own, below = 1, inherited.below(name)
        if size is not None:
            slice_ = self._slice(node, size)
            if size.fields:
                below = _Inherited(slice_, size.fields)
            else:
                own = slice_
        if (name,) in inherited.fields:
            own = inherited.size
        return own * (1 + self.of(node.selection_set, field_type, below))

    def _slice(self, node: FieldNode, size: _Size) -> int:
        for argument in node.arguments or ():
            if argument.name.value != size.argument:
                continue
            value = argument.value
            if isinstance(value, IntValueNode):
                return max(0, int(value.value))
            if isinstance(value, ListValueNode):
                return len(value.values)
            if isinstance(value, VariableNode):
                return max(0, self._given.get(value.name.value, size.default))
        return size.default


def _declared_size(field: GraphQLField) -> _Size | None:
    definition = field.extensions.get("strawberry-definition")
    for directive in getattr(definition, "directives", ()):
        if isinstance(directive, ListSize):
            argument = directive.slicing_arguments[0] if directive.slicing_arguments else None
            default = directive.assumed_size or 1
            if argument is not None:
                value = field.args[argument].default_value
                default = value if value is not Undefined and isinstance(value, int) else default
            return _Size(argument, default, frozenset(tuple(path.split(".")) for path in directive.sized_fields or ()))
    return None
