"""Convert JavaScript syntax nodes to terms (expressions in the facts)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import AWAIT, CALL, EITHER, INDEX, LITERAL, NAME, NEW, NO_TERM, OBJECT, TUPLE, CallOperator, TermIndex
from graphmem.parsing.languages.ecmascript_comments import declared_type
from graphmem.parsing.languages.ecmascript_syntax import ANONYMOUS_FUNCTIONS, first_child, text_of
from graphmem.parsing.languages.ecmascript_words import ANCHOR, CAST, TYPE_ARGUMENTS
from graphmem.parsing.terms import MAX_ITEMS, TermBuilder

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_TYPES: Final = frozenset({"const", "any", "unknown", "never"})
_STATEMENTS: Final = frozenset(
    {
        "catch_clause",
        "do_statement",
        "else_clause",
        "finally_clause",
        "for_in_statement",
        "for_statement",
        "if_statement",
        "labeled_statement",
        "statement_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "switch_statement",
        "try_statement",
        "while_statement",
        "with_statement",
    }
)
"""Statements that may contain a `return` of the same function."""

_OPERATIONS: Final = frozenset({"await_expression", "binary_expression", "unary_expression"})
"""Operations that the grammar takes for the callee of a call with type arguments."""

MAX_RESULTS: Final = 8
"""Most `return` statements of an anonymous function that are read."""

_CAST: Final = re.compile(r"^/\*\*\s*@type\s*\{(.*)\}\s*\*/$", re.DOTALL)


def object_literal(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert an object literal to a term (an expression).

    A function in the literal gets a name made from the position of the function in the file.
    """
    keys: list[str] = []
    values: list[TermIndex] = []
    for child in [child for child in node.named_children if not child.is_extra][:MAX_ITEMS]:
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is None or key.type == "computed_property_name":
                continue
            keys.append(builder.text(key).strip("'\""))
            is_defined = key.type == "property_identifier" and value is not None and value.type in ANONYMOUS_FUNCTIONS
            values.append(_anchor(builder, child) if is_defined else builder.term(value))
        elif child.type == "method_definition":
            name = child.child_by_field_name("name")
            kinds = {part.type for part in child.children}
            if name is not None and name.type in ("property_identifier", "private_property_identifier") and "set" not in kinds:
                keys.append(builder.text(name))
                anchor = _anchor(builder, child)
                values.append(builder.add((CALL, anchor, (), ())) if "get" in kinds else anchor)
        elif child.type == "shorthand_property_identifier":
            keys.append(builder.text(child))
            values.append(builder.term(child))
        elif child.type == "spread_element":
            keys.append("...")
            values.append(builder.term(first_child(child)))
    return builder.add((OBJECT, tuple(keys), tuple(values)))


def _anchor(builder: TermBuilder, node: Node) -> TermIndex:
    return builder.add((NAME, f"{ANCHOR}{node.start_byte}"))


def binary_operation(builder: TermBuilder, node: Node) -> TermIndex:
    """Return the term (expression) that stands for a binary operation.

    For `a || b` and `a ?? b`, the term means that the value is `a` or `b`. For `a && b`, the term is `b`. For other operators, the term is
    a number, because classes cannot overload operators.
    """
    operator = node.child_by_field_name("operator")
    sign = operator.type if operator is not None else ""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if sign in ("||", "??"):
        return builder.add((EITHER, (builder.term(left), builder.term(right))))
    return builder.term(right) if sign == "&&" else builder.add((LITERAL, "int"))


def cast(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a cast `x as C` to a term (an expression).

    The term stands for an instance of C, or for x if C is `any`.
    """
    children = [child for child in node.named_children if not child.is_extra]
    if node.type == "type_assertion":
        children = children[::-1]
    value = builder.term(children[0] if children else None)
    if len(children) < 2 or text_of(children[1]) in _NO_TYPES:
        return value
    named = children[1].named_children[0] if children[1].type == "type_arguments" and children[1].named_children else children[1]
    return builder.add((CALL, builder.add((NAME, CAST)), (builder.term(named), value), ()))


def parenthesized(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `(x)`, or the cast `/** @type {C} */ (x)`, to a term.

    A term is an expression as the parser stores it.
    """
    value = builder.term(first_child(node))
    if b"@type" not in builder.source:
        return value
    first = node
    while first.prev_sibling is None and first.parent is not None and first.parent.start_byte == node.start_byte:
        first = first.parent
    before = first.prev_sibling
    if before is None or before.type != "comment":
        return value
    match = _CAST.match(builder.text(before))
    said = declared_type(builder, match[1]) if match is not None else NO_TERM
    return value if said < 0 else builder.add((CALL, builder.add((NAME, CAST)), (said, value), ()))


def call(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a call, with type arguments as in `f<T>(x)`, to a term.

    A term is an expression as the parser stores it. A tagged template (`` tag`text` ``) is also a call. The grammar reads
    `await f<T>(x)` as a call of `await f`, and `a + f<T>(x)` as a call of `a + f`; here they are calls of `f`.
    """
    callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    is_new = callee is None
    types = node.child_by_field_name("type_arguments")
    is_awaited = False
    while types is not None and callee is not None and callee.type in _OPERATIONS:
        is_awaited = callee.type == "await_expression"
        callee = callee.named_children[-1] if callee.named_children else None
    if is_new:
        callee = node.child_by_field_name("constructor")
    if callee is not None:
        builder.consumed.add(callee.id)
    called = builder.term(callee)
    if callee is not None:
        builder.spots[node.id] = builder.spots.get(callee.id, callee.start_byte)
    positional: tuple[TermIndex, ...] = ()
    if given is not None and given.type == "arguments":
        positional = tuple(builder.term(child) for child in given.named_children if not child.is_extra)
    keywords: tuple[tuple[str, TermIndex], ...] = ()
    if types is not None:
        said = tuple(builder.term(child) for child in types.named_children if not child.is_extra)
        keywords = ((TYPE_ARGUMENTS, said[0] if len(said) == 1 else builder.add((TUPLE, said))),) if said else ()
    operator: CallOperator = NEW if is_new else CALL
    found = builder.add((operator, called, positional, keywords))
    return builder.add((AWAIT, found)) if is_awaited else found


def returned_value(builder: TermBuilder, node: Node) -> TermIndex:
    """Return the value that an anonymous function returns; -1 if unknown.

    The value is the index of an expression. For `x => x.a`, it is the expression `x.a`. For a function with a body in braces, the
    expression stands for any of the values after `return`. `return` statements of nested functions are ignored.
    """
    body = node.child_by_field_name("body")
    if body is None:
        return NO_TERM
    if body.type != "statement_block":
        return builder.term(body)
    given: list[TermIndex] = []
    pending = list(body.named_children)
    while pending and len(given) < MAX_RESULTS:
        child = pending.pop()
        if child.type == "return_statement":
            value = first_child(child)
            if value is not None:
                given.append(builder.term(value))
        elif child.type in _STATEMENTS:
            pending.extend(child.named_children)
    return given[0] if len(given) == 1 else builder.add((EITHER, tuple(given[::-1]))) if given else NO_TERM


def subscript(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `object[index]` to a term (an expression)."""
    base, key = builder.term(node.child_by_field_name("object")), builder.term(node.child_by_field_name("index"))
    return builder.add((INDEX, base, key))
