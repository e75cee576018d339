"""Parse code of PHP that the query files cannot express.

Examples are qualified names, and types in comments.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, EITHER, INDEX, NAME, TermIndex
from graphmem.parsing.languages import Helper, Narrowing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_TAG: Final = re.compile(r"@(?P<tag>param|return|var)\s+(?P<type>[\w\\|?\[\]]+(?:<[^<>\n]*>)?(?:\[\])?)(?:\s+(?:\.\.\.)?(?P<name>\$\w+))?")
_ANY: Final = frozenset({"", "null", "mixed", "object", "callable", "static", "self", "false", "true", "resource"})
"""Types that tell nothing, or not here."""

_EXITS: Final = frozenset({"return_statement", "throw_expression", "continue_statement", "break_statement", "exit_statement"})


class PhpHelper(Helper):
    """Parses code of PHP that the query files cannot express.

    Examples are qualified names, documentation comments and `instanceof`.
    """

    comments_refine_types = True

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        r"""Convert a qualified PHP name such as `\a\Name` to a term (expression).

        The first part of the name keeps the backslash beside it. The first part of `\a\Name` is `\a`. The first part of `a\Name` is `a\`,
        and the backslash tells that `a` may be a namespace. `what` is the kind of construct that `node` is.
        """
        if what == "qualified":
            term = _named(builder, builder.text(node))
            builder.note_declared(term, node.end_byte - len(builder.text(node).rpartition("\\")[2].encode()))
            return term
        if what in ("conditional", "binary"):
            return _either(builder, node)
        if what == "anonymous":
            base = next((child for child in node.named_children if child.type == "base_clause"), None)
            return builder.term(base.named_children[0]) if base is not None else builder.unknown
        return super().helper_term(builder, node, what)

    def documented(self, builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
        """Map names to the types that `@param`, `@return` and `@var` declare.

        `Helper.documented` explains the keys.
        """
        found: dict[str, TermIndex] = {}
        for match in _TAG.finditer(text) if "@" in text else ():
            key = {"return": "return", "var": ""}.get(match["tag"], match["name"] or "")
            term = _declared(builder, match["type"])
            if term is not None and (key or match["tag"] == "var"):
                found.setdefault(key, term)
        return found

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return each variable that `instanceof` tests, with its class and lines.

        In these lines the variable has the class: in the condition and in the branch of the `if`. If the branch of `if (!$x instanceof C)`
        exits, the variable has the class after the `if`. It also has the class after an assertion, such as `assert($x instanceof C)`.
        """
        if node.parent is not None and node.parent.type == "expression_statement":
            return tuple(_asserted(builder, node))
        statement = node.parent
        body = statement.child_by_field_name("body") if statement is not None else None
        if statement is None or body is None or b"instanceof" not in builder.source[node.start_byte : node.end_byte]:
            return ()
        found = [_holds(test, node.start_point.row + 1, body.end_point.row + 1) for test in _tests(node, is_true=True)]
        around = statement.parent
        last = body.named_children[-1] if body.named_children else None
        last = last.named_children[0] if last is not None and last.type == "expression_statement" and last.named_children else last
        if last is not None and last.type in _EXITS and around is not None:
            end = around.end_point.row + 1
            found += (_holds(test, statement.end_point.row + 2, end) for test in _tests(node, is_true=False))
        return tuple(found)


def _holds(test: Node, first: int, last: int) -> Narrowing:
    return Narrowing(test.named_children[0], test.named_children[-1], first, last)


def _asserted(builder: TermBuilder, node: Node) -> Iterator[Narrowing]:
    """Yield the variables that have a class after an assertion.

    They have it until the block of the assertion ends. `node` is a call of `assert`, `assertTrue` or `assertInstanceOf`.
    """
    block = node.parent.parent if node.parent is not None else None
    given = node.child_by_field_name("arguments")
    values = [argument.named_children[-1] for argument in given.named_children if argument.named_children] if given is not None else []
    if block is None or not values:
        return
    lines = node.end_point.row + 2, block.end_point.row + 1
    yield from (_holds(test, *lines) for test in _tests(values[0], is_true=True))
    if len(values) > 1 and values[0].type == "class_constant_access_expression":
        yield Narrowing(values[1], values[0].named_children[0], *lines)


def _either(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `a ? b : c`, `a ?: b` or `a ?? b` to a term (expression).

    Its value is that of either side. Other operations have an unknown value.
    """
    sign = node.child_by_field_name("operator")
    if node.type == "binary_expression" and (sign is None or sign.type != "??"):
        return builder.unknown
    first = node.child_by_field_name("left") or node.child_by_field_name("body") or node.child_by_field_name("condition")
    last = node.child_by_field_name("right") or node.child_by_field_name("alternative")
    return builder.add((EITHER, tuple(builder.term(side) for side in (first, last) if side is not None)))


def _tests(node: Node, *, is_true: bool) -> Iterator[Node]:
    """Yield the `instanceof` tests that are known to hold after a condition.

    `node` is the condition. If `is_true`, the condition was true; then all tests that it joins by `&&` hold. Otherwise, the condition was
    false. Then all negated tests (`!`) that it joins by `||` hold.
    """
    if node.type == "parenthesized_expression" and node.named_children:
        yield from _tests(node.named_children[0], is_true=is_true)
    elif node.type == "unary_op_expression" and node.children[0].type == "!":
        yield from _tests(node.named_children[-1], is_true=not is_true)
    elif node.type == "binary_expression":
        sign = node.child_by_field_name("operator")
        if sign is not None and sign.type == "instanceof" and is_true:
            yield node
        elif sign is not None and sign.type in (("&&", "and") if is_true else ("||", "or")):
            for side in node.named_children:
                yield from _tests(side, is_true=is_true)


def _named(builder: TermBuilder, text: str) -> TermIndex:
    """Convert a PHP name with or without backslashes to a term (expression)."""
    parts = "".join(text.split()).split("\\")
    if parts[0] == "":
        parts = ["\\" + parts[1], *parts[2:]]
    elif len(parts) > 1:
        parts[0] += "\\"
    term = builder.add((NAME, parts[0]))
    for name in parts[1:]:
        term = builder.add((ATTR, term, name))
    return term


def _declared(builder: TermBuilder, text: str) -> TermIndex | None:
    """Convert a type in a docblock to a term (an expression).

    The result is None if the type gives no information, such as `mixed`.
    """
    found: list[TermIndex] = []
    for part in text.split("|") if "<" not in text else (text,):
        plain = part.strip("?")
        if "<" in plain:
            inner = _declared(builder, plain[plain.index("<") + 1 : -1].rpartition(",")[2].strip())
            found += [builder.add((INDEX, builder.add((NAME, "array")), inner))] if inner is not None else []
        elif plain.endswith("[]"):
            inner = _declared(builder, plain[:-2])
            found += [builder.add((INDEX, builder.add((NAME, "array")), inner))] if inner is not None else []
        elif plain.lower() not in _ANY:
            found.append(_named(builder, plain))
    if not found:
        return None
    return found[0] if len(found) == 1 else builder.add((EITHER, tuple(found)))


HELPER = PhpHelper()
