"""Examine nodes of JavaScript's syntax tree, such as patterns and `this`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

ANONYMOUS_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})

_OWN_THIS: Final = frozenset(
    {
        "class_body",
        "class_static_block",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
        "program",
    }
)
_NAMING: Final = frozenset({"assignment_expression", "field_definition", "pair", "public_field_definition", "variable_declarator"})


def first_child(node: Node) -> Node | None:
    """Return the first named child that is not a comment."""
    return next((child for child in node.named_children if not child.is_extra), None)


def pattern_fields(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield (attribute, target) for each part of `{ a, b: c, d = 1 }`.

    Such code is a destructuring pattern. The attribute is "" for a rest element and for a computed key.
    """
    for child in node.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield text_of(child), child
        elif child.type == "object_assignment_pattern":
            left = child.child_by_field_name("left")
            if left is not None:
                yield text_of(left) if left.type == "shorthand_property_identifier_pattern" else "", left
        elif child.type == "pair_pattern":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None:
                yield text_of(key).strip("'\"") if key.type != "computed_property_name" else "", value
        elif child.type == "rest_pattern" and child.named_children:
            yield "", child.named_children[0]


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def has_receiver(node: Node) -> bool:
    """Whether the object that `this` refers to is known at a syntax node.

    The object is known outside of function expressions. Inside a function expression, the object is known in four cases:

    - The function is assigned to a name.
    - The function is exported.
    - The function is passed to a call whose result is assigned to a name.
    - The function is passed to a call, and another argument of the call is `this`.
    """
    around = node.parent
    while around is not None and around.type not in _OWN_THIS:
        around = around.parent
    if around is None or around.type not in ("function_expression", "generator_function"):
        return True
    outer = around.parent
    if outer is None or outer.type in _NAMING:
        return True
    if outer.type != "arguments":
        return outer.type == "export_statement"
    # const name = wrap(function () {…}) is a definition; an argument after a function may be its `this`.
    holder = outer.parent.parent if outer.parent is not None else None
    return (holder is not None and holder.type in _NAMING) or any(child.type == "this" for child in outer.named_children)
