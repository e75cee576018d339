"""Parse code of C# that the query files cannot express.

Examples are constructor initializers (`: base(…)`) and `#if`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, INDEX, NAME, NEW, SUPER, TUPLE, TYPED, OptionalTerm, TermIndex
from graphmem.parsing.languages import Helper
from graphmem.parsing.languages.conditions import whole
from graphmem.parsing.languages.lambda_values import LambdaSyntax, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_TYPES: Final = ("class_declaration", "struct_declaration", "record_declaration", "record_struct_declaration")
_LAMBDAS: Final = LambdaSyntax(
    calls=frozenset({"invocation_expression", "object_creation_expression"}),
    receiver=("function", "expression"),
    argument="argument",
    result="returns",
    methods=frozenset({"method_declaration", "property_declaration"}),
)


class CSharpHelper(Helper):
    """Parses code of C# that the query files cannot express.

    Examples are constructor initializers, arrays, property setters and `#if`.
    """

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a C# syntax node to a term (an expression).

        `what` is the kind of construct that `node` is: "initializer" for `: base(…)`, "array" for `new Type[n]`, or "items" for `new[]
        {…}`.
        """
        if what == "initializer":  # `: this(…)`, `: base(…)`
            arguments = tuple(_arguments(builder, node))
            if any(child.type == "this" for child in node.children):
                return builder.add((NEW, _class_around(builder, node), arguments, ()))
            return builder.add((CALL, builder.add((SUPER,)), arguments, ()))
        if what == "array":  # `new Type[n]`, `new Type[] {…}`
            return builder.add((TYPED, builder.annotation(node.child_by_field_name("type"))))
        if what == "items":  # `new[] {…}`
            return builder.add((TYPED, builder.add((INDEX, builder.add((NAME, "[]")), builder.unknown))))
        return super().helper_term(builder, node, what)

    def given(self, builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
        """Return the value of a parameter of a lambda; -1 if it is unknown.

        In `xs.Select(x => …)`, the value of `x` is an item of `xs`.
        """
        return value(builder, node, target, _LAMBDAS) if node.type == "lambda_expression" else super().given(builder, node, target)

    def implied(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return the implicit variable `value` of a C# property setter.

        The result has one item, `value` with the type of the property. It is empty if `node` is not in a setter.
        """
        owner = node.parent.parent if node.parent is not None else None
        declared = owner.child_by_field_name("type") if owner is not None else None
        if declared is None or node.children[0].type == "get":
            return ()
        return (("value", builder.add((TYPED, builder.annotation(declared)))),)

    def mended(self, source: bytes) -> bytes:
        """Keep only the first branch of each `#if` that divides a statement.

        The other branches and the directives become blanks. An `#if` whose branches contain only whole statements or declarations is left
        unchanged.
        """
        return whole(source)


def _arguments(builder: TermBuilder, node: Node) -> Iterator[TermIndex]:
    given = next((child for child in node.named_children if child.type == "argument_list"), None)
    for child in given.named_children if given is not None else ():
        if not child.is_extra:
            yield builder.term(child)


def _class_around(builder: TermBuilder, node: Node) -> TermIndex:
    """Return the class around a constructor, with its type parameters."""
    around = node.parent
    while around is not None and around.type not in _TYPES:
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    found = builder.add((NAME, builder.text(name) if name is not None else ""))
    listed = next((child for child in around.named_children if child.type == "type_parameter_list"), None) if around is not None else None
    given = [child for child in listed.named_children if child.type == "type_parameter"] if listed is not None else []
    if not given:
        return found
    names = [builder.add((NAME, builder.text(child.child_by_field_name("name") or child))) for child in given]
    return builder.add((INDEX, found, builder.add((TUPLE, tuple(names))) if len(names) > 1 else names[0]))


HELPER = CSharpHelper()
