"""Names for the values and the `self` that Ruby methods give their blocks.

A method can run its block by `yield x`, `block.call(x)` or `instance_eval(&block)`. For such a method, values are bound to two reserved
names, which Ruby code cannot contain. `PASSED` stands for the tuple of values that the block gets. `RECEIVER` stands for the object that is
`self` in the block. Where a call has a block, the block's parameters and its `self` refer to these two names of the called method.

In the other direction, a call passes the result of its block as a keyword with the name `RESULT`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, BLOCK_OBJECT, CALL, EITHER, ITER, NAME, SELF, TUPLE, UNPACK, TermIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

PASSED: Final = "<block>"
RECEIVER: Final = "<self>"

RESULT: Final = "<block result>"
"""Name of the keyword with which a call passes the result of its block.

A call of this name without arguments is a `yield`: it has the result of the block that the method around it got.
"""

_WITH_RESULT: Final = frozenset({"call", "constant", "identifier", "instance_variable", "scope_resolution", "self", "super", "yield"})
"""Syntax nodes at the end of a block whose type is that of the block's result."""

EVALUATES: Final = frozenset({"class_eval", "class_exec", "instance_eval", "instance_exec", "module_eval", "module_exec"})
"""Methods whose block has their receiver as `self`."""

_GROUPS: Final = frozenset({"context", "describe", "feature", "shared_context", "shared_examples", "shared_examples_for"})
"""Methods whose block is a group of RSpec or Minitest tests."""

_LAZY: Final = frozenset({"given", "let", "let!", "subject", "subject!"})
"""Methods that give a group of tests a name whose value is that of a block."""

DESCRIBED: Final = "described_class"
SUBJECT: Final = "subject"

_GIVES_ITSELF: Final = frozenset({"tap", "then", "yield_self"})
"""Methods of every object that pass it to their block."""

_CONSTANTS: Final = frozenset({"constant", "scope_resolution"})

_CALLS: Final = frozenset({"call", "yield", "===", "()"})
"""Methods that call a block that is held in a variable."""

_OF_LIBRARY: Final = frozenset(
    {
        *("all?", "any?", "assert_raises", "collect", "context", "count", "define_method", "describe", "detect", "each", "each_key"),
        *("each_pair", "each_value", "each_with_index", "each_with_object", "expect", "fetch", "find", "find_all", "flat_map"),
        *("group_by", "gsub", "gsub!", "inject", "it", "lambda", "let", "loop", "map", "map!", "max_by", "min_by", "none?", "open"),
        *("partition", "proc", "raises", "reduce", "reject", "select", "sort", "sort_by", "specify", "step", "sub", "test", "times"),
        *("upto", "zip"),
    }
)
"""Methods that run their block with the `self` of the code around it."""


def of_yield(builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
    """Return the reserved name `PASSED` with the arguments of a `yield`.

    For `yield a, b`, the result is ((`PASSED`, the tuple `a, b`),).
    """
    given = next((child for child in node.named_children if child.type == "argument_list"), None)
    return ((PASSED, _tuple_of(builder, given)),)


def of_call(builder: TermBuilder, node: Node) -> Iterator[tuple[str, TermIndex]]:
    """Yield (name, value) for each name that a call and its block bind.

    - A call with a block binds the parameters of the block, and the name `this` for the object that is `self` in the block.
    - A call that runs the block of the surrounding method binds the reserved name `PASSED` of this method.
    - A call that passes on the block of the surrounding method binds the reserved names `PASSED` and `RECEIVER` of this method.
    """
    receiver, arguments, block = (node.child_by_field_name(field) for field in ("receiver", "arguments", "block"))
    method = node.child_by_field_name("method")
    name = builder.text(method) if method is not None else "()"
    if block is not None:
        yield from _of_block(builder, receiver, name, arguments, block)
        return
    handed = arguments.named_children[-1] if arguments is not None and arguments.named_children else None
    if handed is not None and handed.type == "block_argument" and handed.named_children:
        if handed.named_children[0].type == "identifier":
            yield from _handed_on(builder, receiver, name, arguments)
    elif receiver is not None and receiver.type == "identifier" and name in _CALLS and builder.text(receiver) == _block_of_method(node):
        yield PASSED, _tuple_of(builder, arguments)


def result(builder: TermBuilder, node: Node, name: str) -> tuple[tuple[str, TermIndex], ...]:
    """Return the keyword with which a call passes the result of its block.

    The block may also be that of the method around the call: `run(&block)`. The result is empty for a call without a block, and for calls
    of `name` that usually run a method of the library.
    """
    arguments, block = node.child_by_field_name("arguments"), node.child_by_field_name("block")
    if name in _OF_LIBRARY or name in _LAZY or name in _GROUPS or name in EVALUATES:
        return ()
    if block is not None:
        body = block.child_by_field_name("body")
        statements = [child for child in body.named_children if not child.is_extra] if body is not None else []
        last = statements[-1] if statements else None
        if last is not None and last.type == "identifier":
            last = _assigned(statements, last)
        return ((RESULT, builder.term(last)),) if last is not None and last.type in _WITH_RESULT else ()
    handed = arguments.named_children[-1] if arguments is not None and arguments.named_children else None
    if handed is None or handed.type != "block_argument" or not handed.named_children:
        return ()
    is_own = handed.named_children[0].type == "identifier" and builder.text(handed.named_children[0]) == _block_of_method(node)
    return ((RESULT, of_own_block(builder)),) if is_own else ()


def _assigned(statements: list[Node], variable: Node) -> Node:
    """Return the last value that a block assigns to its variable.

    The variable does not exist yet on the line of the call. The result is the variable itself if no statement assigns it.
    """
    for child in reversed(statements):
        if child.type == "assignment" and (left := child.child_by_field_name("left")) is not None and left.text == variable.text:
            return child.child_by_field_name("right") or variable
    return variable


def of_own_block(builder: TermBuilder) -> TermIndex:
    """Return the call that stands for the result of the method's own block."""
    return builder.add((CALL, builder.add((NAME, RESULT)), (), ()))


def _of_block(
    builder: TermBuilder, receiver: Node | None, name: str, arguments: Node | None, block: Node
) -> Iterator[tuple[str, TermIndex]]:
    if name in _GROUPS:
        yield from _of_group(builder, arguments, block)
    names = block.child_by_field_name("parameters")
    parameters = [child for child in (names.named_children if names is not None else ()) if not child.is_extra]
    callee = _callee(builder, receiver, name)
    if name in EVALUATES:
        yield BLOCK_OBJECT, builder.term(receiver) if receiver is not None else builder.add((SELF,))
        if name.endswith("exec") and arguments is not None:
            for child, value in zip(parameters, arguments.named_children, strict=False):
                if child.type == "identifier":
                    yield builder.text(child), builder.term(value)
        return
    if name in _GIVES_ITSELF and receiver is not None:
        if len(parameters) == 1 and parameters[0].type == "identifier":
            yield builder.text(parameters[0]), builder.term(receiver)
        return
    for position, child in enumerate(parameters):
        if child.type == "identifier":
            given = builder.add((UNPACK, builder.add((ATTR, callee, PASSED)), position))
            if receiver is not None and len(parameters) == 1:
                given = builder.add((EITHER, (builder.add((ITER, builder.term(receiver))), given)))
            yield builder.text(child), given
    if name not in _OF_LIBRARY and _calls_own(block):
        yield BLOCK_OBJECT, builder.add((ATTR, callee, RECEIVER))


def _of_group(builder: TermBuilder, arguments: Node | None, block: Node) -> Iterator[tuple[str, TermIndex]]:
    """Yield (name, value) for each name that a group of RSpec tests defines.

    The names are those of `let` and `subject`. For `describe Name do`, `described_class` is also a name.
    """
    lazy = dict(_lazy_names(builder, block))
    for name, value in lazy.items():
        yield name, builder.term(value)
    first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if first is not None and first.type in _CONSTANTS:
        described = builder.term(first)
        yield DESCRIBED, described
        if SUBJECT not in lazy:
            yield SUBJECT, builder.add((CALL, builder.add((ATTR, described, "new")), (), ()))


def names_of_group(builder: TermBuilder, block: Node) -> Iterator[str]:
    """Yield the names that a group of tests defines for its block.

    See `_of_group` for the names.
    """
    call = block.parent
    method = call.child_by_field_name("method") if call is not None and call.type == "call" else None
    if call is None or method is None or builder.text(method) not in _GROUPS:
        return
    yield from (name for name, _ in _lazy_names(builder, block))
    arguments = call.child_by_field_name("arguments")
    if arguments is not None and arguments.named_children and arguments.named_children[0].type in _CONSTANTS:
        yield from (DESCRIBED, SUBJECT)


def _lazy_names(builder: TermBuilder, block: Node) -> Iterator[tuple[str, Node]]:
    """Yield (name, body) for each `let(:name) { body }` of a group of tests."""
    body = block.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        method, given, inner = (child.child_by_field_name(field) for field in ("method", "arguments", "block"))
        value = inner.child_by_field_name("body") if inner is not None else None
        if child.type != "call" or method is None or value is None or builder.text(method) not in _LAZY:
            continue
        first = given.named_children[0] if given is not None and given.named_children else None
        if first is not None and first.type == "simple_symbol":
            yield builder.text(first)[1:], value
        if builder.text(method).startswith(SUBJECT):
            yield SUBJECT, value


def _handed_on(builder: TermBuilder, receiver: Node | None, name: str, arguments: Node | None) -> Iterator[tuple[str, TermIndex]]:
    """Yield the values that a method passes to the block that it was given.

    The method passes its own block on, in a call such as `items.each(&block)`. `receiver`, `name` and `arguments` belong to this call.
    The results are (`PASSED`, values of the block's parameters) and (`RECEIVER`, the object that is `self` in the block).
    """
    if name in EVALUATES:
        yield RECEIVER, builder.term(receiver) if receiver is not None else builder.add((SELF,))
        if name.endswith("exec"):
            yield PASSED, _tuple_of(builder, arguments)
        return
    if receiver is not None:
        yield PASSED, builder.add((TUPLE, (builder.add((ITER, builder.term(receiver))),)))
    callee = _callee(builder, receiver, name)
    yield PASSED, builder.add((ATTR, callee, PASSED))
    yield RECEIVER, builder.add((ATTR, callee, RECEIVER))


def of_symbol(builder: TermBuilder, node: Node) -> TermIndex:
    """Return the call that a block argument `&:name` makes to each element.

    The elements are those of the receiver: `items` in `items.map(&:name)`.
    """
    around = node.parent.parent if node.parent is not None else None
    receiver = around.child_by_field_name("receiver") if around is not None else None
    given = node.named_children[0] if node.named_children else None
    if given is None or given.type != "simple_symbol" or receiver is None:
        return builder.term(given) if given is not None else builder.unknown
    element = builder.add((ITER, builder.term(receiver)))
    return builder.add((CALL, builder.add((ATTR, element, builder.text(given)[1:])), (), ()))


def _callee(builder: TermBuilder, receiver: Node | None, name: str) -> TermIndex:
    """Return the term (expression) for the method that a call runs.

    For a call of `new`, it is the method `initialize`, which gets the block, or a class method `new` that the project defines.
    """
    if receiver is None:
        return builder.add((NAME, "initialize" if name == "new" else name))
    called = builder.add((ATTR, builder.term(receiver), name))
    return builder.add((EITHER, (builder.add((ATTR, builder.term(receiver), "initialize")), called))) if name == "new" else called


def _tuple_of(builder: TermBuilder, arguments: Node | None) -> TermIndex:
    given = arguments.named_children if arguments is not None else ()
    return builder.add((TUPLE, tuple(builder.term(child) for child in given if not child.is_extra and child.type != "block_argument")))


def _block_of_method(node: Node) -> str:
    """Return the name of a method's parameter `&block`; "" without one.

    The method is the innermost one that contains `node`.
    """
    around = node.parent
    while around is not None and around.type not in ("method", "singleton_method"):
        around = around.parent
    header = around.child_by_field_name("parameters") if around is not None else None
    last = header.named_children[-1] if header is not None and header.named_children else None
    name = last.child_by_field_name("name") if last is not None and last.type == "block_parameter" else None
    return (name.text or b"").decode() if name is not None else ""


def _calls_own(block: Node) -> bool:
    """Whether a block has a statement that may call a method on `self`.

    `self` is the object on which the block runs.
    """
    body = block.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        if child.type in ("assignment", "operator_assignment"):
            child = child.child_by_field_name("right") or child
        if child.type == "identifier" or (child.type == "call" and _first(child).child_by_field_name("receiver") is None):
            return True
    return False


def _first(call: Node) -> Node:
    """Return the first call of a chain of calls: `a.b` for `a.b.c`."""
    while (receiver := call.child_by_field_name("receiver")) is not None and receiver.type == "call":
        call = receiver
    return call
