"""Write the GraphQL documents that call the operations.

A document has every variable of the root field and every field of the answer.
"""

from __future__ import annotations

import dataclasses
import typing
from functools import cache
from typing import Any

from graphql import GraphQLObjectType, GraphQLSchema, print_ast
from graphql.utilities import ast_from_value

from graphmem.answers.marks import Hidden
from graphmem.operations.declare import Operation, camel, pascal, split, type_hints
from graphmem.operations.registry import registry


@cache
def derived_names() -> dict[str, Operation]:
    """Map the name of each derived GraphQL document to its operation.

    For example, `FindSymbols` is the name for the operation `find_symbols`.
    """
    return {pascal(one.name): one for one in registry().values() if one.hints.root}


def document(schema: GraphQLSchema, operation: Operation) -> str:
    """Return the text of the GraphQL document that calls an operation."""
    root: GraphQLObjectType = schema.query_type if operation.hints.root == "query" else schema.mutation_type  # type: ignore[assignment]
    name = camel(operation.name)
    arguments = root.fields[name].args
    variables, passed = [], []
    for argument, one in arguments.items():
        default = ast_from_value(one.default_value, one.type) if one.default_value not in (None,) and _has_default(one) else None
        variables.append(f"${argument}: {one.type}" + (f" = {print_ast(default)}" if default is not None else ""))
        passed.append(f"{argument}: ${argument}")
    head = f"({', '.join(variables)})" if variables else ""
    call = f"({', '.join(passed)})" if passed else ""
    described = "".join(f"# {line}".rstrip() + "\n" for line in operation.doc.splitlines())
    selected = selection(operation.answer, "  ")
    return f"{described}{operation.hints.root} {pascal(operation.name)}{head} {{\n  {name}{call}{selected}\n}}\n"


def _has_default(argument: Any) -> bool:
    from graphql import Undefined

    return argument.default_value is not Undefined


def selection(hint: object, indent: str = "") -> str:
    """Return all fields of an answer's type as a GraphQL selection.

    For example, ` { id name }`. The result is "" for a type without fields, such as str.
    """
    kind = _object_in(hint)
    if kind is None:
        return _pairs(hint, indent)
    shape: Any = kind.__shape__
    inner = indent + "  "
    if shape.page:
        row = split(type_hints(kind)[shape.page])[0]
        return (
            f" {{\n{inner}edges {{\n{inner}  cursor\n{inner}  node{selection(row, inner + '  ')}\n{inner}}}\n"
            f"{inner}pageInfo {{\n{inner}  hasNextPage\n{inner}  endCursor\n{inner}}}\n{inner}totalCount\n{indent}}}"
        )
    hints = type_hints(kind)
    lines = []
    for one in dataclasses.fields(kind):
        field, marks = split(hints[one.name])
        if not any(isinstance(mark, Hidden) for mark in marks):
            lines.append(f"{inner}{camel(one.name)}{selection(field, inner)}")
    return " {\n" + "\n".join(lines) + f"\n{indent}}}"


def _object_in(hint: object) -> Any:
    """Return the class of an answer inside a type; None if there is none.

    For example, `Flow` for `Flow`, `list[Flow]` and `Flow | None`.
    """
    hint = split(hint)[0]
    if hasattr(hint, "__shape__"):
        return hint
    if typing.get_origin(hint) in (dict,):
        return None
    return next((found for one in typing.get_args(hint) if (found := _object_in(one)) is not None), None)


def _pairs(hint: object, indent: str) -> str:
    """Return the selection `{ name value }` for a type that is a mapping.

    The values are numbers or strings. The result is "" for any other type.
    """
    hint = split(hint)[0]
    if typing.get_origin(hint) is dict and typing.get_args(hint)[1] in (int, float, str):
        return f" {{\n{indent}  name\n{indent}  value\n{indent}}}"
    return ""
