"""Find the classes of variables that conditions imply, as in `x.is_a?(A)`.

Other such conditions are `Name === x` and `case x` with `when Name`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.languages import Narrowing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_ASKS: Final = frozenset({"is_a?", "kind_of?", "instance_of?"})
_MARKS: Final = (b"is_a?", b"kind_of?", b"instance_of?", b"===")
_CLASSES: Final = frozenset({"constant", "scope_resolution", "self"})
"""Nodes that name a class."""

_LITERALS: Final = frozenset({"Array", "Hash", "Proc", "Enumerable"})
"""Classes of literals, about whose elements a test says nothing."""

_EXITS: Final = frozenset({"return", "next", "break", "redo", "retry"})
_BLOCKS: Final = frozenset({"body_statement", "block_body", "then", "else", "begin", "program"})
"""Nodes whose statements run one after the other."""


def narrowings(source: bytes, node: Node) -> Iterator[Narrowing]:
    """Yield the variables whose class a statement with a condition implies.

    A variable has the class in the condition and in the branch. After `return unless x.is_a?(A)`, the variable has the class until the
    block ends.
    """
    if node.type in ("when", "in_clause"):
        yield from _of_case(node)
        return
    condition, negated = node.child_by_field_name("condition"), node.type.startswith("unless")
    if condition is None or not any(mark in source[condition.start_byte : condition.end_byte] for mark in _MARKS):
        return
    body = node.child_by_field_name("body")  # of `body if condition`
    branch = body or node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    if branch is not None:
        lines = min(condition.start_point.row, branch.start_point.row), max(condition.end_point.row, branch.end_point.row)
        yield from _narrowed(condition, not negated, *lines)
    if other is not None:
        yield from _narrowed(condition, negated, other.start_point.row, other.end_point.row)
    around = node.parent
    if other is None and branch is not None and around is not None and around.type in _BLOCKS and _exits(source, branch):
        yield from _narrowed(condition, negated, node.end_point.row + 1, around.end_point.row)


def _narrowed(condition: Node, is_true: bool, first: int, last: int) -> Iterator[Narrowing]:
    for target, value in _tests(condition, is_true=is_true):
        if _tells(value):
            yield Narrowing(target, value, first + 1, last + 1)


def _of_case(branch: Node) -> Iterator[Narrowing]:
    """Yield the classes that a value has in a branch `when A, B` or `in A`.

    The value is `x` in `case x`. Nothing is yielded if a pattern of the branch is not a class.
    """
    case = branch.parent
    target = case.child_by_field_name("value") if case is not None else None
    patterns = branch.children_by_field_name("pattern")
    names = [pattern.named_children[0] if pattern.type == "pattern" and pattern.named_children else pattern for pattern in patterns]
    if target is not None and all(name.type in _CLASSES and _tells(name) for name in names):
        for name in names:
            yield Narrowing(target, name, branch.start_point.row + 1, branch.end_point.row + 1)


def _tests(node: Node, *, is_true: bool) -> Iterator[tuple[Node, Node]]:
    """Yield (value, class) of each test that a condition proves to be true.

    If the condition is true (`is_true`), these are the tests joined by `&&`. If the condition is false, they are the negated tests (`!`)
    joined by `||`.
    """
    sign = node.child_by_field_name("operator")
    if node.type == "parenthesized_statements" and len(node.named_children) == 1:
        yield from _tests(node.named_children[0], is_true=is_true)
    elif node.type == "unary" and sign is not None and sign.type in ("!", "not"):
        yield from _tests(node.named_children[-1], is_true=not is_true)
    elif node.type == "binary" and sign is not None:
        left, right = node.named_children[0], node.named_children[-1]
        if sign.type == "===" and is_true and left.type in _CLASSES:
            yield right, left
        elif sign.type in (("&&", "and") if is_true else ("||", "or")):
            yield from _tests(left, is_true=is_true)
            yield from _tests(right, is_true=is_true)
    elif node.type == "call" and is_true:
        method, receiver, given = (node.child_by_field_name(field) for field in ("method", "receiver", "arguments"))
        named = given.named_children if given is not None else []
        asks = method is not None and (method.text or b"").decode() in _ASKS and len(named) == 1 and named[0].type in _CLASSES
        if asks and receiver is not None:
            yield receiver, named[0]


def _tells(name: Node) -> bool:
    return (name.text or b"").decode().removeprefix("::") not in _LITERALS


def _exits(source: bytes, branch: Node) -> bool:
    """Whether a branch ends in `return`, `raise`, `next`, `break` or the like."""
    last = branch.named_children[-1] if branch.type == "then" and branch.named_children else branch
    return last.type in _EXITS or source[last.start_byte : last.start_byte + 6] in (b"raise ", b"raise(")
