"""Helper for Python: dotted imports and `isinstance` tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.parsing.facts import Import
from graphmem.parsing.languages import Helper, Narrowing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_LEAVES = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})


class PythonHelper(Helper):
    """Helper for Python: dotted imports and `isinstance` tests."""

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return the bindings of a dotted import.

        `import a.b` binds `a` and loads `a.b`; `import a.b as c` binds `a.b` to `c`.
        """
        if found.kind != "import" or found.alias:
            return (found,)
        top = found.module.partition(".")[0]
        bound = found._replace(module=top, alias=top)
        return (bound,) if top == found.module else (bound, found)

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the types that `isinstance` in a condition implies.

        The types are valid in the branch, in the lines of the condition, and after a negated test whose branch exits.
        """
        statement = node.parent
        if statement is None or b"isinstance" not in builder.source[node.start_byte : node.end_byte]:
            return ()
        found: list[Narrowing] = []
        if statement.type == "assert_statement":
            found += (_holds(test, node.end_point.row + 1, _end_of_block(statement)) for test in _tests(node, True))
        elif statement.type == "conditional_expression":
            found += (_holds(test, statement.start_point.row + 1, node.end_point.row + 1) for test in _tests(node, True))
        else:
            branch = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
            last = (branch or node).end_point.row + 1
            found += (_holds(test, node.start_point.row + 1, last) for test in _tests(node, True))
            if branch is not None and statement.type == "if_statement":
                found += _otherwise(node, statement, branch)
        return tuple(found)


def _otherwise(node: Node, statement: Node, branch: Node) -> Iterator[Narrowing]:
    """Yield the types that are valid where an `isinstance` condition is false.

    This is in `else`, and after a branch that exits (`return`, `raise`, …).
    """
    tests = list(_tests(node, False))
    alternatives = statement.children_by_field_name("alternative")
    for test in tests:
        for alternative in alternatives:
            yield _holds(test, alternative.start_point.row + 1, alternative.end_point.row + 1)
        statements = [child for child in branch.named_children if not child.is_extra]
        if not alternatives and statements and statements[-1].type in _LEAVES:
            yield _holds(test, statement.end_point.row + 2, _end_of_block(statement))


def _holds(test: tuple[Node, Node], first_line: int, last_line: int) -> Narrowing:
    return Narrowing(test[0], test[1], first_line, last_line)


def _end_of_block(statement: Node) -> int:
    return (statement.parent or statement).end_point.row + 1


def _tests(node: Node, wanted: bool) -> Iterator[tuple[Node, Node]]:
    """Yield (name, type) of the `isinstance` tests that a condition implies.

    Args:
        node: the condition.
        wanted: the outcome of the condition.
    """
    if node.type == "parenthesized_expression":
        for child in node.named_children:
            yield from _tests(child, wanted)
    elif node.type == "not_operator":
        argument = node.child_by_field_name("argument")
        if argument is not None:
            yield from _tests(argument, not wanted)
    elif node.type == "boolean_operator":
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type == ("and" if wanted else "or"):
            for field in ("left", "right"):
                part = node.child_by_field_name(field)
                if part is not None:
                    yield from _tests(part, wanted)
    elif node.type == "call" and wanted:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and function.text == b"isinstance" and arguments is not None:
            given = [child for child in arguments.named_children if not child.is_extra]
            if len(given) == 2 and given[0].type in ("identifier", "attribute"):
                yield given[0], given[1]


HELPER = PythonHelper()
