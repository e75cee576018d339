"""Parse code of Python that the query files cannot express.

Examples are dotted imports and `isinstance` tests.

A binding is a place where a name or an attribute gets a value, such as `x = f()`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.parsing.facts import INDEX, TUPLE, TYPED, Import, TermIndex, written_name
from graphmem.parsing.languages import Demand, Helper, Narrowing
from graphmem.parsing.languages.ipython import without_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

    Test = tuple[Node, Node, bool]
    """An `isinstance` test: the variable, the class, and the result."""

_TYPE_CHECKING = re.compile(
    rb"^([ \t]+)if (?:\w+\.)?TYPE_CHECKING:[^\n]*\n((?:(?:\1[ \t]+[^\n]*|[ \t]*(?:#[^\n]*)?)(?:\n|\Z))+)", re.MULTILINE
)
"""An indented block that only type checkers read; its second group is the body."""

_LEAVES = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})


class PythonHelper(Helper):
    """Parses code of Python that the query files cannot express.

    Examples are dotted imports and `isinstance` tests.
    """

    def cell(self, lines: Sequence[str]) -> Sequence[str]:
        """Return the lines of a notebook cell without commands of IPython."""
        return without_commands(lines)

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return the bindings of a dotted import.

        `import a.b` binds `a` and loads `a.b`; `import a.b as c` binds `a.b` to `c`.
        """
        if found.kind != "import" or found.alias:
            return (found,)
        top = found.module.partition(".")[0]
        line, column, _ = found.module_spot
        bound = found._replace(module=top, alias=top, module_spot=(line, column, len(top)))
        return (bound,) if top == found.module else (bound, found)

    def regions(self, source: bytes) -> Sequence[tuple[int, int, str]]:
        """Return (start, end, "declared") for `if TYPE_CHECKING:` in classes.

        The positions are byte offsets. Definitions in such a block only declare types for type checkers, and never run.
        """
        if b"TYPE_CHECKING:" not in source:
            return ()
        return [(*match.span(2), "declared") for match in _TYPE_CHECKING.finditer(source)]

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the variables whose class `isinstance` tests imply, with lines.

        The lines are those in which the variable has the class:

        - for an `if`, `elif` or `while`: the condition and the branch
        - for an `if not isinstance(x, A)` whose branch exits: the lines after the `if`
        - for an `if isinstance(x, A)`: the other branches, and the lines after a branch that exits; there `x` does not have the class
        - for an `assert`: the rest of the block
        - for `a if isinstance(x, A) else b`: from its first line to the end of the condition, but only if `b` does not use `x` there
        """
        statement = node.parent
        if statement is None or b"isinstance" not in builder.source[node.start_byte : node.end_byte]:
            return ()
        found: list[Narrowing] = []
        if statement.type == "assert_statement":
            found += (_holds(test, node.end_point.row + 1, _end_of_block(statement)) for test in _tests(node, True))
        elif statement.type == "conditional_expression":
            held = (_holds(test, statement.start_point.row + 1, node.end_point.row + 1) for test in _tests(node, True) if test[2])
            found += (one for one in held if not _is_used_otherwise(builder, one, statement))
        else:
            branch = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
            last = (branch or node).end_point.row + 1
            inside = (branch or node).start_point.row + 1
            found += (_holds(test, node.start_point.row + 1 if test[2] else inside, last) for test in _tests(node, True))
            if branch is not None and statement.type in ("if_statement", "elif_clause"):
                found += _otherwise(node, statement)
        return tuple(found)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Return a term (an expression) for the value that `yield x` returns.

        This is the value that a caller sends to the generator. The annotation of the generator declares its type, for example `B` in `->
        Generator[A, B, None]`. Without such an annotation, the value is unknown. `what` is the kind of construct that `node` is.
        """
        if what != "yield":
            return super().helper_term(builder, node, what)
        around = node.parent
        while around is not None and around.type not in ("function_definition", "lambda"):
            around = around.parent
        result = around.child_by_field_name("return_type") if around is not None else None
        term = builder.terms[declared] if (declared := builder.annotation(result)) >= 0 else None
        if term is None or term[0] != INDEX or written_name(builder.terms, term[1]) not in ("Generator", "AsyncGenerator"):
            return builder.unknown
        parts = builder.terms[term[2]]
        return builder.add((TYPED, parts[1][1])) if parts[0] == TUPLE and len(parts[1]) > 1 else builder.unknown

    def demands(self, builder: TermBuilder, node: Node) -> tuple[Demand, ...]:
        """Return the lines that an `if` runs only for certain arguments.

        These are the lines of the branch, and the lines that run only if the condition is false: the `else`, or all lines after a branch
        that exits. A range of lines without `return` or `yield` is left out, because it does not affect the function's result.
        """
        statement = node.parent
        if statement is None or statement.type not in ("if_statement", "elif_clause"):
            return ()
        branch = statement.child_by_field_name("consequence")
        if branch is None:
            return ()
        found: list[Demand] = []
        tests, is_whole = _demanded(node)
        if tests and _returns(builder, branch.start_byte, branch.end_byte):
            found.append(Demand("when", tests, branch.start_point.row + 1, branch.end_point.row + 1))
        if statement.type == "if_statement" and (tests if is_whole else node.type == "boolean_operator"):
            either = [tests] if is_whole else _alternatives(node)
            alternatives = statement.children_by_field_name("alternative")
            parts = [(one.start_byte, one.end_byte, one.start_point.row + 1, one.end_point.row + 1) for one in alternatives]
            block = statement.parent
            statements = [child for child in branch.named_children if not child.is_extra]
            if not parts and block is not None and statements and statements[-1].type in _LEAVES:
                parts.append((statement.end_byte, block.end_byte, statement.end_point.row + 2, block.end_point.row + 1))
            for start, end, first, last in parts:
                if either and _returns(builder, start, end):
                    found += (Demand("unless", one, first, last) for one in either)
        return tuple(found)


def _is_used_otherwise(builder: TermBuilder, found: Narrowing, expression: Node) -> bool:
    """Whether the `else` part of a conditional expression uses a variable.

    `found` has the variable, and the lines in which its class is known. An `else` part that begins below these lines is ignored.
    """
    alternative = expression.named_children[-1]
    if alternative.start_point.row + 1 > found.last_line:
        return False
    name = re.escape(builder.text(found.target))
    return re.search(rf"\b{name}\b", builder.text(alternative)) is not None


def _returns(builder: TermBuilder, start: int, end: int) -> bool:
    """Whether code from byte `start` to `end` has a `return` or a `yield`."""
    part = builder.source[start:end]
    return b"return" in part or b"yield" in part


def _demanded(node: Node) -> tuple[tuple[tuple[Node, str], ...], bool]:
    """Return the tests in a condition, and whether it has no other parts.

    A test is (name, demand), such as (`x`, "none") for `x is None`. The condition is true only if all tests are true. The second result is
    true if the condition consists only of these tests, joined by `and`.
    """
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return _demanded(node.named_children[0])
    if node.type == "identifier":
        return ((node, "truthy"),), True
    if node.type == "not_operator":
        inner, is_whole = _demanded(argument) if (argument := node.child_by_field_name("argument")) is not None else ((), False)
        return (((inner[0][0], _opposite(inner[0][1])),), True) if is_whole and len(inner) == 1 else ((), False)
    if node.type == "comparison_operator" and node.named_child_count == 2:
        name, value = node.named_children
        sign = node.children[1].type if node.child_count > 2 else ""
        if name.type == "identifier" and value.type in ("none", "true", "false") and sign in ("is", "is not"):
            return ((name, value.type if sign == "is" else f"not {value.type}"),), True
    if node.type == "boolean_operator":
        operator, left, right = (node.child_by_field_name(field) for field in ("operator", "left", "right"))
        if operator is not None and operator.type == "and" and left is not None and right is not None:
            (first, is_first), (second, is_second) = _demanded(left), _demanded(right)
            return (*first, *second), is_first and is_second
    return (), False


def _alternatives(node: Node) -> list[tuple[tuple[Node, str], ...]]:
    """Return, for each operand of `or` in a condition, the list of its tests.

    For `x is None or (y and z)`, the lists are those of `x is None` and of `y and z`. An operand is true if all its tests are true.
    Operands that contain anything but tests are left out.
    """
    if node.type != "boolean_operator":
        tests, is_whole = _demanded(node)
        return [tests] if is_whole else []
    operator, left, right = (node.child_by_field_name(field) for field in ("operator", "left", "right"))
    if operator is None or left is None or right is None:
        return []
    if operator.type == "and":
        tests, is_whole = _demanded(node)
        return [tests] if is_whole else []
    return [*_alternatives(left), *_alternatives(right)]


def _opposite(need: str) -> str:
    return need.removeprefix("not ") if need.startswith("not ") else f"not {need}"


def _otherwise(node: Node, statement: Node) -> Iterator[Narrowing]:
    """Yield what is known where an `isinstance` condition is false.

    This holds in the `elif` and `else` branches that follow. If the branch of an `if` exits (`return`, `raise`, …), it holds in the lines
    after the `if`, too.

    Args:
        node: the condition.
        statement: the `if` statement or `elif` clause.
    """
    whole = statement if statement.type == "if_statement" else statement.parent
    if whole is None:
        return
    alternatives = whole.children_by_field_name("alternative")
    branches = [whole, *alternatives]
    following = branches[branches.index(statement) + 1 :]
    exits = all(_leaves(one.child_by_field_name("consequence")) for one in branches[: branches.index(statement) + 1])
    for test in _tests(node, False):
        for alternative in following:
            yield _holds(test, alternative.start_point.row + 1, alternative.end_point.row + 1)
        if exits and (not alternatives or not test[2]):
            yield _holds(test, whole.end_point.row + 2, _end_of_block(whole))


def _leaves(branch: Node | None) -> bool:
    """Whether a block ends with a statement that exits, such as `return`."""
    statements = [child for child in branch.named_children if not child.is_extra] if branch is not None else []
    return bool(statements) and statements[-1].type in _LEAVES


def _holds(test: Test, first_line: int, last_line: int) -> Narrowing:
    return Narrowing(test[0], test[1], first_line, last_line, test[2])


def _end_of_block(statement: Node) -> int:
    return (statement.parent or statement).end_point.row + 1


def _tests(node: Node, wanted: bool) -> Iterator[Test]:
    """Yield (name, type, result) of each `isinstance` test of known result.

    The results of the tests follow from the result of the condition that contains them.

    Args:
        node: the condition.
        wanted: result of the condition. If it is False, `not isinstance(x, A)` gives (`x`, `A`, True).
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
    elif node.type == "call":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and function.text == b"isinstance" and arguments is not None:
            given = [child for child in arguments.named_children if not child.is_extra]
            if len(given) == 2 and given[0].type in ("identifier", "attribute"):
                yield given[0], given[1], wanted


HELPER = PythonHelper()
