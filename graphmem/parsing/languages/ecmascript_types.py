"""Convert TypeScript types to terms (expressions in the facts)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, EITHER, INDEX, LAMBDA, LITERAL, NAME, NO_TERM, OBJECT, TUPLE, TermIndex
from graphmem.parsing.languages.ecmascript_syntax import first_child
from graphmem.parsing.languages.ecmascript_words import FUNCTION
from graphmem.parsing.terms import MAX_ITEMS, TermBuilder

if TYPE_CHECKING:
    from tree_sitter import Node

_REST: Final = 4
"""Number of parameters that replace a rest parameter of an array type."""


def function_type(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a function type or a call signature to a term (an expression).

    An example is `(name: Type, ...more: Type[]) => Result`. A rest parameter with a tuple type becomes one parameter for each item of the
    tuple. A rest parameter with an array type becomes four parameters, because the number of its items is unknown.
    """
    result, parameters = node.child_by_field_name("return_type"), node.child_by_field_name("parameters")
    said = [builder.term(result)]
    for child in parameters.named_children if parameters is not None else ():
        if child.type in ("required_parameter", "optional_parameter"):
            annotation, pattern = child.child_by_field_name("type"), child.child_by_field_name("pattern")
            inner = first_child(annotation) if annotation is not None else None
            if pattern is not None and pattern.type == "rest_pattern" and inner is not None and inner.type in ("array_type", "tuple_type"):
                said += _rest(builder, inner)
            elif pattern is None or pattern.type != "this":
                said.append(builder.term(inner))
    return builder.add((CALL, builder.add((NAME, FUNCTION)), tuple(said), ()))


def _rest(builder: TermBuilder, node: Node) -> list[TermIndex]:
    """Return the types of the parameters that `...rest: Type` stands for.

    `node` is the type. An array type stands for four parameters of its item type, because the number of items is unknown. A tuple type
    stands for one parameter for each item; an item may have a name or be a rest element.
    """
    if node.type == "array_type":
        return [builder.term(first_child(node))] * _REST
    found: list[TermIndex] = []
    for child in node.named_children[:MAX_ITEMS] if node.type == "tuple_type" else ():
        inner = first_child(child) if child.type == "rest_type" else None
        if inner is not None:
            found += _rest(builder, inner)
        elif not child.is_extra:
            found.append(builder.annotation(child.child_by_field_name("type") or child))
    return found


def object_type(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert an object type `{ name: Type; call(): R }` to a term.

    A term is an expression as the parser stores it. An object type with only an index signature becomes `Record<…>`.
    """
    keys: list[str] = []
    values: list[TermIndex] = []
    held = NO_TERM
    signatures: list[TermIndex] = []
    for child in node.named_children[:MAX_ITEMS]:
        key, given = child.child_by_field_name("name"), child.child_by_field_name("type")
        if child.type == "property_signature" and key is not None and given is not None:
            keys.append(builder.text(key).strip("'\""))
            values.append(builder.annotation(given))
        elif child.type == "method_signature" and key is not None:
            result = child.child_by_field_name("return_type")
            keys.append(builder.text(key).strip("'\""))
            values.append(builder.add((LAMBDA, builder.annotation(result))))
        elif child.type == "index_signature" and given is not None:
            held = builder.annotation(given)
        elif child.type == "call_signature":
            signatures.append(function_type(builder, child))
    if signatures:
        members = [builder.add((OBJECT, tuple(keys), tuple(values)))] if keys else []
        return builder.add((EITHER, (*signatures, *members)))
    if held >= 0 and not keys:
        arguments = builder.add((TUPLE, (builder.add((LITERAL, "type")), held)))
        return builder.add((INDEX, builder.add((NAME, "Record")), arguments))
    return builder.add((OBJECT, tuple(keys), tuple(values)))
