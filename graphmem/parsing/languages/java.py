"""Parse code of Java that the query files cannot express.

Examples are imports, constructor calls such as `this(…)`, and `+`.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    INDEX,
    LAMBDA,
    LITERAL,
    NAME,
    NEW,
    STRING,
    TYPED,
    Import,
    OptionalTerm,
    TermIndex,
)
from graphmem.parsing.languages import Helper
from graphmem.parsing.languages.lambda_values import LambdaSyntax, value

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

CONSTRUCTOR: Final = "<init>"
"""Name of constructors, as in `Type::new`."""

ARITHMETIC: Final = "<arithmetic>"
"""Callee of a term for an operator on numbers, texts or truth values."""


CLASS_LITERAL: Final = "<class>"
"""Callee of a term for `Type.class`; its argument is an object of the type."""

_LAMBDAS: Final = LambdaSyntax(
    calls=frozenset({"method_invocation", "object_creation_expression", "explicit_constructor_invocation"}),
    receiver=("object",),
    argument="",
    result="type",
    methods=frozenset({"method_declaration"}),
)


class JavaHelper(Helper):
    """Parses code of Java that the query files cannot express.

    Examples are imports, constructor calls such as `this(…)`, and `+`.
    """

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Split `import a.b.Name` into the module `a.b` and the name `Name`."""
        if found.kind == "package" or found.name == "*":
            return (found,)
        module, _, name = found.module.rpartition(".")
        return (found._replace(module=module, name=name, alias=name),)

    def given(self, builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
        """Return the value of a parameter of a lambda; -1 if it is unknown.

        In `xs.map(x -> …)`, the value of `x` is an item of `xs`.
        """
        return value(builder, node, target, _LAMBDAS) if node.type == "lambda_expression" else super().given(builder, node, target)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a Java syntax node to a term (an expression).

        `what` is the kind of construct that `node` is, such as "constructor" for `this(…)`. A table cannot convert these nodes, because
        their meaning depends on details such as the context or an operator.
        """
        convert = _CONVERSIONS.get(what)
        return convert(builder, node) if convert is not None else super().helper_term(builder, node, what)


def _array_type(builder: TermBuilder, node: Node, element: str) -> TermIndex:
    """Convert the type `Type[][]`, an array of arrays, to a term (expression).

    `element` is the name of the field of `node` that has the type `Type`.
    """
    found = builder.annotation(node.child_by_field_name(element))
    for child in node.children_by_field_name("dimensions"):
        for _ in range(builder.text(child).count("[") if child.type == "dimensions" else 1):
            found = builder.add((INDEX, builder.add((NAME, "[]")), found))
    return found


def _arguments(builder: TermBuilder, node: Node) -> Iterator[TermIndex]:
    given = node.child_by_field_name("arguments")
    for child in given.named_children if given is not None else ():
        if not child.is_extra:
            yield builder.term(child)


def _class_around(builder: TermBuilder, node: Node) -> str:
    around = node.parent
    while around is not None and not around.type.endswith("_declaration"):
        around = around.parent
    while around is not None and around.type not in ("class_declaration", "enum_declaration", "record_declaration"):
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return builder.text(name) if name is not None else ""


def _new_object(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `new A(…)` to a term (an expression)."""
    named = node.child_by_field_name("type")
    plain = named.named_children[0] if named is not None and named.type == "generic_type" else named
    return builder.add((NEW, builder.annotation(plain), tuple(_arguments(builder, node)), ()))


def _constructor_call(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `this(…)` or `super(…)` to a term (an expression)."""
    called = node.child_by_field_name("constructor")
    if called is not None and called.type == "this":
        return builder.add((NEW, builder.add((NAME, _class_around(builder, node))), tuple(_arguments(builder, node)), ()))
    return builder.add((CALL, builder.term(called), tuple(_arguments(builder, node)), ()))


def _field(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `a.b` or `Outer.this` to a term (an expression)."""
    base, field = node.child_by_field_name("object"), node.child_by_field_name("field")
    if field is not None and field.type == "this":  # `Outer.this`
        return builder.add((TYPED, builder.annotation(base)))
    return builder.add((ATTR, builder.term(base), builder.text(field) if field is not None else ""))


def _method_reference(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `A::method`, `A::new` or `A[]::new` to a term (an expression)."""
    parts = node.named_children
    is_new = bool(node.children) and node.children[-1].type == "new"
    if not parts or (len(parts) < 2 and not is_new):
        return builder.unknown
    if is_new and parts[0].type == "array_type":
        return builder.add((LAMBDA, builder.add((TYPED, builder.annotation(parts[0])))))
    return builder.add((ATTR, builder.term(parts[0]), CONSTRUCTOR if is_new else builder.text(parts[-1])))


def _new_array(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `new A[n]` to a term (an expression)."""
    return builder.add((TYPED, _array_type(builder, node, "type")))


def _array_of_elements(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert the array type `A[]` to a term (an expression)."""
    return _array_type(builder, node, "element")


def _binary(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert an operation such as `a + b` to a term with its result's type."""
    sides = [builder.term(node.child_by_field_name(side)) for side in ("left", "right")]
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "+" and any(builder.terms[side][0] == STRING for side in sides):
        return builder.add((LITERAL, "template"))
    is_comparison = operator is not None and operator.type in ("==", "!=", "<", ">", "<=", ">=", "&&", "||")
    if is_comparison:
        return builder.add((LITERAL, "boolean"))
    is_text = operator is not None and operator.type == "+" and (LITERAL, "template") in (builder.terms[side] for side in sides)
    if is_text:
        return builder.add((LITERAL, "template"))
    is_shift = operator is not None and operator.type in ("<<", ">>", ">>>")
    return builder.add((CALL, builder.add((NAME, ARITHMETIC)), tuple(sides[: 1 if is_shift else 2]), ()))


def _unary(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert an operation such as `!a` or `-a` to a term (an expression)."""
    operator, operand = node.child_by_field_name("operator"), node.child_by_field_name("operand")
    if operator is not None and operator.type == "!":
        return builder.add((LITERAL, "boolean"))
    return builder.add((CALL, builder.add((NAME, ARITHMETIC)), (builder.term(operand),), ()))


def _number(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a number to a term (an expression) that has only its type."""
    text = builder.text(node).lower()
    if "x" not in text and text[-1:] in ("f", "d"):
        return builder.add((LITERAL, "float" if text[-1] == "f" else "double"))
    kind = "double" if node.type.endswith("floating_point_literal") else "long" if text.endswith("l") else "int"
    return builder.add((LITERAL, kind))


def _enum_constant(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert the constant `RED(…)` of an enum to a term: a new object."""
    return builder.add((NEW, builder.add((NAME, _class_around(builder, node))), tuple(_arguments(builder, node)), ()))


def _class_literal(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `Type.class` to a term (an expression)."""
    named = builder.annotation(node.named_children[0] if node.named_children else None)
    return builder.add((CALL, builder.add((NAME, CLASS_LITERAL)), (builder.add((TYPED, named)),), ()))


def _last_child(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert the last named child of a node to a term (an expression)."""
    return builder.term(node.named_children[-1] if node.named_children else None)


_CONVERSIONS: Final[Mapping[str, Callable[[TermBuilder, Node], TermIndex]]] = {
    "creation": _new_object,
    "constructor": _constructor_call,
    "field": _field,
    "reference": _method_reference,
    "array": _new_array,
    "array_type": _array_of_elements,
    "binary": _binary,
    "unary": _unary,
    "number": _number,
    "constant": _enum_constant,
    "class": _class_literal,
    "last": _last_child,
}
"""Conversions of syntax nodes by their names in the table of terms."""

HELPER = JavaHelper()
