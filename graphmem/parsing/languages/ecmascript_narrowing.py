"""Find JavaScript variables and their classes by `instanceof` tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_LEAVES: Final = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})


def implied_tests(node: Node, truth: bool) -> Iterator[tuple[Node, Node]]:
    """Yield (value, class) of each `instanceof` test that a condition implies.

    Args:
        node: the condition.
        truth: True for the tests that a true condition implies, False for those that a false condition implies. For example, (`x`, `C`) is
            implied by the condition `!(x instanceof C)` if `truth` is False.
    """
    if node.type == "parenthesized_expression" and node.named_children:
        yield from implied_tests(node.named_children[0], truth)
    elif node.type == "unary_expression":
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if operator is not None and operator.type == "!" and argument is not None:
            yield from implied_tests(argument, not truth)
    elif node.type == "binary_expression":
        operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
        if operator is None or left is None or right is None:
            return
        if operator.type == "instanceof" and truth:
            yield left, right
        elif operator.type == ("&&" if truth else "||"):
            yield from implied_tests(left, truth)
            yield from implied_tests(right, truth)


def always_leaves(branch: Node) -> bool:
    """Whether a branch ends with `return`, `throw`, `continue` or `break`."""
    if branch.type in _LEAVES:
        return True
    statements = [child for child in branch.named_children if not child.is_extra]
    return branch.type == "statement_block" and bool(statements) and statements[-1].type in _LEAVES
