"""Find the values that parameters of lambdas get, in Java and C#.

The values follow from the function type that the surrounding code expects of the lambda: in `run(x -> …)`, this is the type of the
parameter of `run`. The parser writes this type as calls of pseudo-functions, which `kotlin_lambdas.py` explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import CALL, ITER, NAME, NO_TERM, STRING, OptionalTerm, TermIndex
from graphmem.parsing.languages.kotlin_lambdas import ARGUMENT, DECLARED, PARAMETER

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_LAMBDA: Final = "lambda_expression"
_LIST: Final = "argument_list"


class LambdaSyntax(NamedTuple):
    """Names of the syntax nodes and fields around the lambdas of a language."""

    calls: frozenset[str]
    receiver: tuple[str, ...]
    """Fields that lead from a call to its receiver."""

    argument: str
    """The node around each argument; "" if there is none."""

    result: str
    """Field of a method with its result type."""

    methods: frozenset[str]
    """Declarations in which a returned lambda has the type of the result."""


def value(builder: TermBuilder, node: Node, target: Node, syntax: LambdaSyntax) -> OptionalTerm:
    """Return the value of a parameter of a lambda; -1 if it is unknown.

    `node` is the lambda, and `target` the parameter. If the project does not define the called function, the value is an item of the
    receiver: in `xs.map(x -> …)`, an item of `xs`.
    """
    listed = node.child_by_field_name("parameters")
    names = [child for child in listed.named_children if not child.is_extra] if listed is not None else []
    index = next((place for place, child in enumerate(names, 1) if child.start_byte <= target.start_byte < child.end_byte), 1)
    expected = _expected(builder, node, syntax)
    receiver = _receiver(_call_around(node, syntax), syntax) if len(names) < 2 else None
    otherwise = builder.add((ITER, builder.term(receiver))) if receiver is not None else NO_TERM
    if expected < 0:
        return otherwise
    parts = (expected, builder.add((STRING, str(index))), *((otherwise,) if otherwise >= 0 else ()))
    return builder.add((CALL, builder.add((NAME, PARAMETER)), parts, ()))


def _expected(builder: TermBuilder, node: Node, syntax: LambdaSyntax) -> OptionalTerm:
    """Return the type that the code around a lambda expects; -1 if unknown."""
    call = _call_around(node, syntax)
    if call is not None:
        return _pseudo(builder, ARGUMENT, (builder.term(call), builder.add((STRING, _place(builder, node, syntax)))))
    annotation = _declared(node, syntax)
    return _pseudo(builder, DECLARED, (builder.annotation(annotation),)) if annotation is not None else NO_TERM


def _pseudo(builder: TermBuilder, name: str, parts: tuple[TermIndex, ...]) -> TermIndex:
    return builder.add((CALL, builder.add((NAME, name)), parts, ()))


def _listed(node: Node, syntax: LambdaSyntax) -> tuple[Node, Node] | None:
    """Return the argument that a lambda is, and the argument list around it.

    Both are syntax nodes. For the lambda `x -> x` in `run(1, x -> x)`, they are `x -> x` and `(1, x -> x)`. The result is None if the
    lambda `node` is not passed to a call.
    """
    argument = node.parent if syntax.argument else node
    if argument is None or (syntax.argument and argument.type != syntax.argument):
        return None
    return (argument, argument.parent) if argument.parent is not None and argument.parent.type == _LIST else None


def _call_around(node: Node, syntax: LambdaSyntax) -> Node | None:
    found = _listed(node, syntax)
    call = found[1].parent if found is not None else None
    return call if call is not None and call.type in syntax.calls else None


def _place(builder: TermBuilder, node: Node, syntax: LambdaSyntax) -> str:
    """Return the name or the position of a lambda among its call's arguments.

    The name is returned if the call writes one, as in `run(action: x => …)`. The result is a string, "" if the lambda is not an argument.
    """
    found = _listed(node, syntax)
    if found is None:
        return ""
    argument, listed = found
    name = argument.child_by_field_name("name")
    if name is not None:
        return builder.text(name)
    return str([child.id for child in listed.named_children if not child.is_extra].index(argument.id))


def _receiver(call: Node | None, syntax: LambdaSyntax) -> Node | None:
    for field in syntax.receiver if call is not None else ():
        call = call.child_by_field_name(field) if call is not None else None
    return call


def _declared(node: Node, syntax: LambdaSyntax) -> Node | None:
    """Return the type that a declaration gives to a lambda; None without one.

    The declaration is that of a variable with the lambda, or of the method that returns it.
    """
    around = node.parent
    if around is None:
        return None
    if around.type == "variable_declarator":
        return around.parent.child_by_field_name("type") if around.parent is not None else None
    if around.type not in ("return_statement", "arrow_expression_clause"):
        return None
    owner: Node | None = around
    while owner is not None and owner.type not in syntax.methods:
        owner = owner.parent if owner.type != _LAMBDA else None
    return owner.child_by_field_name(syntax.result) or owner.child_by_field_name("type") if owner is not None else None
