"""Types of the parameters and receivers of Kotlin's lambdas.

The types follow from the function type that the surrounding code expects of the lambda. An example is `fun build(block: Builder.() ->
Unit)`: in `build { … }`, the receiver is a `Builder`. The parser writes the expected type as calls of pseudo-functions, which
`resolution/scoped/lambdas.py` evaluates:

- `<function>(result, receiver, parameter, …)` is a function type.
- `<argument>(call, place)` is the type of an argument of a call. The place is the argument's position, its name, or `LAST`.
- `<declared>(annotation)` is a declared type.
- `<result>(type)` is the result of a function type.
- `<parameter>(type, index, otherwise)` is the type of a parameter of a function type. The index 0 means the receiver. If the
  function type is not found in the project, the result is the type of `otherwise`.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import BLOCK_OBJECT, CALL, ITER, NAME, NEW, NO_TERM, STRING, OptionalTerm, TermIndex

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

FUNCTION: Final = "<function>"
ARGUMENT: Final = "<argument>"
DECLARED: Final = "<declared>"
RESULT: Final = "<result>"
PARAMETER: Final = "<parameter>"
LAST: Final = "last"
"""Place of a lambda after the parentheses of a call: `f(a) { … }`."""

_GIVES_ITSELF: Final = frozenset({"let", "also", "takeIf", "takeUnless", "use"})
"""Functions that pass their receiver to a block."""

_RECEIVES: Final = frozenset({"apply", "run", "with"})
"""Functions whose block has a receiver: their own receiver, or the argument of `with`."""

_BUILDS: Final = {"buildString": "StringBuilder"}
"""Functions whose block has a receiver of a type of the library."""


def function_type(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert the type of a function to a term, and return the term's index.

    A term is an expression in the facts of a file. An example of such a type is `Receiver.(Parameter) -> Result`.
    """
    *before, result = node.named_children
    receiver, parameters = builder.unknown, []
    for child in before:
        if child.type == "receiver_type":
            receiver = builder.term(child.named_children[-1])
        elif child.type == "function_type_parameters":
            parameters = [builder.term(one.named_children[-1] if one.type == "parameter" else one) for one in child.named_children]
    return builder.add((CALL, builder.add((NAME, FUNCTION)), (builder.term(result), receiver, *parameters), ()))


def implied(builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
    """Return the implicit `this` and `it` of a lambda, with their values.

    For `x.let { … }`, the result is (`it`, `x`); for `x.apply { … }`, it is (`this`, `x`).
    """
    receiver, name = _called(builder, node)
    expected = _expected(builder, node)
    holder = receiver if receiver is not None or name != "with" else _first_argument(node)
    otherwise = builder.term(holder) if holder is not None and name in _RECEIVES else NO_TERM
    if receiver is None and name in _BUILDS:
        otherwise = builder.add((NEW, builder.add((NAME, _BUILDS[name])), (), ()))
    found = [(BLOCK_OBJECT, _parameter(builder, expected, 0, otherwise))] if expected >= 0 else []
    has_parameters = any(child.type == "lambda_parameters" for child in node.named_children)
    value = NO_TERM if has_parameters or otherwise >= 0 else _given(builder, expected, receiver, name, 1)
    return (*found, ("it", value)) if value >= 0 else tuple(found)


def given(builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
    """Return the value that is passed to a parameter of a lambda.

    `target` is the parameter. For `x.let { … }` the value is `x`. For `xs.map { … }` it is an item of `xs`.
    """
    receiver, name = _called(builder, node)
    listed = next((child for child in node.named_children if child.type == "lambda_parameters"), None)
    names = [child for child in listed.named_children if not child.is_extra] if listed is not None else []
    index = next((place for place, child in enumerate(names, 1) if child.start_byte <= target.start_byte < child.end_byte), 0)
    if not index:
        return NO_TERM
    return _given(builder, _expected(builder, node), receiver if len(names) == 1 else None, name, index)


def _given(builder: TermBuilder, expected: OptionalTerm, receiver: Node | None, name: str, index: int) -> OptionalTerm:
    """Return the value of a lambda's parameter or receiver.

    If the function to which the lambda is passed declares a function type, `expected`, the value has the type in it. A library function
    has no known declaration. For such a function, the value is the receiver of the call, or an item of the receiver.
    """
    term = builder.term(receiver) if receiver is not None else NO_TERM
    otherwise = term if term < 0 or name in _GIVES_ITSELF else builder.add((ITER, term))
    return _parameter(builder, expected, index, otherwise) if expected >= 0 else otherwise


def _parameter(builder: TermBuilder, expected: TermIndex, index: int, otherwise: OptionalTerm = NO_TERM) -> TermIndex:
    parts = (expected, builder.add((STRING, str(index))), *((otherwise,) if otherwise >= 0 else ()))
    return builder.add((CALL, builder.add((NAME, PARAMETER)), parts, ()))


def _expected(builder: TermBuilder, node: Node) -> OptionalTerm:
    """Return the type that the code around a lambda expects; -1 if unknown."""
    around = node.parent
    if around is None:
        return NO_TERM
    call = _call_around(node)
    if call is not None:
        parts = (builder.term(call), builder.add((STRING, _place(builder, node))))
        return builder.add((CALL, builder.add((NAME, ARGUMENT)), parts, ()))
    if around.type == "statements" and around.named_children[-1] == node and around.parent is not None:
        outer = _expected(builder, around.parent) if around.parent.type == "lambda_literal" else NO_TERM
        return builder.add((CALL, builder.add((NAME, RESULT)), (outer,), ())) if outer >= 0 else NO_TERM
    annotation = _declared(node, around)
    if annotation is None:
        return NO_TERM
    return builder.add((CALL, builder.add((NAME, DECLARED)), (builder.term(annotation),), ()))


def _declared(node: Node, around: Node) -> Node | None:
    """Return the type that a declaration gives to a lambda; None without one.

    `around` is the declaration of a variable that gets the lambda, or the `return` or body of a function that returns it.
    """
    if around.type == "property_declaration":
        variable = next((child for child in around.named_children if child.type == "variable_declaration"), None)
        return variable.named_children[-1] if variable is not None and variable.named_child_count > 1 else None
    if around.type == "jump_expression" and around.children[0].type == "return":
        owner: Node | None = around
        while owner is not None and owner.type != "function_declaration":
            owner = owner.parent if owner.type != "lambda_literal" else None
        around = next((child for child in owner.named_children if child.type == "function_body"), around) if owner is not None else around
    elif around.type == "function_body" and around.children[0].type != "=":
        return None
    if around.type != "function_body":
        return None
    before = around.prev_named_sibling
    return before if before is not None and before.type != "function_value_parameters" else None


def _call_around(node: Node) -> Node | None:
    """Return the call to which a lambda is passed; None if there is none."""
    around = node.parent
    if around is not None and around.type == "value_argument":
        around = around.parent
    elif around is None or around.type != "annotated_lambda":
        return None
    holder = around.parent if around is not None else None
    if holder is not None and holder.type == "call_suffix":
        holder = holder.parent
    return holder if holder is not None and holder.type in ("call_expression", "constructor_invocation") else None


def _place(builder: TermBuilder, node: Node) -> str:
    """Return the name or the position of a lambda among its call's arguments."""
    argument = node.parent
    if argument is None or argument.type != "value_argument" or argument.parent is None:
        return LAST
    if any(child.type == "=" for child in argument.children):
        return builder.text(argument.named_children[0])
    return str([child.id for child in argument.parent.named_children if not child.is_extra].index(argument.id))


def _called(builder: TermBuilder, node: Node) -> tuple[Node | None, str]:
    """Return the receiver (or None) and the name of the call around a lambda."""
    call = _call_around(node)
    callee = call.named_children[0] if call is not None else None
    if callee is None:
        return None, ""
    if callee.type == "call_expression":  # `f(a) { … }`
        callee = callee.named_children[0]
    if callee.type != "navigation_expression":
        return None, builder.text(callee)
    return callee.named_children[0], builder.text(callee.named_children[-1]).lstrip("?.")


def _first_argument(node: Node) -> Node | None:
    call = _call_around(node)
    suffix = call.named_children[-1] if call is not None else None
    arguments = next((child for child in suffix.named_children if child.type == "value_arguments"), None) if suffix is not None else None
    return arguments.named_children[0] if arguments is not None and arguments.named_children else None
